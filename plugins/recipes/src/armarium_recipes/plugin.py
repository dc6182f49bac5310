"""What recipes bring to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl


@hookimpl
def armarium_plugin() -> Plugin:
    """Recipes, Start, bake-offs."""
    return Plugin(name="recipes", summary="Recipes, Start, bake-offs", prefixes=("recipes", "project"))
