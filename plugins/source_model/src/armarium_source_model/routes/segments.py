"""Routes of passes and segments (B 4.1)."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import Connection

from armarium.api import REFUSALS, CurrentLibrary, Invalid, NotFound, act, json_response, written
from armarium_documents.api import require_document
from armarium_source_model.errors import PROVISIONAL, NoSuchSegment
from armarium_source_model.geometry import validate_rect
from armarium_source_model.queries.forwarding import follow, home_of_taken_back
from armarium_source_model.queries.legacy import narrowed, old_geometry_of, old_pass, old_segment
from armarium_source_model.queries.passes import (
    get_pass,
    list_passes,
    notice_of_text_elsewhere,
    reading_rule,
)
from armarium_source_model.queries.pictures import LARGEST, SMALLEST, USUAL, segment_picture
from armarium_source_model.queries.segments import (
    Area,
    find_segment,
    get_segment,
    list_segments,
    parsed_answers,
    segment_versions,
)
from armarium_source_model.schemas.fields import SegmentKind
from armarium_source_model.schemas.segments import (
    SegmentListResponse,
    SegmentOut,
    SegmentUpdate,
    SegmentVersionList,
    SegmentView,
)

router = APIRouter(prefix="/api/segments", tags=["segments"])


def parse_area(text: str | None) -> Area | None:
    """`x,y,w,h` of a query as a checked rect; Invalid in words."""
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise Invalid(f"area is {text[:80]!r}; send x,y,w,h as four fractions of the image.") from None
    return validate_rect(numbers, what="The area")


@router.get(
    "/document/{doc_id}",
    summary="The passes and segments of a page",
    response_model=SegmentListResponse,
    responses=REFUSALS(404),
)
def list_of_page(
    library: CurrentLibrary,
    doc_id: str,
    artifact_id: str | None = None,
    pass_id: str | None = None,
    kind: SegmentKind | None = None,
    area: Annotated[str | None, Query(description="x,y,w,h in image fractions")] = None,
) -> Response:
    """Every live segment of every live pass, or those of one pass, one artifact, one kind, or in an area."""
    rect = parse_area(area)
    with library.db.read() as conn:
        rule = reading_rule(conn)
        require_document(conn, doc_id)
        old = old_geometry_of(conn, doc_id)
        if pass_id is not None and _page_of_pass(conn, pass_id) != doc_id:
            raise NotFound(f"Pass {pass_id} is not one of document {doc_id}.")
        passes = [one.as_pass() for one in old] + list_passes(conn, doc_id, rule)
        segments = list_segments(
            conn, doc_id, pass_id=pass_id, artifact_id=artifact_id, kind=kind, area=rect, rule=rule
        )
        if old and rect is None:
            segments = narrowed(old, pass_id=pass_id, artifact_id=artifact_id, kind=kind) + segments
        read_by = next((one["id"] for one in passes if one["working_basis"]), None)
        notice = notice_of_text_elsewhere(conn, doc_id, read_by)
    found = {"document_id": doc_id, "passes": passes, "segments": segments, "notice": notice}
    return json_response(orjson.dumps(found))


def _page_of_pass(conn: Connection, pass_id: str) -> str:
    if pass_id.startswith(PROVISIONAL):
        return old_pass(conn, pass_id).document_id
    return str(get_pass(conn, pass_id).document_id)


@router.put(
    "/{segment_id}",
    summary="Change a segment",
    response_model=written(SegmentOut),
    responses=REFUSALS(404, 409),
)
def update_segment(request: Request, segment_id: str, body: SegmentUpdate) -> Response:
    """Refused (409) when the segment changed since the version the caller read; the answer names what moved."""
    if body.segment_id != segment_id:
        raise Invalid(f"The path names segment {segment_id}, the body {body.segment_id}; they must agree.")
    return act(request, "segment.update", body)


@router.get("/{segment_id}", summary="One segment", response_model=SegmentView, responses=REFUSALS(404))
def read_segment(library: CurrentLibrary, segment_id: str) -> Response:
    """The live row; where the id was merged, split or deleted, what became of it."""
    with library.db.read() as conn:
        if segment_id.startswith(PROVISIONAL):
            return json_response(
                {
                    "segment": old_segment(conn, segment_id)[1],
                    "resolved_from_forwarding": False,
                    "trail": [],
                    "live_segment_ids": [segment_id],
                    "deleted": False,
                }
            )
        trail, live = follow(conn, segment_id)
        # The part that kept the asked id, else the first part, else the withdrawn row itself.
        shown: str | None = segment_id if segment_id in live or not live else live[0]
        if not live and find_segment(conn, segment_id) is None:
            if not trail and home_of_taken_back(conn, segment_id) is None:
                raise NoSuchSegment(segment_id)
            shown = None
        segment = parsed_answers(conn, [shown], reading_rule(conn))[0] if shown is not None else None
    newest = next((note for note in reversed(trail) if note["old_segment_id"] == segment_id), None)
    elsewhere = bool(live) or (newest is not None and newest["kind"] in ("merged", "split", "deleted"))
    forwarded = elsewhere and live != [segment_id]
    return json_response(
        {
            "segment": segment,
            "resolved_from_forwarding": forwarded,
            "trail": trail,
            "live_segment_ids": live,
            "deleted": not live,
        }
    )


@router.get(
    "/{segment_id}/versions",
    summary="The versions of a segment",
    response_model=SegmentVersionList,
    responses=REFUSALS(404),
)
def read_versions(library: CurrentLibrary, segment_id: str) -> Response:
    """Out of its history, oldest first; empty as long as it never changed."""
    with library.db.read() as conn:
        if segment_id.startswith(PROVISIONAL):
            # A box of an older blob never changes as a segment does; nothing of it is recorded.
            old_segment(conn, segment_id)
            items = []
        else:
            get_segment(conn, segment_id)
            items = segment_versions(conn, segment_id)
    return json_response({"segment_id": segment_id, "items": items, "count": len(items)})


@router.get(
    "/{segment_id}/picture",
    summary="The picture of a segment",
    response_class=Response,
    responses={
        **REFUSALS(404),
        200: {"content": {"image/png": {}}, "description": "The segment's own area with a margin around it."},
    },
)
def read_picture(
    library: CurrentLibrary,
    segment_id: str,
    mask: Annotated[bool, Query(description="white outside the polygon")] = False,
    straighten: Annotated[bool, Query(description="level along the baseline")] = False,
    size: Annotated[int, Query(description="pixels of the longer side", ge=SMALLEST, le=LARGEST)] = USUAL,
) -> Response:
    """PNG bytes; 422 in words when no honest picture can be made, as when it was measured on another image."""
    with library.db.read() as conn:
        png = segment_picture(library, conn, segment_id, mask=mask, straighten=straighten, size=size)
    return Response(png, media_type="image/png")
