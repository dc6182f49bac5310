"""The long work of the reading room: strikes every visit of a document, one step each."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, JobKind, start_action
from armarium_documents.api import require_live
from armarium_reading_room.actions import a_visit
from armarium_reading_room.queries import list_visits
from armarium_reading_room.schemas import StrikeVisits


def strike_all(job: JobContext) -> dict[str, Any]:
    """Strike one visit per step. Killed and run again, it strikes what is left and counts on from its checkpoint."""
    struck = int(job.checkpoint.get("struck", 0))
    with job.library.db.read() as conn:
        visit_ids = [visit["id"] for visit in list_visits(conn, job.args.document_id)["items"]]
    total = struck + len(visit_ids)
    for number, visit_id in enumerate(visit_ids, struck + 1):
        job.check()
        strike = {"visit_id": visit_id}
        job.act("reading_room.strike_visit", strike, checkpoint={"struck": number}, done=number, total=total)
    return {"struck": total}


STRIKE = JobKind(
    name="reading_room-strike",
    lane="database",
    summary="Strike all visits of a document",
    run=strike_all,
    args=StrikeVisits,
)

strike_visits = start_action(
    "reading_room.strike_visits",
    STRIKE,
    targets=("document_id",),
    check=lambda ctx, p: require_live(ctx.conn, p.document_id),
    example=lambda ex: {"document_id": ex.run("reading_room.note_visit", a_visit(ex))["document_id"]},
)
