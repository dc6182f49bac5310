"""What recipes bring to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_recipes.actions.setup import ACTIONS as SETUP
from armarium_recipes.models import metadata
from armarium_recipes.project import files
from armarium_recipes.queries.project import QUERIES as PROJECT


@hookimpl
def armarium_plugin() -> Plugin:
    """Recipes, Start, bake-offs."""
    return Plugin(
        name="recipes",
        summary="Recipes, Start, bake-offs",
        prefixes=("recipes", "project"),
        metadata=metadata,
        actions=(*SETUP,),
        queries=(*PROJECT,),
        on_open=(files.settle,),
        on_step=(files.step_ends,),
    )
