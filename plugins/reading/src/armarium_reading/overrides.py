"""The choice of a provider and a model that a run or a node makes, as settings of a recipe job."""

from __future__ import annotations

from typing import Any

from armarium.api import Engine, RecipeJob
from armarium_reading.readers import GROUP, LINEREADER

READING_PORTS = frozenset({"line_readings", "page_reading"})
"""The outputs of recipe jobs that are readings."""


def takes_provider(job: RecipeJob, provider: str) -> bool:
    """Return whether *provider* may be chosen for *job*; `linereader` for what a reader of this machine reads alone."""
    if provider == LINEREADER:
        return job.provider_setting == "reader" and bool(READING_PORTS & set(job.gives))
    return job.provider_setting is not None


def provider_settings(engine: Engine, job: RecipeJob, provider: str) -> dict[str, Any]:
    """Return the settings of *job* in which *provider* is chosen: the name of a reader of this machine, or a provider of models
    where the job can ask one in a reader's place."""
    setting = job.provider_setting
    assert setting is not None
    if setting == "provider" or "provider" not in job.settings.model_fields:
        return {setting: provider}
    is_reader = provider == LINEREADER or provider in engine.drivers.names(GROUP)
    return {setting: provider if is_reader else None, "provider": None if is_reader else provider}
