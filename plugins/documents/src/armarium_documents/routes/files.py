"""The files of renditions and thumbnails over HTTP."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from armarium.api import REFUSALS, STORED_FILE, CurrentLibrary, stored_file
from armarium_documents.queries import files as queries

router = APIRouter(tags=["documents"])


@router.get(
    "/api/documents/{document_id}/renditions/{rendition_id}/content",
    summary="The bytes of a rendition",
    response_class=FileResponse,
    responses={
        200: {"content": {"image/*": {}, "application/pdf": {}, "audio/*": {}}, "description": "The bytes"},
        **STORED_FILE,
        **REFUSALS(400, 401, 403, 404, 409),
    },
)
def rendition_content(
    request: Request, library: CurrentLibrary, document_id: str, rendition_id: str
) -> Response:
    found = queries.rendition_file(library, document_id, rendition_id)
    return stored_file(request, found.path, found.mime_type, found.checksum, name=found.name)


@router.get(
    "/api/documents/{doc_id}/thumbnail",
    summary="A document's thumbnail, a JPEG of at most 512 pixels a side",
    response_class=FileResponse,
    responses={
        200: {"content": {"image/jpeg": {}}, "description": "The thumbnail"},
        **STORED_FILE,
        **REFUSALS(400, 401, 403, 404, 409),
    },
)
def thumbnail(request: Request, library: CurrentLibrary, doc_id: str) -> Response:
    path, checksum = queries.thumbnail_file(library, doc_id)
    return stored_file(request, path, "image/jpeg", f"{checksum}-{queries.THUMBNAIL_SIDE}")
