"""The keeper: one thread that wakes lanes for new work, renews leases, and checks again what waits for a time."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from armarium.errors import Unavailable
from armarium.jobs import decisions
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner

log = logging.getLogger("armarium.jobs")

HEARTBEAT_SECONDS = 15.0
"""Seconds between renewals of the leases of running jobs."""

GATHER_SECONDS = 0.012
"""Seconds: calls that follow a check this closely are answered by one more, so that many steps at once are not a check
each.
"""

TIDY_SECONDS = 86_400.0
"""Seconds between purges of old finished jobs in projects that stay open."""


class Keeper:
    """Sleeps until it is called or something is due; nothing is polled while nothing waits."""

    def __init__(self, runner: JobRunner) -> None:
        self.runner = runner
        self._called = threading.Event()
        self._until: float | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to keep."""
        self._thread = threading.Thread(target=self._keep, name="jobs-keeper", daemon=True)
        self._thread.start()

    def end(self, deadline: float) -> None:
        """End the thread, waiting until *deadline* (monotonic) at most."""
        self._called.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(max(0.0, deadline - time.monotonic()))
        self._thread = None
        self._called.clear()

    def call(self) -> None:
        """Have it check everything at once."""
        # Tested first, which costs a tenth: every step that queues a job comes here, and most find it called already.
        if not self._called.is_set():
            self._called.set()

    def sleeps_too_long(self) -> bool:
        """Return whether the keeper would not be awake in time to renew the lease of a job that is picked up now."""
        until = self._until
        return until is None or until > time.monotonic() + HEARTBEAT_SECONDS

    def _keep(self) -> None:
        """Wake lanes for new work, renew leases, check again what waits for a time or a condition."""
        beat_at = time.monotonic() + HEARTBEAT_SECONDS
        tidy_at = time.monotonic() + TIDY_SECONDS
        looked_at = 0.0
        while self.runner.is_started:
            seconds = self._sleep(beat_at)
            self._until = None if seconds is None else time.monotonic() + seconds
            self._called.wait(seconds)
            time.sleep(max(0.0, looked_at + GATHER_SECONDS - time.monotonic()))
            self._called.clear()
            if not self.runner.is_started:
                return
            try:
                at = looked_at = time.monotonic()
                self._look_around(at)
                if at >= beat_at:
                    self.beat()
                    beat_at = at + HEARTBEAT_SECONDS
                if at >= tidy_at:
                    tidy_at = at + TIDY_SECONDS
                    for store in self.runner.stores():
                        with store.db.write() as conn:
                            decisions.purge(conn)
            except Unavailable:  # a project that began to close after the check
                time.sleep(0.1)
            except Exception:
                log.exception("the keeper of the jobs met an error and continues")
                time.sleep(1.0)

    def _sleep(self, beat_at: float) -> float | None:
        """Return the seconds until there is something to do without a call; None: until called."""
        at = time.monotonic()
        times: list[float] = []
        for store in self.runner.stores():
            if store.recheck_at is not None:
                times.append(max(store.recheck_at - at, 0.0))
            if store.unwritten:
                times.append(max(store.write_again_at - at, 0.0))
            if store.picked:
                times.append(max(beat_at - at, 0.0))
        return min(times) if times else None

    def _look_around(self, at: float) -> None:
        lanes: set[str] = set()
        for lane in self.runner.lanes.values():
            self.runner.crew.put_back_late(lane, at)
        for store in self.runner.stores():
            if store.closing:
                continue
            if store.unwritten and at >= store.write_again_at:
                with store.lock:
                    unwritten, store.unwritten = store.unwritten, []
                self.runner.crew.write_ends(store, unwritten)
            if store.dirty or (store.recheck_at is not None and at >= store.recheck_at):
                lanes |= store.look(self.runner.kinds)
        if lanes and self.runner.mode != "paused":
            self.runner.crew.call(lanes)

    def beat(self) -> None:
        """Renew the leases of running jobs; put rows back in the queue whose lease expired and that nobody works on."""
        for store in self.runner.stores():
            if store.closing:
                continue
            holder, until = self.runner.lease()
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
                self._called.set()
            # Nothing happens in a job that waits for an answer: whoever watches it is told so now and then.
            silent = [job_id for job_id, picked in store.executing().items() if picked.context.tell_wait()]
            if silent:
                self.runner.tell(store, silent)
