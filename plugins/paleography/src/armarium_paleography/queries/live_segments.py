"""Which segments are live, where the id of an earlier one leads, and lists of rows about them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement, Connection, FromClause, Row, Table, exists, func, select

from armarium.api import Rows
from armarium_documents.api import documents
from armarium_source_model.api import follow, passes, segments, unknown_segment

Limit = Annotated[int | None, Query(ge=1, le=1_000, description="rows in this answer; default: all")]
Offset = Annotated[int, Query(ge=0)]


def stands(table: FromClause) -> ColumnElement[bool]:
    """Condition: the segment of a row of *table* is live: neither it, its pass nor its page is deleted."""
    standing = select(segments.c.id).join(passes, passes.c.id == segments.c.pass_id)
    standing = standing.join(documents, documents.c.id == segments.c.document_id)
    return exists(
        standing.where(
            segments.c.id == table.c.segment_id,
            segments.c.deleted_at.is_(None),
            passes.c.deleted_at.is_(None),
            documents.c.deleted_at.is_(None),
        )
    )


def live(table: Table) -> ColumnElement[bool]:
    """Condition: a row of *table* was not withdrawn."""
    return table.c.withdrawn_at.is_(None)


def segment_row(conn: Connection, segment_id: str) -> Row[Any]:
    """Return the row of a segment, deleted or not. Raises NotFound."""
    row = conn.execute(select(segments).where(segments.c.id == segment_id)).first()
    if row is None:
        raise unknown_segment(segment_id)
    return row


def live_ids(conn: Connection, segment_id: str) -> list[str]:
    """Return the segment itself if it is live, otherwise the live ones it became. Raises NotFound if it never
    existed.

    A segment whose creation was undone has no row any more, but its notes still say what it became.
    """
    trail, segment = follow(conn, segment_id)
    if segment_id in segment:
        return [segment_id]
    if not trail:
        segment_row(conn, segment_id)
    return segment


def list_rows(
    rows: Rows,
    conn: Connection,
    *where: ColumnElement[bool],
    order: Iterable[Any],
    limit: int | None,
    offset: int,
) -> dict[str, Any]:
    """Return `{items, count, total, limit, offset}`: all rows, or *limit* of them from *offset*."""
    if limit is not None:
        return rows.page(conn, *where, order=order, limit=limit, offset=offset)
    items = rows.all(conn, *where, order=order)
    page = items[offset:]
    return {"items": page, "count": len(page), "total": len(items), "limit": None, "offset": offset}


def count_of(conn: Connection, table: Table, *where: ColumnElement[bool]) -> int:
    """Return the number of rows of *table*."""
    return int(conn.execute(select(func.count()).select_from(table).where(*where)).scalar_one())
