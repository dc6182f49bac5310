"""What a person, or a restart of the engine, does to queued jobs: cancel, retry, recover, and the purge after 30 days.

Plain functions on a connection inside a write transaction. Pause is not here: it is a row of `job_hold`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import Connection

from armarium.ids import now, parse_timestamp, timestamp
from armarium.jobs.ending import CANCELLED, Changes, Ending, end, settle
from armarium.jobs.models import FINISHED, INTERRUPTIONS_ALLOWED, KEEP_DAYS
from armarium.principals import Principal
from armarium.store.database import raw_of

_SUBTREE = (
    "WITH RECURSIVE tree (id, depth) AS (SELECT ?, 0 UNION ALL "
    "SELECT job.id, depth + 1 FROM job JOIN tree ON job.parent_id = tree.id) "
)


def subtree(raw: sqlite3.Connection, job_id: str) -> list[str]:
    """Return *job_id* and every job beneath it, the deepest first."""
    rows = raw.execute(_SUBTREE + "SELECT id FROM tree ORDER BY depth DESC", (job_id,))
    return [row[0] for row in rows]


def paused_ids(raw: sqlite3.Connection) -> set[str]:
    """Return the ids of the jobs a person has paused and of all jobs beneath them."""
    if raw.execute("SELECT 1 FROM job_hold WHERE paused = 1 LIMIT 1").fetchone() is None:
        return set()
    return {row[0] for row in raw.execute(f"{HELD} SELECT id FROM held")}


HELD = (
    "WITH RECURSIVE held (id) AS (SELECT job_id FROM job_hold WHERE paused = 1 UNION "
    "SELECT job.id FROM job JOIN held ON job.parent_id = held.id)"
)
"""Common table expression `held`: the jobs under a hold."""


def cancel(conn: Connection, job_id: str) -> list[str]:
    """Cancel *job_id* and all beneath it: waiting jobs end at once, running ones stop after the item in progress.

    Returns the ids of running jobs that were asked to stop.
    """
    raw = raw_of(conn)
    ids = subtree(raw, job_id)
    flagged: list[str] = []
    parents: dict[str, None] = {}
    for row_id in ids:
        state, body_done, parent_id = raw.execute(
            "SELECT state, body_done, parent_id FROM job WHERE id = ?", (row_id,)
        ).fetchone()
        if state in FINISHED:
            continue
        if state == "running":
            raw.execute("UPDATE job SET stop = 'cancel' WHERE id = ?", (row_id,))
            if body_done:
                parents[row_id] = None
            else:
                flagged.append(row_id)
        else:
            raw.execute(
                "UPDATE job SET state = ?, reason = ?, reason_code = ?, finished_at = ?, not_before = NULL WHERE id = ?",
                (*CANCELLED, now(), row_id),
            )
        if parent_id is not None:
            parents[parent_id] = None
    settle_parents(conn, parents)
    return flagged


def retry(conn: Connection, job_id: str) -> list[str]:
    """Put *job_id* and what failed or was cancelled beneath it back in the queue, attempts reset; return their ids.

    Each resumes from its checkpoint; a job whose body had succeeded only waits for its children again.
    """
    raw = raw_of(conn)
    retried_ids: list[str] = []
    parents: dict[str, None] = {}
    for row_id in subtree(raw, job_id):
        state, parent_id = raw.execute("SELECT state, parent_id FROM job WHERE id = ?", (row_id,)).fetchone()
        if state not in ("failed", "cancelled"):
            continue
        raw.execute(
            "UPDATE job SET state = 'waiting', attempts = 0, interruptions = 0, reason = NULL, reason_code = NULL, "
            "stop = NULL, not_before = NULL, started_at = NULL, finished_at = NULL WHERE id = ?",
            (row_id,),
        )
        retried_ids.append(row_id)
        if parent_id is not None:
            parents[parent_id] = None
    _reopen_parents(raw, list(parents))
    return retried_ids


def _reopen_parents(raw: sqlite3.Connection, parents: list[str]) -> None:
    """Recount the children of *parents* (deepest first); one whose body had succeeded waits for them again."""
    for parent in parents:
        _recount(raw, parent)
        state, body_done, open_children, above = raw.execute(
            "SELECT state, body_done, open_children, parent_id FROM job WHERE id = ?", (parent,)
        ).fetchone()
        if state in FINISHED and body_done and open_children:
            raw.execute(
                "UPDATE job SET state = 'running', reason = NULL, reason_code = NULL, finished_at = NULL, stop = NULL, "
                "started_at = ? WHERE id = ?",
                (now(), parent),
            )
        if above is not None:
            # The list grows while it is walked: a change here is counted again above.
            parents.append(above)


def settle_parents(conn: Connection, parents: Iterable[str]) -> Changes:
    """Recount the children of *parents* (deepest first) and finish those with none left."""
    raw = raw_of(conn)
    changes = Changes()
    for parent in parents:
        _recount(raw, parent)
    for parent in parents:
        changes.add(settle(conn, parent))
    return changes


def _recount(raw: sqlite3.Connection, parent_id: str) -> None:
    raw.execute(
        "UPDATE job SET "
        "open_children = (SELECT count(*) FROM job c WHERE c.parent_id = job.id AND c.state IN ('waiting', 'running')),"
        "failed_children = (SELECT count(*) FROM job c WHERE c.parent_id = job.id AND c.state = 'failed') "
        "WHERE id = ?",
        (parent_id,),
    )


def recover(conn: Connection, working: Iterable[int] = (), *, holder: str | None = None) -> tuple[int, int]:
    """Put jobs found running back in the queue; the third interruption fails a job. Return how many of each.

    Rows in *working* are really running and left alone. With *holder*, rows whose lease that engine holds and has not
    expired are left alone too.
    """
    raw = raw_of(conn)
    at_work = set(working)
    moment = now()
    ended: list[Ending] = []
    back = failed = 0
    rows = raw.execute(
        "SELECT seq, id, parent_id, attempts, interruptions, started_at, stop, lease_holder, lease_until FROM job "
        "WHERE state = 'running' AND body_done = 0"
    ).fetchall()
    for seq, job_id, parent_id, attempts, interruptions, started_at, stop, lease_holder, lease_until in rows:
        if seq in at_work or (holder is not None and lease_holder == holder and (lease_until or "") > moment):
            continue
        raw.execute("UPDATE job SET interruptions = interruptions + 1 WHERE seq = ?", (seq,))
        ending = Ending(seq, job_id, "waiting", attempts, started_at or moment, moment, parent_id)
        if stop == "cancel":
            ending.become(*CANCELLED)
        elif interruptions >= INTERRUPTIONS_ALLOWED:
            why = (
                "The engine stopped three times while this ran, so it is not started again by itself. "
                "Retry carries on from where it was."
            )
            ending.become("failed", why, "interrupted")
            failed += 1
        else:
            ending.become("waiting", "The engine stopped while this ran; it resumes where it was.")
            back += 1
        ended.append(ending)
    if ended:
        end(conn, ended)
    return back, failed


def purge(conn: Connection) -> int:
    """Remove jobs that finished more than 30 days ago, with their log lines; return how many.

    A child stays as long as its parent is unfinished. What a person decided about them stays in the audit log.
    """
    raw = raw_of(conn)
    before = timestamp(parse_timestamp(now()) - timedelta(days=KEEP_DAYS))
    purged_ids = [
        row[0]
        for row in raw.execute(
            "SELECT id FROM job WHERE finished_at < ? AND (parent_id IS NULL OR NOT EXISTS "
            "(SELECT 1 FROM job p WHERE p.id = job.parent_id AND (p.finished_at IS NULL OR p.finished_at >= ?)))",
            (before, before),
        )
    ]
    raw.executemany("DELETE FROM job_log WHERE row_id = ?", [(row_id,) for row_id in purged_ids])
    raw.executemany("DELETE FROM job WHERE id = ?", [(row_id,) for row_id in purged_ids])
    return len(purged_ids)


def lend_rights(conn: Connection, jobs: Sequence[str], principal: Principal) -> None:
    """Reduce the rights of a job to those of *principal*, who put it back in the queue, where that principal may do
    less than its starter.
    """
    if principal.may("owner"):
        return
    raw_of(conn).executemany(
        "UPDATE job SET principal = json_set(principal, '$.role', ?) WHERE id = ?"
        " AND json_extract(principal, '$.role') = 'owner'",
        [(principal.role, job) for job in jobs],
    )
