"""The engine: the parts of one running Armarium put together; nothing here is a module global."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from armarium.actions import ActionContext, ActionRegistry, Bus, Outcome, Step
from armarium.actions.change_stream import ChangeStream
from armarium.actions.undo import undo
from armarium.auth.authenticate import Auth
from armarium.auth.secret_files import make_private_folder
from armarium.engine_lifetime import EngineLifetime
from armarium.errors import Unavailable, place_of
from armarium.guard.named_paths import PathRules
from armarium.history import audit
from armarium.history.schema import Schema, engine_families, library_families
from armarium.history.visibility import Visibility
from armarium.jobs.kinds import KindRegistry
from armarium.jobs.recipe_jobs import RecipeJobs
from armarium.jobs.runner import JobRunner
from armarium.plugin import Plugin
from armarium.plugins.drivers import Drivers
from armarium.plugins.hookspecs import armarium_step_committed
from armarium.plugins.registry import PluginRegistry, find_plugins
from armarium.plugins.verdicts import Trials
from armarium.principals import Principal, asking
from armarium.projects.branch_visibility import VisibilityOfBranch
from armarium.projects.libraries import ENGINE_ITSELF, Libraries, Library
from armarium.projects.packages import allowed_roots
from armarium.projects.registry import note_use
from armarium.projects.snapshot_actions import plan_next
from armarium.runtimes.compute import compute_of
from armarium.runtimes.registry import Runtimes
from armarium.runtimes.workers import Compute, WorkerPool
from armarium.settings import Settings
from armarium.store.database import WRITER_WAIT, Database, raw_of
from armarium_worker import NO_REPORTS

log = logging.getLogger("armarium.engine")

SEEN_EVERY = 60.0
"""Seconds between two records that a project was used."""


class Engine:
    """One engine: settings in, everything else created here. `start` opens its own database, `close` closes everything.

    Attributes are the public parts: settings, plugins, drivers, actions, kinds, state (the engine's own database),
    auth, libraries, paths (where callers' paths may lead), points (what plugins ask each other), events, jobs, recipe_jobs,
    workers, runtimes, stay.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        plugins: Sequence[Plugin | ModuleType] | PluginRegistry | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.trials = Trials(self.settings.verdicts, seconds=self.settings.plugin_trial_seconds)
        self.plugins = plugins if isinstance(plugins, PluginRegistry) else find_plugins(self.trials, plugins)
        self.drivers = Drivers(self.plugins)
        self.actions = ActionRegistry()
        self.kinds = KindRegistry()
        self.events = ChangeStream()
        self.bus = Bus(self)
        self.paths = PathRules(self)
        self.libraries = Libraries(self)
        self.started_at = time.time()
        self._seen: dict[str, float] = {}
        self._lock = threading.Lock()
        self._across = threading.RLock()
        self._roots = allowed_roots(self.settings.library_roots)
        for plugin in self.plugins.loaded:
            for action in plugin.actions:
                self.actions.add(action, plugin.name)
            for kind in plugin.kinds:
                self.kinds.add(kind)
        self.recipe_jobs = RecipeJobs(job for plugin in self.plugins.loaded for job in plugin.recipe_jobs)
        strangers = self.plugins.strangers
        self.library_schema = Schema(library_families(self.plugins.loaded, strangers))
        """The tables of a project as the plugins declare them; those of an open project are its own `schema`."""
        self.engine_schema = Schema(engine_families(self.plugins.loaded, strangers))
        self._state: Database | None = None
        self._auth: Auth | None = None
        self.runtimes = Runtimes(self)
        self.workers = WorkerPool(self.runtimes, self.compute)
        self.jobs = JobRunner(self)
        self.stay = EngineLifetime(self)
        self.points = self.plugins.points

    @property
    def state(self) -> Database:
        """The engine's own database: tokens, known projects, settings, and the log of engine-wide steps."""
        if self._state is None:
            raise RuntimeError("the engine is not started")
        return self._state

    @property
    def auth(self) -> Auth:
        """Tokens, pairing and presence."""
        if self._auth is None:
            raise RuntimeError("the engine is not started")
        return self._auth

    @property
    def is_started(self) -> bool:
        """Whether `start` was called and `close` was not."""
        return self._state is not None

    def start(self, *, jobs: bool = True) -> None:
        """Open the engine's own database and, unless *jobs* is False, start background work. In the environment of this
        process, libraries are told to report nothing to their makers.
        """
        os.environ.update(NO_REPORTS)
        make_private_folder(self.settings.state_dir)
        path = self.settings.state_dir / "engine.sqlite"
        self._state = Database(path, create=True)
        try:
            self.engine_schema = self.engine_schema.fit(self._state)
            for name, why in self._state.left_out.items():
                self.plugins.note_fault(name, f"Its tables of the engine do not open: {why}")
            self._auth = Auth(self.settings, self._state)
            self._auth.start()
        except BaseException:
            self._state.close()
            self._state = None
            raise
        self.trials.save()
        if jobs:
            self.jobs.start()

    def close(self) -> None:
        """Stop background work, close every project and the engine's own database. Does nothing when not started."""
        if self._state is None:
            return
        self.events.close()
        self.jobs.stop()
        self.workers.close()
        self.libraries.close()
        if self._auth is not None:
            self._auth.close()
        self._state.close()
        self._state = None
        self._auth = None

    @asynccontextmanager
    async def running(self, *, jobs: bool = True) -> AsyncIterator[Engine]:
        """Start the engine for the duration of the block."""
        try:
            await asyncio.to_thread(self.start, jobs=jobs)
            yield self
        finally:
            await asyncio.to_thread(self.close)

    def run(
        self,
        library: Library | None,
        name: str,
        params: Mapping[str, Any] | BaseModel,
        principal: Principal,
        *,
        set_id: str | None = None,
        in_transaction: Callable[[ActionContext], None] | None = None,
    ) -> Outcome:
        """Run an action (see `Bus.run`)."""
        return self.bus.run(library, name, params, principal, set_id=set_id, in_transaction=in_transaction)

    def undo(self, library: Library | None, audit_ids: Sequence[str], principal: Principal) -> dict[str, Any]:
        """Undo steps, all or none (see `armarium.actions.undo.undo`)."""
        if library is not None and library.db.visibility is not None:
            library.db.visibility.refuse(principal, audit_ids)
        return undo(self.bus, library, audit_ids, principal)

    def verify_audit(self, library: Library | None) -> str | None:
        """Return None when the audit log's hash chain is intact, else a sentence (see `audit.verify_chain`)."""
        with (library.db if library is not None else self.state).read_all() as conn:
            return audit.verify_chain(conn)

    def allows(self, place: Path) -> bool:
        """Return whether *place* lies in a folder that may hold projects, however it is spelled or linked."""
        roots = [*self._roots, *map(Path, self.auth.granted_roots())] if self._auth else self._roots
        resolved = Path(os.path.realpath(place))
        return any(place.is_relative_to(root) for root in roots) and any(
            resolved.is_relative_to(root) for root in roots
        )

    def is_global(self, library: Library) -> bool:
        """Return whether *library* is the engine's own global project, kept in its state folder; it is never released."""
        return library.path.parent == self.settings.state_dir

    def compute(self) -> Compute:
        """Return how much of the machine heavy work may use now."""
        return compute_of(self)

    def library_opened(self, library: Library) -> None:
        """Set up who sees what of a project that was just opened, and resume its background work."""
        keeps = next((plugin for plugin in self.plugins.loaded if plugin.rights is not None), None)
        if keeps is not None:
            works = keeps.name not in library.db.left_out
            along = [
                item
                for plugin in self.plugins.loaded
                if plugin.name not in library.db.left_out
                for item in plugin.withheld_along
            ]
            asked = (keeps.rights if works else None, along, keeps.name)
            library.db.visibility = (
                VisibilityOfBranch(self, library, *asked)
                if library.is_branch
                else Visibility(library.db, library.schema, *asked)
            )
        self.jobs.attach(library)

    def tell_opened(self, library: Library) -> None:
        """Let each plugin complete what it left unfinished in a project that was just opened, each under its own guard."""
        for name, why in library.db.left_out.items():
            self.plugins.note_fault(name, f"In {library.path.name} it does not work: {why}")
        for plugin in self.plugins.loaded:
            for then in plugin.on_open if plugin.name not in library.db.left_out else ():
                try:
                    # Whoever opened the project, this work must see all of it.
                    with asking(None):
                        then(self, library)
                except (Exception, SystemExit) as error:
                    log.exception("the plugin %s failed when %s was opened", plugin.name, library.path.name)
                    self.plugins.note_fault(
                        plugin.name,
                        f"It failed when {library.path.name} was opened: {self.plugins.words_for(error)}",
                    )
        # What they queued, the keeper may have looked for before it was there.
        self.jobs.wake(library)

    @contextmanager
    def lock_across(self, wait: float = WRITER_WAIT) -> Iterator[None]:
        """Within the block, no other thread works in two projects at once, so no two can wait for each other.

        Taken before any project's writer. Raises Unavailable (busy) after *wait* seconds.
        """
        if not self._across.acquire(timeout=wait):
            raise Unavailable(
                "Another piece of work between two projects is going on; try again when it is done.",
                code="busy",
            )
        try:
            yield
        finally:
            self._across.release()

    def remember(self, library: Library) -> None:
        """Register an open project if necessary, and record (at most once a minute) that it was used. A branch is not."""
        if library.is_branch:
            return
        path = str(library.path)
        moment = time.monotonic()
        if moment - self._seen.get(path, -SEEN_EVERY) < SEEN_EVERY:
            return
        with self._lock:
            self._seen[path] = moment
        with self.state.read() as conn:
            raw = raw_of(conn)
            known_row = raw.execute("SELECT 1 FROM library_known WHERE path = ?", (path,)).fetchone()
        if known_row is None:
            self.run(None, "library.open", {"path": path}, ENGINE_ITSELF)
            return
        self.libraries.show(library)
        with self.state.write() as conn:
            note_use(raw_of(conn), path)

    def step_ends(self, ctx: ActionContext) -> None:
        """Add to a step in its transaction: plan the next snapshot, let plugins make their notes."""
        plan_next(ctx)
        action = self.actions.find(ctx.action_name)
        # An engine-wide action may be run with a project named; its step is in the engine's own database.
        if ctx.library is not None and (action is None or action.scope != "engine"):
            for plugin in self.plugins.loaded:
                for note in plugin.on_step if plugin.name not in ctx.library.db.left_out else ():
                    self._take_notes(plugin, note, ctx)

    def _take_notes(self, plugin: Plugin, note: Callable[[ActionContext], None], ctx: ActionContext) -> None:
        """Let a plugin make its notes of a step; if it fails, none of them are kept, and the step goes on."""
        raw = raw_of(ctx.conn)
        raw.execute("SAVEPOINT notes")
        try:
            note(ctx)
        except (Exception, SystemExit) as error:
            raw.execute("ROLLBACK TO notes")
            # The place, not the message: that may quote the words of a source.
            log.error("the plugin %s failed to note a step: %s", plugin.name, place_of(error))
            self.plugins.note_fault(
                plugin.name, f"It failed to take notice of a step: {self.plugins.words_for(error)}"
            )
        finally:
            raw.execute("RELEASE notes")

    def step_committed(self, step: Step) -> None:
        """Notify each plugin of a committed step, each under its own guard."""
        for plugin, tell in self.points.callers(armarium_step_committed):
            try:
                with asking(None):
                    tell(step=step)
            except (Exception, SystemExit) as error:
                log.exception("the plugin %s failed after a commit", plugin.name)
                self.plugins.note_fault(
                    plugin.name, f"It failed to take notice of a step: {self.plugins.words_for(error)}"
                )
