"""A merge of many rows as a job: the same action, carried out in the name of whoever started it."""

from __future__ import annotations

from typing import Any

from armarium.api import JobContext, JobKind
from armarium_agents.branches.merge_actions import JOB, comparison_meant
from armarium_agents.branches.records import Merge, Update


def merge_branch(job: JobContext) -> dict[str, Any]:
    """Merge in one step; until that begins the job may be stopped. Run again after its step it writes nothing."""
    if "merged" in job.checkpoint:
        return dict(job.checkpoint["merged"])
    args: Update = job.args
    # What takes longest before the step is worked out here, and held for it.
    comparison_meant(job.engine, job.library, args.branch_id)
    job.check()
    params = args if args.branch_id is None else Merge.model_validate(args.model_dump())
    job.act(
        "branches.update" if args.branch_id is None else "branches.merge",
        params,
        checkpoint=lambda merged: {"merged": merged},
        done=1,
        total=1,
        as_decided=True,
    )
    return dict(job.checkpoint["merged"])


MERGE_BRANCH = JobKind(name=JOB, lane="database", summary="Merge a branch", run=merge_branch, args=Update)
