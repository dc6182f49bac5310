"""Moves nodes in the tree or reorders them, refusing cycles (document.move)."""

from __future__ import annotations

from typing import Any

from armarium.api import NAME_KEY, ActionContext, Route, action, raw_of
from armarium_documents.api import require_parent
from armarium_documents.errors import in_trash, into_itself, not_a_sibling, sources_stays
from armarium_documents.queries.tree import (
    STEP,
    Node,
    ancestor_ids,
    height_of,
    next_sort_order,
    nodes_of,
    require_depth,
    require_document,
)
from armarium_documents.schemas.documents import MoveParams, MoveResult


@action(
    "document.move",
    result=MoveResult,
    summary="Put nodes under a parent (null: the top), after a sibling, first (after_id null) or last (left out).",
    route=Route("POST", "/api/documents/move"),
    words="Moved {ids|documents} to {parent_id|the top}",
)
def move(ctx: ActionContext, p: MoveParams) -> dict[str, Any]:
    """Raises NotFound, Conflict for a node in the Trash or a move into itself, Forbidden by a lock, Invalid
    for an impossible place.
    """
    nodes = nodes_of(ctx.conn, p.ids)
    for node in nodes:
        if node.deleted_at is not None:
            raise in_trash(node.name, node.id)
        if node.system_key == "sources" and p.parent_id is not None:
            raise sources_stays("moved")
        require_parent(ctx.conn, p.parent_id, node.doc_type, node.node_kind)
    above = set(ancestor_ids(ctx.conn, p.parent_id)) if p.parent_id is not None else set()
    for node in nodes:
        if node.id in above:
            raise into_itself(node.name, node.id)
    for node in nodes:
        if node.parent_id != p.parent_id:
            require_depth(ctx.conn, p.parent_id, height_of(ctx.conn, node.id))
    _place(ctx, nodes, p)
    ctx.target(*p.ids)
    ctx.note_changes(document_ids=p.ids)
    return {"ids": p.ids, "parent_id": p.parent_id}


def _place(ctx: ActionContext, nodes: list[Node], p: MoveParams) -> None:
    """Give *nodes* their parent and sort orders; siblings are renumbered only where no gap is left."""
    moving = {node.id for node in nodes}
    if "after_id" not in p.model_fields_set:
        start = next_sort_order(ctx.conn, p.parent_id)
        orders = [start + STEP * index for index in range(len(nodes))]
    else:
        siblings = [row for row in _siblings(ctx, p.parent_id) if row[0] not in moving]
        at = 0
        if p.after_id is not None:
            places = {row[0]: index for index, row in enumerate(siblings)}
            if p.after_id not in places:
                require_document(ctx.conn, p.after_id)
                raise not_a_sibling(p.after_id)
            at = places[p.after_id] + 1
        orders = _gap(siblings, at, len(nodes))
        if not orders:
            _renumber(ctx, siblings[:at], 0)
            _renumber(ctx, siblings[at:], at + len(nodes))
            orders = [STEP * (at + index + 1) for index in range(len(nodes))]
    raw_of(ctx.conn).executemany(
        "UPDATE document SET parent_id = ?, sort_order = ?, updated_at = ?,"
        " metadata = json_set(metadata, '$.placed_by_hand', json('true')) WHERE id = ?",
        [(p.parent_id, order, ctx.now, node.id) for node, order in zip(nodes, orders, strict=True)],
    )


def _siblings(ctx: ActionContext, parent_id: str | None) -> list[tuple[str, int]]:
    condition, values = (
        ("parent_id = ?", (parent_id,)) if parent_id is not None else ("parent_id IS NULL", ())
    )
    return (
        raw_of(ctx.conn)
        .execute(
            f"SELECT id, sort_order FROM document WHERE {condition} AND deleted_at IS NULL ORDER BY sort_order, {NAME_KEY}(name), id",
            values,
        )
        .fetchall()
    )


def _gap(siblings: list[tuple[str, int]], at: int, count: int) -> list[int]:
    """Return *count* sort orders between the siblings before and after *at*; none if they do not fit."""
    if at == len(siblings):
        start = siblings[-1][1] if siblings else 0
        return [start + STEP * (index + 1) for index in range(count)]
    after = siblings[at][1]
    before = siblings[at - 1][1] if at else after - STEP * (count + 1)
    step = (after - before) // (count + 1)
    return [before + step * (index + 1) for index in range(count)] if step >= 1 else []


def _renumber(ctx: ActionContext, siblings: list[tuple[str, int]], start: int) -> None:
    raw_of(ctx.conn).executemany(
        "UPDATE document SET sort_order = ? WHERE id = ?",
        [
            (STEP * (start + index + 1), row[0])
            for index, row in enumerate(siblings)
            if row[1] != STEP * (start + index + 1)
        ],
    )
