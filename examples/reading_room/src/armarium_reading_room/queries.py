"""Reads of visits; they write nothing."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import Rows, missing, query
from armarium_documents.api import require_document
from armarium_reading_room.models import visits
from armarium_reading_room.schemas import Visits

VISITS = Rows(visits, missing=missing("visit", "The list of visits of a document names them."))


@query("/api/documents/{document_id}/visits", summary="Who looked at the original", answer=Visits)
def list_visits(conn: Connection, document_id: str) -> dict[str, Any]:
    """The newest first; NotFound where there is no such document."""
    require_document(conn, document_id)
    newest_first = (visits.c.day.desc(), visits.c.id)
    items = VISITS.all(conn, visits.c.document_id == document_id, order=newest_first)
    return {"items": items, "count": len(items)}
