"""The project folder of a folder inside a synced one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from armarium.api import raw_of
from armarium_documents.api import clean_name, documents, find_node, sources_folder

_CHILD = (
    f"SELECT id FROM {documents} WHERE parent_id = ? AND name = ? AND doc_type = 'folder'"
    " AND deleted_at IS NULL ORDER BY id LIMIT 1"
)


def folder_for(
    conn: Connection, folder: Row[Any], names: Sequence[str], run: Callable[[str, dict[str, Any]], Any]
) -> str:
    """Return the node for *names* below the project folder that came from *folder*, else below Sources; *run*
    creates missing ones.
    """
    node = find_node(conn, folder.root_id) if folder.root_id is not None else None
    parent = node.id if node is not None and node.deleted_at is None else sources_folder(conn).id
    is_known = True
    for name in map(clean_name, names):
        row = raw_of(conn).execute(_CHILD, (parent, name)).fetchone() if is_known else None
        is_known = row is not None
        parent = row[0] if row else run("document.create", {"name": name, "parent_id": parent})["id"]
    return str(parent)
