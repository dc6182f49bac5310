"""Reads of providers and their models, from the engine's own database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, or_, select

from armarium.api import Rows, by_name
from armarium_reading import errors
from armarium_reading.models import provider_models, providers

_MODELS = Rows(provider_models)


def provider_answer(row: Row[Any]) -> dict[str, Any]:
    """Return a row as answers show it: with whether there is a key, but not the name under which it is stored."""
    answer = row._asdict()
    answer["has_key"] = answer.pop("key_name") is not None
    return answer


def list_providers(conn: Connection) -> list[dict[str, Any]]:
    """Return all providers in order."""
    order = (providers.c.sort_order, by_name(providers.c.name))
    return [provider_answer(row) for row in conn.execute(select(providers).order_by(*order))]


def require_provider(conn: Connection, named: str, *, by_name: bool = False) -> Row[Any]:
    """Return the row with this id (or, *by_name*, with this name); NotFound."""
    is_meant = providers.c.id == named
    if by_name:
        is_meant = or_(is_meant, providers.c.name == named)
    row = conn.execute(select(providers).where(is_meant).order_by(providers.c.id != named)).first()
    if row is None:
        known_names = [] if not by_name else list(conn.execute(select(providers.c.name)).scalars())
        raise errors.unknown_provider(named, known_names)
    return row


def list_models(conn: Connection, provider_id: str) -> list[dict[str, Any]]:
    """Return the models of a provider in order; NotFound."""
    require_provider(conn, provider_id)
    return _models_of(conn, provider_id)


def _models_of(conn: Connection, provider_id: str) -> list[dict[str, Any]]:
    order = (provider_models.c.sort_order, by_name(provider_models.c.name))
    return _MODELS.all(conn, provider_models.c.provider_id == provider_id, order=order)


def require_model(conn: Connection, provider: Row[Any], model: str | None) -> dict[str, Any]:
    """Return *provider*'s *model* (by its own name or the provider's), or the default; NotFound, Invalid."""
    models = _models_of(conn, provider.id)
    if model is None:
        default = next((row for row in models if row["is_default"]), None)
        if default is None:
            raise errors.no_default_model(provider.name)
        return default
    for field in ("model_id", "name", "id"):
        for row in models:
            if row[field] == model:
                return row
    raise errors.unlisted_model(model, provider.name, [row["model_id"] for row in models])
