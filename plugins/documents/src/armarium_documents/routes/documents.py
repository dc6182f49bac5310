"""Routes of nodes that are neither one query nor one action: the most frequent read, and deletion by id."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from armarium.api import REFUSALS, AskedAsOf, CurrentLibrary, Library, act, raw_of, reading_past, written
from armarium_documents.errors import unknown_document
from armarium_documents.queries.documents import document_bytes
from armarium_documents.schemas.documents import DeleteResult, Document

router = APIRouter(tags=["documents"])


@router.get(
    "/api/documents/{doc_id}",
    summary="One document",
    response_model=Document,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
async def read_document(library: CurrentLibrary, doc_id: str, as_of: AskedAsOf = None) -> Response:
    if as_of is not None:
        body = await run_in_threadpool(_read_past, library, doc_id, as_of)
    else:
        # The hot path: one statement on an open connection, well under a millisecond, so it stays on the event loop.
        with library.db.read() as conn:
            body = document_bytes(raw_of(conn), doc_id)
    if body is None:
        raise unknown_document(doc_id)
    return Response(body, media_type="application/json")


def _read_past(library: Library, doc_id: str, as_of: str) -> bytes | None:
    with reading_past(library, as_of, [doc_id]), library.db.read() as conn:
        return document_bytes(raw_of(conn), doc_id)


@router.delete(
    "/api/documents/{doc_id}",
    summary="Send a document to the Trash",
    response_model=written(DeleteResult),
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def delete_document(request: Request, library: CurrentLibrary, doc_id: str) -> Response:
    return act(request, "document.delete", {"ids": [doc_id]})
