"""The crew of the lanes: threads that pick up jobs, run their bodies, and write how they ended with the next pick.

One transaction serves one long job or hundreds of short ones. A crash between a short body and that transaction
runs the body again; what it did through `JobContext.act` stands with its checkpoint, so nothing is lost or doubled.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from armarium.db import raw_of
from armarium.errors import ServiceError
from armarium.jobs.choice import MOST_AT_ONCE, Lane, pick
from armarium.jobs.ending import Ended, end
from armarium.jobs.execution import execute
from armarium.jobs.kinds import LANES
from armarium.jobs.queue import move_on
from armarium.jobs.store import JobStore, Picked
from armarium.turns import work_in_background

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner

log = logging.getLogger("armarium.jobs")

OVERRUN_SECONDS = 0.25
"""When a batch of small jobs takes longer than this, what is left of it goes back to the queue."""

HOLD_SECONDS = 0.02
"""How long the end of a quick job may wait to be written together with those of the next ones."""


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
        ended: list[tuple[Ended, Picked]] = []
        ended_at = 0.0
        while True:
            if store is not None and self._may_hold(store, ended, ended_at):
                picked = self.write_ends(store, [], lane) if _wants(store, lane.name) else []
                if picked:
                    ended += self._run_batch(lane, store, picked)
                else:
                    with self._lock:
                        if self.runner.started and not self._wanted(lane):
                            self._work.wait(max(0.0, ended_at + HOLD_SECONDS - time.monotonic()))
                        else:
                            # Something else is wanted, in another library perhaps: write, then look.
                            ended_at = 0.0
                continue
            store, picked = self._turn(lane, store, ended)
            ended = []
            if store is None:
                with self._lock:
                    if not self.runner.started:
                        return
                    if not self._wanted(lane):
                        self._work.wait()
                continue
            ended = self._run_batch(lane, store, picked)
            ended_at = time.monotonic()

    def _may_hold(self, store: JobStore, ended: list[tuple[Ended, Picked]], ended_at: float) -> bool:
        """Whether the ends of quick jobs may wait a moment for more of them, to be written together."""
        return (
            0 < len(ended) < MOST_AT_ONCE
            and time.monotonic() < ended_at + HOLD_SECONDS
            and self.runner.started
            and not store.closing
            and all(not one.marked and how.state == "done" for how, one in ended)
        )

    def _run_batch(self, lane: Lane, store: JobStore, picked: list[Picked]) -> list[tuple[Ended, Picked]]:
        ended: list[tuple[Ended, Picked]] = []
        began = time.monotonic()
        with self._lock:
            lane.running += 1
        try:
            for place, one in enumerate(picked):
                if place and (store.closing or time.monotonic() - began > OVERRUN_SECONDS):
                    store.put_down(picked[place:])
                    self.runner.look_again(store)
                    break
                how = execute(self.runner, store, one)
                if how is None:
                    store.put_down([one])
                else:
                    ended.append((how, one))
        finally:
            with self._lock:
                lane.running -= 1
            if picked[0].kind.heavy_in(picked[0].lane):
                self.runner.give_heavy_back()
        if ended:
            self.runner.pace.note(picked[0].kind, len(ended), time.monotonic() - began)
        return ended

    def _turn(
        self, lane: Lane, store: JobStore | None, ended: list[tuple[Ended, Picked]]
    ) -> tuple[JobStore | None, list[Picked]]:
        """Write how the last jobs ended and pick up the next, in one transaction where both are in one library."""
        candidates = self._candidates(lane) if self.runner.started else []
        if ended and store is not None and (not candidates or candidates[0] is not store):
            self.write_ends(store, ended)
            ended = []
            candidates = self._candidates(lane) if self.runner.started else []
        for candidate in candidates:
            picked = self.write_ends(candidate, ended if candidate is store else [], lane)
            if candidate is store:
                ended = []
            if picked:
                lane.served, lane.picks = candidate, lane.picks + 1
                return candidate, picked
        return None, []

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

    def _wanted(self, lane: Lane) -> bool:
        return self.runner.mode != "paused" and any(
            not s.closing and _wants(s, lane.name) and not self._only_held_back(s)
            for s in self.runner.stores()
        )

    @staticmethod
    def _only_held_back(store: JobStore) -> bool:
        """Whether the library was just looked at in vain and is to be looked at again at a set time."""
        return store.recheck_at is not None and time.monotonic() < store.recheck_at

    def write_ends(
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
                    picked = pick(self.runner, store, lane, raw_of(conn))
                    if store.recheck_at != recheck_at or (picked and self.runner.keeper.sleeps_past(picked)):
                        self.runner.keeper.call()
        except Exception as error:
            self._not_written(store, ended, picked, error)
            return []
        if picked and picked[0].marked:
            changed.append(picked[0].claim.id)
        try:
            if changed:
                self.runner.tell(store, changed)
            for job_id in moved:
                self.runner.tell_progress(store, job_id)
        except Exception:
            # A library that is gone the moment its last job ended; nobody is left to be told.
            log.warning("a change of jobs of %s could not be told", store.path or "the engine")
        if ended:
            store.put_down(one for _, one in ended)
            if store.dependents or any(how.state == "waiting" for how, _ in ended):
                self.runner.look_again(store)
            self.runner.note_ended()
        return picked

    def _not_written(
        self, store: JobStore, ended: list[tuple[Ended, Picked]], picked: list[Picked], error: Exception
    ) -> None:
        if picked:
            store.put_down(picked)
            if picked[0].kind.heavy_in(picked[0].lane):
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
