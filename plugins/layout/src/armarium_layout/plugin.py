"""What layout adds to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, actions_in, derived_from, hookimpl
from armarium_documents.api import start_actions
from armarium_layout.actions import pages
from armarium_layout.detectors import GROUP, Detector
from armarium_layout.recipe_jobs import RECIPE_JOBS


@hookimpl
def armarium_plugin() -> Plugin:
    """Register the recipe jobs of layout, and the drivers that find regions with a trained model."""
    return Plugin(
        name="layout",
        summary="Regions, outlines, table cells, orders, halves of spreads and prepared pictures; regions also with a trained model",
        prefixes=("layout", *(job.id for job in RECIPE_JOBS)),
        actions=(*actions_in(pages), *start_actions("layout", RECIPE_JOBS)),
        recipe_jobs=RECIPE_JOBS,
        driver_groups=(GROUP,),
        check_driver=derived_from({GROUP: Detector}),
    )
