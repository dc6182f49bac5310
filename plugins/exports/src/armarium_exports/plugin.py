"""What exports brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Records, training samples, kept exports and a site of the project."""
    return Plugin(name="exports", summary="Records, training samples, kept exports and a site of the project")
