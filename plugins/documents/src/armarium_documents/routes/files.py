"""Renditions, thumbnails and representations over HTTP (A 4.2, 4.6)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from armarium.api import REFUSALS, STORED_FILE, CurrentLibrary, json_response, raw_of, stored_file
from armarium_documents.queries import files as queries
from armarium_documents.schemas.files import (
    RenditionList,
    Representation,
    Revision,
)

router = APIRouter(tags=["documents"])


@router.get(
    "/api/documents/{document_id}/renditions",
    summary="A document's renditions, the primary first",
    response_model=RenditionList,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def list_renditions(library: CurrentLibrary, document_id: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.rendition_list(raw, document_id))


@router.get(
    "/api/documents/{document_id}/renditions/{rendition_id}/content",
    summary="The bytes of a rendition",
    response_class=FileResponse,
    responses={
        200: {"content": {"image/*": {}, "application/pdf": {}}, "description": "The bytes"},
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


@router.get(
    "/api/content-representations/document/{document_id}",
    summary="A document's representations, oldest first",
    response_model=list[Representation],
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def list_representations(library: CurrentLibrary, document_id: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.representation_values(raw, document_id))


@router.get(
    "/api/content-representations/{representation_id}/revisions",
    summary="A representation's revisions, in order",
    response_model=list[Revision],
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def list_revisions(library: CurrentLibrary, representation_id: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.revision_values(raw, representation_id))
