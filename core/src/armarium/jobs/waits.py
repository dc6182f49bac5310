"""Whose answers a running job waits for, and how long they have been silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TOLD_AFTER = 5.0
"""After how many seconds of silence it is told, unless the call says otherwise."""


class Waits:
    """The answers that the threads of one body wait for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[object, tuple[float, float, str]] = {}
        """Since when each call waits, from when that is told (both by `time.monotonic`), and for whom."""

    @contextmanager
    def answer_of(self, whom: str, *, told_after: float | None = None) -> Iterator[Callable[[], None]]:
        """While this lasts, the job waits for an answer of *whom*, as it is shown; what is lent notes a sign of life."""
        call, silence = object(), TOLD_AFTER if told_after is None else told_after

        def note_life() -> None:
            at = time.monotonic()
            with self._lock:
                self._calls[call] = at, at + silence, whom

        note_life()
        try:
            yield note_life
        finally:
            with self._lock:
                del self._calls[call]

    def tell(self) -> str | None:
        """Say who has been silent longest, and how long; None where nobody has been for long."""
        at = time.monotonic()
        with self._lock:
            calls = list(self._calls.values())
        since, whom = min(((since, whom) for since, told, whom in calls if told <= at), default=(at, ""))
        if not whom:
            return None
        seconds = round(at - since)
        silence = f"{seconds} seconds" if seconds < 120 else f"{seconds // 60} minutes"
        return f"Has been waiting for an answer from {whom} for {silence}."
