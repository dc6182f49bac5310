"""What all jobs that ask a provider's model share: where they run, and that they are put off while the
provider is busy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from armarium.api import (
    Engine,
    JobContext,
    Library,
    PageWork,
    Params,
    Placement,
    RecipeJob,
    RetryLater,
    ServiceError,
    page_job,
)
from armarium_reading import errors
from armarium_reading.providers.asking import ModelAnswer, ModelRequest, ask
from armarium_reading.providers.served_reader import placed_with_provider

PAUSE = 60.0
"""Seconds for which a job is put off if the busy provider does not say how long."""


def ask_in_job(
    job: JobContext, request: ModelRequest, answer: type[BaseModel] | None = None
) -> ModelAnswer[Any]:
    """Ask as `ask` does, in the body of a job: the job is put off (RetryLater) while the provider is busy."""
    try:
        return ask(job, request) if answer is None else ask(job, request, answer)
    except ServiceError as error:
        put_off_while_busy(error)
        raise


def put_off_while_busy(error: ServiceError) -> None:
    """Raise RetryLater for the refusal of a busy provider; do nothing for any other."""
    if error.code == "provider_busy":
        raise RetryLater(error.detail, seconds=error.fields.get("retry_after") or PAUSE) from error


def model_job(
    job_id: str,
    work: Callable[[JobContext, str], PageWork | None],
    settings: type[Params],
    *,
    place: Callable[[Engine, Library, Any], Placement] | None = None,
    **declared: Any,
) -> RecipeJob:
    """Return a recipe job that asks a model of a provider about each page (`page_job`); its settings name provider and model."""
    return page_job(
        job_id,
        work,
        settings,
        lane="network",
        also_lanes=("local-model",),
        uses_llm=True,
        provider_setting="provider",
        model_setting="model",
        place=place or place_with_provider,
        **declared,
    )


def place_with_provider(engine: Engine, library: Library, settings: Any) -> Placement:
    """Return the `place` of recipe jobs whose settings have `provider`, `model` and `pages_may_leave`;
    Invalid without a provider.
    """
    if settings.provider is None:
        raise errors.provider_needed()
    return placed_with_provider(
        engine, settings.provider, settings.model, pages_may_leave=settings.pages_may_leave
    )
