"""The plugin road: what a plugin contributes, and how plugins are found, checked, isolated and reported."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata as distributions
from typing import TYPE_CHECKING, Any

import pluggy
from sqlalchemy import Connection, MetaData

from armarium import hookspecs
from armarium.tables import rules_of

if TYPE_CHECKING:
    import typer
    from alembic.operations import Operations
    from fastapi import APIRouter

    from armarium.actions import Action, ActionContext
    from armarium.engine import Engine
    from armarium.jobs.kinds import JobKind
    from armarium.libraries import Library

ENGINE_API = 1
"""The number of the plugin contract; a plugin built for another is refused in words."""

ENTRY_POINTS = "armarium.plugins"

log = logging.getLogger("armarium.plugins")


@dataclass(frozen=True)
class Migration:
    """One step of a family's tables from `version - 1` to `version`.

    `upgrade` gets alembic's Operations on the library's connection, inside the one migrating transaction. A
    change to a tracked table is made through `armarium.api.alter_tracked` so that its history follows.
    """

    version: int
    summary: str
    upgrade: Callable[[Operations], None]


@dataclass(frozen=True)
class Plugin:
    """All that one plugin contributes; a new kind of contribution is a new field with a default."""

    name: str
    summary: str
    engine_api: int = ENGINE_API
    prefixes: tuple[str, ...] = ()
    """What the names of its actions (`prefix.verb`), tables and job kinds begin with; empty: its own name."""
    metadata: MetaData | None = None
    """Tables of every library."""
    engine_metadata: MetaData | None = None
    """Tables of the engine's own database."""
    version: int = 1
    """The version of its tables; the last migration's."""
    migrations: tuple[Migration, ...] = ()
    engine_version: int = 1
    """The version of its tables in the engine's own database; the last of `engine_migrations`."""
    engine_migrations: tuple[Migration, ...] = ()
    actions: tuple[Action[Any], ...] = ()
    jobs: tuple[JobKind, ...] = ()
    routers: tuple[APIRouter, ...] = ()
    driver_groups: tuple[str, ...] = ()
    cli: Callable[[], typer.Typer] | None = None
    """Builds commands under the plugin's name, found by loading the plugins. Lighter, and beside the core's commands: a
    function named under the entry-point group `armarium.commands`."""
    on_create: tuple[Callable[[ActionContext], None], ...] = ()
    """Called inside `library.create`'s step in the new library: what every library starts with."""
    on_open: tuple[Callable[[Engine, Library], None], ...] = ()
    """Called when a project was opened, before it is first used: carry on what was left half done. May run actions."""
    stats: Callable[[Connection], dict[str, int]] | None = None
    """Counts it adds to `GET /api/library/stats`."""
    names: Callable[[Connection, Sequence[str]], Mapping[str, str]] | None = None
    """What people call the documents among these ids, for the history; asked once for a whole page of steps."""
    extras: dict[str, Any] = field(default_factory=dict)

    @property
    def owned(self) -> tuple[str, ...]:
        """The prefixes in force."""
        return self.prefixes or (self.name,)

    def owns(self, name: str) -> bool:
        """Whether *name* (of an action, a table, a job kind) begins with one of its prefixes."""
        return any(name == own or name.startswith((f"{own}.", f"{own}_", f"{own}-")) for own in self.owned)


@dataclass(frozen=True)
class Refused:
    """A plugin that was not let in, and the sentence that says why."""

    name: str
    why: str
    distribution: str | None = None


class PluginRegistry:
    """The plugins of one engine: those let in, in order, and those refused with their reason."""

    def __init__(self) -> None:
        self.loaded: list[Plugin] = []
        self.refused: list[Refused] = []
        self.distributions: dict[str, str] = {}
        self.manager = pluggy.PluginManager("armarium")
        self.manager.add_hookspecs(hookspecs)

    def find(self) -> None:
        """Load every plugin that an installed distribution names; one that fails is refused, never fatal."""
        for entry in sorted(distributions.entry_points(group=ENTRY_POINTS), key=lambda e: e.name):
            origin = entry.dist.name if entry.dist else None
            try:
                module = entry.load()
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                self.refuse(entry.name, f"It does not import: {type(error).__name__}: {error}", origin)
                continue
            self.add_module(entry.name, module, origin)
        self.settle()

    def add_module(self, name: str, module: object, distribution: str | None = None) -> None:
        """Register *module*'s hooks and take the `Plugin` it answers."""
        misspelt = [
            hook
            for hook in dir(module)
            if hook.startswith("armarium_")
            and hasattr(getattr(module, hook), "armarium_impl")
            and not hasattr(hookspecs, hook)
        ]
        if misspelt:
            self.refuse(name, f"It implements {misspelt[0]}, which is no hook of this engine.", distribution)
            return
        make = getattr(module, "armarium_plugin", None)
        if make is None:
            self.refuse(name, "It has no armarium_plugin(), the hook that says what it brings.", distribution)
            return
        try:
            plugin = make()
        except (Exception, SystemExit) as error:
            self.refuse(name, f"armarium_plugin() failed: {type(error).__name__}: {error}", distribution)
            return
        if not isinstance(plugin, Plugin):
            self.refuse(name, "armarium_plugin() did not answer a Plugin.", distribution)
            return
        if self.add(plugin, distribution):
            try:
                self.manager.register(module, name=plugin.name)
            except Exception as error:
                self.loaded.remove(plugin)
                self.refuse(plugin.name, f"Its hooks do not fit: {error}", distribution)

    def add(self, plugin: Plugin, distribution: str | None = None) -> bool:
        """Let *plugin* in when nothing is wrong with it; otherwise refuse it whole. Says which."""
        why = self._fault(plugin)
        if why is not None:
            self.refuse(plugin.name, why, distribution)
            return False
        self.loaded.append(plugin)
        if distribution:
            self.distributions[plugin.name] = distribution
        return True

    def refuse(self, name: str, why: str, distribution: str | None = None) -> None:
        """Note that plugin *name* is not let in."""
        log.warning("plugin %s refused: %s", name, why)
        self.refused.append(Refused(name, why, distribution))

    def settle(self) -> None:
        """Order the plugins so that one whose tables point at another's comes after it."""
        self._refuse_taken_routes()
        self._refuse_dependents()
        home = {table: p.name for p in self.loaded for table in _own_tables(p)}
        waiting, ordered = list(self.loaded), []
        placed: set[str] = set()
        while waiting:
            ready = [p for p in waiting if _points_at(p, home) <= placed | {p.name}] or waiting[:1]
            ordered.append(ready[0])
            placed.add(ready[0].name)
            waiting.remove(ready[0])
        self.loaded = ordered

    def _refuse_dependents(self) -> None:
        """Refuse, in turn, every plugin that stands on one that was refused."""
        while True:
            home = {table: p.name for p in self.loaded for table in _own_tables(p)}
            out = {refused.distribution: refused.name for refused in self.refused if refused.distribution}
            fallen = next(
                (
                    (plugin, why)
                    for plugin in self.loaded
                    if (why := _lacks(plugin, home) or self._stands_on(plugin, out)) is not None
                ),
                None,
            )
            if fallen is None:
                return
            self._drop(*fallen)

    def _refuse_taken_routes(self) -> None:
        """Refuse a plugin that brings a route which the core has, or another plugin: one of them would never be reached.

        Of two plugins the one stays that others' tables point at, else the one found first.
        """
        from armarium.routes import core_routers

        home = {table: p.name for p in self.loaded for table in _own_tables(p)}
        stood_on = {name for p in self.loaded for name in _points_at(p, home) - {p.name}}
        taken = {route: "the engine itself" for router in core_routers() for route in _routes_of(router)}
        for plugin in sorted(self.loaded, key=lambda p: p.name not in stood_on):
            own = [route for router in plugin.routers for route in _routes_of(router)]
            clash = next((route for route in own if route in taken), None)
            if clash is not None:
                self._drop(plugin, f"Its route {clash[0]} {clash[1]} belongs to {taken[clash]}.")
                continue
            taken |= dict.fromkeys(own, f"the plugin {plugin.name}")

    def _drop(self, plugin: Plugin, why: str) -> None:
        self.loaded.remove(plugin)
        if self.manager.has_plugin(plugin.name):
            self.manager.unregister(name=plugin.name)
        self.refuse(plugin.name, why, self.distributions.get(plugin.name))

    def _stands_on(self, plugin: Plugin, out: dict[str, str]) -> str | None:
        own = self.distributions.get(plugin.name)
        if own is None or not out:
            return None
        wanted = {_distribution_name(line) for line in distributions.requires(own) or ()}
        for distribution, name in out.items():
            if _distribution_name(distribution) in wanted and distribution != own:
                return f"It stands on the plugin {name}, which was refused."
        return None

    def contributions(self, what: str) -> Iterable[tuple[Plugin, Any]]:
        """Each plugin with each item it puts into `extras[what]`."""
        for plugin in self.loaded:
            for item in plugin.extras.get(what, ()):
                yield plugin, item

    def _fault(self, plugin: Plugin) -> str | None:
        if plugin.engine_api != ENGINE_API:
            return (
                f"It was built for plugin contract {plugin.engine_api}; this engine speaks {ENGINE_API}. "
                "Install the version of it that fits."
            )
        if any(p.name == plugin.name for p in self.loaded):
            return f"A plugin called {plugin.name} is loaded already; each name is used once."
        for other in self.loaded:
            clash = [own for own in plugin.owned if any(own == theirs for theirs in other.owned)]
            if clash:
                return f"The prefix {clash[0]} belongs to the plugin {other.name}."
        named: list[tuple[str, str]] = [("action", a.name) for a in plugin.actions]
        named += [("job kind", kind.name) for kind in plugin.jobs]
        named += [("table", table) for table in _own_tables(plugin)]
        for name, column in _clashing_columns(plugin):
            return f"Its tracked table {name} has a column {column}, a name the history keeps for itself."
        for name, kind, held in _holding(plugin):
            return (
                f"Its table {name} is {kind} and points at {held} by a foreign key, so that no undo could take back a "
                "row named there. Leave the key out and keep the column."
            )
        for kind, name in named:
            if not plugin.owns(name):
                words = ", ".join(plugin.owned)
                return f"Its {kind} {name} does not begin with one of its prefixes ({words})."
        return (
            _first_clash("action", [a.name for a in plugin.actions], self._names("actions"))
            or _first_clash("job kind", [k.name for k in plugin.jobs], self._names("jobs"))
            or _first_clash("table", _own_tables(plugin), {t for p in self.loaded for t in _own_tables(p)})
        )

    def _names(self, what: str) -> set[str]:
        return {item.name for plugin in self.loaded for item in getattr(plugin, what)}


HISTORY_COLUMNS = frozenset({"seq", "audit_seq", "op", "kept"})
"""The columns of a history table that are the engine's own."""


def _clashing_columns(plugin: Plugin) -> Iterable[tuple[str, str]]:
    for metadata in (plugin.metadata, plugin.engine_metadata):
        for table in metadata.tables.values() if metadata is not None else ():
            if rules_of(table).kind == "tracked":
                yield from ((table.name, c.name) for c in table.columns if c.name in HISTORY_COLUMNS)


def _holding(plugin: Plugin) -> Iterable[tuple[str, str, str]]:
    """(table, its kind, table pointed at) where rows that undo leaves alone would hold rows that undo takes back."""
    for metadata in (plugin.metadata, plugin.engine_metadata):
        for table in metadata.tables.values() if metadata is not None else ():
            kind = rules_of(table).kind
            if kind in ("tracked", "foreign"):
                continue
            for key in table.foreign_keys:
                if rules_of(key.column.table).kind in ("tracked", "foreign"):
                    yield table.name, kind, key.column.table.name


def _distribution_name(requirement: str) -> str:
    """The normalised name in a requirement such as `Armarium_Core==0.1.0; extra`."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]).lower()


def _lacks(plugin: Plugin, home: dict[str, str]) -> str | None:
    """Why a plugin cannot stand: its tables or its rights name a table that no loaded plugin brings."""
    for action in plugin.actions:
        for rule in action.rules:
            if rule.table not in home:
                return f"Its action {action.name} asks for rights over {rule.table}, which no loaded plugin brings."
    for name in _targets(plugin):
        if name not in home:
            return f"Its tables point at {name}, which no loaded plugin brings."
    return None


def _first_clash(kind: str, names: Sequence[str], taken: set[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in taken or name in seen:
            return f"Its {kind} {name} exists already; names are never overwritten."
        seen.add(name)
    return None


def _routes_of(router: APIRouter) -> list[tuple[str, str]]:
    """Each (method, path) of *router*, whatever the parts of a path are called that stand for ids."""
    return [
        (method, re.sub(r"\{[^}:]*", "{", route.path))
        for route in router.routes
        for method in sorted(getattr(route, "methods", None) or ())
        if hasattr(route, "path")
    ]


def _own_tables(plugin: Plugin) -> list[str]:
    found: list[str] = []
    for metadata in (plugin.metadata, plugin.engine_metadata):
        if metadata is not None:
            found += [t.name for t in metadata.tables.values() if rules_of(t).kind != "foreign"]
    return list(dict.fromkeys(found))


def _targets(plugin: Plugin) -> set[str]:
    """The tables that the plugin's foreign keys point at, stand-ins left out."""
    if plugin.metadata is None:
        return set()
    return {
        key.column.table.name
        for table in plugin.metadata.tables.values()
        for key in table.foreign_keys
        if rules_of(key.column.table).kind != "foreign"
    }


def _points_at(plugin: Plugin, home: dict[str, str]) -> set[str]:
    return {home[name] for name in _targets(plugin) if name in home} - {plugin.name}
