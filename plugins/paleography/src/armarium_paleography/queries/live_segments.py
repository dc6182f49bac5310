"""Which segments stand, where a citation of one leads, and lists of rows that hang on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement, Connection, FromClause, Row, Table, exists, func, select

from armarium.api import Rows
from armarium_documents.api import documents
from armarium_source_model.api import follow, passes, segments, unknown_segment

Limit = Annotated[int | None, Query(ge=1, le=1_000, description="rows of this answer; left out: all")]
Offset = Annotated[int, Query(ge=0)]


def stands(table: FromClause) -> ColumnElement[bool]:
    """Whether the segment that a row of *table* hangs on is there to be seen: not deleted, nor its pass, nor its page."""
    there = select(segments.c.id).join(passes, passes.c.id == segments.c.pass_id)
    there = there.join(documents, documents.c.id == segments.c.document_id)
    return exists(
        there.where(
            segments.c.id == table.c.segment_id,
            segments.c.deleted_at.is_(None),
            passes.c.deleted_at.is_(None),
            documents.c.deleted_at.is_(None),
        )
    )


def live(table: Table) -> ColumnElement[bool]:
    """Whether a row of *table* was not withdrawn."""
    return table.c.withdrawn_at.is_(None)


def segment_row(conn: Connection, segment_id: str) -> Row[Any]:
    """The row of a segment, deleted or not; NotFound."""
    found = conn.execute(select(segments).where(segments.c.id == segment_id)).first()
    if found is None:
        raise unknown_segment(segment_id)
    return found


def live_ids(conn: Connection, segment_id: str) -> list[str]:
    """The segment itself where it is live, else the live ones it leads to; NotFound where there never was one.

    A segment whose making was taken back is led on by its notes, though its row is gone.
    """
    trail, found = follow(conn, segment_id)
    if segment_id in found:
        return [segment_id]
    if not trail:
        segment_row(conn, segment_id)
    return found


def list_rows(
    rows: Rows,
    conn: Connection,
    *where: ColumnElement[bool],
    order: Iterable[Any],
    limit: int | None,
    offset: int,
) -> dict[str, Any]:
    """`{items, count, total, limit, offset}`: all rows, or *limit* of them from *offset* on."""
    if limit is not None:
        return rows.page(conn, *where, order=order, limit=limit, offset=offset)
    items = rows.all(conn, *where, order=order)
    page = items[offset:]
    return {"items": page, "count": len(page), "total": len(items), "limit": None, "offset": offset}


def count_of(conn: Connection, table: Table, *where: ColumnElement[bool]) -> int:
    """How many rows of *table* there are."""
    return int(conn.execute(select(func.count()).select_from(table).where(*where)).scalar_one())
