"""How plugins are loaded, checked, isolated and reported."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import metadata as distributions
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import TYPE_CHECKING

from armarium.errors import ServiceError
from armarium.messages import Message
from armarium.plugin import ENGINE_API, OF_THE_ENGINE, Plugin, Site
from armarium.plugins.faults import faults_of, routes_of_plugin
from armarium.plugins.offers import PLUGINS, Offer, find_offers, normalise_name, quietly, unit_of
from armarium.plugins.points import DoesNotFit, ExtensionPoints, plugin_of
from armarium.plugins.relations import first_clash, lack_of, plugins_under, tables_of, trees_of

if TYPE_CHECKING:
    from armarium.plugins.trial_processes import Failed
    from armarium.plugins.verdicts import Trials

MOST_FAULTS = 200
"""How many failures of plugins an engine remembers."""

CORE_PLUGINS = ("projects.plugin", "auth.plugin", "jobs.plugin", "runtimes.plugin", "web.plugin")
"""The modules of the core's own plugins. They are loaded by name, as others are: their routes import the engine."""

log = logging.getLogger("armarium.plugins")


class RefusedPlugin(Message):
    """A plugin that was refused, and why."""

    name: str
    why: str
    distribution: str | None = None


class PluginRegistry:
    """The plugins of one engine: those loaded, in order, and those refused with their reason."""

    def __init__(self) -> None:
        self.loaded: list[Plugin] = []
        self.refused: list[RefusedPlugin] = []
        self.faults: list[RefusedPlugin] = []
        """What loaded plugins failed at since, each failure once."""
        self.distributions: dict[str, str] = {}
        self.packages: dict[str, str] = {}
        """The top-level package of each plugin, with the plugin's name: whose code an error comes from."""
        self.strangers: set[str] = set()
        """The plugins that are not pinned by the distribution of Armarium itself."""
        self.offers: list[Offer] = []
        """The installed distributions, in the order in which they are loaded."""
        self.failed: Failed = {}
        """What did not pass its trial, and why."""
        self.points = ExtensionPoints(self.note_fault)

    def find(self, trials: Trials | None = None, *, path: Sequence[str] | None = None) -> None:
        """Load every plugin that an installed distribution names; one that fails is refused, never fatal.

        What did not pass its trial according to *trials* is not imported.
        """
        self.offers = find_offers(path)
        self.failed = trials.find_failures(self.offers) if trials is not None else {}
        for offer in self.offers:
            if offer.fault is not None:
                self.refuse(offer.name, offer.fault, offer.name)
            for entry in offer.entries_of(PLUGINS):
                why = self.failed.get((offer.key, unit_of(entry)))
                if why is not None:
                    self.refuse(entry.name, why, offer.name)
                else:
                    self.take(entry, offer)
        self.settle()

    def take(self, entry: EntryPoint, offer: Offer) -> Plugin | None:
        """Import what *entry* names and accept or refuse it; return the plugin when it is accepted."""
        try:
            with quietly():
                module = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.refuse(entry.name, f"It does not import: {type(error).__name__}: {error}", offer.name)
            return None
        with quietly():
            plugin = self.add_module(entry.name, module, offer.name)
        if plugin is not None:
            self.packages[entry.module.partition(".")[0]] = plugin.name
            if not offer.first_party:
                self.strangers.add(plugin.name)
        return plugin

    def add_module(self, name: str, module: object, distribution: str | None = None) -> Plugin | None:
        """Add the `Plugin` that the hook of *module* returns; return it when it is accepted."""
        try:
            plugin = plugin_of(module)
        except DoesNotFit as fault:
            self.refuse(name, str(fault), distribution)
            return None
        if plugin.hooks is None:
            plugin = replace(plugin, hooks=module)
        if not self.add(plugin, distribution):
            return None
        return plugin

    def add(self, plugin: Plugin, distribution: str | None = None) -> bool:
        """Accept *plugin* when it has no fault; otherwise refuse it whole. Return which."""
        why = self._fault(plugin)
        if why is not None:
            self.refuse(str(plugin.name), why, distribution)
            return False
        self.loaded.append(plugin)
        if distribution:
            self.distributions[plugin.name] = distribution
        return True

    def refuse(self, name: str, why: str, distribution: str | None = None) -> None:
        """Record that plugin *name* is refused."""
        log.warning("plugin %s refused: %s", name, why)
        self.refused.append(RefusedPlugin(name=name, why=why, distribution=distribution))

    @property
    def site(self) -> Site | None:
        """The web application of this engine: that of the plugin loaded first."""
        return next((plugin.site for plugin in self.loaded if plugin.site is not None), None)

    def note_fault(self, name: str, why: str) -> None:
        """Record what the loaded plugin *name* has failed at."""
        fault = RefusedPlugin(name=name, why=why, distribution=self.distributions.get(name))
        if fault not in self.faults and len(self.faults) < MOST_FAULTS:
            log.warning("plugin %s: %s", name, why)
            self.faults.append(fault)

    def note_error(
        self, what: str, error: BaseException, part: Callable[..., object] | None = None
    ) -> tuple[str, str]:
        """Record that *what* failed by *error*, if it is a plugin's fault; return whose it is ("the plugin canvas", "the engine")
        and where it was raised, see `at_fault`.
        """
        plugin, spot = self.at_fault(error, part)
        if plugin is None:
            return "the engine", spot
        self.note_fault(plugin, f"{what} failed with {spot}.")
        return f"the plugin {plugin}", spot

    def at_fault(
        self, error: BaseException, part: Callable[..., object] | None = None
    ) -> tuple[str | None, str]:
        """Return the plugin in whose code *error* was raised (None: the engine), and its type with the file and line there.

        Code that a plugin called, in a library or in the engine, counts as the plugin's, and so does what *part* of it
        answered. The error's message is left out: it may quote a source.
        """
        plugin: str | None = None
        place: tuple[str, int] | None = None
        trace = error.__traceback__
        while trace is not None:
            frame = trace.tb_frame
            package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            if package in self.packages or plugin is None:
                plugin = self.packages.get(package, plugin)
                place = frame.f_code.co_filename.replace("\\", "/").rsplit("/", 1)[-1], trace.tb_lineno
            trace = trace.tb_next
        spot = f"{type(error).__name__} in {place[0]}, line {place[1]}" if place else type(error).__name__
        if plugin is None and part is not None:
            plugin = self.packages.get(str(getattr(part, "__module__", "")).partition(".")[0])
        return plugin, spot

    def words_for(self, error: BaseException) -> str:
        """Return the words for *error* of a plugin: a refusal's own sentence, else its type and where it was raised."""
        return error.detail if isinstance(error, ServiceError) else self.at_fault(error)[1]

    def settle(self) -> None:
        """Order the plugins so that one whose tables refer to another's comes after it."""
        self._refuse_taken_routes()
        self._join()
        self._refuse_dependents()
        home = self._homes()
        waiting, ordered = list(self.loaded), []
        placed: set[str] = set()
        while waiting:
            ready = [
                plugin for plugin in waiting if plugins_under(plugin, home) <= placed | {plugin.name}
            ] or waiting[:1]
            ordered.append(ready[0])
            placed.add(ready[0].name)
            waiting.remove(ready[0])
        self.loaded = ordered
        self.points.settle(ordered)

    def _join(self) -> None:
        """Take the extension points of all plugins, then their answers; refuse a plugin whose own do not fit."""
        for take in (self.points.offer, self.points.join):
            for plugin in [*self.loaded]:
                try:
                    take(plugin)
                except DoesNotFit as fault:
                    self._drop(plugin, str(fault))

    def _refuse_dependents(self) -> None:
        """Refuse, in turn, every plugin that depends on one that was refused."""
        while True:
            home = self._homes()
            out = {refused.distribution: refused.name for refused in self.refused if refused.distribution}
            fallen = next(
                (
                    (plugin, why)
                    for plugin in self.loaded
                    if (why := lack_of(plugin, home) or self._stands_on(plugin, out)) is not None
                ),
                None,
            )
            if fallen is None:
                return
            self._drop(*fallen)

    def _refuse_taken_routes(self) -> None:
        """Refuse a plugin with a route that the core or another plugin has already: one of them would never be reached.

        Of two plugins, the one that others' tables refer to stays, else the one found first.
        """
        home = self._homes()
        stood_on = {name for plugin in self.loaded for name in plugins_under(plugin, home) - {plugin.name}}
        owners: dict[tuple[str, str], str] = {}
        for plugin in sorted(
            self.loaded, key=lambda plugin: (plugin.name not in OF_THE_ENGINE, plugin.name not in stood_on)
        ):
            own = routes_of_plugin(plugin)
            clash = next((route for route in own if route in owners), None)
            if clash is not None:
                self._drop(plugin, f"Its route {clash[0]} {clash[1]} belongs to {owners[clash]}.")
                continue
            owners |= dict.fromkeys(
                own, "the engine itself" if plugin.name in OF_THE_ENGINE else f"the plugin {plugin.name}"
            )

    def _homes(self) -> dict[str, str]:
        """Return each table with the plugin that provides it."""
        return {table: plugin.name for plugin in self.loaded for table in tables_of(plugin)}

    def _drop(self, plugin: Plugin, why: str) -> None:
        self.loaded.remove(plugin)
        self.points.leave(plugin)
        self.refuse(plugin.name, why, self.distributions.get(plugin.name))

    def _stands_on(self, plugin: Plugin, out: dict[str, str]) -> str | None:
        own = self.distributions.get(plugin.name)
        if own is None or not out:
            return None
        required = {normalise_name(line) for line in distributions.requires(own) or ()}
        for distribution, name in out.items():
            if normalise_name(distribution) in required and distribution != own:
                return f"It depends on the plugin {name}, which was refused."
        return None

    def _fault(self, plugin: Plugin) -> str | None:
        if plugin.engine_api != ENGINE_API:
            return (
                f"It was built for plugin contract {plugin.engine_api}; this engine speaks {ENGINE_API}. "
                "Install the version of it that fits."
            )
        wrong = faults_of(plugin)
        if wrong:
            return " ".join(wrong)
        if any(other.name == plugin.name for other in self.loaded):
            return f"A plugin called {plugin.name} is already loaded; each name is used once."
        for other in self.loaded:
            clash = [
                own for own in plugin.owned_prefixes if any(own == theirs for theirs in other.owned_prefixes)
            ]
            if clash:
                return f"The prefix {clash[0]} belongs to the plugin {other.name}."
        offered_names: list[tuple[str, str]] = [("action", action.name) for action in plugin.actions]
        offered_names += [("job kind", kind.name) for kind in plugin.kinds]
        offered_names += [("table", table) for table in tables_of(plugin)]
        for kind, name in offered_names:
            if not plugin.owns(name):
                words = ", ".join(plugin.owned_prefixes)
                return f"Its {kind} {name} does not begin with one of its prefixes ({words})."
        trees = {tree for other in self.loaded for tree in trees_of(other)}
        for tree in trees_of(plugin):
            if trees:
                return (
                    f"Its table {tree} is to be the tree of what can be locked; that is {min(trees)} already."
                )
        return (
            first_clash("action", [action.name for action in plugin.actions], self._names("actions"))
            or first_clash("job kind", [k.name for k in plugin.kinds], self._names("kinds"))
            or first_clash(
                "table", tables_of(plugin), {table for other in self.loaded for table in tables_of(other)}
            )
        )

    def _names(self, what: str) -> set[str]:
        return {item.name for plugin in self.loaded for item in getattr(plugin, what)}


def core_plugins() -> list[ModuleType]:
    """Return the modules of the plugins that belong to the engine itself."""
    return [importlib.import_module(f"armarium.{name}") for name in CORE_PLUGINS]


def find_plugins(
    trials: Trials | None, plugins: Sequence[Plugin | ModuleType] | None = None
) -> PluginRegistry:
    """Return a registry with the engine's own plugins and *plugins*; None: all that are installed, except what did not
    pass its trial.
    """
    registry = PluginRegistry()
    for module in core_plugins():
        registry.add_module(module.__name__, module)
    if plugins is None:
        registry.find(trials)
        return registry
    for plugin in plugins:
        if isinstance(plugin, Plugin):
            registry.add(plugin)
        else:
            registry.add_module(plugin.__name__, plugin)
    registry.settle()
    return registry
