"""The biography of an entity as a file."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote

from fastapi import Response

from armarium.api import REFUSALS, CurrentLibrary, Router
from armarium_knowledge.biography import MEDIA, biography, file_name, write_biography

router = Router(tags=["entities"])


@router.get(
    "/api/entities/{entity_id}/export",
    summary="The biography of an entity as a file",
    response_class=Response,
    responses={
        200: {
            "description": "The file",
            "content": {
                kind: {"schema": {"type": "object" if kind == "application/json" else "string"}}
                for _, kind in MEDIA.values()
            },
        },
        **REFUSALS(400, 401, 403, 404, 409, 422),
    },
)
def export_biography(
    library: CurrentLibrary, entity_id: str, format: Literal["markdown", "text", "json"] = "markdown"
) -> Response:
    """Return names, description, dates, places, statements in order of time with citations, relations, sources."""
    with library.db.read() as conn:
        content = biography(conn, entity_id)
    name = file_name(content["entity"], format)
    plain = name.encode("ascii", "replace").decode().replace("?", "_").replace('"', "_")
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return Response(
        write_biography(content, format),
        media_type=MEDIA[format][1],
        headers={"Content-Disposition": disposition},
    )
