"""Nodes over HTTP: list, read, view, make, change, place, delete, lock (A 4.2)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from armarium.api import REFUSALS, CurrentLibrary, act, json_response, raw_of, written
from armarium_documents.errors import unknown_document
from armarium_documents.queries import documents as queries
from armarium_documents.schemas.documents import (
    DeleteResult,
    DocType,
    Document,
    DocumentPage,
    DocumentView,
)

router = APIRouter(tags=["documents"])

Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=2**62)]
SortBy = Annotated[queries.SortKey, Query()]
Direction = Annotated[queries.SortDirection, Query()]


@router.get(
    "/api/documents",
    summary="The children of a folder, or what is at the top",
    response_model=DocumentPage,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def list_documents(
    library: CurrentLibrary,
    parent_id: Annotated[str | None, Query(max_length=64)] = None,
    prototype_key: Annotated[str | None, Query(max_length=200)] = None,
    doc_type: Annotated[DocType | None, Query()] = None,
    node_kind: Annotated[str | None, Query(max_length=64)] = None,
    sort_by: SortBy = "sort_order",
    sort_direction: Direction = "asc",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        items, total = queries.children_page(
            raw,
            parent_id,
            prototype_key=prototype_key,
            doc_type=doc_type,
            node_kind=node_kind,
            sort_by=sort_by,
            sort_direction=sort_direction,
            limit=limit,
            offset=offset,
        )
        if parent_id is not None and total == 0 and queries.document_bytes(raw, parent_id) is None:
            raise unknown_document(parent_id)
    return json_response(
        {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}
    )


@router.get(
    "/api/documents/{doc_id}",
    summary="One document",
    response_model=Document,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
async def read_document(library: CurrentLibrary, doc_id: str) -> Response:
    # The hot path: one statement on an open connection, well under a millisecond, so it stays on the event loop.
    with library.db.read() as conn:
        raw = raw_of(conn)
        body = queries.document_bytes(raw, doc_id)
    if body is None:
        raise unknown_document(doc_id)
    return Response(body, media_type="application/json")


@router.delete(
    "/api/documents/{doc_id}",
    summary="Send a document to the Trash",
    response_model=written(DeleteResult),
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def delete_document(request: Request, library: CurrentLibrary, doc_id: str) -> Response:
    return act(request, "document.delete", {"ids": [doc_id]})


@router.get(
    "/api/documents/{doc_id}/view",
    summary="A document with its ancestors, children and attachments",
    response_model=DocumentView,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def view_document(
    library: CurrentLibrary,
    doc_id: str,
    level: Annotated[Literal["stored", "content"], Query()] = "stored",
    children: Annotated[bool, Query()] = True,
    attachments: Annotated[bool, Query()] = True,
    sort_by: SortBy = "sort_order",
    sort_direction: Direction = "asc",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    offset: Offset = 0,
) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        found: dict[str, Any] = queries.view(
            raw,
            doc_id,
            level=level,
            children=children,
            attachments=attachments,
            sort_by=sort_by,
            sort_direction=sort_direction,
            limit=limit,
            offset=offset,
        )
    return json_response(found)
