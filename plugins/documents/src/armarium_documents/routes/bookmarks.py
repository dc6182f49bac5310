"""Bookmarks over HTTP (A 4.5)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from armarium.api import REFUSALS, CurrentLibrary, json_response, raw_of
from armarium_documents.queries import bookmarks as queries
from armarium_documents.schemas.bookmarks import BookmarkList
from armarium_documents.schemas.documents import Document

router = APIRouter(tags=["documents"])


@router.get(
    "/api/bookmarks",
    summary="The bookmarks, all or those of one container",
    response_model=BookmarkList,
    responses=REFUSALS(400, 401, 403, 404, 409, 422),
)
def list_bookmarks(
    library: CurrentLibrary, parent_id: Annotated[str | None, Query(max_length=64)] = None
) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        items = queries.bookmarks(raw, parent_id)
    return json_response({"items": items, "count": len(items)})


@router.get(
    "/api/bookmarks/{bookmark_id}/resolve",
    summary="The live document a bookmark points at",
    response_model=Document,
    responses=REFUSALS(400, 401, 403, 404, 409),
)
def resolve_bookmark(library: CurrentLibrary, bookmark_id: str) -> Response:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return json_response(queries.target_of(raw, bookmark_id))
