"""Bookmarks in a container, and what one points at."""

from __future__ import annotations

import sqlite3
from typing import Any

from armarium_documents.errors import dangling, not_an_alias, unknown_document
from armarium_documents.queries.documents import ONE, ORDER, SELECT, value_of


def bookmarks(raw: sqlite3.Connection, parent_id: str | None) -> list[dict[str, Any]]:
    """The live bookmarks under *parent_id*, or all of them; NotFound for an unknown container."""
    where = "d.prototype_key = 'bookmark' AND d.node_kind = 'alias' AND d.deleted_at IS NULL"
    if parent_id is not None:
        if raw.execute("SELECT 1 FROM document WHERE id = ?", (parent_id,)).fetchone() is None:
            raise unknown_document(parent_id)
        where += " AND d.parent_id = :parent"
    rows = raw.execute(f"{SELECT} FROM document d WHERE {where} ORDER BY {ORDER}", {"parent": parent_id})
    return [value_of(row) for row in rows]


def target_of(raw: sqlite3.Connection, bookmark_id: str) -> dict[str, Any]:
    """The live document a bookmark points at; NotFound when it points at nothing, is gone, or dangles."""
    row = raw.execute(
        "SELECT name, node_kind, alias_target_id FROM document WHERE id = ?", (bookmark_id,)
    ).fetchone()
    if row is None:
        raise unknown_document(bookmark_id)
    name, kind, target_id = row
    if kind != "alias" or target_id is None:
        raise not_an_alias(bookmark_id, name)
    found = raw.execute(f"{ONE} AND d.deleted_at IS NULL", (target_id,)).fetchone()
    if found is None:
        raise dangling(bookmark_id, name)
    return value_of(found)
