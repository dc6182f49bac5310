"""What checking adds to the engine; the only file with hooks."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_checking import actions, hookspecs, queries
from armarium_checking.hookspecs import Layer
from armarium_checking.readings import READINGS
from armarium_checking.recipe_jobs import RECIPE_JOBS
from armarium_checking.records import metadata
from armarium_checking.routes import router
from armarium_checking.stale_verdicts import RestingVerdicts
from armarium_source_model.api import RestsOnText


@hookimpl
def armarium_plugin() -> Plugin:
    """Check runs over layers, verdicts, and a checker that needs no model."""
    return Plugin(
        name="checking",
        summary="Verdicts on readings, by people, agents, and a checker that needs no model",
        prefixes=("check",),
        metadata=metadata,
        actions=actions_in(actions),
        recipe_jobs=RECIPE_JOBS,
        queries=queries_in(queries),
        routers=(router,),
        hookspecs=hookspecs,
        hooks=__name__,
    )


armarium_source_model_confirmed = hookimpl(queries.confirmed_by_persons)


@hookimpl
def armarium_checking_layers() -> Sequence[Layer]:
    return (READINGS,)


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (RestingVerdicts(),)
