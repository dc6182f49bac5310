"""Moves nodes to the Trash and restores them."""

from __future__ import annotations

from typing import Any

import orjson

from armarium.api import ActionContext, Route, action, raw_of
from armarium_documents.api import require_document, sources_folder
from armarium_documents.errors import in_trash, not_in_trash, sources_stays, still_arriving
from armarium_documents.queries.transfers import arriving
from armarium_documents.queries.tree import (
    Node,
    find_node,
    folder_path,
    id_list,
    next_sort_order,
    nodes_of,
    topmost,
)
from armarium_documents.schemas.documents import DeleteParams, DeleteResult
from armarium_documents.schemas.fields import Id
from armarium_documents.schemas.trash import RestoreResult


@action(
    "document.delete",
    result=DeleteResult,
    summary="Send nodes to the Trash, with what lies under them.",
    route=Route("POST", "/api/documents/delete", name="delete_many"),
    words="Sent {ids|documents} to the Trash",
)
def delete(ctx: ActionContext, p: DeleteParams) -> dict[str, Any]:
    """Raises NotFound, Conflict for a node already in the Trash or the folder Sources, Forbidden by a lock."""
    nodes = nodes_of(ctx.conn, p.ids)
    for node in nodes:
        if node.deleted_at is not None:
            raise in_trash(node.name, node.id)
        if node.system_key == "sources":
            raise sources_stays("deleted")
    tops = topmost(ctx.conn, p.ids)
    trashed = send_to_trash(ctx, [node for node in nodes if node.id in set(tops)])
    ctx.target(*tops)
    ctx.note_changes(document_ids=trashed)
    return {
        "status": "deleted",
        "id": tops[0] if len(tops) == 1 else None,
        "ids": tops,
        "item_count": len(trashed),
    }


def send_to_trash(ctx: ActionContext, tops: list[Node], info: dict[str, Any] | None = None) -> list[str]:
    """Mark *tops* and the live nodes below them as deleted, each top as one item; returns every id that was
    deleted.

    *info* is added to the Trash entry of each (a transfer records where the item moved to).
    """
    raw = raw_of(ctx.conn)
    removed_ids: list[str] = []
    for node in tops:
        rows = raw.execute(
            "WITH RECURSIVE down(id) AS (VALUES (?)"
            " UNION SELECT c.id FROM down JOIN document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL)"
            " SELECT id FROM down",
            (node.id,),
        )
        ids = [row[0] for row in rows]
        raw.execute(
            "UPDATE document SET deleted_at = ?, deleted_by = ?, trash_root_id = ?, updated_at = ?"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (ctx.now, ctx.principal.name, node.id, ctx.now, id_list(ids)),
        )
        stored = {
            "reason": "deleted",
            "from_folder_id": node.parent_id,
            "from_folder_path": folder_path(ctx.conn, node.parent_id) if node.parent_id else None,
            **(info or {}),
        }
        raw.execute(
            "UPDATE document SET trash_info = ? WHERE id = ?", (orjson.dumps(stored).decode(), node.id)
        )
        removed_ids += ids
    return removed_ids


@action(
    "document.restore",
    result=RestoreResult,
    summary="Restore something from the Trash: to its old folder, else to the project's Sources folder.",
    route=Route("POST", "/api/documents/{doc_id}/restore", fields={"doc_id": "document_id"}),
    words="Restored {document_id|a document} from the Trash",
)
def restore(ctx: ActionContext, document_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it is not in the Trash, Forbidden if its folder is locked."""
    node = require_document(ctx.conn, document_id)
    if node.deleted_at is None:
        raise not_in_trash(node.name, node.id)
    if node.trash_root_id in arriving(raw_of(ctx.conn)):
        raise still_arriving(node.name, node.id)
    parent = find_node(ctx.conn, node.parent_id) if node.parent_id is not None else None
    into_sources = parent is not None and parent.deleted_at is not None
    folder = sources_folder(ctx.conn) if into_sources else parent
    raw = raw_of(ctx.conn)
    rows = raw.execute(
        "WITH RECURSIVE down(id) AS (VALUES (:id) UNION SELECT c.id FROM down"
        " JOIN document c ON c.parent_id = down.id WHERE c.trash_root_id = :root) SELECT id FROM down",
        {"id": node.id, "root": node.trash_root_id},
    )
    ids = [row[0] for row in rows]
    raw.execute(
        "UPDATE document SET deleted_at = NULL, deleted_by = NULL, trash_root_id = NULL, trash_info = NULL,"
        " updated_at = ? WHERE id IN (SELECT value FROM json_each(?))",
        (ctx.now, id_list(ids)),
    )
    if into_sources:
        assert folder is not None
        raw.execute(
            "UPDATE document SET parent_id = ?, sort_order = ? WHERE id = ?",
            (folder.id, next_sort_order(ctx.conn, folder.id), node.id),
        )
    ctx.target(node.id)
    ctx.note_changes(document_ids=ids)
    place = f"in “{folder.name}”" if folder is not None else "at the top of the project"
    message = f"“{node.name}” is back {place}."
    if into_sources:
        assert parent is not None
        message = f"“{node.name}” is back in Sources, because its old folder “{parent.name}” is in the Trash."
    return {
        "document_id": node.id,
        "folder_id": folder.id if folder is not None else None,
        "folder_name": folder.name if folder is not None else None,
        "into_sources": into_sources,
        "folder_in_trash_id": (parent.trash_root_id or parent.id)
        if into_sources and parent is not None
        else None,
        "message": message,
    }
