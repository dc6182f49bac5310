"""What training brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Training of readers on corrected lines, their evaluation, and reading at scale."""
    return Plugin(
        name="training",
        summary="Training of readers on corrected lines, their evaluation, and reading at scale",
    )
