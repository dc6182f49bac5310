"""The crew of the lanes: threads that pick up a job, run its body, and write how it ended with the next pick.

A crash between a body's end and that transaction runs the body again; what it did through `JobContext.act` stands
with its checkpoint, so nothing is lost or doubled.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from armarium.errors import ServiceError
from armarium.jobs.choice import Lane, pick
from armarium.jobs.ending import Changes, Ending, end
from armarium.jobs.execution import execute
from armarium.jobs.kinds import LANES
from armarium.jobs.queue import move_on
from armarium.jobs.store import ClaimedJob, JobStore
from armarium.store.database import raw_of
from armarium.store.write_queue import work_in_background

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner

log = logging.getLogger("armarium.jobs")


class Crew:
    """The threads of every lane, made when a lane first has work."""

    def __init__(self, runner: JobRunner) -> None:
        self.runner = runner
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._threads: dict[str, list[threading.Thread]] = {name: [] for name in LANES}

    def call(self, lanes: set[str]) -> None:
        """Wake the threads of *lanes*, hiring those that are not there yet."""
        with self._lock:
            for name in lanes:
                threads = self._threads[name]
                threads[:] = [t for t in threads if t.is_alive()]
                while len(threads) < self.runner.lanes[name].width and self.runner.started:
                    number = len(threads) + 1
                    thread = threading.Thread(
                        target=self._serve,
                        args=(self.runner.lanes[name],),
                        name=f"jobs-{name}-{number}",
                        daemon=True,
                    )
                    threads.append(thread)
                    thread.start()
            self._work.notify_all()

    def end(self, deadline: float) -> None:
        """Let every thread finish what it has in hand, until *deadline* (monotonic) at most."""
        with self._lock:
            self._work.notify_all()
            threads = [thread for group in self._threads.values() for thread in group]
            self._threads = {name: [] for name in LANES}
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    def _serve(self, lane: Lane) -> None:
        """One thread of a lane: pick up, run, write the end with the next pick; sleep when there is nothing."""
        work_in_background()
        store: JobStore | None = None
        ended: list[tuple[Ending, ClaimedJob]] = []
        while True:
            store, picked = self._turn(lane, store, ended)
            ended = []
            if store is not None and picked is not None:
                ended = [(self._run(lane, store, picked), picked)]
                continue
            with self._lock:
                if not self.runner.started:
                    return
                if not self._has_work(lane):
                    self._work.wait()

    def _run(self, lane: Lane, store: JobStore, picked: ClaimedJob) -> Ending:
        with self._lock:
            lane.running += 1
        try:
            return execute(self.runner, store, picked)
        finally:
            with self._lock:
                lane.running -= 1
            if picked.kind.heavy_in(picked.lane):
                self.runner.give_heavy_back()

    def _turn(
        self, lane: Lane, store: JobStore | None, ended: list[tuple[Ending, ClaimedJob]]
    ) -> tuple[JobStore | None, ClaimedJob | None]:
        """Write how the last job ended and pick up the next, in one transaction where both are in one library."""
        candidates = self._candidates(lane) if self.runner.started else []
        if ended and store is not None and (not candidates or candidates[0] is not store):
            self.write_ends(store, ended)
            ended = []
            candidates = self._candidates(lane) if self.runner.started else []
        for candidate in candidates:
            picked = self.write_ends(candidate, ended if candidate is store else [], lane)
            if candidate is store:
                ended = []
            if picked is not None:
                lane.served, lane.picks = candidate, lane.picks + 1
                return candidate, picked
        return None, None

    def _candidates(self, lane: Lane) -> list[JobStore]:
        """Libraries that may have work for *lane*: where a person watches first, then in turn."""
        with self._lock:
            found = [s for s in self.runner.stores() if not s.closing and _wants(s, lane.name)]
        if len(found) > 1:
            # Whoever was served last comes last; a person who watches comes first, but not every time.
            found = [s for s in found if s is not lane.served] + [s for s in found if s is lane.served]
            if lane.picks % 4:
                found.sort(key=lambda s: not (s.all_watched or s.watched()))
        return found

    def _has_work(self, lane: Lane) -> bool:
        return self.runner.mode != "paused" and any(
            not s.closing and _wants(s, lane.name) and not self._only_held_back(s)
            for s in self.runner.stores()
        )

    @staticmethod
    def _only_held_back(store: JobStore) -> bool:
        """Whether the library was just looked at in vain and is to be looked at again at a set time."""
        return store.recheck_at is not None and time.monotonic() < store.recheck_at

    def write_ends(
        self, store: JobStore, ended: list[tuple[Ending, ClaimedJob]], lane: Lane | None = None
    ) -> ClaimedJob | None:
        """Write ends and, for *lane*, pick up the next job; a disk that refuses leaves the ends for later."""
        picked: ClaimedJob | None = None
        changes = Changes()
        if store.closed:
            # Given up at its release: the row counts as interrupted, and whoever holds the package now owns it.
            store.put_down(one for _, one in ended)
            return None
        try:
            with store.db.write() as conn:
                if ended:
                    for how, one in ended:
                        pending = one.context.take_pending()
                        if pending is not None:
                            move_on(raw_of(conn), how.id, done=pending[0], total=pending[1])
                    changes.add(end(conn, [how for how, _ in ended]))
                if lane is not None:
                    recheck_at = store.recheck_at
                    picked = pick(self.runner, store, lane, conn, changes)
                    if store.recheck_at != recheck_at or (
                        picked is not None and self.runner.keeper.sleeps_too_long()
                    ):
                        self.runner.keeper.call()
        except Exception as error:
            self._not_written(store, ended, picked, error)
            return None
        begun = [picked.claim.id] if picked is not None else []
        try:
            if changes.states or begun:
                self.runner.tell(store, changes.states + begun)
            for job_id in changes.progress:
                self.runner.tell_progress(store, job_id)
        except Exception:
            # A library that is gone the moment its last job ended; nobody is left to be told.
            log.warning("a change of jobs of %s could not be told", store.path or "the engine")
        store.put_down(one for _, one in ended)
        if changes.states:
            if store.dependents or changes.wait_again or any(how.state == "waiting" for how, _ in ended):
                self.runner.look_again(store)
            self.runner.note_ended()
        return picked

    def _not_written(
        self,
        store: JobStore,
        ended: list[tuple[Ending, ClaimedJob]],
        picked: ClaimedJob | None,
        error: Exception,
    ) -> None:
        if picked is not None:
            store.put_down([picked])
            if picked.kind.heavy_in(picked.lane):
                self.runner.give_heavy_back()
        if not isinstance(error, ServiceError):
            log.exception("the queue of %s could not be written", store.path or "the engine")
        else:
            log.warning("the queue of %s could not be written: %s", store.path or "the engine", error.detail)
        with store.lock:
            store.unwritten += ended
            store.write_again_at = time.monotonic() + 1.0
        store.recheck_in(1.0)
        self.runner.keeper.call()


def _wants(store: JobStore, lane: str) -> bool:
    return any(kind_lane == lane for _, kind_lane in store.maybe.copy())
