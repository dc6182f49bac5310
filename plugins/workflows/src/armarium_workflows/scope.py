"""What a run goes over: the pages at and beneath what is named, and the recordings where a node of it listens to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import RecipeJob
from armarium_documents.api import pages_under, recordings_under


def subjects_under(
    conn: Connection, ids: Sequence[str], nodes: Iterable[Mapping[str, Any]], jobs: Mapping[str, RecipeJob]
) -> list[str]:
    """The pages, then the recordings, that a run of *nodes* over *ids* is to do; NotFound names an id that is not there."""
    if not ids:
        return []
    found = pages_under(conn, ids, for_processing=True)
    tools = {node["tool"] for node in nodes}
    if any("recording" in jobs[tool].takes for tool in tools if tool in jobs):
        found += recordings_under(conn, ids, for_processing=True)
    return found
