"""Jobs as their rows say: one, those of a kind that wait or run, those beneath another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Literal

from armarium.errors import NotFound
from armarium.jobs.models import GOING, JobRow
from armarium.jobs.models import job as jobs
from armarium.jobs.models import job_hold as job_holds
from armarium.runs.questions import Asked, Names, conditions, connection_of, decode_json, select_columns

Stored = Literal["args", "checkpoint", "result"]
_STORED = ("args", "checkpoint", "result")

NOT_THERE = ("cancelled", "Its job is no longer there, so it does not go on.")
"""How a job is taken to have ended that is not in the queue any more, and of which nothing was recorded."""


def find_job(conn: Asked, job_id: str, *stored: Stored) -> JobRow | None:
    """Return the job with that id, and the *stored* ones of its large columns; None for an unknown id."""
    return next(iter(list_jobs(conn, *stored, ids=job_id, states=None)), None)


def require_job(
    conn: Asked,
    job_id: str,
    kinds: str | Collection[str],
    unknown: Callable[[str], NotFound],
    *stored: Stored,
) -> JobRow:
    """Like `find_job`, of one of *kinds*; raises what *unknown* makes of another id."""
    row = find_job(conn, job_id, *stored)
    if row is None or row.kind not in ((kinds,) if isinstance(kinds, str) else kinds):
        raise unknown(job_id)
    return row


def is_waiting(conn: Asked, kind: str, *, states: Collection[str] = ("waiting",), **args: str) -> bool:
    """Return whether a job of *kind* that was given *args* waits, or is in one of *states*."""
    return bool(list_jobs(conn, kinds=kind, states=states, args=args, limit=1))


def is_held(conn: Asked, job_id: str) -> bool:
    """Return whether a person has paused this job itself."""
    query = f"SELECT 1 FROM {job_holds} WHERE job_id = ? AND paused = 1"
    return connection_of(conn).execute(query, (job_id,)).fetchone() is not None


def list_jobs(
    conn: Asked,
    *stored: Stored,
    states: Collection[str] | None = GOING,
    kinds: Names = None,
    ids: Names = None,
    parents: Names = None,
    threads: Names = None,
    models: Names = None,
    args: Mapping[str, str] | None = None,
    newest: bool = False,
    limit: int = -1,
) -> list[JobRow]:
    """Return the jobs that match everything given, oldest first or *newest* first; *states* None for any state."""
    condition, values = conditions(
        {
            "kind": kinds,
            "id": ids,
            "parent_id": parents,
            "thread_id": threads,
            "model": models,
            **{f"json_extract(args, '$.{name}')": value for name, value in (args or {}).items()},
        }
    )
    select_jobs = f"SELECT {select_columns(JobRow, stored, _STORED)} FROM {jobs} WHERE"
    # Each state by itself and by name: only so are the indexes of what waits and what runs used.
    parts = (
        [f"{select_jobs} 1{condition}"]
        if states is None
        else [f"{select_jobs} state = '{state}'{condition}" for state in states]
    )
    query = f"{' UNION ALL '.join(parts)} ORDER BY seq {'DESC' if newest else 'ASC'} LIMIT ?"
    rows = connection_of(conn).execute(query, (*values * len(parts), limit))
    return [decode_json(JobRow._make(row), _STORED) for row in rows]


def find_ends(conn: Asked, ids: Collection[str]) -> dict[str, tuple[str, str | None]]:
    """Return how those of the jobs *ids* ended that do not go on: state and reason by id. For what outlives its job: one
    that is no longer there, in a branch say, which begins without jobs, does not go on either.
    """
    known = {job.id: job for job in list_jobs(conn, ids=ids, states=None)}
    ended = {job.id: (job.state, job.reason) for job in known.values() if not job.is_going}
    return {job_id: ended.get(job_id, NOT_THERE) for job_id in ids if job_id in ended or job_id not in known}


def list_beneath(conn: Asked, job_id: str, *, limit: int = 50) -> list[JobRow]:
    """Return the job and all beneath it that wait or run and have nothing unfinished beneath them, oldest first."""
    query = (
        f"WITH RECURSIVE under(id) AS (SELECT ? UNION SELECT j.id FROM {jobs} j JOIN under u ON j.parent_id = u.id)"
        f" SELECT {select_columns(JobRow, (), _STORED)} FROM {jobs} WHERE id IN (SELECT id FROM under)"
        f" AND state IN {GOING} AND open_children = 0 ORDER BY seq LIMIT ?"
    )
    rows = connection_of(conn).execute(query, (job_id, limit))
    return [decode_json(JobRow._make(row), _STORED) for row in rows]
