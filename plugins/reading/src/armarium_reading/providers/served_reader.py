"""A provider's model used like a reader on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from armarium.api import Engine, LaneName, Library, Placement, ServiceError
from armarium_reading import errors
from armarium_reading.fitting import fitting
from armarium_reading.providers.registry import provider_type
from armarium_reading.providers.sending import sender_of
from armarium_reading.queries.providers import list_models, list_providers, require_model, require_provider
from armarium_reading.readers import Choice, choose
from armarium_reading.schemas.reading import ReadingArgs, ReadLinesSettings
from armarium_worker import Reader


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that may be asked: its provider, what is known of it, and its address."""

    provider: Mapping[str, Any]
    model: Mapping[str, Any]
    api_base: str | None


def served_models(engine: Engine) -> list[ServedModel]:
    """Return the enabled models of enabled providers that have the key they need, in order. Asks no network."""
    served = []
    with engine.state.read() as conn:
        for provider in list_providers(conn):
            try:
                kind = provider_type(engine, provider["provider_type"])
            except ServiceError:
                continue
            if not provider["enabled"] or (kind.needs_key and not provider["has_key"]):
                continue
            address = provider["api_base"] or kind.api_base
            models = list_models(conn, provider["id"])
            served += [ServedModel(provider, model, address) for model in models if model["enabled"]]
    return served


def served_choice(engine: Engine, provider: str, model: str | None) -> Choice:
    """Return the provider as a reader of lines. NotFound, Invalid; Forbidden if it is switched off, Conflict without the key it
    needs. Whether it may be asked about a page is decided at each call.
    """
    row, kind, entry = sender_of(engine).look_up(engine, provider, model)
    if kind.needs_key and row.key_name is None:
        raise errors.key_needed(row.name)
    served = type(
        "Served", (Reader,), {"name": row.name, "label": row.name, "can": frozenset({"read_lines"})}
    )
    return Choice(served, None, str(entry["model_id"]))


def sees_pictures(engine: Engine, provider: str, model: str | None) -> bool:
    """Return whether a provider's model is stated to take pictures. NotFound, Invalid."""
    with engine.state.read() as conn:
        entry = require_model(conn, require_provider(conn, provider, by_name=True), model)
    return "vision" in entry["capabilities"]


def lane_of(engine: Engine, provider: str, *, may_leave: bool = True) -> LaneName:
    """Return the lane of work with it: that of local models for a server on this machine."""
    with engine.state.read() as conn:
        row = require_provider(conn, provider, by_name=True)
    address = row.api_base or provider_type(engine, row.provider_type).api_base
    is_here = address and sender_of(engine).is_here(address, may_leave=may_leave)
    return "local-model" if is_here else "network"


def placed_with_provider(
    engine: Engine, provider: str, model: str | None, *, pages_may_leave: bool
) -> Placement:
    """Return where work with a provider's model runs. NotFound, Invalid; Forbidden if pages would leave
    without permission.
    """
    choice = served_choice(engine, provider, model)
    refuse_to_leave(engine, provider, pages_may_leave)
    return Placement(model=f"{choice.reader.name}:{choice.model_name}", lane=lane_of(engine, provider))


def refuse_to_leave(engine: Engine, provider: str, pages_may_leave: bool) -> None:
    """Raise Forbidden if the provider is on another machine and the engine is set to work offline, or nobody allowed pages to leave
    this one.
    """
    if lane_of(engine, provider, may_leave=pages_may_leave) != "network":
        return
    if engine.settings.local_only:
        raise errors.held_offline(provider)
    if not pages_may_leave:
        raise errors.pages_stay(provider)


def who_reads_lines(
    engine: Engine, library: Library | None, settings: ReadLinesSettings | ReadingArgs
) -> list[Choice]:
    """Return the local reader or the provider that *settings* name; without a name, the readers that may fit.

    Forbidden if pages would leave without permission, Invalid if no reader fits.
    """
    if settings.provider is not None:
        choice = served_choice(engine, settings.provider, settings.model)
        refuse_to_leave(engine, settings.provider, settings.pages_may_leave)
        return [choice]
    if settings.reader is not None:
        chosen = choose(
            engine,
            library,
            reader=settings.reader,
            method="read_lines",
            model=settings.model,
            language=settings.language,
        )
        return [chosen]
    if settings.model is not None:
        raise errors.model_of_whom()
    return fitting(engine, library, settings.language)
