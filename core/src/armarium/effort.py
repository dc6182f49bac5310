"""Whether a process gets anywhere: the processor time it has used, and how long it has done nothing.

Limits of this kind do not depend on how busy the machine is: a process that has to wait for its turn uses little time
in a second, but it uses some.
"""

from __future__ import annotations

import time
from contextlib import suppress

WORKING = 0.01
"""The share of one processor that a process uses at least while it works, also when many others want it."""

NOTED = 0.1
"""Seconds of processor time below which nothing is concluded: a clock of the system ticks once in 10 ms."""


class Effort:
    """What a process and those it started do, from one `look` to the next."""

    def __init__(self, pid: int) -> None:
        import psutil

        self._gone = psutil.Error
        self.used = 0.0
        """Seconds of processor time."""
        self._process = None
        with suppress(psutil.Error):
            self._process = psutil.Process(pid)
        self._at, self._used_then = time.monotonic(), 0.0
        self.look()

    def look(self) -> float:
        """Take notice of what was used meanwhile; return for how many seconds nothing has been done."""
        used = 0.0
        if self._process is not None:
            with suppress(self._gone):
                for process in (self._process, *self._process.children(recursive=True)):
                    with suppress(self._gone):
                        spent = process.cpu_times()
                        used += spent.user + spent.system + spent.children_user + spent.children_system
        self.used = max(self.used, used)
        passed = time.monotonic() - self._at
        if self.used - self._used_then >= max(NOTED, WORKING * passed):
            self._at, self._used_then = time.monotonic(), self.used
            return 0.0
        return passed
