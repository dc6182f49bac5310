"""What agents brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Workspaces: what people and agents work on together."""
    return Plugin(name="agents", summary="Workspaces: what people and agents work on together")
