"""Bookmarks in a container, and what one points at."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import query, raw_of
from armarium_documents.errors import dangling, not_an_alias
from armarium_documents.models import documents
from armarium_documents.queries.documents import ONE, ORDER, SELECT, value_of
from armarium_documents.queries.tree import require_document
from armarium_documents.schemas.documents import BookmarkList, Document


@query(
    "/api/bookmarks",
    summary="The bookmarks, all or those of one container",
    answer=BookmarkList,
    refusals=(404, 409),
    name="list_bookmarks",
)
def bookmarks(
    conn: Connection, parent_id: Annotated[str | None, Query(max_length=64)] = None
) -> dict[str, Any]:
    """Return the live bookmarks; NotFound for an unknown container."""
    raw = raw_of(conn)
    is_bookmark = "d.prototype_key = 'bookmark' AND d.node_kind = 'alias' AND d.deleted_at IS NULL"
    if parent_id is not None:
        require_document(conn, parent_id)
        is_bookmark += " AND d.parent_id = :parent"
    rows = raw.execute(
        f"{SELECT} FROM document d WHERE {is_bookmark} ORDER BY {ORDER}", {"parent": parent_id}
    )
    items = [value_of(row) for row in rows]
    return {"items": items, "count": len(items)}


@query(
    "/api/bookmarks/{bookmark_id}/resolve",
    summary="The live document a bookmark points at",
    answer=Document,
    refusals=(404, 409),
    name="resolve_bookmark",
)
def target_of(conn: Connection, bookmark_id: str) -> dict[str, Any]:
    """NotFound when it points at nothing, is gone, or dangles."""
    raw = raw_of(conn)
    bookmark = require_document(conn, bookmark_id)
    of = select(documents.c.alias_target_id).where(documents.c.id == bookmark_id)
    target_id = conn.execute(of).scalar()
    if bookmark.node_kind != "alias" or target_id is None:
        raise not_an_alias(bookmark.name, bookmark_id)
    row = raw.execute(f"{ONE} AND d.deleted_at IS NULL", (target_id,)).fetchone()
    if row is None:
        raise dangling(bookmark.name, bookmark_id)
    return value_of(row)
