"""Whether a queue continues by itself, and what is going on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium.jobs.claims import any_holds, next_due, select
from armarium.store.database import raw_of

if TYPE_CHECKING:
    from armarium.jobs.runner import JobRunner
    from armarium.jobs.store import JobStore


def goes_on(runner: JobRunner, store: JobStore, *, within: float | None = None) -> bool:
    """Return whether a job of *store* runs, or will run without a person's action.

    Not jobs that a person paused, nor those that wait for the network while the engine is set to work offline. A postponed job
    counts when it is due *within* that many seconds (None: whenever it is due).
    """
    if store.picked or store.unwritten:
        return True
    if runner.mode == "paused":
        return False
    with store.db.read() as conn:
        raw = raw_of(conn)
        # One snapshot: a job that a lane took after the look at `picked` is running here, not gone.
        running = "SELECT 1 FROM job WHERE state = 'running' AND body_done = 0 LIMIT 1"
        # Queried through SQLAlchemy, which begins the snapshot.
        if conn.exec_driver_sql(running).first() is not None:
            return True
        due = next_due(raw)
        if due is not None and (within is None or due <= within):
            return True
        holds = any_holds(raw)
        return any(
            select(raw, kind, lane, limit=1, any_holds=holds)
            for kind in runner.kinds
            if not (kind.needs_network and runner.offline)
            for lane in kind.lanes
        )


def standing(runner: JobRunner, store: JobStore, *, within: float) -> dict[str, Any]:
    """Return one queue for the engine's status: jobs by state, titles of those in progress, whether it continues by
    itself.
    """
    executing = store.executing()
    with store.db.read() as conn:
        raw = raw_of(conn)
        counted = dict(
            raw.execute(
                "SELECT state, count(*) FROM job WHERE state IN ('running', 'waiting') GROUP BY state"
            )
        )
        titles = [
            row[0]
            for job_id in executing
            if (row := raw.execute("SELECT title FROM job WHERE id = ?", (job_id,)).fetchone())
        ]
    return {
        "in_hand": titles,
        "running": counted.get("running", 0),
        "waiting": counted.get("waiting", 0),
        "goes_on": goes_on(runner, store, within=within),
    }
