"""Routes of readings and of the text of a page (B 4.2)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response
from armarium_source_model.errors import PROVISIONAL
from armarium_source_model.queries.compare import compare_readings
from armarium_source_model.queries.legacy import old_segment
from armarium_source_model.queries.passes import notice_of_text_elsewhere, read_elsewhere, reading_rule
from armarium_source_model.queries.provisional_text import IS_PROVISIONAL, is_provisional, provisional_text
from armarium_source_model.queries.readings import confidences, readings_of
from armarium_source_model.queries.segments import get_segment
from armarium_source_model.queries.text import page_text
from armarium_source_model.schemas.compare import CompareBody, Comparison
from armarium_source_model.schemas.readings import (
    PageText,
    ReadingList,
)

router = APIRouter(prefix="/api/segments", tags=["readings"])
pages = APIRouter(prefix="/api/documents", tags=["readings"])


@router.get(
    "/{segment_id}/readings",
    summary="The readings of a segment",
    response_model=ReadingList,
    responses=REFUSALS(404),
)
def read_readings(library: CurrentLibrary, segment_id: str, kind: str | None = None) -> Response:
    """All of them, retracted ones too, naming the one that counts for each kind."""
    with library.db.read() as conn:
        if segment_id.startswith(PROVISIONAL):
            old, segment = old_segment(conn, segment_id)
            text = segment["text"] if kind in (None, "transcription") else None
            return json_response(old.as_readings(segment_id, text))
        get_segment(conn, segment_id)
        return json_response(readings_of(conn, segment_id, kind=kind, rule=reading_rule(conn)))


@router.get(
    "/document/{document_id}/text",
    summary="The text of a page",
    response_model=PageText,
    responses=REFUSALS(404, 409),
)
def read_text(
    library: CurrentLibrary,
    document_id: str,
    pass_id: str | None = None,
    order: Annotated[
        str | None, Query(description="a reading order's id; none: the order of the boxes")
    ] = None,
    include_furniture: bool = False,
    confidence: Annotated[
        bool, Query(description="whether each span says how sure its reader was, 0 to 1")
    ] = False,
) -> Response:
    """Worked out from the counting readings of the pass the page is read by; never stored."""
    with library.db.read() as conn:
        provisional = pass_id is not None and is_provisional(pass_id)
        if pass_id is not None and provisional:
            found = provisional_text(library, conn, document_id, pass_id, order)
        else:
            found = page_text(
                conn,
                document_id,
                pass_id=pass_id,
                order_id=order,
                include_furniture=include_furniture,
                rule=reading_rule(conn),
            )
        hidden = None if pass_id is not None or found.text else found.pass_id
        notice = IS_PROVISIONAL if provisional else notice_of_text_elsewhere(conn, document_id, hidden)
        elsewhere = read_elsewhere(conn, document_id, hidden)
        answer = found.answer()
        if confidence:
            sure = confidences(conn, (span["representation_id"] for span in answer["spans"]))
            answer["spans"] = [
                {**span, "confidence": sure.get(span["representation_id"])} for span in answer["spans"]
            ]
    return json_response({**answer, "read_elsewhere": elsewhere, "notice": notice})


@pages.post(
    "/{document_id}/readings/compare",
    summary="Compare two readings of a page",
    response_model=Comparison,
    responses=REFUSALS(404, 409),
)
def compare(library: CurrentLibrary, document_id: str, body: CompareBody) -> Response:
    """The one character error rate of this engine under each policy asked for; 422 where it would mean nothing."""
    with library.db.read() as conn:
        return json_response(compare_readings(library, conn, document_id, body, reading_rule(conn)))
