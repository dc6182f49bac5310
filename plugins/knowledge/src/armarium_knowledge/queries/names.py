"""The project's known names, found on a page and offered for review."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Library, query
from armarium_documents.api import require_document
from armarium_knowledge.known_names import known_names, names_on_page
from armarium_knowledge.records.mentions import KnownNames

_HIDDEN = ("representation_id", "line_start", "line_end")


@query(
    "/api/documents/{document_id}/known-names",
    summary="The project's known names that occur on a page",
    answer=KnownNames,
    name="list_known_names",
)
def list_known_names(
    conn: Connection,
    library: Library,
    document_id: str,
    misread: Annotated[bool, Query(description="Also those with one or two letters misread")] = True,
) -> dict[str, Any]:
    """List them in the order of the text, without existing mentions and refused ones; nothing is written."""
    require_document(conn, document_id)
    occurrences = names_on_page(conn, known_names(library, conn), document_id, misread=misread)
    items = [
        {key: value for key, value in occurrence.items() if key not in _HIDDEN} for occurrence in occurrences
    ]
    return {"document_id": document_id, "items": items, "count": len(items)}
