"""How bodies end: finished rows, rows put back, and the consequences for the jobs above them.

Plain functions on a connection inside a write transaction; used by the lanes and by the decisions of a person.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import orjson
from sqlalchemy import Connection

from armarium.ids import now
from armarium.jobs.activity import record_activity
from armarium.jobs.log import Level, write_lines
from armarium.jobs.queue import roll_up
from armarium.store.database import raw_of
from armarium.store.tables import json_text

GOES_ON = "goes-on"
"""Reason code of a running job whose body is run again when its children have finished (`AfterChildren`)."""


CANCELLED = ("cancelled", "Cancelled by a person.", "cancelled")
"""State, reason and code of a job that somebody cancelled."""


@dataclass(slots=True)
class Ending:
    """How a body ended: the new state of its row and what is shown."""

    seq: int
    id: str
    state: str
    attempts: int
    started_at: str | None
    finished_at: str
    parent_id: str | None = None
    reason: str | None = None
    reason_code: str | None = None
    result: str | None = None
    not_before: str | None = None

    def become(self, state: str, reason: str | None = None, code: str | None = None) -> None:
        """Change the state, the reason for it and its code."""
        self.state, self.reason, self.reason_code = state, reason, code


@dataclass(slots=True)
class Changes:
    """Ids of jobs whose shown state changed, of those whose progress changed, and of whole trees that failed for good."""

    states: list[str] = field(default_factory=list)
    progress: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    wait_again: bool = False
    """Whether a job whose children have finished is back in the queue."""

    def add(self, more: Changes) -> None:
        """Add the changes of *more*."""
        self.states += more.states
        self.progress |= more.progress
        self.failed += more.failed
        self.wait_again |= more.wait_again


_END = (
    "UPDATE job SET state = ?1, reason = ?2, reason_code = ?3, result = ?4, started_at = ?5, finished_at = ?6, "
    "attempts = ?7, body_done = ?1 = 'done', "
    "done = done + CASE WHEN ?1 = 'done' THEN own_total - own_done ELSE 0 END, "
    "own_done = CASE WHEN ?1 = 'done' THEN own_total ELSE own_done END, "
    "stop = NULL, lease_holder = NULL, lease_until = NULL, not_before = NULL WHERE seq = ?8"
)
# A step may have said meanwhile when the job is due again: that counts.
_PUT_BACK = (
    "UPDATE job SET state = 'waiting', reason = ?, reason_code = ?, not_before = coalesce(not_before, ?), started_at = ?, attempts = ?, "
    "stop = NULL, lease_holder = NULL, lease_until = NULL WHERE seq = ?"
)


def end(conn: Connection, ended: Sequence[Ending]) -> Changes:
    """Write how bodies ended, in one go: finished rows, rows put back, and the consequences for the jobs above.

    A job whose body succeeded stays `running` until its children have finished; it then fails when one failed.
    """
    raw = raw_of(conn)
    changes = Changes()
    for job in ended:
        if job.state in ("waiting", "failed") and _was_cancelled(raw, job.seq):
            # Cancelled at the moment in which it stopped for another reason, or failed on what the cancelling removed.
            job.become(*CANCELLED)
    finished = [job for job in ended if job.state != "waiting"]
    back = [job for job in ended if job.state == "waiting"]
    if back:
        raw.executemany(
            _PUT_BACK,
            [
                (job.reason, job.reason_code, job.not_before, job.started_at, job.attempts, job.seq)
                for job in back
            ],
        )
    if finished:
        parents = _count_finished(raw, [job for job in finished if job.parent_id is not None])
        raw.executemany(
            _END,
            [
                (
                    job.state,
                    job.reason,
                    job.reason_code,
                    job.result,
                    job.started_at,
                    job.finished_at,
                    job.attempts,
                    job.seq,
                )
                for job in finished
            ],
        )
        changes.failed += [job.id for job in finished if job.state == "failed" and job.parent_id is None]
        waits = _with_children(raw, [job.seq for job in finished if job.state == "done"])
        waits |= {job.seq for job in finished if job.reason_code == GOES_ON}
        _note_handed_in(conn, finished)
        for job in finished:
            if job.seq in waits:
                # It is not finished after all: its children are still to come, or one has failed already.
                if job.parent_id is not None:
                    parents[job.parent_id][0] -= 1
                raw.execute("UPDATE job SET state = 'running', finished_at = NULL WHERE seq = ?", (job.seq,))
                _settle(raw, job.id, changes)
        for parent_id, (closed, failed, pages) in parents.items():
            _close_children(raw, parent_id, closed, failed, pages, changes)
    changes.states.extend(job.id for job in ended)
    _tell_failed(conn, changes.failed)
    return changes


def _tell_failed(conn: Connection, ids: Iterable[str]) -> None:
    """Record in the event log what failed for good; for a tree of jobs, its top."""
    for job_id in ids:
        title, kind, reason = (
            raw_of(conn).execute("SELECT title, kind, reason FROM job WHERE id = ?", (job_id,)).fetchone()
        )
        record_activity(
            conn,
            "system_info",
            f"{title} failed.",
            level="error",
            metadata={"job_id": job_id, "kind": kind},
            error=reason,
        )


def _note_handed_in(conn: Connection, ended: Iterable[Ending]) -> None:
    """Add a line to the log of each job that a workflow run queued: how it ended, for those who follow the run."""
    of = {job.seq: job for job in ended}
    lines = []
    for seq, text in raw_of(conn).execute(
        "SELECT seq, subject FROM job WHERE seq IN (SELECT value FROM json_each(?)) AND handed_in_by IS NOT NULL "
        "ORDER BY finished_at, seq",
        (json_text(list(of)),),
    ):
        job = of[seq]
        subject = orjson.loads(text) if text is not None else {}
        data = {
            "type": "page_completed" if job.state == "done" else "page_failed",
            "document_id": subject.get("id"),
        }
        level: Level = "warning" if job.state == "failed" else "info"
        lines.append((job.id, level, job.reason or "Done.", data))
    if lines:
        write_lines(conn, lines)


def _was_cancelled(raw: sqlite3.Connection, seq: int) -> bool:
    row = raw.execute("SELECT stop FROM job WHERE seq = ?", (seq,)).fetchone()
    return row is not None and row[0] == "cancel"


def _count_finished(raw: sqlite3.Connection, ended: Sequence[Ending]) -> dict[str, list[int]]:
    """Return parent id to [children finished, of them failed, pages that they count as done]."""
    parents: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    done = [job.seq for job in ended if job.state == "done"]
    remaining = dict(
        raw.execute(
            "SELECT seq, own_total - own_done FROM job WHERE seq IN (SELECT value FROM json_each(?))",
            (json_text(done),),
        )
    )
    for job in ended:
        assert job.parent_id is not None
        counts = parents[job.parent_id]
        counts[0] += 1
        if job.state == "failed":
            counts[1] += 1
        elif job.state == "done":
            counts[2] += remaining[job.seq]
    return parents


def _with_children(raw: sqlite3.Connection, seqs: list[int]) -> set[int]:
    rows = raw.execute(
        "SELECT seq FROM job WHERE seq IN (SELECT value FROM json_each(?)) "
        "AND (open_children > 0 OR failed_children > 0)",
        (json_text(seqs),),
    )
    return {seq for (seq,) in rows}


def _close_children(
    raw: sqlite3.Connection, parent_id: str, closed: int, failed: int, pages: int, changes: Changes
) -> None:
    roll_up(raw, parent_id, pages, 0)
    raw.execute(
        "UPDATE job SET open_children = open_children - ?, failed_children = failed_children + ? WHERE id = ?",
        (closed, failed, parent_id),
    )
    changes.progress.add(parent_id)
    _settle(raw, parent_id, changes)


def _settle(raw: sqlite3.Connection, job_id: str, changes: Changes) -> None:
    """Finish a job whose body has succeeded when its last child has finished."""
    row = raw.execute(
        "SELECT state, body_done, open_children, failed_children, stop, parent_id, reason_code FROM job WHERE id = ?",
        (job_id,),
    ).fetchone()
    if row is None:
        return
    state, body_done, open_children, failed_children, stop, parent_id, code = row
    if state != "running" or not body_done or open_children > 0:
        return
    if code == GOES_ON and stop != "cancel":
        raw.execute(
            "UPDATE job SET state = 'waiting', body_done = 0, failed_children = 0, attempts = 0, reason_code = NULL "
            "WHERE id = ?",
            (job_id,),
        )
        changes.states.append(job_id)
        changes.wait_again = True
        return
    (children,) = raw.execute("SELECT count(*) FROM job WHERE parent_id = ?", (job_id,)).fetchone()
    end_state, reason, code = "done", None, None
    if stop == "cancel":
        end_state, reason, code = CANCELLED
    elif failed_children > 0:
        end_state, code = "failed", "children"
        reason = (
            f"{failed_children} of {children} parts failed; the log says why each did. "
            "Retry repeats only what failed."
        )
    raw.execute(
        "UPDATE job SET state = ?, reason = COALESCE(?, reason), reason_code = ?, finished_at = ?, stop = NULL WHERE id = ?",
        (end_state, reason, code, now(), job_id),
    )
    changes.states.append(job_id)
    if end_state == "failed" and parent_id is None:
        changes.failed.append(job_id)
    if parent_id is not None:
        _close_children(raw, parent_id, 1, 1 if end_state == "failed" else 0, 0, changes)


def settle(conn: Connection, job_id: str) -> Changes:
    """Finish *job_id* and the jobs above it where nothing is left for them to wait for."""
    changes = Changes()
    _settle(raw_of(conn), job_id, changes)
    _tell_failed(conn, changes.failed)
    return changes
