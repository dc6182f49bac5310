"""What recipes add to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_recipes import hookspecs, routes_bakeoffs
from armarium_recipes.actions import bakeoffs, champions, choices, setup, start
from armarium_recipes.bakeoffs import champions as champions_of
from armarium_recipes.bakeoffs import following, recovery
from armarium_recipes.jobs.compare_line_finders import COMPARE_FINDERS
from armarium_recipes.jobs.run_recipe import RUN_A_RECIPE
from armarium_recipes.models import metadata
from armarium_recipes.project import arrivals, files, run_rows
from armarium_recipes.queries import bakeoffs as bakeoffs_read
from armarium_recipes.queries import candidates
from armarium_recipes.queries import knowledge as knowledge_read
from armarium_recipes.queries import project as project_read
from armarium_recipes.queries import runs as runs_read
from armarium_recipes.routes import knowledge


@hookimpl
def armarium_plugin() -> Plugin:
    """Register recipes, Start and bake-offs."""
    return Plugin(
        name="recipes",
        summary="Recipes, Start, bake-offs",
        prefixes=("recipes", "project", "compare-line-finders", "run-a-recipe"),
        metadata=metadata,
        actions=actions_in(setup, choices, start, bakeoffs, champions),
        jobs=(COMPARE_FINDERS, RUN_A_RECIPE),
        queries=queries_in(candidates, project_read, runs_read, bakeoffs_read, knowledge_read),
        routers=(routes_bakeoffs.router, knowledge.router),
        hookspecs=hookspecs,
        hooks=__name__,
        on_open=(files.settle, run_rows.reconcile, recovery.write_missing_files),
        on_step=(files.step_ends, arrivals.step_ends),
    )


armarium_reading_own_readers = hookimpl(optionalhook=True)(champions_of.readers_of_lines)
armarium_training_evaluated = hookimpl(optionalhook=True)(following.follow_scores)
