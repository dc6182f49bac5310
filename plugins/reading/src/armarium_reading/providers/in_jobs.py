"""What all jobs that ask a provider's model share: where they run, and how they end while the provider cannot be asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from armarium.api import (
    CannotGoOn,
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
UNREACHABLE = frozenset({"provider_unreachable", "unreachable"})
FOR_ALL_PAGES = frozenset(
    {
        *(
            "provider_refused",
            "provider_off",
            "unknown_provider",
            "unknown_model",
            "not_a_model",
            "no_vision",
        ),
        *("key_needed", "key_lost", "address_needed", "out_of_reach", "offline", "pages_may_not_leave"),
        *("price_unknown", "budget_used_up"),
    }
)
"""The codes of refusals that every other page would meet as well."""


def ask_in_job(
    job: JobContext, request: ModelRequest, answer: type[BaseModel] | None = None
) -> ModelAnswer[Any]:
    """Ask as `ask` does, in the body of a job, which ends for now where `end_for_provider` says so."""
    try:
        return ask(job, request) if answer is None else ask(job, request, answer)
    except ServiceError as error:
        end_for_provider(job, error)
        raise


def end_for_provider(job: JobContext, error: ServiceError) -> None:
    """End *job* for now if the provider cannot be asked about its other pages either; return where *error* concerns one question.

    RetryLater while the provider is busy, and where it is gone after it had answered; CannotGoOn where somebody has to do
    something first. Both keep the checkpoint, so that nothing is asked twice.
    """
    if error.code == "provider_busy" or (error.code in UNREACHABLE and job.checkpoint):
        raise RetryLater(error.detail, seconds=error.fields.get("retry_after") or PAUSE) from error
    if error.code in UNREACHABLE | FOR_ALL_PAGES:
        raise CannotGoOn(error.detail, code=error.code) from error


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
