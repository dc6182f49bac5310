"""The HTTP of the reading room: a request in, an action or a query out."""

from __future__ import annotations

from datetime import date

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from armarium.api import REFUSALS, CurrentLibrary, act, json_response
from armarium_reading_room.queries import visits_of
from armarium_reading_room.schemas import Visits, VisitWritten

router = APIRouter(tags=["reading room"])


class VisitBody(BaseModel, extra="forbid"):
    visitor: str
    day: date
    remark: str | None = None


@router.get(
    "/api/documents/{document_id}/visits",
    summary="Who looked at the original",
    response_model=Visits,
    responses=REFUSALS(404),
)
def list_visits(library: CurrentLibrary, document_id: str) -> Response:
    with library.db.read() as conn:
        items = visits_of(conn, document_id)
    return json_response({"items": items, "count": len(items)})


@router.post(
    "/api/documents/{document_id}/visits",
    summary="Note a visit",
    response_model=VisitWritten,
    responses=REFUSALS(404, 409),
)
def note(request: Request, document_id: str, body: VisitBody) -> Response:
    return act(
        request, "reading_room.note_visit", {"document_id": document_id, **body.model_dump(mode="json")}
    )
