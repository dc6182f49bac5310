"""The trial itself: the process that imports what is offered and exercises it in empty databases.

Run by `armarium.plugins.trial_processes` and never imported by an engine. It receives its task on stdin and reports on
what was stdout, one JSON value per line: what it is working on, so that the waiting process can name what broke it, and
at the end what failed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Table
from sqlalchemy.exc import DBAPIError

from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.history.capture import key_columns, quote_name
from armarium.history.schema import Schema
from armarium.plugin import Plugin
from armarium.plugins.drivers import Drivers
from armarium.plugins.offers import COMMANDS, PLUGINS, Offer, commands_of, find_offers, unit_of
from armarium.plugins.points import plugin_of
from armarium.plugins.registry import PluginRegistry, core_plugins
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium.store.database import raw_of
from armarium.web.action_routes import routers_of
from armarium.web.app import create_app

TOKEN = "a-token-for-the-trial-of-plugins-0123456789"
ASKED = ("/api/health", "/api/plugins", "/api/actions/registry")


def main() -> None:
    """Try what stdin asks for and report the result; leave nothing behind but what the given folder holds."""
    tell_to = os.fdopen(os.dup(1), "w", encoding="utf-8")
    request = json.loads(sys.stdin.buffer.read())
    # Whatever the plugins print or read is discarded.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    logging.disable(logging.CRITICAL)

    def tell(**event: Any) -> None:
        print(json.dumps(event), file=tell_to, flush=True)

    trial = Trial(request, tell)
    trial.run()
    tell(failed=trial.failed, refused=trial.refused, others=trial.others)
    tell_to.close()
    # A thread that a plugin started must neither keep the process alive nor end it otherwise.
    os._exit(0)


@dataclass
class Trial:
    """What is tried, together with what, and the findings."""

    asked: dict[str, Any]
    tell: Callable[..., None]
    failed: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each distribution the units (`group:name`) that did not pass, with the reason."""
    refused: list[list[str]] = field(default_factory=list)
    """What an engine refuses when it loads what is wanted: name, reason."""
    others: list[list[str]] = field(default_factory=list)
    """The faults of its drivers and commands: name, reason."""

    def __post_init__(self) -> None:
        self.folder = Path(self.asked["folder"])
        self.offers = {offer.key: offer for offer in find_offers()}
        self.skip: set[tuple[str, str]] = {(key, unit) for key, unit in self.asked["skip"]}
        self.homes: dict[str, tuple[str, str]] = {}
        """Each plugin with the distribution and unit that provide it."""

    def run(self) -> None:
        """Import everything, then try each plugin together with those that passed: what fails then is its own fault."""
        self._say(None, "while the engine was loaded")
        beside = [self.offers[key] for key in self.asked["beside"] if key in self.offers]
        tried = [self.offers[key] for key in self.asked["wanted"] if key in self.offers]
        for offer in (*beside, *tried):
            for entry in offer.entries:
                if (offer.key, unit_of(entry)) not in self.skip:
                    self._import(offer, entry)
        everybody = [*beside, *tried]
        everything = self._registry(everybody)
        names = {offer.name: offer for offer in tried}
        self.refused = [
            [refusal.name, refusal.why] for refusal in everything.refused if refusal.distribution in names
        ]
        self._look_at_others(everything, tried)
        candidates = [
            plugin.name for plugin in everything.loaded if everything.distributions.get(plugin.name) in names
        ]
        passed = {name for name in self.homes if name not in candidates}
        for name in candidates:
            key, unit = self.homes[name]
            self._say((key, unit), "when it was tried")
            registry = self._registry(everybody, {*passed, name})
            # One that depends on another that did not pass is not loaded; an engine reports that.
            if name in [plugin.name for plugin in registry.loaded]:
                faults = list(dict.fromkeys(self._faults(registry, name)))
                if faults:
                    self.failed.setdefault(key, {})[unit] = " ".join(faults)
                else:
                    passed.add(name)

    def _import(self, offer: Offer, entry: Any) -> None:
        """Import one unit. Only whether this succeeds is of interest: an engine reports other faults."""
        self._say((offer.key, unit_of(entry)), "while it was imported")
        try:
            loaded = entry.load()
            if entry.group == COMMANDS:
                commands_of(loaded)
            elif entry.group == PLUGINS:
                plugin_of(loaded)
        except BaseException:
            return

    def _look_at_others(self, registry: PluginRegistry, tried: list[Offer]) -> None:
        """Load drivers and commands as an engine and the command line would; a fault of one affects nothing else."""
        drivers = Drivers(registry)
        for offer in tried:
            for entry in offer.entries:
                if entry.group == PLUGINS or (offer.key, unit_of(entry)) in self.skip:
                    continue
                self._say((offer.key, unit_of(entry)), "when it was examined")
                try:
                    if entry.group == COMMANDS:
                        # To print the help page, all of them are built.
                        commands_of(entry.load())(["--help"], standalone_mode=False)
                    else:
                        drivers.load(entry.group, entry.name)
                except BaseException as error:
                    self.others.append([entry.name, _words(error)])
            for group in sorted({entry.group for entry in offer.entries} - {PLUGINS, COMMANDS}):
                for refusal in drivers.refusals(group):
                    if refusal.distribution == offer.name and [refusal.name, refusal.why] not in self.others:
                        self.others = [fault for fault in self.others if fault[0] != refusal.name]
                        self.others.append([refusal.name, refusal.why])

    def _registry(self, offers: list[Offer], only: set[str] | None = None) -> PluginRegistry:
        """Return a registry of the core and the plugins of *offers* (those whose names are in *only*), as an engine
        loads them.
        """
        registry = PluginRegistry()
        for module in core_plugins():
            registry.add_module(module.__name__, module)
        for offer in offers:
            for entry in offer.entries_of(PLUGINS):
                unit = (offer.key, unit_of(entry))
                if unit in self.skip or (
                    only is not None and unit not in {self.homes[name] for name in only}
                ):
                    continue
                plugin = registry.take(entry, offer)
                if plugin is not None:
                    self.homes.setdefault(plugin.name, unit)
        registry.offers = offers
        # Drivers too are loaded by an engine, except those known to break the process.
        registry.failed = dict.fromkeys(self.skip, "It did not pass its trial.")
        registry.settle()
        return registry

    def _say(self, unit: tuple[str, str] | None, step: str) -> None:
        """Report what is being worked on: a distribution's unit, or the engine itself."""
        offer, name = unit or (None, None)
        self.tell(offer=offer, unit=name, step=step)

    def _faults(self, registry: PluginRegistry, name: str) -> Iterator[str]:
        """Return what goes wrong when *registry* runs, also in a project made without the plugin called *name*."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        older, new = folder / "Older.library", folder / "New.library"
        shutil.copytree(self._made_without_any(), older)
        try:
            engine = Engine(_settings(folder / "state"), plugins=registry)
            app = create_app(engine=engine, routes_of=[name])
        except BaseException as error:
            yield f"The engine does not start with it: {_words(error)}"
            return
        faults: list[str] = []
        try:
            asyncio.run(_run_engine(engine, app, (older, new), name, faults))
        except BaseException as error:
            faults.append(f"The engine does not run with it: {_words(error)}")
        yield from faults
        # The first is the cause: what fails in one project fails in the next.
        yield from (fault.why for fault in registry.faults[:1])
        shutil.rmtree(folder, ignore_errors=True)

    def _made_without_any(self) -> Path:
        """Return a project made by an engine without plugins, to which all of them are new."""
        place = self.folder / "Bare.library"
        if not place.exists():
            engine = Engine(_settings(self.folder / "bare"), plugins=[])
            engine.start(jobs=False)
            try:
                engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
            finally:
                engine.close()
        return place


async def _run_engine(
    engine: Engine, app: Any, places: tuple[Path, Path], name: str, faults: list[str]
) -> None:
    async with engine.running(jobs=False):
        faults += await asyncio.to_thread(lambda: list(_look_over(engine, *places, name)))
        for path in ASKED:
            status = await _ask(app, path)
            if status != 200:
                faults.append(f"With it the engine answers {path} with {status}.")


def _look_over(engine: Engine, older: Path, new: Path, name: str) -> Iterator[str]:
    (plugin,) = (plugin for plugin in engine.plugins.loaded if plugin.name == name)
    yield from _prepare_inserts(engine.state, engine.engine_schema)
    try:
        engine.run(None, "library.create", {"path": str(new)}, LOCAL_OWNER)
        engine.libraries.release(new)
    except BaseException as error:
        yield f"No project can be made with it: {_words(error)}"
        return
    for place in (new, older):
        try:
            library = engine.libraries.get(place)
        except BaseException as error:
            yield f"A project cannot be opened with it: {_words(error)}"
            continue
        if library.db.refusal is not None:
            yield f"No project accepts a write with it: {library.db.refusal}"
        yield from _prepare_inserts(library.db, library.schema)
        yield from _counts(plugin, library)
    yield from _describe_plugin(plugin)


def _prepare_inserts(db: Any, schema: Schema) -> Iterator[str]:
    """Prepare an insert into each table: whatever its triggers, checks and keys name must exist."""
    for used, user, column in schema.uses:
        if column not in user.columns:
            yield f"The table {used.name} is said to be used by {user.name}.{column}, and there is no such column."
    with db.read() as conn:
        raw = raw_of(conn)
        for table in schema.tables:
            if table in schema.indexes:
                continue
            try:
                for statement in _statements(table):
                    raw.execute(f"EXPLAIN {statement}").fetchall()
            except sqlite3.Error as error:
                yield f"No row of the table {table.name} can be written with it: {error}."


def _statements(table: Table) -> Iterator[str]:
    name = quote_name(table.name)
    columns = [quote_name(column.name) for column in table.columns if column.computed is None]
    yield f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})".replace(
        "?", "NULL"
    )
    moving = [
        quote_name(column.name)
        for column in table.columns
        if column.name not in key_columns(table) and column.computed is None
    ]
    for column in moving:
        yield f"UPDATE {name} SET {column} = {column}"
    yield f"DELETE FROM {name}"


def _counts(plugin: Plugin, library: Any) -> Iterator[str]:
    if plugin.stats is None:
        return
    try:
        with library.db.read() as conn:
            counts = plugin.stats(conn)
    except BaseException as error:
        yield f"Its stats fail: {_words(error)}"
        return
    if not isinstance(counts, dict) or not all(
        isinstance(key, str) and isinstance(value, int) for key, value in counts.items()
    ):
        yield "Its stats do not answer a dict of words to whole numbers."


def _describe_plugin(plugin: Plugin) -> Iterator[str]:
    """Generate what the engine shows of it: the schemas of its actions, job kinds and routes."""
    from fastapi import FastAPI

    for action in plugin.actions:
        try:
            action.describe(plugin.name)
        except BaseException as error:
            yield f"The action {action.name} cannot be described as a JSON Schema: {_words(error)}"
    for kind in plugin.kinds:
        try:
            if kind.args is not None:
                kind.args.model_json_schema()
        except BaseException as error:
            yield f"The job kind {kind.name} cannot be described as a JSON Schema: {_words(error)}"
    try:
        page = FastAPI(title=plugin.name, version="1")
        for router in routers_of(plugin):
            page.include_router(router)
        page.openapi()
    except BaseException as error:
        yield f"Its routes cannot be described: {_words(error)}"


async def _ask(app: Any, path: str) -> int:
    """Return the status of the answer to a GET of *path*."""
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50000))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        return (await client.get(path, headers={"Authorization": f"Bearer {TOKEN}"})).status_code


def _settings(state: Path) -> Settings:
    return Settings(state_dir=state, library_roots=[state.parent], local_only=True, owner_token=TOKEN)


def _words(error: BaseException) -> str:
    """Return an error as one line; it can quote nobody's data, because these databases are empty."""
    if isinstance(error, ServiceError):
        return error.detail
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    first = str(cause).strip().split("\n")[0][:300]
    return f"{type(cause).__name__}: {first}" if first else f"{type(cause).__name__}."
