"""What checking adds to the engine; the only file with hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armarium.api import Plugin, actions_in, hookimpl, queries_in
from armarium_checking import hookspecs
from armarium_checking.actions import checks as check_actions
from armarium_checking.actions import proposals as proposal_actions
from armarium_checking.actions import samples as sample_actions
from armarium_checking.hookspecs import Layer
from armarium_checking.queries import checks as check_queries
from armarium_checking.queries import disputed as disputed_queries
from armarium_checking.queries import proposals as proposal_queries
from armarium_checking.queries import samples as sample_queries
from armarium_checking.readings import READINGS
from armarium_checking.recipe_jobs import RECIPE_JOBS
from armarium_checking.records.checks import metadata
from armarium_checking.records.samples import sample_lines, samples
from armarium_checking.routes import router
from armarium_checking.stale_verdicts import RestingVerdicts
from armarium_checking.statements import RestingRates, stated_rates, statements_about
from armarium_checking.withheld import WithheldSamples
from armarium_documents.api import Carrier
from armarium_source_model.api import RestsOnText


@hookimpl
def armarium_plugin() -> Plugin:
    """Check runs over layers, verdicts, and a checker that needs no model."""
    return Plugin(
        name="checking",
        summary="Verdicts on readings by people, agents and a checker that needs no model, stated error rates, and errors found from corrections",
        prefixes=("check", "quality", "proposal", "disputed"),
        metadata=metadata,
        actions=actions_in(check_actions, sample_actions, proposal_actions),
        recipe_jobs=RECIPE_JOBS,
        queries=queries_in(check_queries, sample_queries, proposal_queries, disputed_queries),
        routers=(router,),
        withheld_along=(WithheldSamples(),),
        hookspecs=hookspecs,
        hooks=__name__,
    )


armarium_source_model_confirmed = hookimpl(check_queries.confirmed_by_persons)


@hookimpl
def armarium_checking_layers() -> Sequence[Layer]:
    return (READINGS,)


@hookimpl
def armarium_documents_carriers() -> Sequence[Carrier]:
    # In the other project a sample stands for those of its pages that came along.
    return (Carrier(companions=(samples.name,)),)


@hookimpl
def armarium_source_model_rests_on_text() -> Sequence[RestsOnText]:
    return (RestingVerdicts(), RestingRates())


armarium_formats_statements = hookimpl(optionalhook=True)(statements_about)


@hookimpl(optionalhook=True)
def armarium_exports_records() -> Mapping[str, object]:
    return {samples.name: stated_rates, sample_lines.name: sample_lines}
