"""The runner of one engine: its projects' queues, its mode, and what other parts of the engine need of it.

Threads are elsewhere: `lanes` runs bodies, `keeper` wakes lanes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from armarium.ids import new_id, timestamp
from armarium.jobs import decisions
from armarium.jobs.activity import record_activity
from armarium.jobs.choice import Lane
from armarium.jobs.claims import select
from armarium.jobs.conditions import Conditions, hindrance
from armarium.jobs.keeper import Keeper
from armarium.jobs.kinds import LANES, JobKind, KindRegistry
from armarium.jobs.lanes import LaneThreads
from armarium.jobs.models import FINISHED, MODES, Mode
from armarium.jobs.outlook import goes_on
from armarium.jobs.queue import NewJob, enqueue, loads
from armarium.jobs.queue_view import OF_KINDS, QueueView
from armarium.jobs.store import JobStore, path_of
from armarium.store.database import raw_of
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.principals import Principal
    from armarium.projects.libraries import Library

log = logging.getLogger("armarium.jobs")

LEASE_SECONDS = 60.0
STOP_SECONDS = 20.0
"""Seconds a release or the engine's end waits for the items in progress."""


class JobRunner:
    """Runs the jobs of every attached project and of the engine itself."""

    def __init__(self, engine: Engine, *, conditions: Conditions | None = None) -> None:
        self.engine = engine
        self.kinds: KindRegistry = engine.kinds
        self.conditions = conditions or Conditions()
        self.mode: Mode = "automatic"
        self.holder = new_id()
        self.heavy_running = 0
        self.lanes = {name: Lane(name, width) for name, width in LANES.items()}
        self._stores: dict[str | None, JobStore] = {}
        """By the project's path; None is the engine's own."""
        self._lock = threading.RLock()
        self._ended = threading.Condition(self._lock)
        self.crew = LaneThreads(self)
        self.keeper = Keeper(self)
        self._running = False
        self._resting = False
        self._told: dict[str, float] = {}

    # Life cycle: start, stop, projects attached and detached.

    @property
    def is_started(self) -> bool:
        """Whether jobs are being run."""
        return self._running

    def start(self) -> None:
        """Start running jobs: the engine's own and those of projects that are attached or will be."""
        with self._lock:
            if self._running:
                return
            self._running = True
        self.reload_mode()
        if self.store_of(None) is None:
            self._attach(JobStore(self.engine.state, None))
        self.keeper.start()
        for store in self.stores():
            self.wake(store.library)

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Let the items in progress finish, put their jobs back in the queue, and end every thread."""
        deadline = time.monotonic() + timeout
        with self._lock:
            self._running = False
            for store in self._stores.values():
                self._ask_all(store)
        self.keeper.end(deadline)
        self.crew.end(deadline)
        for store in self.stores():
            store.closed = True
        with self._lock:
            self._stores.clear()

    def attach(self, library: Library) -> None:
        """Attach a project that was opened: jobs found running wait again, and waiting jobs continue."""
        attached = self.store_of(library)
        if attached is None or attached.db is not library.db:
            self._attach(JobStore(library.db, library))

    def _attach(self, store: JobStore) -> None:
        with store.db.write() as conn:
            back, failed = decisions.recover(conn)
            purged_ids = decisions.purge(conn)
            if back:
                jobs = "1 job" if back == 1 else f"{back} jobs"
                record_activity(
                    conn,
                    "system_info",
                    f"The engine had stopped while {jobs} ran; it is continued.",
                    level="warning",
                    metadata={"jobs": back},
                )
        if back or failed or purged_ids:
            log.info(
                "jobs of %s: %d continue, %d interrupted too often, %d old",
                store.path or "engine",
                back,
                failed,
                purged_ids,
            )
        with self._lock:
            store.closing = self._resting
            self._stores[store.path] = store
        self.keeper.call()

    def detach(self, library: Library, timeout: float = STOP_SECONDS) -> tuple[int, int]:
        """Stop the jobs of a project that is released; return how many were stopped and how many wait.

        The item in progress of each is waited for, *timeout* seconds at most; one that takes longer cannot write any
        more and counts as interrupted.
        """
        store = self.store_of(library)
        if store is None:
            return 0, 0
        deadline = time.monotonic() + timeout
        with self._lock:
            stopped = len(store.executing())
            self._ask_all(store)
            while store.picked and time.monotonic() < deadline and self._running:
                self._ended.wait(min(0.5, max(0.0, deadline - time.monotonic())))
            store.closed = True
            self._stores.pop(store.path, None)
        with store.db.read_all() as conn:
            raw = raw_of(conn)
            (waiting,) = raw.execute("SELECT count(*) FROM job WHERE state = 'waiting'").fetchone()
        return stopped, int(waiting)

    def rest(self) -> None:
        """Start nothing more, permanently: each job finishes its item in progress, however long that takes, and waits
        again.
        """
        with self._lock:
            self._resting = True
            for store in self._stores.values():
                self._ask_all(store, "aside")

    def _ask_all(self, store: JobStore, why: str = "shutdown") -> None:
        store.closing = True
        for picked in list(store.picked.values()):
            if picked.context.stop in (None, "aside"):
                picked.context.stop = why

    def stores(self) -> list[JobStore]:
        """Return every queue that is attached, the engine's own first."""
        with self._lock:
            return list(self._stores.values())

    def store_of(self, library: Library | None) -> JobStore | None:
        """Return the queue of *library* (None: the engine's own), when it is attached."""
        with self._lock:
            return self._stores.get(path_of(library))

    def holding(self, library: Library) -> list[str]:
        """Return in words the workflow runs and batches that wait or run in *library*: it is not released meanwhile."""
        names = json_text([kind.name for kind in self.kinds if kind.is_run])
        with library.db.read_all() as conn:
            rows = raw_of(conn).execute(
                f"SELECT title, state FROM job WHERE {OF_KINDS} AND state IN ('waiting', 'running') ORDER BY seq",
                (names,),
            )
            return [f"{title} ({state})" for title, state in rows]

    # What other parts of the engine report to it.

    def wake(self, library: Library | None) -> None:
        """Jobs of *library* (None: the engine's own) were queued, or may start now."""
        self.look_again(self.store_of(library))

    def look_again(self, *stores: JobStore | None) -> None:
        """Ask the keeper to check *stores* again (what was waited for is over)."""
        for store in stores:
            if store is not None:
                store.dirty = True
        self.keeper.call()

    def enqueue(
        self,
        conn: Connection,
        kind: str,
        args: Mapping[str, Any],
        *,
        parent_id: str | None = None,
        started_by: Principal | str | None = None,
        **fields: Any,
    ) -> str:
        """Queue a job of a known kind (*fields*: those of `NewJob`) in the caller's transaction; return its id."""
        new = NewJob(kind, args, **fields)
        return enqueue(conn, new, parent_id=parent_id, started_by=started_by, kinds=self.kinds)

    def refresh(self, library: Library | None) -> None:
        """After a person paused, resumed or cancelled jobs (or undid that): notify the bodies, and look for work."""
        store = self.store_of(library)
        if store is None:
            return
        executing = store.executing()
        if executing:
            with store.db.read_all() as conn:
                raw = raw_of(conn)
                paused_ids = decisions.paused_ids(raw)
                for job_id, picked in executing.items():
                    row = raw.execute("SELECT stop FROM job WHERE id = ?", (job_id,)).fetchone()
                    if picked.context.stop != "shutdown":
                        stop = row[0] if row else None
                        picked.context.stop = stop or ("pause" if job_id in paused_ids else None)
        self.wake(library)

    def reload_mode(self) -> None:
        """Read the mode of background work that a person set."""
        with self.engine.state.read() as conn:
            raw = raw_of(conn)
            row = raw.execute("SELECT value FROM background_setting WHERE key = 'mode'").fetchone()
        mode = loads(row[0]) if row else "automatic"
        self.mode = mode if mode in MODES else "automatic"
        self.look_again(*self.stores())

    def watch(self, library: Library | None, job_id: str) -> None:
        """Record that a person looks at *job_id*: it goes before other work for half a minute."""
        store = self.store_of(library)
        if store is not None:
            store.watch(job_id)
            self.look_again(store)

    def note_ended(self) -> None:
        """Wake whoever waits for jobs to end: some have ended, and their ends are written."""
        with self._lock:
            self._ended.notify_all()

    # What the lanes and the contexts need.

    @property
    def offline(self) -> bool:
        """Whether the engine is held off the network."""
        return bool(self.engine.settings.local_only)

    def lease(self) -> tuple[str, str]:
        """Return holder and end of a lease taken now."""
        return self.holder, timestamp(datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS))

    def take_heavy(self, store: JobStore, watched: bool) -> bool:
        """Count one more heavy job, unless another lane took the place meanwhile."""
        with self._lock:
            code = hindrance(
                self.conditions.now(), heavy_running=self.heavy_running, mode=self.mode, watched=watched
            )
            if code is not None:
                store.recheck_in(1.0)
                return False
            self.heavy_running += 1
            return True

    def give_heavy_back(self) -> None:
        """Release the place of a heavy job that ended or did not start: another may start, perhaps in another lane."""
        with self._lock:
            self.heavy_running -= 1
            for store in self._stores.values():
                store.dirty = store.dirty or store.recheck_at is not None
        self.keeper.call()

    def must_step_aside(self, store: JobStore, kind: JobKind, job_id: str) -> bool:
        """Return whether a long job must make room: background work is paused, the machine no longer allows it, or a
        person waits for other work of its lane.
        """
        if self.mode == "paused":
            return True
        watched = store.list_watched()
        mine = store.all_watched or job_id in watched
        if hindrance(self.conditions.now(), heavy_running=0, mode=self.mode, watched=mine) is not None:
            return True
        if mine or not watched:
            return False
        with store.db.read_all() as conn:
            raw = raw_of(conn)
            return any(
                select(raw, other, kind.lane, limit=1, watched=watched)
                for other in self.kinds
                if kind.lane in other.lanes
            )

    def tell(
        self,
        store: JobStore,
        ids: Iterable[str],
        *,
        ended: Collection[str] = (),
        with_relatives: bool = False,
    ) -> None:
        """Publish the state of jobs, as the rows have it now; *ended* are no longer at work."""
        with store.db.read_all() as conn:
            view = QueueView(self, store.library, conn, ended=ended)
            rows = view.event_rows(ids, with_relatives=with_relatives)
        for data in rows:
            if data["state"] in FINISHED:
                self._told.pop(data["id"], None)
            self.engine.events.publish("job", data, store.path)

    def tell_progress(self, store: JobStore, job_id: str) -> None:
        """Publish a job's progress and that of the jobs above it, each at most twice a second."""
        at = time.monotonic()
        with store.db.read_all() as conn:
            raw = raw_of(conn)
            due: list[str] = []
            current: str | None = job_id
            while current is not None:
                if at - self._told.get(current, -1.0) >= 0.5:
                    self._told[current] = at
                    due.append(current)
                row = raw.execute("SELECT parent_id FROM job WHERE id = ?", (current,)).fetchone()
                current = row[0] if row else None
        if due:
            self.tell(store, due)

    # Waiting for jobs to end, for tests and the command line.

    def wait(self, library: Library | None, job_id: str, timeout: float = 60.0) -> str:
        """Wait until job *job_id* has finished; return its state then (or when *timeout* seconds are over)."""
        store = self._started_store(library)
        deadline = time.monotonic() + timeout
        while True:
            store.watch(job_id)
            with store.db.read_all() as conn:
                raw = raw_of(conn)
                row = raw.execute("SELECT state FROM job WHERE id = ?", (job_id,)).fetchone()
            state = row[0] if row else "gone"
            if state in FINISHED or state == "gone" or time.monotonic() >= deadline:
                return str(state)
            with self._lock:
                self._ended.wait(min(0.25, max(0.0, deadline - time.monotonic())))

    def run_until_idle(self, library: Library | None, timeout: float = 60.0) -> bool:
        """Run the jobs of *library* as if a person waited for them, until none can continue.

        Jobs that a person paused, or that wait for something which will not come by itself, are left. Returns False
        when *timeout* seconds were not enough, or would not be because a job was postponed for longer.
        """
        store = self._started_store(library)
        store.watch_all(timeout)
        deadline = time.monotonic() + timeout
        self.wake(library)
        while True:
            seconds = deadline - time.monotonic()
            # A job postponed beyond the deadline is not waited for: the result would be the same then.
            if seconds <= 0 or not goes_on(self, store, within=seconds):
                return not goes_on(self, store)
            with self._lock:
                self._ended.wait(min(0.25, max(0.0, deadline - time.monotonic())))

    def _started_store(self, library: Library | None) -> JobStore:
        self.start()
        if library is not None and self.store_of(library) is None:
            self.attach(library)
        store = self.store_of(library)
        assert store is not None
        return store

    def counts(self, jobs: Collection[str]) -> dict[str, int]:
        """Return how many of *jobs* each lane runs now."""
        ahead = {picked.claim.id for lane in self.lanes.values() for _, picked in list(lane.ahead)}
        running = dict.fromkeys(LANES, 0)
        for store in self.stores():
            for job_id, picked in store.executing().items():
                running[picked.lane] += job_id in jobs and job_id not in ahead
        return running
