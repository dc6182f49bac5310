"""What recipes bring to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_recipes.queries.knowledge import list_routes
from armarium_recipes.routes.knowledge import router as knowledge


@hookimpl
def armarium_plugin() -> Plugin:
    """Recipes, Start, bake-offs."""
    return Plugin(
        name="recipes",
        summary="Recipes, Start, bake-offs",
        prefixes=("recipes", "project"),
        queries=(list_routes,),
        routers=(knowledge,),
    )
