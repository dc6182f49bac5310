"""The writes of the reading room. None of them says how it is undone: the engine keeps what was there before."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Example, Route, action
from armarium_documents.api import require_live
from armarium_reading_room.queries import VISITS
from armarium_reading_room.schemas import NoteVisit, Visit


def a_visit(ex: Example) -> dict[str, Any]:
    """Return the parameters of a visit to a document created for the purpose."""
    document = ex.run("document.create", {"name": "A letter"})
    return {"document_id": document["id"], "visitor": "Inés", "day": "2026-03-01", "remark": "the seal"}


@action(
    "reading_room.note_visit",
    summary="Note a visit to an original",
    words="Noted a visit to {document_id|a document}",
    result=Visit,
    route=Route("POST", "/api/documents/{document_id}/visits"),
    example=a_visit,
)
def note_visit(ctx: ActionContext, p: NoteVisit) -> dict[str, Any]:
    """Insert one row; refused if the document is in the Trash or does not exist."""
    require_live(ctx.conn, p.document_id)
    ctx.target(p.document_id)
    ctx.note_changes(document_ids=[p.document_id])
    return VISITS.insert(ctx.conn, p.model_dump(mode="json"))


@action(
    "reading_room.strike_visit",
    summary="Strike a visit that was noted by mistake",
    route=Route("DELETE", "/api/visits/{visit_id}", refusals=(404,)),
    example=lambda ex: {"visit_id": ex.run("reading_room.note_visit", a_visit(ex))["id"]},
)
def strike_visit(ctx: ActionContext, visit_id: str) -> None:
    """Delete the row; undo restores it as it was."""
    VISITS.delete(ctx.conn, visit_id)
    ctx.target(visit_id)
