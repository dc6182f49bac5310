"""The installed provider types, by name."""

from __future__ import annotations

from armarium.api import Engine, Invalid
from armarium_reading.providers.wire import GROUP, ProviderType


def provider_type(engine: Engine, name: str) -> ProviderType:
    """Return the provider type *name*; NotFound names the installed ones."""
    driver = engine.drivers.load(GROUP, name)
    if not (isinstance(driver, type) and issubclass(driver, ProviderType)):
        raise Invalid(
            f"The driver {name} is not a provider type; its author must derive it from ProviderType.",
            code="not_a_provider_type",
        )
    return driver()
