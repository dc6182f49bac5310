"""The queue before the one writer of a database: people's writes go before those of jobs."""

from __future__ import annotations

import threading
import time
from collections import deque

PASSED_OVER = 16
"""How many writes of people may go before the first waiting one of a job, so that neither starves."""

MISSED = 4
"""How often a waiting thread may lose to a faster one."""

_background = threading.local()


def work_in_background() -> None:
    """Within the block, this thread runs jobs: its writes let those of people go first."""
    _background.here = True


class _Turn:
    """One waiting thread."""

    __slots__ = ("given", "missed", "signal", "signalled")

    def __init__(self) -> None:
        self.signal = threading.Lock()
        self.signal.acquire()
        self.signalled = False
        self.given = False
        self.missed = 0


class Waits:
    """How often and how long threads waited for writers, those of people and those of jobs; several queues may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts = {"people": 0, "jobs": 0}
        self.seconds = {"people": 0.0, "jobs": 0.0}

    def note(self, whose: str, began: float) -> None:
        """Count a wait that *began* (`time.monotonic`) and is over now."""
        with self._lock:
            self.counts[whose] += 1
            self.seconds[whose] += time.monotonic() - began


class WriterQueue:
    """A lock that goes to people in the order they came, and to jobs when no person waits or enough have gone first.

    A thread that asks at the moment of release may have it before those who wait: they have to be woken first, and the
    writer would be idle. A waiter that lost it so a few times gets it next.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = False
        self._people: deque[_Turn] = deque()
        self._jobs: deque[_Turn] = deque()
        self._passed = 0
        self.waits = Waits()

    def acquire(self, timeout: float) -> bool:
        """Wait for the turn, *timeout* seconds at most; return whether it came."""
        job = getattr(_background, "here", False)
        waiting = self._jobs if job else self._people
        with self._lock:
            if not self._held and not (job and self._people):
                self._held = True
                return True
            turn = _Turn()
            waiting.append(turn)
        began = time.monotonic()
        try:
            return self._wait(turn, waiting, began + timeout)
        finally:
            self.waits.note("jobs" if job else "people", began)

    def _wait(self, turn: _Turn, waiting: deque[_Turn], deadline: float) -> bool:
        while True:
            woken = turn.signal.acquire(timeout=max(0.0, deadline - time.monotonic()))
            with self._lock:
                if turn.given:
                    return True
                if not self._held:
                    self._held = True
                    waiting.remove(turn)
                    return True
                turn.signalled = False
                turn.missed += 1
                if not woken:
                    waiting.remove(turn)
                    return False

    def release(self) -> None:
        """Release the lock to the next one."""
        with self._lock:
            overdue = bool(self._jobs) and self._passed >= PASSED_OVER
            waiting = self._jobs if overdue or not self._people else self._people
            self._passed = 0 if waiting is self._jobs or not self._jobs else self._passed + 1
            self._held = False
            if not waiting:
                return
            turn = waiting[0]
            if overdue or turn.missed >= MISSED:
                waiting.popleft()
                turn.given = self._held = True
            if not turn.signalled:
                turn.signalled = True
                turn.signal.release()
