"""The key of the model hub, which other families' remote work is done with; the hub is asked nothing here."""

from __future__ import annotations

from sqlalchemy import select

from armarium.api import Engine
from armarium_reading.models import providers
from armarium_reading.providers import keys
from armarium_reading.providers.openai import ModelHub


def hub_key(engine: Engine) -> str | None:
    """The key of the first enabled provider of type model-hub; None where none has one. Conflict where it was lost."""
    with engine.state.read() as conn:
        row = conn.execute(
            select(providers.c.name, providers.c.key_name)
            .where(
                providers.c.provider_type == ModelHub.name,
                providers.c.enabled,
                providers.c.key_name.is_not(None),
            )
            .order_by(providers.c.sort_order, providers.c.name)
        ).first()
    return None if row is None else keys.fetch(engine, row.key_name, row.name)
