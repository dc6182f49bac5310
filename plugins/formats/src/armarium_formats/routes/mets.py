"""METS files that pages came in by, over HTTP (B 4.5)."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from armarium.api import REFUSALS, STORED_FILE, CurrentLibrary, json_response, stored_file
from armarium_formats.queries import mets as queries
from armarium_formats.schemas.mets import MetsFiles

router = APIRouter(tags=["formats"])


@router.get(
    "/api/documents/{doc_id}/mets",
    summary="The METS files that the pages of a folder came in by: description, pages, logical structure",
    response_model=MetsFiles,
    responses=REFUSALS(404),
)
def mets_of(library: CurrentLibrary, doc_id: str) -> Response:
    with library.db.read() as conn:
        return json_response(queries.mets_of(conn, doc_id))


@router.get(
    "/api/documents/{doc_id}/mets/{mets_id}/original",
    summary="A METS file that pages came in by, byte for byte",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The bytes"},
        **STORED_FILE,
        **REFUSALS(404),
    },
)
def original_mets(request: Request, library: CurrentLibrary, doc_id: str, mets_id: str) -> Response:
    found = queries.original_mets(library, doc_id, mets_id)
    return stored_file(
        request, found.path, "application/octet-stream", found.checksum, name=found.filename, save=True
    )
