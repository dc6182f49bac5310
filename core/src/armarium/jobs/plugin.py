"""The core's jobs as a plugin like any other: tables and actions."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium.actions import actions_in
from armarium.jobs import actions
from armarium.jobs.activity import activity
from armarium.jobs.decisions import paused_ids
from armarium.jobs.routes import router
from armarium.plugin import Plugin, hookimpl
from armarium.store.database import raw_of


@hookimpl
def armarium_plugin() -> Plugin:
    """Background work: its tables in every project and in the engine's own database, and its actions."""
    return Plugin(
        name="jobs",
        summary="Background work: the queue, what a person decided about it, its log",
        prefixes=("job", "background", "activity"),
        metadata=activity.metadata,
        engine_metadata=activity.metadata,
        actions=actions_in(actions),
        routers=(router,),
        stats=count_states,
    )


def count_states(conn: Connection) -> dict[str, int]:
    """Return the number of jobs by state as people see it, as `jobs_<state>`, for the statistics of a project."""
    raw = raw_of(conn)
    states: dict[str, int] = dict(raw.execute("SELECT state, count(*) FROM job GROUP BY state").fetchall())
    paused = 0
    for job_id in paused_ids(raw):
        row = raw.execute("SELECT state FROM job WHERE id = ?", (job_id,)).fetchone()
        paused += row is not None and row[0] == "waiting"
    if paused:
        states["waiting"] -= paused
        states["paused"] = paused
    return {f"jobs_{state}": count for state, count in states.items()}
