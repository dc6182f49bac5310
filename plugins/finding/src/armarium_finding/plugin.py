"""What finding brings to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Which pages make a document: proposed by rules, judged by people."""
    return Plugin(name="finding", summary="Which pages make a document: proposed by rules, judged by people")
