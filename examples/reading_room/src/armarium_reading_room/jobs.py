"""The long work of the reading room: deleting every visit of a document, one step each."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, JobKind
from armarium_reading_room.queries import list_visits
from armarium_reading_room.schemas import StrikeVisits


def strike_all(job: JobContext) -> dict[str, Any]:
    """One step per visit. Killed at any time and run again, it deletes what is left and counts on from its checkpoint."""
    struck = int(job.checkpoint.get("struck", 0))
    with job.library.db.read() as conn:
        left = [visit["id"] for visit in list_visits(conn, job.args.document_id)["items"]]
    total = struck + len(left)
    for done, visit_id in enumerate(left, struck + 1):
        job.check()
        strike = {"visit_id": visit_id}
        job.act("reading_room.strike_visit", strike, checkpoint={"struck": done}, done=done, total=total)
    return {"struck": total}


STRIKE = JobKind(
    name="reading_room-strike",
    lane="database",
    summary="Strike all visits of a document",
    run=strike_all,
    args=StrikeVisits,
)
