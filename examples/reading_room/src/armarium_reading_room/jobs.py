"""The long work of the reading room: striking every visit of a document, one step each."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from armarium.api import JobContext, JobKind
from armarium_reading_room.queries import visits_of


class OfDocument(BaseModel, extra="forbid"):
    """What the work is given."""

    document_id: str


def strike_all(job: JobContext) -> dict[str, Any]:
    """One step a visit. Killed anywhere and run again it strikes what is left, and counts on from its checkpoint."""
    struck = int(job.checkpoint.get("struck", 0))
    with job.library.db.read() as conn:
        left = [visit["id"] for visit in visits_of(conn, job.args.document_id)]
    total = struck + len(left)
    for visit_id in left:
        job.check()
        struck += 1
        job.act(
            "reading_room.strike_visit",
            {"visit_id": visit_id},
            checkpoint={"struck": struck},
            done=struck,
            total=total,
        )
    return {"struck": struck}


STRIKE = JobKind(
    name="reading_room-strike",
    lane="database",
    summary="Strike all visits of a document",
    run=strike_all,
    args=OfDocument,
)
