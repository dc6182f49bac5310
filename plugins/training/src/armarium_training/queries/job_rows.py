"""Rows of this family's jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import (
    FINISHED,
    Engine,
    JobRow,
    Library,
    NotFound,
    find_job,
    list_jobs,
    require_job,
    shown_state,
)

HERE, TRAIN = "train-on-this-machine", "train-a-model"
GATHER, COMPARE, EVALUATE, SCALE = "gather-reasons", "reasons-ab", "evaluate-models", "read-at-scale"
TRAININGS = (HERE, TRAIN)

ListedJobs = Annotated[int, Query(ge=1, le=1_000)]


def shown_job(
    conn: Connection,
    engine: Engine,
    library: Library,
    job_id: str,
    kinds: Sequence[str],
    unknown: Callable[[str], NotFound],
) -> JobRow:
    """Like `require_job`, with the state and the reason that the list of jobs shows: whether it is paused, why it waits."""
    job = require_job(conn, job_id, kinds, unknown, "args", "checkpoint")
    state, reason = shown_state(engine, library, conn, job_id)
    return job._replace(state=state, reason=reason)


def job_answer(job: JobRow) -> dict[str, Any]:
    """Return what each answer about a job begins with."""
    return {"job_id": job.id, "state": job.state, "reason": job.reason}


def shown_jobs(
    conn: Connection, engine: Engine, library: Library, kinds: Sequence[str], limit: int
) -> list[JobRow]:
    """Return the newest jobs of *kinds* like `shown_job`."""
    jobs = list_jobs(conn, "args", "checkpoint", kinds=kinds, states=None, newest=True, limit=limit)
    rows = ((job, *shown_state(engine, library, conn, job.id)) for job in jobs)
    return [job._replace(state=state, reason=reason) for job, state, reason in rows]


def cancelled_job(library: Library | None, job_id: str) -> JobRow | None:
    """Return a job that has ended by being cancelled; None if it is still at work."""
    if library is None:
        return None
    with library.db.read_all() as conn:
        job = find_job(conn, job_id, "args", "checkpoint")
    return job if job is not None and job.state == "cancelled" else None


def training_answer(job: JobRow) -> dict[str, Any]:
    """Return a training in the form of its answer."""
    progress, state = job.checkpoint, job.state
    history = [{"phase": "waiting", "at": job.created_at}, *progress.get("history", ())]
    if state in FINISHED and job.finished_at:
        history.append({"phase": state, "at": job.finished_at})
    phase = history[-1]["phase"]
    if state in FINISHED:
        phase = state
    elif state in ("waiting", "paused"):
        phase = "waiting"
    if state == "running" and phase == "waiting":
        phase = "preparing"
    request = job.args.get("request") or {
        key: value for key, value in job.args.items() if key not in ("page_ids", "request")
    }
    landed = progress.get("landed")
    ended = state in FINISHED
    return {
        "id": job.id,
        "state": state,
        "reason": job.reason,
        "phase": phase,
        "history": history,
        "card": job.args.get("card") or "linereader",
        "flavor": progress.get("flavor"),
        "far_id": progress.get("far_id"),
        "price_per_hour_usd": progress.get("price_per_hour_usd"),
        "reader_id": landed if landed and landed.startswith("linereader-") else None,
        "model_id": landed if landed and not landed.startswith("linereader-") else None,
        "training_set": progress.get("training_set"),
        "last_lines": progress.get("lines", [])[-20:] if ended else [],
        "request": request,
        "measured": progress.get("measured"),
        "curve": progress.get("curve", []),
        "created_at": job.created_at,
        "updated_at": history[-1]["at"],
    }
