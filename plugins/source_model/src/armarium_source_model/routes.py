"""Picture routes, and the two writes that must inspect their body first; all others are declared with their
action or query.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, Invalid, Router, act, written
from armarium_documents.api import require_document
from armarium_source_model.queries.drawing import page_drawing_png
from armarium_source_model.queries.pictures import LARGEST, SMALLEST, USUAL, segment_picture
from armarium_source_model.schemas.segments import SegmentOut, SegmentUpdate
from armarium_source_model.schemas.settings import ResolvedSettings, SettingPut

router = Router(prefix="/api/segments", tags=["segments"])
settings = Router(prefix="/api/source-settings", tags=["source settings"])


@router.get(
    "/document/{doc_id}/picture",
    summary="A page drawn with its lines and readings",
    response_class=Response,
    responses={
        **REFUSALS(404, 409),
        200: {
            "content": {"image/png": {}},
            "description": "The page, its lines, and the readings beside it.",
        },
    },
)
def read_drawing(
    library: CurrentLibrary,
    doc_id: str,
    pass_id: Annotated[str | None, Query(description="the pass to draw; default: the working pass")] = None,
    max_size: Annotated[int, Query(description="pixels of the page's longer side", ge=256, le=4096)] = 1600,
    labels: Annotated[bool, Query(description="include numbers and readings")] = True,
    words: Annotated[
        bool, Query(description="also outline words, where it is known where they stand")
    ] = False,
) -> Response:
    """Return PNG bytes; 404 for a page without a pass, 409 for a withdrawn one."""
    with library.db.read() as conn:
        require_document(conn, doc_id)
        png = page_drawing_png(
            library, conn, doc_id, pass_id=pass_id, max_size=max_size, labels=labels, words=words
        )
    return Response(png, media_type="image/png")


@router.put(
    "/{segment_id}",
    summary="Change a segment",
    response_model=written(SegmentOut),
    responses=REFUSALS(404, 409),
)
def update_segment(request: Request, segment_id: str, body: SegmentUpdate) -> Response:
    """Refused (409) if the segment changed since the version the caller read; the answer names the changed
    fields.
    """
    if body.segment_id != segment_id:
        raise Invalid(f"The path names segment {segment_id}, the body {body.segment_id}; they must agree.")
    return act(request, "segment.update", body)


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
    """Return PNG bytes; 422 if no correct picture can be made, for instance if it was measured on another
    image.
    """
    with library.db.read() as conn:
        png = segment_picture(library, conn, segment_id, mask=mask, straighten=straighten, size=size)
    return Response(png, media_type="image/png")


@settings.put(
    "",
    summary="State a fact, or clear it",
    response_model=written(ResolvedSettings),
    responses=REFUSALS(404, 409),
)
def put(request: Request, body: SettingPut) -> Response:
    """An empty value clears the fact. Facts of a segment belong to the segment's own update."""
    if not body.value:
        return act(request, "source_setting.clear", body.model_dump(exclude={"value"}))
    return act(request, "source_setting.set", body)
