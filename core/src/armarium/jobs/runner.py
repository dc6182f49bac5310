"""The runner of one engine: threads for each lane, a keeper that wakes them, and what other parts ask of it.

A lane's thread picks up jobs, runs their bodies, and writes how they ended together with the next pick: one
transaction for one long job or for hundreds of short ones. A crash between a short body and that transaction runs
the body again; what it did through `JobContext.act` stands with its checkpoint, so nothing is lost or doubled.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from armarium.db import raw_of
from armarium.errors import ServiceError
from armarium.ids import new_id, timestamp
from armarium.jobs import decisions
from armarium.jobs.choice import Lane, Pace, pick
from armarium.jobs.claims import any_holds, next_due, select, wanted
from armarium.jobs.conditions import Conditions, hindrance
from armarium.jobs.execution import execute
from armarium.jobs.kinds import LANES, JobKind, KindRegistry
from armarium.jobs.models import FINISHED, MODES, Mode
from armarium.jobs.queue import Ended, end, loads, move_on, shown
from armarium.jobs.store import JobStore, Picked

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.libraries import Library

log = logging.getLogger("armarium.jobs")

LEASE_SECONDS = 60.0
HEARTBEAT_SECONDS = 15.0
STOP_SECONDS = 20.0
"""How long a release or the engine's end waits for the items in hand."""

LONG_SECONDS = 1.0
"""A job of a batch that runs longer is shown as running, and the rest of its batch goes back to the queue."""

ENGINE_ITSELF = ""


class JobRunner:
    """Runs the jobs of every attached library and of the engine itself."""

    def __init__(self, engine: Engine, *, conditions: Conditions | None = None) -> None:
        self.engine = engine
        self.kinds: KindRegistry = engine.kinds
        self.conditions = conditions or Conditions()
        self.mode: Mode = "automatic"
        self.pace = Pace()
        self.holder = new_id()
        self.heavy_running = 0
        self.lanes = {name: Lane(name, width) for name, width in LANES.items()}
        self._stores: dict[str, JobStore] = {}
        self._threads: dict[str, list[threading.Thread]] = {name: [] for name in LANES}
        self._lock = threading.RLock()
        self._work = threading.Condition(self._lock)
        self._ended = threading.Condition(self._lock)
        self._keeper: threading.Thread | None = None
        self._call_keeper = threading.Event()
        self._keeper_until: float | None = None
        self._running = False
        self._told: dict[str, float] = {}

    # Life: start, stop, libraries coming and going.

    @property
    def started(self) -> bool:
        """Whether jobs are being run."""
        return self._running

    def start(self) -> None:
        """Begin to run jobs: the engine's own and those of libraries that are attached or will be."""
        with self._lock:
            if self._running:
                return
            self._running = True
            self._keeper = threading.Thread(target=self._keep, name="jobs-keeper", daemon=True)
        self.reload_mode()
        if ENGINE_ITSELF not in self._stores:
            self._attach(ENGINE_ITSELF, JobStore(self.engine.state, None))
        self._keeper.start()
        for store in self.stores():
            self.wake(store.library)

    def stop(self, timeout: float = STOP_SECONDS) -> None:
        """Let the items in hand finish, put their jobs back in the queue, and end every thread."""
        deadline = time.monotonic() + timeout
        with self._lock:
            self._running = False
            for store in self._stores.values():
                self._ask_all(store)
            self._work.notify_all()
        self._call_keeper.set()
        for thread in [t for threads in self._threads.values() for t in threads] + [self._keeper]:
            if thread is not None and thread.is_alive() and thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))
        for store in self.stores():
            store.closed = True
        with self._lock:
            self._stores.clear()
            self._threads = {name: [] for name in LANES}
            self._keeper = None
            self._call_keeper.clear()

    def attach(self, library: Library) -> None:
        """Take in a library that was opened: what was found running waits again, and waiting jobs carry on."""
        with self._lock:
            if library.uuid in self._stores and self._stores[library.uuid].db is library.db:
                return
        self._attach(library.uuid, JobStore(library.db, library))

    def _attach(self, key: str, store: JobStore) -> None:
        with store.db.write() as conn:
            back, failed = decisions.recover(conn)
            gone = decisions.purge(conn)
        if back or failed or gone:
            log.info("jobs of %s: %d carry on, %d interrupted too often, %d old", key or "engine", back, failed, gone)
        with self._lock:
            self._stores[key] = store
        self._call_keeper.set()

    def detach(self, library: Library, timeout: float = STOP_SECONDS) -> tuple[int, int]:
        """Stop the jobs of a library that is released; says how many were stopped and how many wait.

        The item in hand of each is waited for, *timeout* seconds at most; one that takes longer cannot write any
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
            self._stores.pop(library.uuid, None)
        with store.db.read_raw() as raw:
            (waiting,) = raw.execute("SELECT count(*) FROM job WHERE state = 'waiting'").fetchone()
        return stopped, int(waiting)

    def _ask_all(self, store: JobStore) -> None:
        store.closing = True
        for picked in list(store.picked.values()):
            if picked.context is not None and picked.context.stop is None:
                picked.context.stop = "shutdown"

    def stores(self) -> list[JobStore]:
        """Every queue that is attached, the engine's own first."""
        with self._lock:
            return list(self._stores.values())

    def store_of(self, library: Library | None) -> JobStore | None:
        """The queue of *library* (None: the engine's own), when it is attached."""
        with self._lock:
            return self._stores.get(library.uuid if library is not None else ENGINE_ITSELF)

    def holding(self, library: Library) -> list[str]:
        """In words, the workflow runs and batches that wait or run in *library*: it is not released meanwhile."""
        names = [kind.name for kind in self.kinds if kind.is_run]
        if not names:
            return []
        with library.db.read_raw() as raw:
            rows = raw.execute(
                f"SELECT title, state FROM job WHERE kind IN ({', '.join('?' * len(names))}) "
                "AND state IN ('waiting', 'running') ORDER BY seq",
                names,
            ).fetchall()
        return [f"{title} ({state})" for title, state in rows]

    # What others tell it.

    def wake(self, library: Library | None) -> None:
        """Jobs of *library* (None: the engine's own) were put in the queue, or may start now."""
        store = self.store_of(library)
        if store is not None:
            store.dirty = True
        self._call_keeper.set()

    def look_again(self, store: JobStore) -> None:
        """Ask the keeper to look at *store* again (what was waited for is over)."""
        store.dirty = True
        self._call_keeper.set()

    def refresh(self, library: Library | None) -> None:
        """A person paused, resumed or cancelled jobs (or took that back): tell the bodies, and look for work."""
        store = self.store_of(library)
        if store is None:
            return
        executing = store.executing()
        if executing:
            with store.db.read_raw() as raw:
                held = decisions.held(raw)
                for job_id, picked in executing.items():
                    row = raw.execute("SELECT stop FROM job WHERE id = ?", (job_id,)).fetchone()
                    if picked.context is not None and picked.context.stop != "shutdown":
                        stop = row[0] if row else None
                        picked.context.stop = stop or ("pause" if job_id in held else None)
        self.wake(library)

    def reload_mode(self) -> None:
        """Read the mode of background work that a person set."""
        with self.engine.state.read_raw() as raw:
            row = raw.execute("SELECT value FROM background_setting WHERE key = 'mode'").fetchone()
        mode = loads(row[0]) if row else "automatic"
        self.mode = mode if mode in MODES else "automatic"
        for store in self.stores():
            store.dirty = True
        self._call_keeper.set()

    def watch(self, library: Library | None, job_id: str) -> None:
        """A person looks at *job_id*: it goes before other work for half a minute."""
        store = self.store_of(library)
        if store is not None:
            store.watch(job_id)
            store.dirty = True
            self._call_keeper.set()

    # What the lanes and the contexts ask.

    @property
    def offline(self) -> bool:
        """Whether the engine is held off the network."""
        return bool(self.engine.settings.local_only)

    def lease(self) -> tuple[str, str]:
        """Holder and end of a lease taken now."""
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
        """A heavy job has ended or did not start: another may, perhaps in another lane."""
        with self._lock:
            self.heavy_running -= 1
            for store in self._stores.values():
                store.dirty = store.dirty or store.recheck_at is not None
        self._call_keeper.set()

    def must_step_aside(self, store: JobStore, kind: JobKind, job_id: str) -> bool:
        """Whether a long job makes room: background work is paused, the machine no longer suits it, or a person
        waits for other work of its lane."""
        if self.mode == "paused":
            return True
        watched = store.watched()
        mine = store.all_watched or job_id in watched
        if hindrance(self.conditions.now(), heavy_running=0, mode=self.mode, watched=mine) is not None:
            return True
        if mine or not watched:
            return False
        with store.db.read_raw() as raw:
            return any(
                select(raw, wanted(other, kind.lane), limit=1, watched=watched, skip=store.skip(other.name))
                for other in self.kinds
                if kind.lane in other.lanes
            )

    def tell(self, store: JobStore, ids: Iterable[str]) -> None:
        """Publish the state of jobs, as the rows have it now."""
        with store.db.read_raw() as raw:
            rows = shown(raw, ids)
            held = decisions.held(raw) if any(row[1] == "waiting" for row in rows) else set()
        for job_id, state, done, total, reason in rows:
            state = "paused" if state == "waiting" and job_id in held else state
            if state in FINISHED:
                self._told.pop(job_id, None)
            self.engine.events.publish(
                "job",
                {"id": job_id, "state": state, "done": done, "total": total, "reason": reason},
                store.path,
            )

    def tell_progress(self, store: JobStore, job_id: str) -> None:
        """Publish a job's progress and that of the jobs above it, each at most twice a second."""
        at = time.monotonic()
        with store.db.read_raw() as raw:
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

    # Waiting for the end, for tests and the command line.

    def wait(self, library: Library | None, job_id: str, timeout: float = 60.0) -> str:
        """Wait until job *job_id* has finished; its state then (or when *timeout* seconds are over)."""
        store = self._started_store(library)
        deadline = time.monotonic() + timeout
        while True:
            store.watch(job_id)
            with store.db.read_raw() as raw:
                row = raw.execute("SELECT state FROM job WHERE id = ?", (job_id,)).fetchone()
            state = row[0] if row else "gone"
            if state in FINISHED or state == "gone" or time.monotonic() >= deadline:
                return str(state)
            with self._lock:
                self._ended.wait(min(0.25, max(0.0, deadline - time.monotonic())))

    def run_until_idle(self, library: Library | None, timeout: float = 60.0) -> bool:
        """Run the jobs of *library* as a person who waits for them would have it, until none can go on.

        Jobs that a person paused, or that wait for something which will not come by itself, are left. False when
        *timeout* seconds were not enough.
        """
        store = self._started_store(library)
        store.watch_all(timeout)
        deadline = time.monotonic() + timeout
        self.wake(library)
        while True:
            if not self._busy(store):
                return True
            if time.monotonic() >= deadline:
                return False
            with self._lock:
                self._ended.wait(min(0.25, max(0.0, deadline - time.monotonic())))

    def _started_store(self, library: Library | None) -> JobStore:
        self.start()
        if library is not None and self.store_of(library) is None:
            self.attach(library)
        store = self.store_of(library)
        assert store is not None
        return store

    def _busy(self, store: JobStore) -> bool:
        if store.picked or store.unwritten:
            return True
        if self.mode == "paused":
            return False
        with store.db.read() as conn:
            raw = raw_of(conn)
            # One snapshot: a job that a lane took after the look at `picked` is running here, not gone.
            running = "SELECT 1 FROM job WHERE state = 'running' AND body_done = 0 LIMIT 1"
            # Asked through SQLAlchemy, which begins the snapshot.
            if conn.exec_driver_sql(running).first() is not None:
                return True
            holds = any_holds(raw)
            return next_due(raw) is not None or any(
                select(raw, wanted(kind, lane), limit=1, any_holds=holds)
                for kind in self.kinds
                if not (kind.needs_network and self.offline)
                for lane in kind.lanes
            )

    # The lanes.

    def _serve(self, lane: Lane) -> None:
        """One thread of a lane: pick up, run, write the end with the next pick; sleep when there is nothing."""
        store: JobStore | None = None
        ended: list[tuple[Ended, Picked]] = []
        while True:
            store, picked = self._turn(lane, store, ended)
            ended = []
            if store is None:
                with self._lock:
                    if not self._running:
                        return
                    if not self._wanted(lane):
                        self._work.wait()
                continue
            ended = self._run_batch(lane, store, picked)

    def _run_batch(self, lane: Lane, store: JobStore, picked: list[Picked]) -> list[tuple[Ended, Picked]]:
        ended: list[tuple[Ended, Picked]] = []
        began = time.monotonic()
        with self._lock:
            lane.running += 1
        try:
            for place, one in enumerate(picked):
                if place and (store.closing or time.monotonic() - began > LONG_SECONDS / 4):
                    store.put_down(picked[place:])
                    self.look_again(store)
                    break
                how = execute(self, store, one)
                if how is None:
                    store.put_down([one])
                else:
                    ended.append((how, one))
        finally:
            with self._lock:
                lane.running -= 1
            if picked[0].kind.heavy:
                self.give_heavy_back()
        if ended:
            self.pace.note(picked[0].kind, len(ended), time.monotonic() - began)
        return ended

    def _turn(
        self, lane: Lane, store: JobStore | None, ended: list[tuple[Ended, Picked]]
    ) -> tuple[JobStore | None, list[Picked]]:
        """Write how the last jobs ended and pick up the next, in one transaction where both are in one library."""
        candidates = self._candidates(lane) if self._running else []
        if ended and store is not None and (not candidates or candidates[0] is not store):
            self._write_ends(store, ended)
            ended = []
            candidates = self._candidates(lane) if self._running else []
        for candidate in candidates:
            picked = self._write_ends(candidate, ended if candidate is store else [], lane)
            if candidate is store:
                ended = []
            if picked:
                lane.served, lane.picks = candidate, lane.picks + 1
                return candidate, picked
        return None, []

    def _candidates(self, lane: Lane) -> list[JobStore]:
        """Libraries that may have work for *lane*: where a person watches first, then in turn."""
        with self._lock:
            found = [s for s in self._stores.values() if not s.closing and _wants(s, lane.name)]
        if len(found) > 1:
            # Whoever was served last comes last; a person who watches comes first, but not every time.
            found = [s for s in found if s is not lane.served] + [s for s in found if s is lane.served]
            if lane.picks % 4:
                found.sort(key=lambda s: not (s.all_watched or s.watched()))
        return found

    def _wanted(self, lane: Lane) -> bool:
        return self.mode != "paused" and any(
            not s.closing and _wants(s, lane.name) and not self._only_held_back(s) for s in self._stores.values()
        )

    @staticmethod
    def _only_held_back(store: JobStore) -> bool:
        """Whether the library was just looked at in vain and is to be looked at again at a set time."""
        return store.recheck_at is not None and time.monotonic() < store.recheck_at

    def _write_ends(
        self, store: JobStore, ended: list[tuple[Ended, Picked]], lane: Lane | None = None
    ) -> list[Picked]:
        """Write ends and, for *lane*, pick up the next jobs; a disk that refuses leaves the ends for later."""
        picked: list[Picked] = []
        changed: list[str] = []
        moved: set[str] = set()
        if store.closed:
            # Given up at its release: the row counts as interrupted, and whoever holds the package now owns it.
            store.put_down(one for _, one in ended)
            return []
        try:
            with store.db.write() as conn:
                if ended:
                    for how, one in ended:
                        pending = one.context.take_pending() if one.context is not None else None
                        if pending is not None:
                            move_on(raw_of(conn), how.id, done=pending[0], total=pending[1])
                    changes = end(conn, [how for how, _ in ended])
                    changed, moved = changes.states, changes.progress
                if lane is not None:
                    recheck_at = store.recheck_at
                    picked = pick(self, store, lane, raw_of(conn))
                    if store.recheck_at != recheck_at or (picked and self._keeper_sleeps_past(picked)):
                        self._call_keeper.set()
        except Exception as error:
            self._not_written(store, ended, picked, error)
            return []
        if picked and not picked[0].claim.body_done and self.pace.batch(picked[0].kind) == 1:
            changed.append(picked[0].claim.id)
        try:
            if changed:
                self.tell(store, changed)
            for job_id in moved:
                self.tell_progress(store, job_id)
        except Exception:
            # A library that is gone the moment its last job ended; nobody is left to be told.
            log.warning("a change of jobs of %s could not be told", store.path or "the engine")
        if ended:
            store.put_down(one for _, one in ended)
            if store.dependents or any(how.state == "waiting" for how, _ in ended):
                self.look_again(store)
            with self._lock:
                self._ended.notify_all()
        return picked

    def _keeper_sleeps_past(self, picked: list[Picked]) -> bool:
        """Whether the keeper would not be awake in time for what it does for these jobs."""
        until = self._keeper_until
        needed = LONG_SECONDS if len(picked) > 1 else HEARTBEAT_SECONDS
        return until is None or until > time.monotonic() + needed

    def _not_written(
        self, store: JobStore, ended: list[tuple[Ended, Picked]], picked: list[Picked], error: Exception
    ) -> None:
        if picked:
            store.put_down(picked)
            if picked[0].kind.heavy:
                self.give_heavy_back()
        if not isinstance(error, ServiceError):
            log.exception("the queue of %s could not be written", store.path or "the engine")
        else:
            log.warning("the queue of %s could not be written: %s", store.path or "the engine", error.detail)
        with store.lock:
            store.unwritten += ended
            store.write_again_at = time.monotonic() + 1.0
        store.recheck_in(1.0)
        self._call_keeper.set()

    # The keeper.

    def _keep(self) -> None:
        """Wake lanes for new work, renew leases, look again at what waits for a time or a condition."""
        beat_at = time.monotonic() + HEARTBEAT_SECONDS
        tidy_at = time.monotonic() + 86_400
        while self._running:
            seconds = self._sleep(beat_at)
            self._keeper_until = None if seconds is None else time.monotonic() + seconds
            self._call_keeper.wait(seconds)
            self._call_keeper.clear()
            if not self._running:
                return
            try:
                at = time.monotonic()
                self._look_around(at)
                self._mark_long(at)
                if at >= beat_at:
                    self._beat()
                    beat_at = at + HEARTBEAT_SECONDS
                if at >= tidy_at:
                    tidy_at = at + 86_400
                    for store in self.stores():
                        with store.db.write() as conn:
                            decisions.purge(conn)
            except Exception:
                log.exception("the keeper of the jobs met an error and goes on")
                time.sleep(1.0)

    def _sleep(self, beat_at: float) -> float | None:
        """Seconds until there is something to do by itself; None: until called."""
        at = time.monotonic()
        times: list[float] = []
        for store in self.stores():
            if store.recheck_at is not None:
                times.append(max(store.recheck_at - at, 0.0))
            if store.unwritten:
                times.append(max(store.write_again_at - at, 0.0))
            if store.picked:
                times.append(max(beat_at - at, 0.0))
                if any(not p.marked for p in list(store.picked.values())):
                    times.append(LONG_SECONDS)
        return min(times) if times else None

    def _look_around(self, at: float) -> None:
        lanes: set[str] = set()
        for store in self.stores():
            if store.closing:
                continue
            if store.unwritten and at >= store.write_again_at:
                with store.lock:
                    again, store.unwritten = store.unwritten, []
                self._write_ends(store, again)
            if store.dirty or (store.recheck_at is not None and at >= store.recheck_at):
                lanes |= store.look(self.kinds)
        if not lanes or self.mode == "paused":
            return
        with self._lock:
            for name in lanes:
                threads = self._threads[name]
                threads[:] = [t for t in threads if t.is_alive()]
                while len(threads) < self.lanes[name].width and self._running:
                    number = len(threads) + 1
                    thread = threading.Thread(
                        target=self._serve, args=(self.lanes[name],), name=f"jobs-{name}-{number}", daemon=True
                    )
                    threads.append(thread)
                    thread.start()
            self._work.notify_all()

    def _mark_long(self, at: float) -> None:
        """Show a job that turned out long as running, and free the jobs behind it."""
        for store in self.stores():
            with store.lock:
                long = [p for p in store.picked.values() if p.context is not None and at - p.began_at >= LONG_SECONDS]
                lanes = {p.lane for p in long}
                behind = [
                    p for p in store.picked.values() if p.context is None and not p.marked and p.lane in lanes
                ]
                for one in behind:
                    one.withdrawn = True
                    store.picked.pop(one.claim.seq, None)
            long = [one for one in long if not one.marked]
            if behind:
                self.look_again(store)
            if not long:
                continue
            with store.db.write() as conn:
                for one in long:
                    move_on(raw_of(conn), one.claim.id, lease=self.lease())
                    one.marked = True

    def _beat(self) -> None:
        """Renew the leases of running jobs; a row whose lease ran out and that nobody works on waits again."""
        for store in self.stores():
            if store.closing:
                continue
            holder, until = self.lease()
            with store.lock:
                working = list(store.picked)
            with store.db.write() as conn:
                raw_of(conn).executemany(
                    "UPDATE job SET lease_until = ? WHERE seq = ? AND lease_holder = ?",
                    [(until, seq, holder) for seq in working],
                )
                back, failed = decisions.recover(conn, working, holder=holder)
            if back or failed:
                store.dirty = True
                self._call_keeper.set()

    def counts(self) -> dict[str, Any]:
        """How many jobs each lane runs now."""
        running: dict[str, int] = dict.fromkeys(LANES, 0)
        for store in self.stores():
            for picked in store.executing().values():
                running[picked.lane] += 1
        return running


def _wants(store: JobStore, lane: str) -> bool:
    return any(kind_lane == lane for _, kind_lane in store.maybe.copy())
