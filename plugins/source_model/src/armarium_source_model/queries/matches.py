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


def match_between(conn: Connection, one: str, other: str) -> Row[Any] | None:
    """The standing match of two segments, whichever of them was named as the older, if there is one."""
    start, end = matches.c.from_segment_id, matches.c.to_segment_id
    return conn.execute(
        select(matches).where(
            ((start == one) & (end == other)) | ((start == other) & (end == one)),
            matches.c.withdrawn_at.is_(None),
        )
    ).first()


_RIVAL = """
SELECT 1 FROM segment_match m JOIN segment a ON a.id = m.from_segment_id JOIN segment b ON b.id = m.to_segment_id
WHERE m.id <> :match AND m.state = 'accepted' AND m.withdrawn_at IS NULL
AND a.deleted_at IS NULL AND b.deleted_at IS NULL
AND (m.from_segment_id IN (:one, :other) OR m.to_segment_id IN (:one, :other))
AND (SELECT count(*) FROM segment s WHERE s.id IN (:one, :other) AND s.pass_id IN (a.pass_id, b.pass_id)) = 2
LIMIT 1
"""
"""Another accepted match of one of two segments, between live ones of the same two passes."""


def is_one_to_one(conn: Connection, match: Row[Any]) -> bool:
    """Whether, between the two passes, no other accepted match names either of its two segments."""
    ends = {"match": match.id, "one": match.from_segment_id, "other": match.to_segment_id}
    return conn.exec_driver_sql(_RIVAL, ends).first() is None
