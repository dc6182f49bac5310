"""Checking as a recipe job, for workflows and recipes."""

from __future__ import annotations

from typing import Any

from armarium.api import Engine, Example, Library, Placement, RecipeJob
from armarium_checking.jobs import CHECK
from armarium_checking.layers import find_placement, layer_named
from armarium_checking.records.checks import CheckSettings
from armarium_source_model.api import sample_page


def _place(engine: Engine, library: Library, settings: CheckSettings) -> Placement:
    layer = layer_named(engine, settings.layer)
    return find_placement(
        engine, layer, (settings.provider, settings.model), pages_may_leave=settings.pages_may_leave
    )


def _page_read_twice(ex: Example) -> dict[str, Any]:
    """Create a page with a line that two readers read alike."""
    page = sample_page(ex, lines=1)
    for reader in ("first-reader", "second-reader"):
        readings = [{"segment_id": page.segment_ids[0], "text": "Dear Sir"}]
        settings = {"document_id": page.document_id, "pass_id": page.pass_id, "provider": reader}
        ex.run("reading.take", {**settings, "readings": readings})
    return {"page_id": page.document_id}


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
        example=_page_read_twice,
    ),
)
