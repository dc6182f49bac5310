"""What recipes add to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_recipes import hookspecs, routes_bakeoffs
from armarium_recipes.actions import bakeoffs, champions
from armarium_recipes.actions.choices import ACTIONS as CHOICES
from armarium_recipes.actions.setup import ACTIONS as SETUP
from armarium_recipes.actions.start import ACTIONS as START
from armarium_recipes.bakeoffs import champions as champions_of
from armarium_recipes.bakeoffs import following, recovery
from armarium_recipes.jobs.compare_line_finders import COMPARE_FINDERS
from armarium_recipes.jobs.run_recipe import RUN_A_RECIPE
from armarium_recipes.models import metadata
from armarium_recipes.project import arrivals, files
from armarium_recipes.queries.bakeoffs import QUERIES as BAKEOFFS
from armarium_recipes.queries.candidates import QUERIES as CANDIDATES
from armarium_recipes.queries.knowledge import list_routes
from armarium_recipes.queries.project import QUERIES as PROJECT
from armarium_recipes.queries.runs import QUERIES as RUNS
from armarium_recipes.routes import knowledge


@hookimpl
def armarium_plugin() -> Plugin:
    """Register recipes, Start and bake-offs."""
    return Plugin(
        name="recipes",
        summary="Recipes, Start, bake-offs",
        prefixes=("recipes", "project", "compare-line-finders", "run-a-recipe"),
        metadata=metadata,
        actions=(*SETUP, *CHOICES, *START, *bakeoffs.ACTIONS, champions.set_champion),
        jobs=(COMPARE_FINDERS, RUN_A_RECIPE),
        queries=(*CANDIDATES, *PROJECT, *RUNS, *BAKEOFFS, list_routes),
        routers=(routes_bakeoffs.router, knowledge.router),
        hookspecs=hookspecs,
        hooks=__name__,
        on_open=(files.settle, arrivals.settle_ended_runs, recovery.write_missing_files),
        on_step=(files.step_ends, arrivals.step_ends),
    )


armarium_reading_own_readers = hookimpl(optionalhook=True)(champions_of.readers_of_lines)
armarium_training_evaluated = hookimpl(optionalhook=True)(following.follow_scores)
