"""Reads of matches between segments of rival passes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from armarium_source_model.errors import NoSuchMatch
from armarium_source_model.models import matches

_ANSWERED = tuple(str(column.name) for column in matches.columns if column.name != "withdrawn_at")


def get_match(conn: Connection, match_id: str) -> Row[Any]:
    """The row of a match that was not withdrawn; NoSuchMatch."""
    row = conn.execute(
        select(matches).where(matches.c.id == match_id, matches.c.withdrawn_at.is_(None))
    ).one_or_none()
    if row is None:
        raise NoSuchMatch(match_id)
    return row


def match_answer(row: Row[Any]) -> dict[str, Any]:
    """A row as a SegmentMatch."""
    return {name: getattr(row, name) for name in _ANSWERED}


def matches_of(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """The matches recorded on a page, oldest first."""
    query = select(matches).where(matches.c.document_id == document_id, matches.c.withdrawn_at.is_(None))
    return [match_answer(row) for row in conn.execute(query.order_by(matches.c.created_at, matches.c.id))]


def match_between(conn: Connection, from_id: str, to_id: str) -> Row[Any] | None:
    """The standing match of two segments, if there is one."""
    return conn.execute(
        select(matches).where(
            matches.c.from_segment_id == from_id,
            matches.c.to_segment_id == to_id,
            matches.c.withdrawn_at.is_(None),
        )
    ).first()


def is_one_to_one(conn: Connection, match: Row[Any]) -> bool:
    """Whether no other accepted match names either of its two segments."""
    other = conn.execute(
        select(matches.c.id).where(
            matches.c.id != match.id,
            matches.c.state == "accepted",
            matches.c.withdrawn_at.is_(None),
            (matches.c.from_segment_id == match.from_segment_id)
            | (matches.c.to_segment_id == match.to_segment_id),
        )
    ).first()
    return other is None
