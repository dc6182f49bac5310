"""Saved searches: the nodes that contain a query, in their order."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Rows, query
from armarium_documents.api import documents
from armarium_search.errors import unknown_search
from armarium_search.models import saved_searches
from armarium_search.schemas import SavedSearchList

_ORDER = select(documents.c.sort_order).where(documents.c.id == saved_searches.c.id).scalar_subquery()
_LIVE = select(documents.c.id).where(documents.c.deleted_at.is_(None))
LIVE = saved_searches.c.id.in_(_LIVE)

SAVED = Rows(saved_searches, missing=unknown_search, sort_order=_ORDER)


@query(
    "/api/search/saved", summary="The saved searches", answer=SavedSearchList, refusals=(), name="list_saved"
)
def list_saved(conn: Connection) -> dict[str, Any]:
    """Return them folder by folder, each in its order, without those in the Trash."""
    return SAVED.list_all(conn, LIVE, order=(saved_searches.c.folder_path, _ORDER, saved_searches.c.id))


def live_search(conn: Connection, search_id: str) -> dict[str, Any]:
    """Return a saved search that is not in the Trash; NotFound."""
    saved = SAVED.all(conn, saved_searches.c.id == search_id, LIVE)
    if not saved:
        raise unknown_search(search_id)
    return saved[0]
