"""Rows of this family's jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import FINISHED, Engine, JobRow, Library, NotFound, list_jobs, require_job, shown_state

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
    """As `require_job`, with the state and the reason that the list of jobs shows: whether it is paused, why it waits."""
    job = require_job(conn, job_id, kinds, unknown, "args", "checkpoint")
    state, reason = shown_state(engine, library, conn, job_id)
    return job._replace(state=state, reason=reason)


def shown_jobs(
    conn: Connection, engine: Engine, library: Library, kinds: Sequence[str], limit: int
) -> list[JobRow]:
    """Return the newest jobs of *kinds* like `shown_job`."""
    found = list_jobs(conn, "args", "checkpoint", kinds=kinds, states=None, newest=True, limit=limit)
    shown = ((job, *shown_state(engine, library, conn, job.id)) for job in found)
    return [job._replace(state=state, reason=reason) for job, state, reason in shown]


def training_answer(job: JobRow) -> dict[str, Any]:
    """Return a training in the form of its answer."""
    kept, state = job.checkpoint, job.state
    history = [{"phase": "waiting", "at": job.created_at}, *kept.get("history", ())]
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
    landed = kept.get("landed")
    ended = state in FINISHED
    return {
        "id": job.id,
        "state": state,
        "reason": job.reason,
        "phase": phase,
        "history": history,
        "card": job.args.get("card") or "linereader",
        "flavor": kept.get("flavor"),
        "far_id": kept.get("far_id"),
        "price_per_hour_usd": kept.get("price_per_hour_usd"),
        "reader_id": landed if landed and landed.startswith("linereader-") else None,
        "model_id": landed if landed and not landed.startswith("linereader-") else None,
        "training_set": kept.get("training_set"),
        "last_lines": kept.get("lines", [])[-20:] if ended else [],
        "request": request,
        "measured": kept.get("measured"),
        "curve": kept.get("curve", []),
        "created_at": job.created_at,
        "updated_at": history[-1]["at"],
    }
