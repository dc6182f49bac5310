"""Creates, fills, withdraws and renumbers reading orders."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Conflict, Invalid, NotFound, Route, action, new_id
from armarium_documents.api import require_live
from armarium_source_model.actions.edits import editable
from armarium_source_model.actions.filling import (
    SMALLEST_GAP,
    STEP,
    insert_entries,
    of_its_pass,
    seed,
    whole_steps,
    writable_order,
)
from armarium_source_model.errors import positions_out_of_room, refuse_provisional
from armarium_source_model.models import order_entries, passes, reading_orders
from armarium_source_model.order import lines_holder
from armarium_source_model.queries.orders import ENTRIES, ORDERS, entry_of_segment, get_entry, get_order
from armarium_source_model.queries.passes import reading_rule, working_pass
from armarium_source_model.queries.shapes import page_blocks, read_page
from armarium_source_model.schemas.fields import Id
from armarium_source_model.schemas.orders import (
    ColumnsState,
    ColumnsStated,
    DeletedOrder,
    EntryOut,
    EntryRemove,
    OrderCreate,
    OrderOut,
    Place,
    Removed,
)
from armarium_source_model.writes import writable_pass


@action(
    "reading_order.create",
    result=OrderOut,
    summary="Create a named reading order over a pass, empty or filled with the order of its boxes.",
    route=Route("POST", "/api/reading-orders"),
    words="Created a reading order of {document_id|a page}",
)
def create(ctx: ActionContext, p: OrderCreate) -> dict[str, Any]:
    """Raises NotFound, Conflict for a pass of another page or a withdrawn one, Invalid for a provisional id."""
    require_live(ctx.conn, p.document_id)
    writable_pass(ctx, p.pass_id, p.document_id)
    order_id = new_id()
    ctx.conn.execute(
        reading_orders.insert().values(
            id=order_id, **p.model_dump(exclude={"seed_from_pass"}), **ctx.provenance()
        )
    )
    if p.seed_from_pass:
        seed(ctx, order_id, p.document_id, p.pass_id)
    return _answer(ctx, order_id)


def _answer(ctx: ActionContext, order_id: str) -> dict[str, Any]:
    answer = ORDERS.require(ctx.conn, order_id)
    ctx.target(order_id)
    ctx.note_changes(document_ids=[answer["document_id"]], pass_ids=[answer["pass_id"]])
    return answer


@action(
    "reading_order.place",
    result=EntryOut,
    summary="Put a segment into a reading order, or move it there.",
    route=Route("POST", "/api/reading-orders/{order_id}/place"),
    words="Placed something in a reading order of {order_id|a page}",
)
def place(ctx: ActionContext, p: Place) -> dict[str, Any]:
    """Raises NotFound, Conflict (withdrawn order, already present, stale, other pass), PositionsOutOfRoom."""
    order = writable_order(ctx, p.order_id)
    segment = editable(ctx, p.segment_id, None)
    of_its_pass(order, segment)
    if p.at_end and p.after_entry_id is not None:
        raise Invalid("Send after_entry_id or at_end, not both.", code="invalid_request")
    present = entry_of_segment(ctx.conn, order.id, segment.id)
    if present is not None:
        if p.expected_version is None:
            raise Conflict(
                f"Segment {segment.id} is already in this order (entry {present.id}); to move it, send the "
                f"expected_version {present.version} you read.",
                code="already_in_order",
                entry_id=present.id,
                version=present.version,
            )
        if p.expected_version != present.version:
            raise Conflict(
                f"Entry {present.id} is at version {present.version}, not {p.expected_version}; read it again.",
                code="stale_version",
                entry_id=present.id,
                expected_version=p.expected_version,
                current_version=present.version,
            )
    if p.parent_entry_id is not None:
        _refuse_ring(ctx, order.id, p.parent_entry_id, present.id if present is not None else None)
    position = _position(ctx, order.id, p, present.id if present is not None else None)
    if present is None:
        entry_id = new_id()
        row = (entry_id, order.id, segment.id, segment.document_id, p.parent_entry_id, position, 1, ctx.now)
        insert_entries(ctx, [row])
    else:
        entry_id = present.id
        ctx.conn.execute(
            order_entries.update()
            .where(order_entries.c.id == entry_id)
            .values(position=position, parent_entry_id=p.parent_entry_id, version=present.version + 1)
        )
    ctx.target(order.id, entry_id, segment.id)
    ctx.note_changes(
        document_ids=[order.document_id, segment.document_id],
        pass_ids=[order.pass_id],
        segment_ids=[segment.id],
    )
    return ENTRIES.require(ctx.conn, entry_id)


def _refuse_ring(ctx: ActionContext, order_id: str, parent_id: str, moved_id: str | None) -> None:
    above: str | None = parent_id
    while above is not None:
        if above == moved_id:
            raise Conflict(
                "An entry cannot be placed inside itself or inside an entry that it contains.",
                code="parent_ring",
            )
        above = get_entry(ctx.conn, order_id, above).parent_entry_id


def _position(ctx: ActionContext, order_id: str, p: Place, moved_id: str | None) -> float:
    """Return a position on the level named: after an entry, at the end, or first."""
    level = "SELECT position, id FROM reading_order_entry WHERE order_id = ? AND parent_entry_id IS ? AND id IS NOT ?"
    values = (order_id, p.parent_entry_id, moved_id)
    if p.at_end:
        last = ctx.conn.exec_driver_sql(
            f"{level} ORDER BY position DESC, id DESC LIMIT 1", values
        ).one_or_none()
        return STEP if last is None else float(last[0]) + STEP
    if p.after_entry_id is None:
        first = ctx.conn.exec_driver_sql(f"{level} ORDER BY position, id LIMIT 1", values).one_or_none()
        return STEP if first is None else float(first[0]) - STEP
    after = get_entry(ctx.conn, order_id, p.after_entry_id)
    if after.id == moved_id:
        raise Invalid("An entry cannot be placed after itself.", code="invalid_request")
    if after.parent_entry_id != p.parent_entry_id:
        raise Invalid(
            f"Entry {after.id} stands on another level; name the parent_entry_id it stands under "
            f"({after.parent_entry_id or 'none'}).",
            code="other_level",
        )
    following = ctx.conn.exec_driver_sql(
        f"{level} AND (position, id) > (?, ?) ORDER BY position, id LIMIT 1",
        (*values, after.position, after.id),
    ).one_or_none()
    if following is None:
        return float(after.position) + STEP
    gap = following[0] - after.position
    if gap / 2 < SMALLEST_GAP:
        raise positions_out_of_room(order_id)
    return float(after.position + gap / 2)


@action(
    "reading_order.withdraw",
    result=DeletedOrder,
    summary="Withdraw a reading order; it can be restored.",
    route=Route("DELETE", "/api/reading-orders/{order_id}"),
    words="Withdrew a reading order of {order_id|a page}",
)
def withdraw(ctx: ActionContext, order_id: Id) -> dict[str, Any]:
    """Raises NotFound, OrderDeleted."""
    row = writable_order(ctx, order_id)
    ctx.conn.execute(reading_orders.update().where(reading_orders.c.id == row.id).values(deleted_at=ctx.now))
    return {**_answer(ctx, row.id), "status": "deleted"}


@action(
    "reading_order.restore",
    result=OrderOut,
    summary="Restore a withdrawn reading order.",
    route=Route("POST", "/api/reading-orders/{order_id}/restore"),
    words="Restored a reading order of {order_id|a page}",
)
def restore(ctx: ActionContext, order_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it was not withdrawn."""
    row = get_order(ctx.conn, order_id)
    if row.deleted_at is None:
        raise Conflict(f"Reading order {row.id} was not withdrawn.", code="not_deleted")
    require_live(ctx.conn, row.document_id)
    ctx.conn.execute(reading_orders.update().where(reading_orders.c.id == row.id).values(deleted_at=None))
    return _answer(ctx, row.id)


@action(
    "reading_order.renumber",
    result=OrderOut,
    summary="Renumber the entries of a reading order in whole steps; their order stays.",
    route=Route("POST", "/api/reading-orders/{order_id}/renumber"),
    words="Renumbered a reading order of {order_id|a page}",
)
def renumber(ctx: ActionContext, order_id: Id) -> dict[str, Any]:
    """Raises NotFound, OrderDeleted."""
    row = writable_order(ctx, order_id)
    whole_steps(ctx, row.id)
    return _answer(ctx, row.id)


@action(
    "reading_order.remove",
    result=Removed,
    summary="Take an entry out of a reading order.",
    route=Route("DELETE", "/api/reading-orders/{order_id}/entries/{entry_id}"),
    words="Took something out of a reading order of {order_id|a page}",
)
def remove(ctx: ActionContext, p: EntryRemove) -> dict[str, Any]:
    """Raises NotFound, OrderDeleted, Conflict if the entry contains others."""
    refuse_provisional(p.order_id, p.entry_id)
    order = writable_order(ctx, p.order_id)
    entry = get_entry(ctx.conn, order.id, p.entry_id)
    if ENTRIES.require(ctx.conn, entry.id)["child_count"]:
        raise Conflict(
            f"Entry {entry.id} contains others; move or remove those first.",
            code="entry_holds_others",
            id=entry.id,
        )
    ctx.conn.execute(order_entries.delete().where(order_entries.c.id == entry.id))
    ctx.target(order.id, entry.id)
    ctx.note_changes(
        document_ids=[order.document_id], pass_ids=[order.pass_id], segment_ids=[entry.segment_id]
    )
    return {"status": "deleted", "id": entry.id}


@action(
    "reading_order.columns",
    result=ColumnsStated,
    summary="State in how many columns the lines of a page stand; its text, search and exports follow.",
    route=Route("PUT", "/api/reading-orders/document/{document_id}/columns"),
    words="Stated the columns of {document_id|a page}",
)
def state_columns(ctx: ActionContext, p: ColumnsState) -> dict[str, Any]:
    """The lines are those outside regions, or of the region that has most of them.

    Raises NotFound for a page without a pass, Conflict for a pass of another page or a withdrawn one and for lines in
    several regions, Invalid for more columns than lines or a provisional id.
    """
    require_live(ctx.conn, p.document_id)
    rule = reading_rule(ctx.conn)
    pass_id = p.pass_id or working_pass(ctx.conn, p.document_id, rule)[0]
    if pass_id is None:
        raise NotFound(
            "The page has no pass yet: find its lines or import a layout file first.", code="no_pass"
        )
    row = writable_pass(ctx, pass_id, p.document_id)
    if p.columns is not None:
        page = page_blocks(ctx.conn, p.document_id, row.id)
        holder = lines_holder(page.shapes)
        lines = [shape for shape in page.shapes if shape.kind == "line"]
        inside = sum(line.parent_id == holder for line in lines)
        if 2 * inside < len(lines):
            raise Conflict(
                "The lines of this page stand in several regions, which are read one after another; a number of columns "
                "says nothing of them. Make an order of your own (armarium order new --seed) and place the regions in it.",
                code="lines_in_regions",
            )
        if inside < p.columns:
            raise Invalid(
                f"The pass has {inside} lines, which cannot stand in {p.columns} columns.",
                code="too_few_lines",
            )
    ctx.conn.execute(passes.update().where(passes.c.id == row.id).values(column_count=p.columns))
    ctx.target(row.id)
    ctx.note_changes(document_ids=[p.document_id], pass_ids=[row.id])
    basis = read_page(ctx.conn, p.document_id, row.id, rule)[0].order_basis()
    return {"document_id": p.document_id, "pass_id": row.id, "columns": p.columns, "order_basis": basis}
