"""The HTTP of a canvas: its layout, its items, its picture."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act, json_response, raw_of
from armarium_canvas import schemas
from armarium_canvas.picture import draw_canvas
from armarium_canvas.queries import layout, require_canvas, scene
from armarium_documents.api import thumbnail_path

router = APIRouter(prefix="/api/canvas", tags=["canvas"])
WRITES = REFUSALS(400, 401, 403, 404, 409, 422)


@router.get(
    "/folders/{folder_id}/layout",
    summary="Where things lie on the canvas of a folder",
    response_model=schemas.Layout,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def read_layout(library: CurrentLibrary, folder_id: str) -> Response:
    with library.db.read() as conn:
        require_canvas(conn, folder_id)
        return json_response(layout(raw_of(conn), folder_id))


@router.put(
    "/folders/{folder_id}/layout",
    summary="Save where things lie on the canvas of a folder",
    response_model=schemas.LayoutWritten,
    responses=WRITES,
)
def save_layout(
    request: Request, library: CurrentLibrary, folder_id: str, body: schemas.LayoutBody
) -> Response:
    # Only what was sent, so that a field left out keeps the value it has.
    return act(request, "canvas.save_layout", {"folder_id": folder_id, **body.model_dump(exclude_unset=True)})


@router.post(
    "/folders/{folder_id}/items",
    summary="Put a note, text or link on the canvas of a folder",
    response_model=schemas.ItemWritten,
    responses=WRITES,
)
def create_item(
    request: Request, library: CurrentLibrary, folder_id: str, body: schemas.ItemBody
) -> Response:
    return act(request, "canvas.item_create", {"folder_id": folder_id, **body.model_dump()})


@router.patch(
    "/items/{item_id}",
    summary="Change a canvas item",
    response_model=schemas.ItemWritten,
    responses=WRITES,
)
def update_item(request: Request, library: CurrentLibrary, item_id: str, body: schemas.ItemPatch) -> Response:
    return act(request, "canvas.item_update", {"item_id": item_id, **body.model_dump(exclude_unset=True)})


@router.delete(
    "/items/{item_id}",
    summary="Take an item off the canvas",
    response_model=schemas.ItemDeletedWritten,
    responses=WRITES,
)
def delete_item(request: Request, library: CurrentLibrary, item_id: str) -> Response:
    return act(request, "canvas.item_delete", {"item_id": item_id})


@router.get(
    "/folders/{folder_id}/canvas-picture",
    summary="The canvas of a folder as a picture",
    response_class=Response,
    responses={
        200: {"content": {"image/png": {}}, "description": "The picture"},
        **REFUSALS(400, 401, 403, 404, 409, 422),
    },
)
def canvas_picture(
    library: CurrentLibrary,
    folder_id: str,
    max_size: Annotated[int, Query(ge=256, le=4096, description="Pixels of the longest side")] = 1600,
) -> Response:
    with library.db.read() as conn:
        require_canvas(conn, folder_id)
        found = scene(conn, folder_id)
    picture = draw_canvas(found, lambda checksum: thumbnail_path(library, checksum), max_size)
    return Response(picture, media_type="image/png")
