"""Reads of gathered reasons and of comparisons of students."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, query
from armarium_training import errors
from armarium_training.queries.job_rows import COMPARE, GATHER, job_answer, shown_job
from armarium_training.schemas.training import Comparison, Reasons

COUNTS = ("lines", "with_reasons", "with_thinking", "unanswered")


@query("/api/training/reasons/{job_id}", summary="The progress of a gathering of reasons", answer=Reasons)
def read_gathering(conn: Connection, engine: Engine, library: Library, job_id: str) -> dict[str, Any]:
    """Return counts, and the pages that were left out with the reasons; NotFound."""
    job = shown_job(conn, engine, library, job_id, (GATHER,), errors.unknown_gathering)
    progress = job.checkpoint
    return {
        **job_answer(job),
        **{name: progress.get(name, 0) for name in COUNTS},
        "pages_missing": progress.get("pages_missing", []),
    }


@query(
    "/api/training/reasons-ab/{job_id}",
    summary="The scores of students that give reasons, and which one is adopted",
    answer=Comparison,
)
def read_comparison(conn: Connection, engine: Engine, library: Library, job_id: str) -> dict[str, Any]:
    """Return the scores; empty until all have read all lines; NotFound."""
    job = shown_job(conn, engine, library, job_id, (COMPARE,), errors.unknown_comparison)
    result = job.checkpoint.get("result") or {}
    return {
        **job_answer(job),
        "pages": result.get("pages", 0),
        "lines": result.get("lines", 0),
        "contenders": result.get("contenders", []),
        "verdicts": result.get("verdicts", []),
    }
