"""The threads of the lanes: each picks up a job, runs its body, and writes how it ended with the next pick.

After a crash between a body's end and that transaction the body runs again; what it did through `JobContext.act` is
stored with its checkpoint, so nothing is lost or repeated.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from armarium.errors import ServiceError
from armarium.jobs.choice import LATE_SECONDS, TOGETHER_SECONDS, Lane, pick
from armarium.jobs.ending import Changes, Ending, end
from armarium.jobs.execution import execute, not_begun
from armarium.jobs.kinds import LANES
from armarium.jobs.queue import move_on
from armarium.jobs.store import ClaimedJob, JobStore
from armarium.store.database import raw_of
from armarium.store.write_queue import work_in_background

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner

log = logging.getLogger("armarium.jobs")


class LaneThreads:
    """The threads of every lane, started when a lane first has work."""

    def __init__(self, runner: JobRunner) -> None:
        self.runner = runner
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._threads: dict[str, list[threading.Thread]] = {name: [] for name in LANES}

    def call(self, lanes: set[str]) -> None:
        """Wake the threads of *lanes*, starting those that do not exist yet."""
        with self._lock:
            for name in lanes:
                threads = self._threads[name]
                threads[:] = [thread for thread in threads if thread.is_alive()]
                while len(threads) < self.runner.lanes[name].width and self.runner.is_started:
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
        """Let every thread finish the item in progress, until *deadline* (monotonic) at most."""
        for lane in self.runner.lanes.values():
            self.put_back_late(lane, lane.late_at)
        with self._lock:
            self._work.notify_all()
            threads = [thread for group in self._threads.values() for thread in group]
            self._threads = {name: [] for name in LANES}
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    def _serve(self, lane: Lane) -> None:
        """Run one thread of a lane: pick up, run, write the end with the next pick; sleep when there is nothing."""
        work_in_background()
        while True:
            picked = self._next(lane)
            if picked is not None:
                self._run(lane, *picked)
                continue
            with self._lock:
                if not self.runner.is_started:
                    return
                if not self._has_work(lane):
                    self._work.wait()

    def _run(self, lane: Lane, store: JobStore, picked: ClaimedJob) -> None:
        """Run a body; its end is written with the next pick, that of a quick one together with others."""
        with self._lock:
            lane.running += 1
        begun = time.monotonic()
        try:
            ending = execute(self.runner, store, picked)
        finally:
            with self._lock:
                lane.running -= 1
            if picked.kind.heavy_in(picked.lane):
                self.runner.give_heavy_back()
        at = time.monotonic()
        with self._lock:
            quick = lane.learn(picked.kind, at - begun, ending)
            if not quick:
                lane.write_at = at
            elif not lane.ended:
                lane.write_at = at + TOGETHER_SECONDS
            lane.ended.append((store, ending, picked))

    def _next(self, lane: Lane) -> tuple[JobStore, ClaimedJob] | None:
        """Return the job to run now: one that was picked up ahead, else the next of the queue."""
        if self.runner.mode == "paused":
            self.put_back_late(lane, lane.late_at)
        with self._lock:
            picked = lane.ahead.popleft() if lane.ahead else None
            ended = lane.take_ended() if picked is None or time.monotonic() >= lane.write_at else []
        if picked is None:
            return self._turn(lane, ended)
        self._write_all(ended)
        return picked

    def _turn(
        self, lane: Lane, ended: list[tuple[JobStore, Ending, ClaimedJob]]
    ) -> tuple[JobStore, ClaimedJob] | None:
        """Write how jobs ended and pick up the next, in one transaction where all are in one project."""
        candidates = self._candidates(lane) if self.runner.is_started else []
        stores = {id(store) for store, _, _ in ended}
        if ended and (not candidates or stores != {id(candidates[0])}):
            self._write_all(ended)
            ended = []
            candidates = self._candidates(lane) if self.runner.is_started else []
        for candidate in candidates:
            mine = [(how, picked) for _, how, picked in ended]
            ended = []
            claimed_jobs = self.write_ends(candidate, mine, lane, alone=len(candidates) == 1)
            if claimed_jobs:
                lane.served, lane.picks = candidate, lane.picks + 1
                with self._lock:
                    lane.ahead.extend((candidate, claimed) for claimed in claimed_jobs[1:])
                return candidate, claimed_jobs[0]
        return None

    def _write_all(self, ended: list[tuple[JobStore, Ending, ClaimedJob]]) -> None:
        """Write how jobs ended, project by project."""
        for store in {id(owner): owner for owner, _, _ in ended}.values():
            self.write_ends(store, [(how, picked) for owner, how, picked in ended if owner is store])

    def put_back_late(self, lane: Lane, at: float) -> None:
        """Put jobs that were picked up ahead and did not begin in time back in the queue; write pending ends."""
        with self._lock:
            if not lane.ahead or at < lane.late_at:
                return
            ended = lane.take_ended()
            ended += [(store, not_begun(picked), picked) for store, picked in lane.ahead]
            lane.ahead.clear()
        self._write_all(ended)

    def _candidates(self, lane: Lane) -> list[JobStore]:
        """Yield projects that may have work for *lane*: first where a person watches, then in turn."""
        with self._lock:
            job_stores = [
                store for store in self.runner.stores() if not store.closing and _wants(store, lane.name)
            ]
        if len(job_stores) > 1:
            # The project served last comes last; one that a person watches comes first, but not every time.
            job_stores = [store for store in job_stores if store is not lane.served] + [
                s for s in job_stores if s is lane.served
            ]
            if lane.picks % 4:
                job_stores.sort(key=lambda store: not (store.all_watched or store.list_watched()))
        return job_stores

    def _has_work(self, lane: Lane) -> bool:
        return self.runner.mode != "paused" and any(
            # Not of a project that was just checked in vain and is to be checked again at a set time.
            not (store.closing or (store.recheck_at is not None and time.monotonic() < store.recheck_at))
            and _wants(store, lane.name)
            for store in self.runner.stores()
        )

    def write_ends(
        self,
        store: JobStore,
        ended: list[tuple[Ending, ClaimedJob]],
        lane: Lane | None = None,
        *,
        alone: bool = False,
    ) -> list[ClaimedJob]:
        """Write ends and, for *lane*, pick up the next job, or more (`pick`); if the disk refuses, keep the ends for
        later.
        """
        picked: list[ClaimedJob] = []
        changes = Changes()
        if store.closed:
            # Abandoned at its release: the row counts as interrupted, and the next holder of the package owns it.
            store.put_down(claimed for _, claimed in ended)
            return []
        try:
            with store.db.write() as conn:
                if ended:
                    for ending, claimed in ended:
                        pending = claimed.context.take_pending()
                        if pending is not None:
                            move_on(raw_of(conn), ending.id, done=pending[0], total=pending[1])
                    changes.add(end(conn, [how for how, _ in ended]))
                if lane is not None:
                    recheck_at = store.recheck_at
                    picked = pick(self.runner, store, lane, conn, changes, alone=alone)
                    if len(picked) > 1:
                        lane.late_at = time.monotonic() + LATE_SECONDS
                        store.recheck_in(LATE_SECONDS)
                    if store.recheck_at != recheck_at or (picked and self.runner.keeper.sleeps_too_long()):
                        self.runner.keeper.call()
        except Exception as error:
            self._not_written(store, ended, picked, error)
            return []
        begun = [claimed.claim.id for claimed in picked]
        try:
            if changes.states or begun:
                over = [how.id for how, _ in ended]
                self.runner.tell(store, changes.states + begun, ended=over)
            for job_id in changes.progress:
                self.runner.tell_progress(store, job_id)
        except Exception:
            # The project was closed the moment its last job ended; nobody is left to notify.
            log.warning("a change of jobs of %s could not be published", store.path or "the engine")
        store.put_down(claimed for _, claimed in ended)
        if changes.states:
            if store.dependents or changes.wait_again or any(how.state == "waiting" for how, _ in ended):
                self.runner.look_again(store)
            self.runner.note_ended()
        return picked

    def _not_written(
        self,
        store: JobStore,
        ended: list[tuple[Ending, ClaimedJob]],
        picked: list[ClaimedJob],
        error: Exception,
    ) -> None:
        store.put_down(picked)
        for claimed in picked:
            if claimed.kind.heavy_in(claimed.lane):
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
