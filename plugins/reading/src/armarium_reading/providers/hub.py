"""The key of the model hub, which other families' remote work is done with; the hub is asked nothing here."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from armarium.api import Engine
from armarium_reading.models import providers
from armarium_reading.providers import keys
from armarium_reading.providers.openai import ModelHub


class HubAccess(NamedTuple):
    """How the model hub is reached: its key, and its address where the provider states one."""

    key: str
    api_base: str | None


def hub_key(engine: Engine) -> str | None:
    """The key of the first enabled provider of type model-hub; None where none has one. Conflict where it was lost."""
    access = hub_access(engine)
    return None if access is None else access.key


def hub_access(engine: Engine) -> HubAccess | None:
    """As `hub_key`, with the provider's address."""
    with engine.state.read() as conn:
        row = conn.execute(
            select(providers.c.name, providers.c.key_name, providers.c.api_base)
            .where(
                providers.c.provider_type == ModelHub.name,
                providers.c.enabled,
                providers.c.key_name.is_not(None),
            )
            .order_by(providers.c.sort_order, providers.c.name)
        ).first()
    return None if row is None else HubAccess(keys.fetch(engine, row.key_name, row.name), row.api_base)
