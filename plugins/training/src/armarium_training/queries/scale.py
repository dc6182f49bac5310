"""Reads of reading at scale: the states of its shards, and the pages written."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select

from armarium.api import Engine, Library, query
from armarium_training import errors
from armarium_training.models import shards
from armarium_training.queries.job_rows import SCALE, job_answer, shown_job
from armarium_training.schemas.scale import ScaleArgs, ScaleJob, count_shards

STATES = ("pending", "submitted", "landed", "failed")
MOST_SHOWN = 1_000
"""How many failed shards and skipped pages are named."""


@query("/api/reading-at-scale/jobs/{job_id}", summary="A reading at scale, shard by shard", answer=ScaleJob)
def read_scale(conn: Connection, engine: Engine, library: Library, job_id: str) -> dict[str, Any]:
    """Return counts, why shards failed, and what was packed and written; NotFound."""
    job = shown_job(conn, engine, library, job_id, (SCALE,), errors.unknown_reading)
    of_job = shards.c.job_id == job_id
    by_state = select(shards.c.state, func.count()).where(of_job).group_by(shards.c.state)
    counted = {state: int(count) for state, count in conn.execute(by_state)}
    failed = conn.execute(
        select(shards).where(of_job, shards.c.state == "failed").order_by(shards.c.number).limit(MOST_SHOWN)
    )
    progress, args = job.checkpoint, ScaleArgs.from_stored(job.args)
    total = count_shards(args)
    # What was not begun has no row.
    counted["pending"] = total - sum(counted.get(state, 0) for state in STATES[1:])
    return {
        **job_answer(job),
        "step": "done" if job.state == "done" else progress.get("step", "waiting"),
        "counts": {state: counted.get(state, 0) for state in STATES},
        "failed_shards": {
            str(row.number): {"why": row.why or "", "last_lines": row.last_lines[-5:], "tries": row.tries}
            for row in failed
        },
        "package": {
            "sources": len(args.page_ids),
            "shards": total,
            "skipped": progress.get("skipped", [])[:MOST_SHOWN],
        },
        "landing": {name: progress.get(name, 0) for name in ("landed", "already", "unread", "set_aside")},
        "flavor": args.flavor,
        "price_per_hour_usd": progress.get("price_per_hour_usd"),
    }
