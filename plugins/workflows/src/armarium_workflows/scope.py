"""What a run covers: the pages at and below the documents named, and recordings if one of its nodes
transcribes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import RecipeJob
from armarium_documents.api import pages_under, recordings_under


def subjects_under(
    conn: Connection, ids: Sequence[str], nodes: Iterable[Mapping[str, Any]], jobs: Mapping[str, RecipeJob]
) -> list[str]:
    """Return the pages, then the recordings, that a run of *nodes* over *ids* covers. Raises NotFound for an
    unknown id.
    """
    if not ids:
        return []
    subjects = pages_under(conn, ids, for_processing=True)
    tools = {node["tool"] for node in nodes}
    if any("recording" in jobs[tool].takes for tool in tools if tool in jobs):
        subjects += recordings_under(conn, ids, for_processing=True)
    return subjects
