"""Creates bookmarks: alias nodes that point at a document."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, action
from armarium_documents.api import document, documents, require_live, require_parent
from armarium_documents.errors import alias_of_alias
from armarium_documents.new_nodes import new_row
from armarium_documents.queries.tree import require_depth
from armarium_documents.schemas.documents import BookmarkCreate, Document


@action(
    "bookmark.create",
    result=Document,
    summary="Bookmark a document: a node that points at it and is resolved when it is read.",
    route=Route("POST", "/api/bookmarks", status=201),
    words="Bookmarked {target_id|a document}",
)
def create(ctx: ActionContext, p: BookmarkCreate) -> dict[str, Any]:
    """Raises NotFound or Conflict for a target or parent missing or in the Trash, Invalid for an alias."""
    target = require_live(ctx.conn, p.target_id)
    if target.node_kind == "alias":
        raise alias_of_alias(target.name, target.id)
    require_parent(ctx.conn, p.parent_id, "file", "alias")
    require_depth(ctx.conn, p.parent_id)
    row = new_row(
        ctx,
        name=p.name or target.name,
        parent_id=p.parent_id,
        node_kind="alias",
        prototype_key="bookmark",
        alias_target_id=target.id,
    )
    ctx.conn.execute(documents.insert().values(row))
    ctx.target(row["id"], target.id)
    ctx.note_changes(document_ids=[row["id"]])
    return document(ctx.conn, row["id"])
