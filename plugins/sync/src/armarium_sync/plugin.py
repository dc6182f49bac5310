"""What sync brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Synced folders: files that follow the project, and back."""
    return Plugin(name="sync", summary="Synced folders: files that follow the project, and back")
