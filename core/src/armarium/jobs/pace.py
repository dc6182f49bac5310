"""How fast a running job is: by what it has done since it first said how far it is, how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

SOONEST = 5.0
"""After how many seconds something can be told."""

STANDSTILL = 600.0
"""After how many seconds without any progress it is said of a job that it stands still."""


def part_of(item: Mapping[str, Any] | None) -> float:
    """Return which part of the item in hand is done, 0 to 1, by what a worker reported of it."""
    return min(1.0, item["done"] / item["total"]) if item and item.get("total") else 0.0


class Pace:
    """The pace of one run of a body; what an earlier one did before an interruption tells nothing of it."""

    def __init__(self) -> None:
        self._begun: tuple[float, float] | None = None
        self._done = 0
        self._part = 0.0
        self._moved_at = time.monotonic()

    def note(self, done: int | None = None, *, part: float = 0.0) -> None:
        """Note how many items are done, and which part (0 to 1) of the one in hand."""
        self._part, self._moved_at = part, time.monotonic()
        if done is not None:
            self._done = done
            if self._begun is None:
                self._begun = time.monotonic(), done + part

    def seconds_left(self, total: int) -> int | None:
        """Return how long what is left of *total* items will probably take; None where nothing tells yet."""
        if self._begun is None:
            return None
        began_at, done_before = self._begun
        elapsed, done = time.monotonic() - began_at, self._done + self._part
        if elapsed < SOONEST or done <= done_before or total <= done:
            return None
        return round((total - done) * elapsed / (done - done_before))

    def tell_standstill(self) -> str | None:
        """Say how long a job has not come further; None where that is not long."""
        seconds = time.monotonic() - self._moved_at
        return None if seconds < STANDSTILL else f"Has not come further for {seconds // 60:.0f} minutes."
