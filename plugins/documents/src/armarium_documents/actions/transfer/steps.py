"""The two steps of a transfer that appear in the log and that undo reverses on both sides at once."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Engine, Library, UndoContext, action, first_of_chain, raw_of
from armarium_documents.actions.transfer.copying import conduct
from armarium_documents.actions.transfer.departing import changed_since, cut_ties
from armarium_documents.actions.transfer.journal import set_state
from armarium_documents.actions.transfer.planning import load_of
from armarium_documents.actions.trash import send_to_trash
from armarium_documents.api import require_live
from armarium_documents.errors import changed_meanwhile, not_moving, other_project_closed, unknown_transfer
from armarium_documents.queries.documents import title_of_work
from armarium_documents.queries.transfers import Side, all_live, other_side, record, record_of_step
from armarium_documents.queries.tree import STEP, id_list, next_sort_order, nodes_of, subtree_ids
from armarium_documents.schemas.fields import Id
from armarium_documents.schemas.transfer import TransferOutResult, TransferParams, TransferResult


def _partner(engine: Engine, library: Library, audit_id: str) -> tuple[Library, str] | None:
    """Return the other half of a move, given either half; None for a copy."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        own = record_of_step(raw, audit_id)
    if own is None or own.mode != "move":
        return None
    other = other_side(engine, own)
    if other is None:
        raise other_project_closed(own.other_path, audit_id)
    with other.db.read() as conn:
        raw = raw_of(conn)
        theirs = record(raw, own.transfer_id, "source" if own.side == "target" else "target")
    return None if theirs is None or theirs.audit_id is None else (other, theirs.audit_id)


def _after_undo(side: Side, undo: UndoContext) -> None:
    raw = raw_of(undo.step.conn)
    own = record_of_step(raw, undo.audit_id) or record_of_step(raw, first_of_chain(raw, undo.audit_id))
    if own is not None:
        set_state(raw, own.transfer_id, side, "done" if undo.redo else "taken-back")


@action(
    "document.transfer",
    result=TransferResult,
    summary="Transfer items from another open project: as copies, or moved with the originals sent to its Trash.",
    words="Transferred {|documents} from another project",
    undo_name="document.untransfer",
    after_undo=lambda undo: _after_undo("target", undo),
    conduct=conduct,
    partner=_partner,
)
def transfer(ctx: ActionContext, p: TransferParams) -> dict[str, Any]:
    """Make verified copies live. Raises what planning raises; Conflict for a folder that was removed in the
    meantime, or if run within another step.
    """
    arrival = p._arrival
    if arrival is None:
        raise not_moving("", "a transfer is a step of its own, not a part of another")
    raw = raw_of(ctx.conn)
    parent = require_live(ctx.conn, arrival.parent_id)
    roots = id_list(arrival.roots)
    ids = [
        row[0]
        for row in raw.execute(
            "SELECT id FROM document WHERE trash_root_id IN (SELECT value FROM json_each(?))", (roots,)
        )
    ]
    place = next_sort_order(ctx.conn, parent.id)
    raw.execute(
        "UPDATE document SET deleted_at = NULL, deleted_by = NULL, trash_root_id = NULL, trash_info = NULL"
        " WHERE trash_root_id IN (SELECT value FROM json_each(?))",
        (roots,),
    )
    raw.executemany(
        "UPDATE document SET sort_order = ? WHERE id = ?",
        [(place + STEP * number, root) for number, root in enumerate(arrival.roots)],
    )
    for carrier in load_of(ctx.engine).carriers:
        if carrier.arrived is not None:
            own = {name: arrival.companions.get(name, []) for name in carrier.companions}
            arrival.result["entity_matches"] += carrier.arrived(ctx, own)
    for limits, document_id, held in arrival.limits:
        limits.state(ctx, document_id, held)
    _ask_for_thumbnails(ctx, ids)
    state = "moving" if p.mode == "move" else "done"
    set_state(raw, arrival.transfer_id, "target", state, audit_id=ctx.audit_id)  # type: ignore[arg-type]
    ctx.target(*arrival.roots)
    ctx.note_changes(document_ids=ids)
    return arrival.result


def _ask_for_thumbnails(ctx: ActionContext, ids: list[str]) -> None:
    rows = raw_of(ctx.conn).execute(
        "SELECT DISTINCT r.document_id FROM rendition r WHERE r.is_primary AND r.materialized"
        " AND r.document_id IN (SELECT value FROM json_each(?))",
        (id_list(ids),),
    )
    page_ids = [row[0] for row in rows]
    for start in range(0, len(page_ids), 500):
        batch = page_ids[start : start + 500]
        title = title_of_work(ctx.conn, "Thumbnails", batch)
        ctx.enqueue("thumbnails", {"document_ids": batch}, title=title, total=len(batch))


@action(
    "document.transfer_out",
    result=TransferOutResult,
    summary="Send what was copied to another project to the Trash here, and cut references to it: the second half of a move.",
    words="Sent {|documents} to the Trash after a move to another project",
    after_undo=lambda undo: _after_undo("source", undo),
    partner=_partner,
)
def transfer_out(ctx: ActionContext, transfer_id: Id) -> dict[str, Any]:
    """Raises NotFound for an unknown move; Conflict for one whose copy is incomplete, or whose items are in
    the Trash or were changed since; Forbidden by a lock.
    """
    raw = raw_of(ctx.conn)
    own = record(raw, transfer_id, "source")
    if own is None or own.mode != "move":
        raise unknown_transfer(transfer_id)
    if own.state != "planned":
        raise not_moving(transfer_id, f"it is already {own.state}")
    other = other_side(ctx.engine, own)
    if other is None:
        raise not_moving(transfer_id, f"{own.other_path} is not open")
    with other.db.read() as conn:
        theirs = raw_of(conn)
        arrived = record(theirs, transfer_id, "target")
        stands = arrived is not None and arrived.state == "moving" and all_live(theirs, arrived)
    if not stands:
        raise not_moving(transfer_id, f"its copy in {other.name} is not complete and checked")
    tops = [item["source_id"] for item in own.items]
    nodes = nodes_of(ctx.conn, tops)
    for node in nodes:
        require_live(ctx.conn, node.id)
    documents = subtree_ids(ctx.conn, tops)
    if changed_since(ctx.engine, raw, own.marks, documents):
        raise changed_meanwhile()
    info = {
        "reason": "moved",
        "moved_to_project": str(other.path),
        "moved_to_name": other.name,
        "moved_on": ctx.now,
        "transfer_id": transfer_id,
    }
    cuts = cut_ties(ctx, documents)
    trashed = send_to_trash(ctx, nodes, info)
    set_state(raw, transfer_id, "source", "done", audit_id=ctx.audit_id)
    ctx.target(*tops)
    ctx.note_changes(document_ids=trashed)
    return {"transfer_id": transfer_id, "item_count": len(trashed), "cuts": cuts}
