"""Tables of background jobs: the state of a job (operational) and what a person decided about it (tracked, undoable).

The same tables are in every project's database and in the engine's own, which holds the jobs of no project.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, NamedTuple

from sqlalchemy import Boolean, Column, Index, Integer, MetaData, Table, Text

from armarium.store.tables import Json, operational, tracked

jobs_metadata = MetaData()


class State(StrEnum):
    """The six states of a job. `paused` is never stored: it is a waiting row under a hold."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


GOING: tuple[str, ...] = ("waiting", "running")
"""States of a job that has not ended, as they are stored."""
FINISHED: tuple[str, ...] = ("done", "failed", "cancelled")
"""States that no longer change by themselves."""

Mode = Literal["automatic", "started", "paused"]
"""Whether waiting work starts by itself, starts even if a person is at the machine, or does not start."""

MODES: tuple[Mode, ...] = ("automatic", "started", "paused")

INTERRUPTIONS_ALLOWED = 2
"""How often a job may be found running by an engine that did not start it; the next time it fails."""

KEEP_DAYS = 30
"""How long a finished job is kept."""

FAILED_SHOWN_DAYS = 7
"""How long a failed job stays in the list of jobs."""

job = Table(
    "job",
    jobs_metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("lane", Text),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("reason", Text),
    Column("reason_code", Text),
    Column("parent_id", Text),
    Column("after_id", Text),
    Column("key", Text),
    Column("args", Json, nullable=False),
    Column("checkpoint", Json),
    Column("result", Json),
    # done and total are what is shown: the job's own pages and those of everything beneath it.
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("own_done", Integer, nullable=False),
    Column("own_total", Integer, nullable=False),
    Column("measured", Boolean, nullable=False),
    Column("open_children", Integer, nullable=False),
    Column("failed_children", Integer, nullable=False),
    # True when the body has succeeded and only children are left to finish.
    Column("body_done", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("interruptions", Integer, nullable=False),
    Column("stop", Text),
    Column("lease_holder", Text),
    Column("lease_until", Text),
    Column("not_before", Text),
    Column("model", Text),
    Column("subject", Json),
    Column("thread_id", Text),
    Column("handed_in_by", Text),
    Column("started_by", Text),
    Column("principal", Json),
    Column("created_at", Text, nullable=False),
    Column("started_at", Text),
    Column("finished_at", Text),
    info=operational(stays_here=True),
)
Index("ix_job_waiting", job.c.kind, job.c.seq, job.c.lane, sqlite_where=job.c.state == "waiting")
Index("ix_job_running", job.c.seq, sqlite_where=job.c.state == "running")
Index("ix_job_failed", job.c.finished_at, sqlite_where=job.c.state == "failed")
Index("ix_job_finished", job.c.finished_at, sqlite_where=job.c.finished_at.isnot(None))
Index("ix_job_parent", job.c.parent_id, sqlite_where=job.c.parent_id.isnot(None))
Index("ix_job_key", job.c.parent_id, job.c.key, unique=True, sqlite_where=job.c.key.isnot(None))
Index("ix_job_after", job.c.after_id, sqlite_where=job.c.after_id.isnot(None))
Index("ix_job_thread", job.c.thread_id, sqlite_where=job.c.thread_id.isnot(None))


class JobRow(NamedTuple):
    """A job as it is stored. Its last three columns may be large, and are empty where they were not asked for."""

    seq: int
    id: str
    kind: str
    lane: str | None
    title: str
    state: str
    reason: str | None
    reason_code: str | None
    parent_id: str | None
    after_id: str | None
    key: str | None
    done: int
    total: int
    open_children: int
    failed_children: int
    body_done: int
    attempts: int
    stop: str | None
    not_before: str | None
    model: str | None
    subject: str | None
    thread_id: str | None
    handed_in_by: str | None
    started_by: str | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    args: dict[str, Any] = {}
    checkpoint: dict[str, Any] = {}
    result: dict[str, Any] = {}

    @property
    def is_going(self) -> bool:
        """Whether it has not ended."""
        return self.state not in FINISHED

    @property
    def why_not_done(self) -> str | None:
        """Why it ended without being done; None for one that is done."""
        return None if self.state == "done" else self.reason or f"It was {self.state}."

    @property
    def state_begun(self) -> str:
        """Its state, `running` also while it waits again after having begun: for what is beneath it, say."""
        return "running" if self.state == "waiting" and self.started_at is not None else self.state

    @property
    def progress(self) -> float | None:
        """How much of it is done, 0 to 1; None where that is not known."""
        return min(self.done / self.total, 1.0) if self.total else None


job_hold = Table(
    "job_hold",
    jobs_metadata,
    Column("job_id", Text, primary_key=True),
    Column("paused", Boolean, nullable=False),
    Column("cleared_at", Text),
    info=tracked(label="decision about a job", stays_here=True),
)
Index("ix_job_hold_paused", job_hold.c.job_id, sqlite_where=job_hold.c.paused.is_(True))

background_setting = Table(
    "background_setting",
    jobs_metadata,
    Column("key", Text, primary_key=True),
    Column("value", Json, nullable=False),
    info=tracked(label="setting of background work"),
)

job_log = Table(
    "job_log",
    jobs_metadata,
    Column("seq", Integer, primary_key=True),
    Column("at", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("row_id", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("data", Json, nullable=False),
    info=operational(stays_here=True),
)
Index("ix_job_log_row", job_log.c.row_id, job_log.c.seq)
