"""The limit on failed attempts: five wrong tokens, codes or secrets a minute, then 429 with Retry-After."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable

from armarium.errors import RateLimited

LIMIT = 5
WINDOW = 60.0
CALLERS = 4096


class FailedAttempts:
    """Counts failures per caller (an address, or `uds`) in a sliding minute. A success costs one dictionary lookup."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def check(self, caller: str) -> None:
        """Raise RateLimited when *caller* has failed five times within the last minute."""
        failures = self._failures.get(caller)
        if failures is None:
            return
        with self._lock:
            now = self._clock()
            while failures and failures[0] <= now - WINDOW:
                failures.popleft()
            if not failures:
                self._failures.pop(caller, None)
                return
            if len(failures) < LIMIT:
                return
            wait = max(1, math.ceil(failures[-LIMIT] + WINDOW - now))
        raise RateLimited(
            f"Five failed attempts within a minute: wait {wait} seconds, then try again with the right secret.",
            retry_after=wait,
        )

    def note_failure(self, caller: str) -> None:
        """Record a failure of *caller*. At most CALLERS callers are remembered; the oldest is dropped first."""
        with self._lock:
            failures = self._failures.get(caller)
            if failures is None:
                while len(self._failures) >= CALLERS:
                    self._failures.pop(next(iter(self._failures)))
                failures = self._failures[caller] = deque(maxlen=LIMIT)
            failures.append(self._clock())
