"""Creates, changes, describes and locks nodes, and seeds the folder Sources."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Invalid, Route, action, asking, json_text, raw_of, withheld_nodes
from armarium_documents.api import document, documents, require_live, require_parent
from armarium_documents.errors import sources_stays, stale_document, table_has_problems
from armarium_documents.new_nodes import new_row
from armarium_documents.queries.classifications import chain_of
from armarium_documents.queries.documents import updated_at
from armarium_documents.queries.metadata.planning import attributes_of, plan_import
from armarium_documents.queries.tree import require_depth
from armarium_documents.schemas.documents import (
    CLEARED,
    CONTAINERS,
    CreateParams,
    Document,
    LockParams,
    UpdateParams,
)
from armarium_documents.schemas.metadata import MetadataParams, MetadataPlan


def seed_sources(ctx: ActionContext) -> None:
    """Give a new project its folder Sources."""
    ctx.conn.execute(
        documents.insert().values(new_row(ctx, name="Sources", doc_type="folder", system_key="sources"))
    )


def require_prototype(ctx: ActionContext, key: str | None) -> None:
    """Refuse (422) a prototype key that does not resolve; None means no prototype."""
    if key is not None:
        chain_of(ctx.conn, key)


@action(
    "document.create",
    result=Document,
    summary="Make a folder, group, note or page under a parent, or at the top.",
    route=Route("POST", "/api/documents"),
    words="Made {|a folder or page}",
)
def create(ctx: ActionContext, p: CreateParams) -> dict[str, Any]:
    """Raises NotFound for an unknown parent, Conflict for one in the Trash, Forbidden below a lock, Invalid
    for a parent that cannot hold the node.
    """
    assert p.doc_type is not None
    require_parent(ctx.conn, p.parent_id, p.doc_type, p.node_kind)
    require_depth(ctx.conn, p.parent_id)
    require_prototype(ctx, p.prototype_key)
    row = new_row(ctx, **p.model_dump())
    row["file_type"] = "text" if p.node_kind == "note" else None
    ctx.conn.execute(documents.insert().values(row))
    ctx.target(row["id"])
    ctx.note_changes(document_ids=[row["id"]])
    return document(ctx.conn, row["id"])


@action(
    "document.update",
    result=Document,
    summary="Change what a node is called and how it is described; a field left out stays, null clears it.",
    route=Route("PATCH", "/api/documents/{doc_id}", fields={"doc_id": "document_id"}),
    words="Described {document_id|a document}",
)
def update(ctx: ActionContext, p: UpdateParams) -> dict[str, Any]:
    """Raises NotFound; Conflict for a node in the Trash or changed since the caller read it; Forbidden at or
    below a lock; Invalid for a name set to null.
    """
    node = require_live(ctx.conn, p.document_id)
    changes = p.dump_changes("document_id", "expected_updated_at", empty=CLEARED)
    expected = p.expected_updated_at
    if expected is not None and expected != (current := updated_at(ctx.conn, node.id)):
        raise stale_document(node.name, current, expected, node.id)
    if "name" in changes and changes["name"] is None:
        raise Invalid("A node needs a name; leave `name` out to keep the current one.", code="name_required")
    if node.system_key == "sources" and changes.get("name", node.name) != node.name:
        raise sources_stays("renamed")
    require_prototype(ctx, changes.get("prototype_key"))
    if changes.get("page_content") is not None and node.doc_type in CONTAINERS:
        raise Invalid(
            f"A {node.doc_type} has no page_content. Put the text in a note inside it.", code="not_a_text"
        )
    if changes:
        changes["updated_at"] = ctx.now
        ctx.conn.execute(documents.update().where(documents.c.id == node.id).values(changes))
    ctx.target(node.id)
    ctx.note_changes(document_ids=[node.id])
    return document(ctx.conn, node.id)


@action(
    "document.lock",
    result=Document,
    summary="Lock a node, so that only an owner can write to it and below it, or unlock it.",
    route=Route("PUT", "/api/documents/{doc_id}/lock", fields={"doc_id": "document_id"}),
    words=lambda p: f"{'Locked' if p.get('locked', True) else 'Unlocked'} {{document_id|a document}}",
    role="owner",
)
def lock(ctx: ActionContext, p: LockParams) -> dict[str, Any]:
    """Raises NotFound, Conflict in the Trash."""
    node = require_live(ctx.conn, p.document_id)
    ctx.conn.execute(
        documents.update().where(documents.c.id == node.id).values(is_locked=p.locked, updated_at=ctx.now)
    )
    ctx.target(node.id)
    ctx.note_changes(document_ids=[node.id])
    return document(ctx.conn, node.id)


@action(
    "document.import_metadata",
    result=MetadataPlan,
    summary="Describe documents by a table: attributes, labels, dates, prototypes, a row a document.",
    route=Route("POST", "/api/documents/metadata", name="import_metadata"),
    words="Described documents by a table",
)
def import_metadata(ctx: ActionContext, p: MetadataParams) -> dict[str, Any]:
    """All of it is one step, undone as one. Refused (422) if a value is not of its type, a row is about several documents or one
    that another row is about, unless `skip`; rows about no document are left out. Forbidden below a lock.
    """
    with asking(ctx.principal), ctx.project.db.read() as conn:
        hidden, lists = withheld_nodes(conn), attributes_of(conn)
    plan = plan_import(ctx.conn, p, hidden=hidden, lists=lists, owner=ctx.principal.may("owner"))
    number, first = plan.problems()
    if number and not p.skip:
        raise table_has_problems(f"{number:,} part{'s' if number > 1 else ''}", first)
    by_fields: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for identity, fields in plan.updates.items():
        if "attributes" in fields:
            fields["attributes"] = json_text(fields["attributes"])
        by_fields.setdefault(tuple(fields), []).append((*fields.values(), ctx.now, identity))
    for names, rows in by_fields.items():
        sets = "".join(f"{name} = ?, " for name in names)
        raw_of(ctx.conn).executemany(f"UPDATE document SET {sets}updated_at = ? WHERE id = ?", rows)
    if p.parent_id is not None:
        ctx.target(p.parent_id)
    ctx.target(*plan.updates)
    ctx.note_changes(document_ids=plan.updates)
    return plan.answer()
