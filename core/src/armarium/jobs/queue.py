"""Rows of the queue: queued, spawned, updated. Plain functions on a connection inside a write transaction.

What to run next is in `claims`, how jobs end in `ending`, a person's decisions in `decisions`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel
from sqlalchemy import Connection

from armarium.errors import Conflict, NotFound
from armarium.ids import new_id, now
from armarium.jobs.kinds import JobKind, KindRegistry
from armarium.store.database import raw_of
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.principals import Principal


@dataclass(frozen=True)
class NewJob:
    """One job to queue. `total` counts its own pages; it is dropped when children do the pages."""

    kind: str | JobKind
    args: Mapping[str, Any] | BaseModel | None
    title: str
    total: int = 1
    key: str | None = None
    """Identifies the job among its parent's children: a second one with the same key is the same job."""
    model: str | None = None
    subject: Mapping[str, Any] | None = None
    lane: str | None = None
    thread_id: str | None = None
    after_id: str | None = None
    """A job that must be done before this one starts."""
    handed_in_by: str | None = None
    """The workflow run that waits for it."""
    job_id: str | None = None


_INSERT = (
    "INSERT INTO job (id, kind, lane, title, state, parent_id, after_id, key, args, done, total, own_done, own_total, "
    "measured, open_children, failed_children, body_done, attempts, interruptions, model, subject, thread_id, "
    "handed_in_by, started_by, principal, created_at) "
    "VALUES (?, ?, ?, ?, 'waiting', ?, ?, ?, ?, 0, ?, 0, ?, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, ?, ?, ?)"
)


def enqueue(
    conn: Connection,
    new: NewJob,
    *,
    parent_id: str | None = None,
    started_by: Principal | str | None = None,
    kinds: KindRegistry | None = None,
) -> str:
    """Queue one job inside the caller's transaction; return its id.

    With *kinds* (or a `JobKind`) an unknown kind and arguments that do not fit it are refused (Invalid); otherwise the
    row waits until a plugin provides the kind. NotFound when *parent_id* or `after_id` names no job.
    """
    return enqueue_many(conn, [new], parent_id=parent_id, started_by=started_by, kinds=kinds)[0]


def enqueue_many(
    conn: Connection,
    jobs: Sequence[NewJob],
    *,
    parent_id: str | None = None,
    started_by: Principal | str | None = None,
    kinds: KindRegistry | None = None,
) -> list[str]:
    """Queue *jobs*, all under *parent_id*; return their ids in order.

    One whose key its parent already has is not queued again: its id is returned. So a body that is run again spawns
    nothing twice.
    """
    raw = raw_of(conn)
    name, principal = _starter(started_by)
    thread_id = None
    ids_by_key: dict[str, str] = {}
    if parent_id is not None:
        parent = raw.execute(
            "SELECT started_by, principal, thread_id FROM job WHERE id = ?", (parent_id,)
        ).fetchone()
        if parent is None:
            raise NotFound(f"No job has the id {parent_id}, so nothing can be queued beneath it.")
        name, principal = name or parent[0], principal or parent[1]
        thread_id = parent[2]
        ids_by_key = dict(
            raw.execute(
                "SELECT key, id FROM job WHERE parent_id = ? AND key IN (SELECT value FROM json_each(?))",
                (parent_id, json_text([job.key for job in jobs if job.key is not None])),
            )
        )
    made_at = now()
    ids: list[str] = []
    rows: list[tuple[object, ...]] = []
    pages = 0
    for job in jobs:
        if job.key is not None and parent_id is not None and job.key in ids_by_key:
            ids.append(ids_by_key[job.key])
            continue
        kind = kinds.require(job.kind) if kinds is not None and isinstance(job.kind, str) else job.kind
        args = kind.arguments(job.args) if isinstance(kind, JobKind) else _as_json(job.args)
        if job.after_id is not None:
            require(raw, job.after_id)
        if job.job_id is not None and raw.execute("SELECT 1 FROM job WHERE id = ?", (job.job_id,)).fetchone():
            raise Conflict(
                f"A job with the id {job.job_id} already exists.", code="already_exists", id=job.job_id
            )
        job_id = job.job_id or new_id()
        ids.append(job_id)
        pages += job.total
        if job.key is not None:
            ids_by_key[job.key] = job_id
        rows.append(
            (
                job_id,
                kind.name if isinstance(kind, JobKind) else kind,
                job.lane,
                job.title,
                parent_id,
                job.after_id,
                job.key,
                json_text(args),
                job.total,
                job.total,
                job.model,
                json_text(dict(job.subject)) if job.subject is not None else None,
                job.thread_id or thread_id,
                job.handed_in_by,
                name,
                principal,
                made_at,
            )
        )
    raw.executemany(_INSERT, rows)
    if parent_id is not None and rows:
        _adopt(raw, parent_id, len(rows), pages)
    return ids


def _as_json(args: Mapping[str, Any] | BaseModel | None) -> dict[str, Any]:
    return args.model_dump(mode="json") if isinstance(args, BaseModel) else dict(args or {})


def _starter(who: Principal | str | None) -> tuple[str | None, str | None]:
    if who is None or isinstance(who, str):
        return who, None
    libraries = sorted(who.libraries) if who.libraries is not None else None
    folders = sorted(who.folders) if who.folders is not None else None
    return who.name, json_text(
        {
            "kind": who.kind,
            "name": who.name,
            "role": who.role,
            "libraries": libraries,
            "folders": folders,
            "token_id": who.token_id,
            "device_id": who.device_id,
            "client": who.client,
            # The session of an agent. A person's window would take what the job does for its own doing.
            "window": who.origin_window if who.token_kind == "agent" else None,
        }
    )


def _adopt(raw: sqlite3.Connection, parent_id: str, children: int, pages: int) -> None:
    """Count new children; pages that children do are no longer counted as the parent's own."""
    (own,) = raw.execute(
        "SELECT CASE WHEN measured OR body_done THEN 0 ELSE own_total END FROM job WHERE id = ?", (parent_id,)
    ).fetchone()
    raw.execute("UPDATE job SET own_total = own_total - ? WHERE id = ?", (own, parent_id))
    roll_up(raw, parent_id, 0, pages - own)
    raw.execute("UPDATE job SET open_children = open_children + ? WHERE id = ?", (children, parent_id))
    reopen(raw, parent_id)


def roll_up(raw: sqlite3.Connection, job_id: str | None, done: int, total: int) -> None:
    """Add to the shown counts of *job_id* and of every job above it."""
    if job_id is None or (done == 0 and total == 0):
        return
    raw.execute(
        "WITH RECURSIVE up (id) AS (SELECT ? UNION ALL SELECT job.parent_id FROM job JOIN up ON job.id = up.id "
        "WHERE job.parent_id IS NOT NULL) "
        "UPDATE job SET done = done + ?, total = total + ? WHERE id IN (SELECT id FROM up)",
        (job_id, done, total),
    )


def reopen(raw: sqlite3.Connection, job_id: str | None) -> None:
    """Set a finished job whose body succeeded, and that has unfinished children again, to running; likewise those
    above.

    One whose body failed stays as it is until a person retries it.
    """
    while job_id is not None:
        row = raw.execute("SELECT state, parent_id, body_done FROM job WHERE id = ?", (job_id,)).fetchone()
        if row is None or row[0] not in ("done", "failed", "cancelled") or not row[2]:
            return
        raw.execute(
            "UPDATE job SET state = 'running', reason = NULL, reason_code = NULL, finished_at = NULL, stop = NULL "
            "WHERE id = ?",
            (job_id,),
        )
        if row[1] is not None:
            raw.execute(
                "UPDATE job SET open_children = open_children + 1, failed_children = failed_children - ? "
                "WHERE id = ?",
                (1 if row[0] == "failed" else 0, row[1]),
            )
        job_id = row[1]


def require(raw: sqlite3.Connection, job_id: str) -> int:
    """Return the row number of job *job_id*; raises NotFound when there is none."""
    row = raw.execute("SELECT seq FROM job WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise NotFound(f"No job has the id {job_id}. Finished jobs are kept 30 days.")
    return int(row[0])


def move_on(
    raw: sqlite3.Connection,
    job_id: str,
    *,
    checkpoint: Mapping[str, Any] | None = None,
    done: int | None = None,
    total: int | None = None,
) -> None:
    """Save a running job's checkpoint and counts; changes of its counts are added to the jobs above it."""
    row = raw.execute("SELECT own_done, own_total, measured FROM job WHERE id = ?", (job_id,)).fetchone()
    if row is None:
        raise NotFound(f"No job has the id {job_id}; it was removed while it ran.")
    old_done, old_total, measured = row
    new_done = old_done if done is None else done
    new_total = max(old_total, new_done) if total is None else max(total, new_done)
    raw.execute(
        "UPDATE job SET own_done = ?, own_total = ?, measured = ?, checkpoint = coalesce(?, checkpoint) WHERE id = ?",
        (
            new_done,
            new_total,
            measured or total is not None or done is not None,
            json_text(dict(checkpoint)) if checkpoint is not None else None,
            job_id,
        ),
    )
    roll_up(raw, job_id, new_done - old_done, new_total - old_total)


def loads(text: str | None) -> Any:
    """Return a stored JSON value; None for SQL NULL."""
    return None if text is None else orjson.loads(text)
