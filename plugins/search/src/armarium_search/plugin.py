"""What search brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Full text, vectors and saved searches."""
    return Plugin(name="search", summary="Full text, vectors and saved searches")
