"""Adds many entries to a reading order at once: the order of a pass's boxes, or segments in the caller's
order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row

from armarium.api import ActionContext, Conflict, NotFound, action, new_id
from armarium_documents.api import require_live
from armarium_source_model.actions.edits import check_unique, editable_rows
from armarium_source_model.errors import OtherPage
from armarium_source_model.models import order_entries
from armarium_source_model.queries.orders import standing_order
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.segments import SegmentRow
from armarium_source_model.queries.text import pass_sequence
from armarium_source_model.schemas.orders import FLOW, FilledOrder, OrderFill

STEP = 1.0


class Levels:
    """The entries of one order while more are appended to its levels."""

    def __init__(self, order_id: str, existing: Iterable[tuple[str, str, str | None, float]] = ()) -> None:
        """*existing*: entry id, segment id, parent entry id and position of the existing entries."""
        self.order_id = order_id
        self.entries: dict[str, str] = {}
        """Segment id -> entry id."""
        self._last: dict[str | None, float] = {}
        self._new: list[tuple[object, ...]] = []
        for entry_id, segment_id, parent, position in existing:
            self.entries[segment_id] = entry_id
            self._last[parent] = max(self._last.get(parent, position), position)

    def add(self, segment_id: str, document_id: str, parent: str | None, created_at: str) -> str:
        """Append an entry to the level *parent* (an entry id; None: the top) and return its id."""
        entry_id = self.entries[segment_id] = new_id()
        position = self._last[parent] = self._last.get(parent, 0.0) + STEP
        self._new.append((entry_id, self.order_id, segment_id, document_id, parent, position, 1, created_at))
        return entry_id

    def write(self, ctx: ActionContext) -> None:
        """Insert the new entries."""
        insert_entries(ctx, self._new)


def insert_entries(ctx: ActionContext, rows: Iterable[tuple[object, ...]]) -> None:
    """Insert entry rows: id, order, segment, document, parent entry, position, version, time."""
    ctx.bulk_insert(order_entries, order_entries.c.keys(), rows)


SMALLEST_GAP = 1e-9

_PLACES = """
SELECT e.id, e.order_id, e.parent_entry_id, e.position, (
    SELECT min(n.position) FROM reading_order_entry n WHERE n.order_id = e.order_id
    AND n.parent_entry_id IS e.parent_entry_id AND (n.position, n.id) > (e.position, e.id))
FROM reading_order_entry e WHERE e.segment_id = ?
"""


def place_beside(ctx: ActionContext, segment_id: str, document_id: str, new: Sequence[str]) -> None:
    """Place new segments right after an existing one in every order that contains it but not them.

    This way no order loses words when a line in it is split or merged.
    """
    for order_id in [row[1] for row in ctx.conn.exec_driver_sql(_PLACES, (segment_id,)).all()]:
        placed_ids = {
            row[0]
            for row in ctx.conn.exec_driver_sql(
                "SELECT segment_id FROM reading_order_entry WHERE order_id = ?", (order_id,)
            )
        }
        missing = [identity for identity in new if identity not in placed_ids]
        parent, position, gap = _room(ctx, segment_id, order_id, len(missing))
        if gap < SMALLEST_GAP:
            whole_steps(ctx, order_id)
            parent, position, gap = _room(ctx, segment_id, order_id, len(missing))
        insert_entries(
            ctx,
            [
                (new_id(), order_id, identity, document_id, parent, position + gap * number, 1, ctx.now)
                for number, identity in enumerate(missing, 1)
            ],
        )


def _room(ctx: ActionContext, segment_id: str, order_id: str, count: int) -> tuple[str | None, float, float]:
    """Return the level and position of a segment's entry, and the gap for each of *count* entries after
    it.
    """
    row = ctx.conn.exec_driver_sql(f"{_PLACES} AND e.order_id = ?", (segment_id, order_id)).one()
    return row[2], row[3], STEP if row[4] is None else (row[4] - row[3]) / (count + 1)


def whole_steps(ctx: ActionContext, order_id: str) -> None:
    """Renumber the entries of an order in whole steps; their order stays."""
    ctx.conn.exec_driver_sql(
        "UPDATE reading_order_entry SET position = n.place, version = version + 1 FROM (SELECT id AS entry, "
        "CAST(row_number() OVER (PARTITION BY parent_entry_id ORDER BY position, id) AS REAL) AS place "
        "FROM reading_order_entry WHERE order_id = ?) n "
        "WHERE reading_order_entry.id = n.entry AND position <> n.place",
        (order_id,),
    )


def writable_order(ctx: ActionContext, order_id: str) -> Row[Any]:
    """Return the row of a live order of a page that may be written."""
    row = standing_order(ctx.conn, order_id)
    require_live(ctx.conn, row.document_id)
    return row


def of_its_pass(order: Row[Any], segment: SegmentRow) -> None:
    """Raise OtherPage for a segment of another pass than the order's; only a flow may contain those."""
    if order.kind != FLOW and segment.pass_id != order.pass_id:
        raise OtherPage(
            f"Segment {segment.id} belongs to pass {segment.pass_id}, the order to {order.pass_id}; "
            "only a flow goes over several passes.",
            code="other_pass",
        )


def seed(ctx: ActionContext, order_id: str, document_id: str, pass_id: str) -> None:
    """Add regions with their lines inside, in reading order; words follow their lines and have no entries."""
    above = {
        row[0]: row[1]
        for row in ctx.conn.exec_driver_sql(
            "SELECT id, parent_segment_id FROM segment WHERE pass_id = ? AND deleted_at IS NULL AND kind <> 'word'",
            (pass_id,),
        )
    }
    levels = Levels(order_id)
    for segment_id in pass_sequence(ctx.conn, document_id, pass_id, reading_rule(ctx.conn)):
        if segment_id in above:
            parent = levels.entries.get(above[segment_id] or "")
            levels.add(segment_id, document_id, parent, ctx.now)
    levels.write(ctx)


@action(
    "reading_order.fill",
    result=FilledOrder,
    summary="Put segments into a reading order one after another, each at the end of its level, in one step.",
    words="Filled a reading order of {order_id|a page}",
)
def fill(ctx: ActionContext, p: OrderFill) -> dict[str, Any]:
    """A segment placed inside another names that one, which is in the order already or earlier in the list.

    Raises NotFound, Conflict (withdrawn order, already present, deleted, other pass), Invalid for one named
    twice or a provisional id; then nothing is written.
    """
    order = writable_order(ctx, p.order_id)
    rows = editable_rows(
        ctx, check_unique([segment.segment_id for segment in p.segments]), [None] * len(p.segments)
    )
    entries = ctx.conn.exec_driver_sql(
        "SELECT id, segment_id, parent_entry_id, position FROM reading_order_entry WHERE order_id = ?",
        (order.id,),
    )
    levels = Levels(order.id, [(row[0], row[1], row[2], row[3]) for row in entries])
    entry_ids: list[str] = []
    for row, placement in zip(rows, p.segments, strict=True):
        of_its_pass(order, row)
        if row.id in levels.entries:
            raise Conflict(
                f"Segment {row.id} is already in this order (entry {levels.entries[row.id]}); leave it out, or move "
                "it with reading_order.place.",
                code="already_in_order",
                entry_id=levels.entries[row.id],
            )
        parent = None
        if placement.parent_segment_id is not None:
            parent = levels.entries.get(placement.parent_segment_id)
            if parent is None:
                raise NotFound(
                    f"Segment {placement.parent_segment_id}, inside which {row.id} is to stand, has no entry in this order; "
                    "name it earlier in the list.",
                    code="parent_not_in_order",
                    id=placement.parent_segment_id,
                )
        entry_ids.append(levels.add(row.id, row.document_id, parent, ctx.now))
    levels.write(ctx)
    ctx.target(order.id)
    ctx.note_changes(
        document_ids=dict.fromkeys([order.document_id, *(row.document_id for row in rows)]),
        pass_ids=[order.pass_id],
        segment_ids=[row.id for row in rows],
    )
    return {"order_id": order.id, "entry_ids": entry_ids, "count": len(entry_ids)}
