"""Reads of matches between segments of rival passes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row

from armarium.api import Rows, query
from armarium_documents.api import require_document
from armarium_source_model.errors import unknown_match
from armarium_source_model.models import matches
from armarium_source_model.schemas.joins import MatchList

MATCHES = Rows(matches)
_STANDS = matches.c.withdrawn_at.is_(None)


def get_match(conn: Connection, match_id: str) -> Row[Any]:
    """Return the row of a match that was not withdrawn; NotFound."""
    row = conn.execute(MATCHES.select.where(matches.c.id == match_id, _STANDS)).one_or_none()
    if row is None:
        raise unknown_match(match_id)
    return row


@query("/api/segments/document/{doc_id}/matches", summary="The matches on a page", answer=MatchList)
def list_matches(conn: Connection, doc_id: str) -> dict[str, Any]:
    """List proposed, accepted and rejected matches, oldest first."""
    require_document(conn, doc_id)
    oldest_first = (matches.c.created_at, matches.c.id)
    items = MATCHES.all(conn, matches.c.document_id == doc_id, _STANDS, order=oldest_first)
    return {"document_id": doc_id, "items": items, "count": len(items)}


def match_between(conn: Connection, one: str, other: str) -> Row[Any] | None:
    """Return the live match of two segments, in either direction, or None."""
    start, end = matches.c.from_segment_id, matches.c.to_segment_id
    either_way = ((start == one) & (end == other)) | ((start == other) & (end == one))
    return conn.execute(MATCHES.select.where(either_way, _STANDS)).first()


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
    """Return whether no other accepted match between the two passes names either of its segments."""
    ends = {"match": match.id, "one": match.from_segment_id, "other": match.to_segment_id}
    return conn.exec_driver_sql(_RIVAL, ends).first() is None
