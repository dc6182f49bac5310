"""Checking as a recipe job, for workflows and recipes."""

from __future__ import annotations

from armarium.api import Engine, Library, Placement, RecipeJob
from armarium_checking.jobs import CHECK
from armarium_checking.layers import find_placement, layer_named
from armarium_checking.records.checks import CheckSettings


def _place(engine: Engine, library: Library, settings: CheckSettings) -> Placement:
    layer = layer_named(engine, settings.layer)
    return find_placement(
        engine, layer, (settings.provider, settings.model), pages_may_leave=settings.pages_may_leave
    )


RECIPE_JOBS = (
    RecipeJob(
        kind=CHECK,
        name="Check",
        description="Gives a verdict on each reading, statement or name: confirm, correct or reject.",
        layer="check",
        takes=("line_readings", "claims", "mentions"),
        gives=("verdicts",),
        takes_any=True,
        settings=CheckSettings,
        writes=("check.take",),
        compare="share of all verdicts that a person agrees with",
        provider_setting="provider",
        model_setting="model",
        place=_place,
    ),
)
