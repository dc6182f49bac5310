"""One database's queue as the runner holds it in memory: what is picked up, what may be waiting, who watches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from armarium.jobs.claims import Claim, kinds_waiting
from armarium.jobs.context import JobContext
from armarium.jobs.ending import Ending
from armarium.jobs.kinds import JobKind, KindRegistry
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.projects.libraries import Library
    from armarium.store.database import Database

WATCH_SECONDS = 30.0
"""Seconds a job counts as watched after a person last looked at it."""


def path_of(library: Library | None) -> str | None:
    """Return the path of *library*; None stands for the engine itself."""
    return None if library is None else str(library.path)


@dataclass(slots=True)
class ClaimedJob:
    """A job whose row the runner has marked as running: in progress, or waiting for its end to be written."""

    claim: Claim
    kind: JobKind
    lane: str
    context: JobContext


@dataclass
class JobStore:
    """The queue of one project, or of the engine itself (`library` None)."""

    db: Database
    library: Library | None
    lock: threading.Lock = field(default_factory=threading.Lock)
    picked: dict[int, ClaimedJob] = field(default_factory=dict)
    """Row number to job, for stopping a body or renewing its lease. Whether a row is picked up, the row says."""
    maybe: set[tuple[str, str]] = field(default_factory=set)
    """(kind, lane) pairs with possibly a job to start. Removed inside a write transaction that found none."""
    dirty: bool = True
    recheck_at: float | None = None
    unwritten: list[tuple[Ending, ClaimedJob]] = field(default_factory=list)
    """Ends that could not be written (a full disk); tried again."""
    write_again_at: float = 0.0
    dependents: bool = False
    closing: bool = False
    closed: bool = False
    first_since: float | None = None
    """Since when heavy work of this project waits for work marked first."""
    _watched: dict[str, float] = field(default_factory=dict)
    _watched_all_until: float = 0.0

    @property
    def path(self) -> str | None:
        """The project's path, as in events and answers; the runner's key for the queue."""
        return path_of(self.library)

    def watch(self, job_id: str, seconds: float = WATCH_SECONDS) -> None:
        """Record that a person looks at *job_id*: it and what is beneath it go before other work for a while."""
        self._watched[job_id] = time.monotonic() + seconds

    def watch_all(self, seconds: float) -> None:
        """Record that a person waits for everything in this project."""
        self._watched_all_until = max(self._watched_all_until, time.monotonic() + seconds)

    def list_watched(self) -> list[str]:
        """Return the ids a person looks at now."""
        at = time.monotonic()
        for job_id in [watched_id for watched_id, until in self._watched.items() if until < at]:
            self._watched.pop(job_id, None)
        return list(self._watched)

    @property
    def all_watched(self) -> bool:
        """Whether a person waits for everything in this project."""
        return time.monotonic() < self._watched_all_until

    def recheck_in(self, seconds: float) -> None:
        """Check the queue again in *seconds* at the latest."""
        at = time.monotonic() + seconds
        if self.recheck_at is None or at < self.recheck_at:
            self.recheck_at = at

    def executing(self) -> dict[str, ClaimedJob]:
        """Return job id to job for every one that is picked up and whose end is not written."""
        with self.lock:
            return {picked_job.claim.id: picked_job for picked_job in self.picked.values()}

    def put_down(self, picked: Iterable[ClaimedJob]) -> None:
        """Forget jobs: their end is written, or their pick was not."""
        with self.lock:
            for claimed in picked:
                # Another lane may have the row by now, when it was put back in the queue.
                if self.picked.get(claimed.claim.seq) is claimed:
                    del self.picked[claimed.claim.seq]

    def look(self, kinds: KindRegistry) -> set[str]:
        """Find out which kinds may have jobs to start; return the lanes they need."""
        self.dirty = False
        self.recheck_at = None
        with self.db.read_all() as conn:
            raw = raw_of(conn)
            names = kinds_waiting(raw, [kind.name for kind in kinds])
            self.dependents = (
                raw.execute(
                    "SELECT 1 FROM job WHERE after_id IS NOT NULL AND state = 'waiting' LIMIT 1"
                ).fetchone()
                is not None
            )
        # All at once: a lane that looks meanwhile must not see a heavy kind and miss the first ones it waits for.
        pairs = {(kind.name, lane) for kind in kinds if kind.name in names for lane in kind.lanes}
        self.maybe.update(pairs)
        return {lane for _, lane in pairs}
