"""Queries about a page and its segments, which mix provisional segments of older results with real ones."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import AsOf, Invalid, Library, NotFound, query
from armarium_documents.api import require_document
from armarium_source_model.errors import PROVISIONAL, unknown_segment
from armarium_source_model.geometry import validate_rect
from armarium_source_model.models import segments
from armarium_source_model.queries.forwarding import follow, home_of_taken_back
from armarium_source_model.queries.legacy import narrow_segments, old_geometry_of, old_pass, old_segment
from armarium_source_model.queries.passes import (
    get_pass,
    list_passes,
    notice_of_text_elsewhere,
    read_elsewhere,
    reading_rule,
)
from armarium_source_model.queries.provisional_text import IS_PROVISIONAL, is_provisional, provisional_text
from armarium_source_model.queries.readings import readings_named, readings_of
from armarium_source_model.queries.segments import (
    Area,
    find_segment,
    get_segment,
    list_segments,
    parsed_answers,
    segment_versions,
)
from armarium_source_model.queries.text import page_text
from armarium_source_model.schemas.fields import SegmentKind
from armarium_source_model.schemas.readings import PageText, ReadingList
from armarium_source_model.schemas.segments import SegmentListResponse, SegmentVersionList, SegmentView


def parse_area(text: str | None) -> Area | None:
    """Parse `x,y,w,h` of a query into a checked rect; Invalid with the reason."""
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise Invalid(f"area is {text[:80]!r}; send x,y,w,h as four fractions of the image.") from None
    return validate_rect(numbers, what="The area")


@query(
    "/api/segments/document/{doc_id}",
    summary="The passes and segments of a page",
    answer=SegmentListResponse,
    as_of=AsOf("doc_id"),
)
def list_of_page(
    conn: Connection,
    doc_id: str,
    artifact_id: str | None = None,
    pass_id: str | None = None,
    kind: SegmentKind | None = None,
    area: Annotated[str | None, Query(description="x,y,w,h in image fractions")] = None,
) -> dict[str, Any]:
    """List every live segment of every live pass, or those of one pass, artifact, kind, or in an area."""
    rect = parse_area(area)
    rule = reading_rule(conn)
    require_document(conn, doc_id)
    old = old_geometry_of(conn, doc_id)
    if pass_id is not None and _page_of_pass(conn, pass_id) != doc_id:
        raise NotFound(f"Pass {pass_id} does not belong to document {doc_id}.")
    passes = [old_geometry.as_pass() for old_geometry in old] + list_passes(conn, doc_id, rule)
    segments = list_segments(
        conn, doc_id, pass_id=pass_id, artifact_id=artifact_id, kind=kind, area=rect, rule=rule
    )
    if old and rect is None:
        segments = narrow_segments(old, pass_id=pass_id, artifact_id=artifact_id, kind=kind) + segments
    read_by = next((row["id"] for row in passes if row["working_basis"]), None)
    notice = notice_of_text_elsewhere(conn, doc_id, read_by)
    return {"document_id": doc_id, "passes": passes, "segments": segments, "notice": notice}


def _page_of_pass(conn: Connection, pass_id: str) -> str:
    if pass_id.startswith(PROVISIONAL):
        return old_pass(conn, pass_id).document_id
    return str(get_pass(conn, pass_id).document_id)


@query(
    "/api/segments/{segment_id}",
    summary="One segment",
    answer=SegmentView,
    as_of=AsOf("segment_id", segments),
)
def read_segment(conn: Connection, segment_id: str) -> dict[str, Any]:
    """Return the live row; if the id was merged, split or deleted, what became of it."""
    if segment_id.startswith(PROVISIONAL):
        return {
            "segment": old_segment(conn, segment_id)[1],
            "resolved_from_forwarding": False,
            "trail": [],
            "live_segment_ids": [segment_id],
            "deleted": False,
        }
    trail, live = follow(conn, segment_id)
    # The part that kept the asked id, else the first part, else the withdrawn row itself.
    shown_id: str | None = segment_id if segment_id in live or not live else live[0]
    if not live and find_segment(conn, segment_id) is None:
        if not trail and home_of_taken_back(conn, segment_id) is None:
            raise unknown_segment(segment_id)
        shown_id = None
    segment = parsed_answers(conn, [shown_id], reading_rule(conn))[0] if shown_id is not None else None
    newest = next((note for note in reversed(trail) if note["old_segment_id"] == segment_id), None)
    elsewhere = bool(live) or (newest is not None and newest["kind"] in ("merged", "split", "deleted"))
    return {
        "segment": segment,
        "resolved_from_forwarding": elsewhere and live != [segment_id],
        "trail": trail,
        "live_segment_ids": live,
        "deleted": not live,
    }


@query("/api/segments/{segment_id}/versions", summary="The versions of a segment", answer=SegmentVersionList)
def read_versions(conn: Connection, segment_id: str) -> dict[str, Any]:
    """Return the versions from its history, oldest first; empty if it never changed."""
    items: list[dict[str, Any]] = []
    if segment_id.startswith(PROVISIONAL):
        # A box of an older blob has no versions.
        old_segment(conn, segment_id)
    else:
        get_segment(conn, segment_id)
        items = segment_versions(conn, segment_id)
    return {"segment_id": segment_id, "items": items, "count": len(items)}


@query(
    "/api/segments/{segment_id}/readings",
    summary="The readings of a segment",
    answer=ReadingList,
    as_of=AsOf("segment_id", segments),
)
def read_readings(conn: Connection, segment_id: str, kind: str | None = None) -> dict[str, Any]:
    """Return all readings, including retracted ones, and the one that counts for each kind."""
    if segment_id.startswith(PROVISIONAL):
        old, segment = old_segment(conn, segment_id)
        return old.as_readings(segment_id, segment["text"] if kind in (None, "transcription") else None)
    get_segment(conn, segment_id)
    return readings_of(conn, segment_id, kind=kind, rule=reading_rule(conn))


@query(
    "/api/segments/document/{document_id}/text",
    summary="The text of a page",
    answer=PageText,
    refusals=(404, 409),
    as_of=AsOf("document_id"),
)
def read_text(
    conn: Connection,
    library: Library,
    document_id: str,
    pass_id: str | None = None,
    order: Annotated[
        str | None, Query(description="a reading order's id; default: the order of the boxes")
    ] = None,
    include_furniture: bool = False,
    confidence: Annotated[
        bool, Query(description="include the confidence of each span's reading, 0 to 1")
    ] = False,
) -> dict[str, Any]:
    """Derive the text from the counting readings of the pass the page is read by; it is not stored."""
    provisional = pass_id is not None and is_provisional(pass_id)
    if pass_id is not None and provisional:
        page = provisional_text(library, conn, document_id, pass_id, order)
    else:
        page = page_text(
            conn,
            document_id,
            pass_id=pass_id,
            order_id=order,
            include_furniture=include_furniture,
            rule=reading_rule(conn),
        )
    hidden = None if pass_id is not None or page.text else page.pass_id
    answer = page.answer()
    if confidence:
        readings_by_id = readings_named(conn, [span["representation_id"] for span in answer["spans"]])
        for span in answer["spans"]:
            reading = readings_by_id.get(span["representation_id"])
            span["confidence"] = reading.confidence if reading is not None else None
    notice = IS_PROVISIONAL if provisional else notice_of_text_elsewhere(conn, document_id, hidden)
    return {**answer, "read_elsewhere": read_elsewhere(conn, document_id, hidden), "notice": notice}
