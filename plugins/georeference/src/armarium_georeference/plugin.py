"""What georeference brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Control points, transformations, world shapes and places."""
    return Plugin(name="georeference", summary="Control points, transformations, world shapes and places")
