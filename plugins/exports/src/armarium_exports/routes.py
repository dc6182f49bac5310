"""The bytes of exports that were prepared for saving."""

from __future__ import annotations

from typing import Any

from fastapi import Response
from fastapi.responses import FileResponse

from armarium.api import REFUSALS, CurrentLibrary, CurrentPrincipal, Router
from armarium_exports.downloads import PreparedExports, find_prepared, prepared_for

router = Router(tags=["export"])


@router.get(
    "/api/export/downloads",
    summary="Exports that can be saved",
    response_model=PreparedExports,
    responses=REFUSALS(),
)
def list_downloads(library: CurrentLibrary, principal: CurrentPrincipal) -> dict[str, Any]:
    """Those that were prepared within the hour for the same token, the newest first."""
    exports = prepared_for(library, principal)
    return {"exports": exports, "count": len(exports)}


@router.get(
    "/api/export/downloads/{download_id}",
    summary="The bytes of an export that was prepared (export.download)",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The file, to be saved"},
        **REFUSALS(404),
    },
)
def save_download(library: CurrentLibrary, principal: CurrentPrincipal, download_id: str) -> Response:
    """Answered for an hour to the token that had it made; 403 where something in it was withheld since."""
    path, media_type, name = find_prepared(library, principal, download_id)
    return FileResponse(path, media_type=media_type, filename=name, headers={"Cache-Control": "no-store"})
