"""Named drivers: formats, readers and the like, found by entry-point group and name (stevedore), each guarded."""

from __future__ import annotations

import logging
from importlib import metadata as distributions
from typing import Any

from armarium.errors import NotFound

log = logging.getLogger("armarium.drivers")


class Drivers:
    """The drivers of one engine, by group ("armarium.formats") and name; loaded when first asked for."""

    def __init__(self) -> None:
        self._given: dict[str, dict[str, Any]] = {}
        self._loaded: dict[tuple[str, str], Any] = {}
        self._found: dict[str, set[str]] = {}
        self._refused: dict[str, dict[str, str]] = {}

    def give(self, group: str, name: str, driver: Any) -> None:
        """Hand in a driver class by hand, as a test or an embedding program does."""
        self._given.setdefault(group, {})[name] = driver

    def names(self, group: str) -> list[str]:
        """The names of the drivers in *group*, sorted."""
        return sorted({*self._entries(group), *self._given.get(group, {})})

    def load(self, group: str, name: str) -> Any:
        """The driver class *name* of *group*; NotFound naming the drivers there are."""
        if name in self._given.get(group, {}):
            return self._given[group][name]
        if (group, name) in self._loaded:
            return self._loaded[group, name]
        what = group.removeprefix("armarium.").rstrip("s")
        if name not in self._entries(group):
            known = ", ".join(self.names(group)) or "none"
            raise NotFound(f"There is no {what} called {name}. Installed: {known}.", code="unknown_driver")
        from stevedore import DriverManager

        try:
            driver: Any = DriverManager(group, name, invoke_on_load=False).driver
        except (Exception, SystemExit) as error:
            why = f"It does not import: {type(error).__name__}: {error}"
            log.warning("driver %s of %s refused: %s", name, group, why)
            self._refused.setdefault(group, {})[name] = why
            raise NotFound(
                f"The {what} {name} is installed and does not load. {why}", code="driver_broken"
            ) from error
        self._loaded[group, name] = driver
        return driver

    def refused(self, group: str) -> dict[str, str]:
        """Drivers of *group* that were asked for and did not load, each with the reason."""
        return dict(self._refused.get(group, {}))

    def _entries(self, group: str) -> set[str]:
        """The names installed for *group*, found without importing any of them."""
        if group not in self._found:
            self._found[group] = {entry.name for entry in distributions.entry_points(group=group)}
        return self._found[group]
