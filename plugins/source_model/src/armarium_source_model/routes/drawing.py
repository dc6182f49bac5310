"""The route of a page's picture with its lines and readings drawn."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from armarium.api import REFUSALS, CurrentLibrary
from armarium_documents.api import require_document
from armarium_source_model.queries.drawing import page_drawing_png

router = APIRouter(prefix="/api/segments", tags=["segments"])


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
    pass_id: Annotated[str | None, Query(description="the pass to draw; left out: the working pass")] = None,
    max_size: Annotated[int, Query(description="pixels of the page's longer side", ge=256, le=4096)] = 1600,
    labels: Annotated[bool, Query(description="numbers and readings too")] = True,
) -> Response:
    """PNG bytes; 404 for a page that has no pass yet, 409 for a withdrawn one. Changes nothing."""
    with library.db.read() as conn:
        require_document(conn, doc_id)
        png = page_drawing_png(library, conn, doc_id, pass_id=pass_id, max_size=max_size, labels=labels)
    return Response(png, media_type="image/png")
