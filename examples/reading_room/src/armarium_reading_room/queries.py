"""Reads of visits; they write nothing."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import Rows, listed, missing, query
from armarium_documents.api import require_document
from armarium_reading_room.models import visits
from armarium_reading_room.schemas import Visit

VISITS = Rows(visits, missing=missing("visit", "List the visits of the document to find the right id."))


@query("/api/documents/{document_id}/visits", summary="Who looked at the original", answer=listed(Visit))
def list_visits(conn: Connection, document_id: str) -> dict[str, Any]:
    """Return the newest first; NotFound if there is no such document."""
    require_document(conn, document_id)
    newest_first = (visits.c.day.desc(), visits.c.id)
    return VISITS.list_all(conn, visits.c.document_id == document_id, order=newest_first)
