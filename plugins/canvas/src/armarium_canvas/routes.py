"""The picture of a canvas over HTTP; its query and its actions declare the other routes."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from armarium.api import REFUSALS, CurrentLibrary, Router
from armarium_canvas.picture import draw_canvas
from armarium_canvas.queries import require_canvas, scene
from armarium_documents.api import thumbnail_path

router = Router(prefix="/api/canvas", tags=["canvas"])


@router.get(
    "/folders/{folder_id}/canvas-picture",
    summary="The canvas of a folder as a picture",
    response_class=Response,
    responses={
        200: {"content": {"image/png": {}}, "description": "The picture"},
        **REFUSALS(404, 409),
    },
)
def canvas_picture(
    library: CurrentLibrary,
    folder_id: str,
    max_size: Annotated[int, Query(ge=256, le=4096, description="Pixels of the longest side")] = 1600,
) -> Response:
    with library.db.read() as conn:
        require_canvas(conn, folder_id)
        scene_of_folder = scene(conn, folder_id)
    picture = draw_canvas(scene_of_folder, lambda checksum: thumbnail_path(library, checksum), max_size)
    return Response(picture, media_type="image/png")
