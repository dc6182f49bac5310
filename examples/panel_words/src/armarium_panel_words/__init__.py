"""A panel beside the page: its words, the most frequent first, and those of the line chosen marked."""

from __future__ import annotations

from pathlib import Path

from armarium.api import Panel, Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """The panel, and the one route that it asks."""
    return Plugin(
        name="panel_words",
        summary="The words of a page by how often they occur",
        panels=(
            Panel(
                name="words",
                title="Words of this page",
                place="page",
                folder=Path(__file__).parent / "panel",
                routes=("GET /api/segments/document/{document_id}/text",),
            ),
        ),
    )
