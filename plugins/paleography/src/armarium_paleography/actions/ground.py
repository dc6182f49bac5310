"""What the actions share: a segment that can be judged, live rows, and records for the examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Table

from armarium.api import ActionContext, Conflict, RowLaw, Rows, new_id
from armarium_documents.api import require_live
from armarium_paleography.errors import Withdrawn, named_still, pass_withdrawn
from armarium_paleography.queries.live_segments import segment_row
from armarium_source_model.api import SegmentDeleted, follow, get_pass, refuse_provisional


def standing_segment(conn: Connection, segment_id: str) -> Row[Any]:
    """Return the row of a live segment of a live page. Raises ProvisionalId, NotFound, SegmentDeleted,
    PassWithdrawn, Conflict.
    """
    refuse_provisional(segment_id)
    row = segment_row(conn, segment_id)
    if row.deleted_at is not None:
        raise SegmentDeleted(segment_id, follow(conn, segment_id)[1])
    if get_pass(conn, row.pass_id).deleted_at is not None:
        raise pass_withdrawn(segment_id, row.pass_id)
    require_live(conn, row.document_id)
    return row


def live_row(rows: Rows, what: str, conn: Connection, identity: str) -> dict[str, Any]:
    """Return the row. Raises NotFound, and Withdrawn if it was withdrawn."""
    row = rows.require(conn, identity)
    if row["withdrawn_at"] is not None:
        raise Withdrawn(what, identity)
    return row


def add(ctx: ActionContext, table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """Insert a row in the caller's name; return it as the answer shows it."""
    row = {"id": new_id(), **values, **ctx.provenance()}
    ctx.conn.execute(table.insert().values(row))
    note_row(ctx, row)
    ended = "superseded_at" if "superseded_at" in table.c else "withdrawn_at"
    return {**row, ended: None}


def withdraw_where(ctx: ActionContext, table: Table, *where: ColumnElement[bool]) -> None:
    """Withdraw the live rows that match all of *where*."""
    unended = table.c.withdrawn_at.is_(None)
    ctx.conn.execute(table.update().where(unended, *where).values(withdrawn_at=ctx.now))


def withdraw_row(ctx: ActionContext, table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """Withdraw one live row; return it as the answer shows it."""
    withdraw_where(ctx, table, table.c.id == row["id"])
    note_row(ctx, row)
    return {**row, "withdrawn_at": ctx.now}


def note_row(ctx: ActionContext, row: Mapping[str, Any]) -> None:
    """Name a row, its segment and its document in the audit row and the change event."""
    segment_id = row.get("segment_id") or row.get("picture_segment_id")
    ctx.target(
        row["id"], *(document_id for document_id in (segment_id, row.get("document_id")) if document_id)
    )
    if segment_id:
        ctx.note_changes(segment_ids=[segment_id])
    if row.get("document_id"):
        ctx.note_changes(document_ids=[row["document_id"]])


def rests_on_live(
    table: str, column: str, what: str, *, ended: str = "withdrawn_at"
) -> tuple[RowLaw, RowLaw]:
    """Return the laws that no undo, redo or merge leaves a row of *table* not *ended* while its *column* names a
    withdrawn row of the table *what*, whichever of the two it changes.
    """
    withdrawn = f"SELECT 1 FROM {what} WHERE id = ? AND withdrawn_at IS NOT NULL"
    naming = f"SELECT 1 FROM {table} WHERE {column} = ? AND {ended} IS NULL LIMIT 1"

    def find_breach(raw: Any, after: Mapping[str, Any]) -> Withdrawn | None:
        if after[ended] is not None or raw.execute(withdrawn, (after[column],)).fetchone() is None:
            return None
        return Withdrawn(what, after[column], "changed")

    def find_named(raw: Any, after: Mapping[str, Any]) -> Conflict | None:
        if after["withdrawn_at"] is None or raw.execute(naming, (after["id"],)).fetchone() is None:
            return None
        return named_still(what=what, id=after["id"])

    return RowLaw(table, find_breach), RowLaw(what, find_named)
