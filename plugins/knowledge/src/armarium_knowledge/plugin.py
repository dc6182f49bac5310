"""What knowledge brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Entities, mentions, claims, interpretations, and what a correction puts in doubt."""
    return Plugin(
        name="knowledge",
        summary="Entities, mentions, claims, interpretations, and what a correction puts in doubt",
    )
