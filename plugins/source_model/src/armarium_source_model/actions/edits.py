"""What every edit of segments needs: the rows at the versions the caller read, and their next versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import ActionContext, Invalid, json_text, raw_of
from armarium_documents.api import require_live
from armarium_source_model.errors import (
    OtherPage,
    SegmentDeleted,
    StaleSegment,
    pass_deleted,
    refuse_provisional,
    unknown_segment,
)
from armarium_source_model.notes import live_after
from armarium_source_model.queries.segments import SegmentRow, moved_fields, rows_named


def editable(ctx: ActionContext, segment_id: str, expected_version: int | None) -> SegmentRow:
    """Return the row of a live segment at the version the caller read (None: any version); otherwise
    refuse.
    """
    return editable_rows(ctx, [segment_id], [expected_version])[0]


def editable_rows(
    ctx: ActionContext, ids: Sequence[str], expected_versions: Sequence[int | None]
) -> list[SegmentRow]:
    """Return the rows of live segments, in the order named, each at the version the caller read."""
    rows = present_rows(ctx, ids)
    checked: set[str] = set()
    for row, expected in zip(rows, expected_versions, strict=True):
        if row.deleted_at is not None:
            raise SegmentDeleted(row.id, live_after(ctx, row.id))
        check_page(ctx, row, checked)
        check_version(ctx, row, expected)
    return rows


def check_version(ctx: ActionContext, row: SegmentRow, expected: int | None) -> None:
    """Check that a segment is at the version the caller read (None: any version); otherwise StaleSegment."""
    if expected is not None and row.version != expected:
        raise StaleSegment(row.id, expected, row.version, moved_fields(ctx.conn, row, expected))


def present_rows(ctx: ActionContext, ids: Sequence[str]) -> list[SegmentRow]:
    """Return the rows of segments, also deleted ones, in the order named; ProvisionalId, NotFound."""
    refuse_provisional(*ids)
    rows_by_id = rows_named(ctx.conn, ids)
    for segment_id in ids:
        if segment_id not in rows_by_id:
            raise unknown_segment(segment_id)
    return [rows_by_id[segment_id] for segment_id in ids]


def check_page(ctx: ActionContext, row: SegmentRow, checked: set[str]) -> None:
    """Check that a segment's pass is live and its page writable; each pass is checked once (*checked*
    grows).
    """
    if row.pass_id in checked:
        return
    (withdrawn,) = (
        raw_of(ctx.conn)
        .execute("SELECT deleted_at FROM segment_pass WHERE id = ?", (row.pass_id,))
        .fetchone()
    )
    if withdrawn is not None:
        raise pass_deleted(row.pass_id)
    require_live(ctx.conn, row.document_id)
    checked.add(row.pass_id)


def check_unique(ids: Sequence[str]) -> Sequence[str]:
    """Return *ids*; refused if one is named twice."""
    earlier: set[str] = set()
    for segment_id in ids:
        if segment_id in earlier:
            raise Invalid(f"{segment_id} is named twice; name each segment once.", code="named_twice")
        earlier.add(segment_id)
    return ids


def one_pass(rows: Sequence[SegmentRow]) -> None:
    """Raise OtherPage if one of the *rows* (at least one) is of another pass than the first."""
    other = next((row for row in rows if row.pass_id != rows[0].pass_id), None)
    if other is not None:
        raise OtherPage(
            f"Segment {other.id} belongs to pass {other.pass_id}, segment {rows[0].id} to {rows[0].pass_id}; "
            "one call works on one pass.",
            code="other_pass",
        )


JSON_FIELDS = frozenset({"anchor", "baseline", "cell", "metadata"})


def write_version(ctx: ActionContext, row: SegmentRow, changes: dict[str, Any]) -> None:
    """Write *changes* as the segment's next version, or nothing if every field has that value already."""
    ctx.target(row.id)
    moved = {name: value for name, value in changes.items() if getattr(row, name) != value}
    if not moved:
        return
    if ctx.principal.kind == "person" and not row.by_hand:
        moved["by_hand"] = True
    values = [
        json_text(value) if name in JSON_FIELDS and value is not None else value
        for name, value in moved.items()
    ]
    columns = "".join(f'"{name}" = ?, ' for name in moved)
    raw_of(ctx.conn).execute(
        f"UPDATE segment SET {columns}version = ?, updated_at = ? WHERE id = ?",
        (*values, row.version + 1, ctx.now, row.id),
    )
    ctx.note_changes(segment_ids=[row.id], pass_ids=[row.pass_id], document_ids=[row.document_id])


def set_deleted(
    ctx: ActionContext, rows: Sequence[SegmentRow], deleted_at: str | None, *, joined: bool = False
) -> None:
    """Withdraw many segments, because they were *joined* with another or not, or restore them, each as its next version."""
    by_hand = int(ctx.principal.kind == "person")
    raw_of(ctx.conn).executemany(
        "UPDATE segment SET deleted_at = ?, joined_or_split_in = coalesce(?, joined_or_split_in),"
        " by_hand = max(by_hand, ?), version = version + 1, updated_at = ? WHERE id = ?",
        [(deleted_at, ctx.audit_id if joined else None, by_hand, ctx.now, row.id) for row in rows],
    )
    ctx.target(*(row.id for row in rows))
    ctx.note_changes(
        segment_ids=[row.id for row in rows],
        pass_ids=[row.pass_id for row in rows],
        document_ids=[row.document_id for row in rows],
    )
