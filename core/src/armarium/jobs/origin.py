"""Which step of a workflow run a job works for."""

from __future__ import annotations

from dataclasses import dataclass

from armarium.jobs.context import JobContext
from armarium.store.database import raw_of


@dataclass(frozen=True, slots=True)
class Origin:
    """The workflow, its node and the name of that step; all None for a job that no run handed in."""

    workflow_id: str | None = None
    node_id: str | None = None
    step_name: str | None = None


def origin_of(job: JobContext) -> Origin:
    """Return the step for which *job*, or a job above it, was handed in.

    The step is the parent of such a job: its key is the node, its title the name of the step.
    """
    with job.library.db.read_all() as conn:
        row = (
            raw_of(conn)
            .execute(
                "WITH RECURSIVE up (id, parent_id, handed_in_by) AS (SELECT id, parent_id, handed_in_by FROM job WHERE id = ? "
                "UNION ALL SELECT j.id, j.parent_id, j.handed_in_by FROM job j JOIN up ON j.id = up.parent_id) "
                "SELECT s.args ->> '$.workflow_id', s.key, s.title FROM up JOIN job s ON s.id = up.parent_id "
                "WHERE up.handed_in_by IS NOT NULL LIMIT 1",
                (job.job_id,),
            )
            .fetchone()
        )
    return Origin() if row is None else Origin(*row)
