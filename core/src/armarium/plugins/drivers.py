"""Named drivers: formats, readers and the like, found by entry-point group and name, each guarded, none overwritten."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import Any

from armarium.errors import NotFound
from armarium.messages import Message
from armarium.plugins.offers import Offer, find_offers, quietly, unit_of
from armarium.plugins.registry import PluginRegistry

log = logging.getLogger("armarium.plugins.drivers")


class RefusedDriver(Message):
    """A driver that is installed and cannot be used, and why."""

    group: str
    name: str
    why: str
    distribution: str | None = None


def why_not_of(base: type, name: str, driver: Any) -> str | None:
    """Return why *driver* is not a class derived from *base* that has the *name* it is installed under; None if it is."""
    if not (isinstance(driver, type) and issubclass(driver, base)):
        return f"It is not a class derived from {base.__name__} of {base.__module__.partition('.')[0]}."
    own = getattr(driver, "name", None)
    if own != name:
        return f"It calls itself {str(own)[:80]} but is installed under the name {name}; its author must use one name."
    return None


def derived_from(bases: Mapping[str, type]) -> Callable[[str, str, Any], str | None]:
    """Return the check of a family's drivers that are derived from the base of their group: see `Plugin.check_driver`."""

    def check(group: str, name: str, driver: Any) -> str | None:
        return why_not_of(bases[group], name, driver)

    return check


class Drivers:
    """The drivers of one engine, by group ("armarium.formats") and name; loaded on first use.

    If several drivers have one name, the one of the family that owns the group counts, else one that comes with
    Armarium. Where only third parties provide it, and several do, nobody gets it: the meaning of a name never depends
    on what else is installed.
    """

    def __init__(self, plugins: PluginRegistry | None = None) -> None:
        self._plugins = plugins or PluginRegistry()
        self._given: dict[str, dict[str, Any]] = {}
        self._loaded: dict[tuple[str, str], Any] = {}
        self._found: dict[str, dict[str, tuple[Offer, EntryPoint]]] = {}
        self._refused: dict[str, dict[tuple[str, str | None], RefusedDriver]] = {}

    def give(self, group: str, name: str, driver: Any) -> None:
        """Register a driver class directly, as a test or an embedding program does."""
        self._given.setdefault(group, {})[name] = driver

    def names(self, group: str) -> list[str]:
        """Return the names of the drivers in *group*, sorted."""
        return sorted({*self._entries(group), *self._given.get(group, {})})

    def is_first_party(self, group: str, name: str) -> bool:
        """Return whether the driver *name* comes with Armarium and not from a third party."""
        choice = self._entries(group).get(name)
        return choice is not None and choice[0].first_party

    def distribution_of(self, group: str, name: str) -> str | None:
        """Return the distribution that provides the driver *name*; None where it was registered directly."""
        choice = self._entries(group).get(name)
        return choice[0].name if choice is not None else None

    def load(self, group: str, name: str) -> Any:
        """Return the driver class *name* of *group*; NotFound lists the existing ones."""
        if name in self._given.get(group, {}):
            return self._given[group][name]
        if (group, name) in self._loaded:
            return self._loaded[group, name]
        noun = _noun(group)
        entries = self._entries(group)
        if name not in entries:
            known_names = ", ".join(self.names(group)) or "none"
            raise NotFound(
                f"There is no {noun} called {name}. Installed: {known_names}.", code="unknown_driver"
            )
        offer, entry = entries[name]
        why: str | None = self._plugins.failed.get((offer.key, unit_of(entry)))
        driver: Any = None
        if why is None:
            try:
                with quietly():
                    driver = _load_entry(group, entry)
                why = self._check_driver(group, name, driver)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                why = f"It does not import: {type(error).__name__}: {error}"
        if why is not None:
            self.refuse(group, name, why, offer.name)
            raise NotFound(f"The {noun} {name} is installed and does not load. {why}", code="driver_broken")
        self._loaded[group, name] = driver
        return driver

    def usable(self, group: str) -> list[Any]:
        """Return every driver class of *group* that loads, by name."""
        classes = []
        for name in self.names(group):
            with suppress(NotFound):
                classes.append(self.load(group, name))
        return classes

    def refuse(self, group: str, name: str, why: str, distribution: str | None = None) -> None:
        """Record that the driver *name* cannot be used."""
        refused = self._refused.setdefault(group, {})
        if (name, distribution) not in refused:
            log.warning("driver %s of %s refused: %s", name, group, why)
        refused[name, distribution] = RefusedDriver(
            group=group, name=name, why=why, distribution=distribution
        )

    def refusals(self, group: str) -> list[RefusedDriver]:
        """Return the drivers of *group* that are installed and cannot be used, as far as that is known."""
        self._entries(group)
        return sorted(
            self._refused.get(group, {}).values(),
            key=lambda refusal: (refusal.name, refusal.distribution or ""),
        )

    def list_refused(self, group: str) -> dict[str, str]:
        """Return name to reason of the refused drivers; one that would have taken a name, with its distribution."""
        return {
            f"{refusal.name} ({refusal.distribution})"
            if refusal.name in self._entries(group)
            and (refusal.distribution != self.distribution_of(group, refusal.name))
            else refusal.name: refusal.why
            for refusal in self.refusals(group)
        }

    def _check_driver(self, group: str, name: str, driver: Any) -> str | None:
        """Apply the check of the family that the group belongs to."""
        for plugin in self._plugins.loaded:
            if group in plugin.driver_groups and plugin.check_driver is not None:
                return plugin.check_driver(group, name, driver)
        return None

    def _entries(self, group: str) -> dict[str, tuple[Offer, EntryPoint]]:
        """Return what is installed for *group* under each name, without importing any of it."""
        if group not in self._found:
            self._found[group] = self._choose(group)
        return self._found[group]

    def _choose(self, group: str) -> dict[str, tuple[Offer, EntryPoint]]:
        homes = {
            self._plugins.distributions.get(plugin.name)
            for plugin in self._plugins.loaded
            if group in plugin.driver_groups
        }
        bringing: dict[str, list[tuple[int, Offer, EntryPoint]]] = {}
        for offer in self._plugins.offers or find_offers():
            rank = 0 if offer.name in homes else 1 if offer.first_party else 2
            for entry in offer.entries_of(group):
                bringing.setdefault(entry.name, []).append((rank, offer, entry))
        chosen: dict[str, tuple[Offer, EntryPoint]] = {}
        for name, several in bringing.items():
            several.sort(key=lambda candidate: candidate[0])
            rank, offer, entry = several[0]
            others = several[1:]
            if others and rank == others[0][0]:
                names = ", ".join(provider.name for _, provider, _ in several)
                for _, rival, _ in several:
                    self.refuse(
                        group,
                        name,
                        f"Several provide a {_noun(group)} of this name ({names}), and none takes it from another. "
                        "Remove all but one.",
                        rival.name,
                    )
                continue
            chosen[name] = offer, entry
            for _, rival, _ in others:
                self.refuse(
                    group,
                    name,
                    f"A {_noun(group)} of this name comes with {offer.name}; names are never overwritten. Its maker must "
                    "give it another name.",
                    rival.name,
                )
        return chosen


def _load_entry(group: str, entry: EntryPoint) -> Any:
    """Load what *entry* names with stevedore; exceptions are left to the caller."""
    # Imported here, since most callers only need names.
    from stevedore.driver import DriverManager

    class ChosenDrivers(DriverManager[Any]):
        """A stevedore manager restricted to the chosen entry points: its own discovery knows no owners of names, caches
        its findings in the user's cache folder, and does not see what was installed since.
        """

        def list_entry_points(self) -> list[EntryPoint]:
            return [entry]

    return ChosenDrivers(group, entry.name).driver


def _noun(group: str) -> str:
    return group.removeprefix("armarium.").rstrip("s")
