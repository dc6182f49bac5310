"""What a job uses of the budget of the agent who started it: the items it does, and its time."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armarium.auth.authenticate import Auth
    from armarium.principals import Principal


class JobSpending:
    """Counts for one run of a job's body; does nothing where no agent started it."""

    def __init__(self, auth: Auth, principal: Principal, job_id: str) -> None:
        self._auth = auth
        self._purse = auth.purse_of(principal)
        self._job_id = job_id
        self._done: int | None = None
        self._timed_at = time.monotonic()

    def begin(self) -> None:
        """Start the clock. Forbidden where nothing is left to work with."""
        self._timed_at = time.monotonic()
        self.refuse()

    def refuse(self) -> None:
        """Raise Forbidden when the pages or the minutes are used up."""
        if self._purse is not None:
            self._count_time()
            self._purse.refuse("pages", "minutes")

    def count(self, raw: sqlite3.Connection, done: int | None) -> None:
        """Count the items done since the last time; *done* is about to be written to the job's row, where it is known."""
        if self._purse is None or done is None:
            return
        if self._done is None:
            row = raw.execute("SELECT own_done FROM job WHERE id = ?", (self._job_id,)).fetchone()
            self._done = row[0] or 0 if row else 0
        if done > self._done:
            self._purse.spend("pages", done - self._done)
            self._done = done

    def end(self) -> None:
        """Count the rest of the time, and have it written."""
        if self._purse is not None:
            self._count_time()
            self._auth.note_spent(self._purse)

    def _count_time(self) -> None:
        assert self._purse is not None
        before, self._timed_at = self._timed_at, time.monotonic()
        self._purse.spend("minutes", (self._timed_at - before) / 60)
