"""What this family adds to the engine: the only file with a hook."""

from __future__ import annotations

from armarium.api import Plugin, hookimpl
from armarium_documents.api import start_actions
from armarium_model_jobs.actions import take_signs
from armarium_model_jobs.recipe_jobs import RECIPE_JOBS


@hookimpl
def armarium_plugin() -> Plugin:
    """Register the recipe jobs that ask a model."""
    return Plugin(
        name="model_jobs",
        summary="Correction and translation of lines, entries, tables, signs and free questions, by a "
        "provider's model",
        prefixes=("model_jobs", *(job.id for job in RECIPE_JOBS)),
        actions=(take_signs, *start_actions("model_jobs", RECIPE_JOBS)),
        recipe_jobs=RECIPE_JOBS,
    )
