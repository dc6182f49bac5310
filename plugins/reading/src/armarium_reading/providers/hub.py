"""The key of the model hub, which the remote work of other families uses; no model is asked here."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from armarium.api import Engine, by_name
from armarium_reading.models import providers
from armarium_reading.providers import keys
from armarium_reading.providers.openai import ModelHub


class HubAccess(NamedTuple):
    """How to reach the model hub: its key, and its address if the provider states one."""

    key: str
    api_base: str | None


def hub_key(engine: Engine) -> str | None:
    """Return the key of the first enabled provider of type model-hub; None if none has one. Conflict if the
    key was lost.
    """
    access = hub_access(engine)
    return None if access is None else access.key


def hub_access(engine: Engine) -> HubAccess | None:
    """Return the key as `hub_key` does, with the provider's address."""
    with engine.state.read() as conn:
        row = conn.execute(
            select(providers.c.name, providers.c.key_name, providers.c.api_base)
            .where(
                providers.c.provider_type == ModelHub.name,
                providers.c.enabled,
                providers.c.key_name.is_not(None),
            )
            .order_by(providers.c.sort_order, by_name(providers.c.name))
        ).first()
    return None if row is None else HubAccess(keys.fetch(engine, row.key_name, row.name), row.api_base)
