"""The queries of checking: a run, and verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import is_among, query, require_job
from armarium_checking.errors import unknown_run
from armarium_checking.records.checks import Run, Verdict, Verdicts, verdicts

JOB_KIND = "check"
ANSWERS = ("confirm", "correct", "reject", "unanswered")


@query("/api/check/runs/{job_id}", summary="A check run and its counts", answer=Run)
def read_run(conn: Connection, job_id: str) -> dict[str, Any]:
    """The counts so far; NotFound for an id that is not a check run's."""
    job = require_job(conn, job_id, JOB_KIND, unknown_run, "args", "checkpoint")
    return {
        "job_id": job_id,
        "state": job.state,
        "reason": job.reason,
        "layer": job.args["layer"],
        "checker": {"provider": job.args["provider"], "model": job.args["model"]},
        "total": job.checkpoint.get("total", 0),
        "counts": {name: job.checkpoint.get(name, 0) for name in ANSWERS},
    }


@query("/api/check/verdicts", summary="Verdicts, the newest first", answer=Verdicts, refusals=())
def list_verdicts(
    conn: Connection,
    target_id: str | None = None,
    run_id: str | None = None,
    layer: str | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> dict[str, Any]:
    """Those on one proposal, or of one run or layer; without a filter, all."""
    filters = {"target_id": target_id, "run_id": run_id, "layer": layer}
    conditions = [verdicts.c[name] == value for name, value in filters.items() if value is not None]
    newest = (verdicts.c.created_at.desc(), verdicts.c.id.desc())
    return Verdict.rows.page(conn, *conditions, order=newest, limit=limit, offset=offset)


def confirmed_by_persons(conn: Connection, reading_ids: Iterable[str]) -> set[str]:
    """Return which of the readings a person confirmed and no person has contradicted since."""
    verdict = verdicts.c
    rows = conn.execute(
        select(verdict.target_id, verdict.verdict)
        .where(is_among(verdict.target_id, reading_ids), verdict.trust == "person")
        .order_by(verdict.created_at, verdict.id)
    )
    newest = {row.target_id: row.verdict for row in rows}
    return {reading_id for reading_id, verdict in newest.items() if verdict == "confirm"}
