"""The only writes of the reading room. None of them says how it is undone: the engine keeps the rows as they were
before.
"""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Example, Route, action, cancel_with_undo, new_id
from armarium_documents.api import require_live
from armarium_reading_room.models import visits
from armarium_reading_room.queries import VISITS
from armarium_reading_room.schemas import NoteVisit, StrikeVisit, StrikeVisits, StrikingStarted, Visit


def a_visit(ex: Example) -> dict[str, Any]:
    """Parameters of a visit to a document created for the purpose."""
    document = ex.run("document.create", {"name": "A letter"})
    return {"document_id": document["id"], "visitor": "Inés", "day": "2026-03-01", "remark": "the seal"}


@action(
    "reading_room.note_visit",
    summary="Note a visit to an original",
    words="Noted a visit to {document_id|a document}",
    params=NoteVisit,
    result=Visit,
    route=Route("POST", "/api/documents/{document_id}/visits"),
    example=a_visit,
)
def note_visit(ctx: ActionContext, p: NoteVisit) -> dict[str, Any]:
    """One row; refused where the document is in the Trash or not there."""
    require_live(ctx.conn, p.document_id)
    row = {"id": new_id(), **p.model_dump(mode="json")}
    ctx.conn.execute(visits.insert().values(row))
    ctx.target(p.document_id)
    ctx.note_changes(document_ids=[p.document_id])
    return row


@action(
    "reading_room.strike_visit",
    summary="Strike a visit that was noted by mistake",
    params=StrikeVisit,
    route=Route("DELETE", "/api/visits/{visit_id}", refusals=(404,)),
    example=lambda ex: {"visit_id": ex.run("reading_room.note_visit", a_visit(ex))["id"]},
)
def strike_visit(ctx: ActionContext, p: StrikeVisit) -> None:
    """The row is deleted; undo restores it as it was."""
    VISITS.require(ctx.conn, p.visit_id)
    ctx.conn.execute(visits.delete().where(visits.c.id == p.visit_id))
    ctx.target(p.visit_id)


@action(
    "reading_room.strike_visits",
    summary="Strike all visits of a document, in the background",
    params=StrikeVisits,
    result=StrikingStarted,
    after_undo=cancel_with_undo,
    example=lambda ex: {"document_id": ex.run("reading_room.note_visit", a_visit(ex))["document_id"]},
)
def strike_visits(ctx: ActionContext, p: StrikeVisits) -> dict[str, Any]:
    """Queue the job in this step; undoing the step cancels what has not been done yet."""
    require_live(ctx.conn, p.document_id)
    job_id = ctx.enqueue("reading_room-strike", p.model_dump(), title="Strike the visits of a document")
    ctx.target(p.document_id, job_id)
    return {"job_id": job_id}
