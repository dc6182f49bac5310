"""Reads of visits; they write nothing."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium_documents.api import require_document
from armarium_reading_room.models import visits


def visits_of(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """The visits of a document, the newest first; NotFound where there is no such document."""
    require_document(conn, document_id)
    newest_first = (
        select(visits).where(visits.c.document_id == document_id).order_by(visits.c.day.desc(), visits.c.id)
    )
    return [dict(row._mapping) for row in conn.execute(newest_first)]
