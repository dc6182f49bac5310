"""What can be done with runs that were started: pause, resume, cancel, remove."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from armarium.api import (
    FINISHED,
    ActionContext,
    Route,
    UndoContext,
    action,
    find_job,
    is_held,
    list_jobs,
    record_activity,
)
from armarium_workflows import checkpoints
from armarium_workflows.actions.starts import refuse_written
from armarium_workflows.errors import already_ended, not_begun, not_paused, still_ending, still_going
from armarium_workflows.models import runs
from armarium_workflows.queries import find_run, run_row
from armarium_workflows.schemas.answers import Deleted, DeletedRuns, RunState
from armarium_workflows.schemas.requests import SAME_STATUS, DeleteRunsParams, RunNamed


def _require_going(ctx: ActionContext, thread_id: str) -> dict[str, Any]:
    """Return a run whose job exists and has not ended. Raises NotFound and Conflict."""
    run = run_row(ctx.conn, thread_id)
    if run["status"] in FINISHED:
        raise already_ended(run["workflow_name"], run["status"])
    if find_job(ctx.conn, thread_id) is None:
        raise not_begun(run["workflow_name"])
    return run


def _state_of(ctx: ActionContext, thread_id: str) -> dict[str, Any]:
    ctx.target(thread_id)
    return {"thread_id": thread_id, "status": run_row(ctx.conn, thread_id)["status"]}


def _wake(undo: UndoContext) -> None:
    """The undo itself restores the hold; this notifies the bodies and lanes."""
    engine, library = undo.step.engine, undo.step.library
    undo.step.on_commit(lambda: engine.jobs.refresh(library))


def _resume_undone(undo: UndoContext) -> None:
    if not undo.redo:
        refuse_written(undo, undo.target_ids)
    _wake(undo)


def _cancel_undone(undo: UndoContext) -> None:
    """Undo lets a cancelled run continue from where it was; redo cancels it again. A run whose state has
    changed since is left alone.
    """
    for job in list_jobs(undo.step.conn, ids=undo.target_ids, states=None):
        if undo.redo and job.is_going:
            undo.step.run("job.cancel", {"job_id": job.id})
        elif not undo.redo and job.state == "cancelled":
            undo.step.run("job.retry", {"job_id": job.id})
        elif not undo.redo and job.is_going and job.stop == "cancel":
            raise still_ending(job.title, undo.audit_id)


@action(
    "run.pause",
    result=RunState,
    summary="Pause a run after the current page",
    words="Paused a run of a workflow",
    route=Route("POST", "/api/workflow-execution/threads/{thread_id}/pause"),
    after_undo=_wake,
)
def pause(ctx: ActionContext, p: RunNamed) -> dict[str, Any]:
    """Pages waiting for a lane are withdrawn until it is resumed. It stays paused when the engine restarts."""
    _require_going(ctx, p.thread_id)
    ctx.run("job.pause", {"job_id": p.thread_id, "paused": True})
    return _state_of(ctx, p.thread_id)


@action(
    "run.resume",
    result=RunState,
    summary="Resume a paused run",
    words="Resumed a run of a workflow",
    route=Route("POST", "/api/workflow-execution/threads/{thread_id}/resume"),
    after_undo=_resume_undone,
)
def resume(ctx: ActionContext, p: RunNamed) -> dict[str, Any]:
    """409 for a run that is not paused; of two concurrent requests the second is refused."""
    run = run_row(ctx.conn, p.thread_id)
    if run["status"] in FINISHED or not is_held(ctx.conn, p.thread_id):
        raise not_paused(run["workflow_name"], run["status"])
    ctx.run("job.pause", {"job_id": p.thread_id, "paused": False})
    return _state_of(ctx, p.thread_id)


@action(
    "run.cancel",
    result=RunState,
    summary="Stop a run for good after the current page",
    words="Cancelled a run of a workflow",
    route=Route("POST", "/api/workflow-execution/threads/{thread_id}/cancel"),
    after_undo=_cancel_undone,
)
def cancel(ctx: ActionContext, p: RunNamed) -> dict[str, Any]:
    """Pages waiting for a lane are withdrawn. What it wrote remains; read-again continues with the other
    pages.
    """
    _require_going(ctx, p.thread_id)
    ctx.run("job.cancel", {"job_id": p.thread_id})
    return _state_of(ctx, p.thread_id)


@action(
    "run.delete",
    result=DeletedRuns,
    summary="Remove runs from the list",
    words="Removed runs of workflows from the list",
    route=Route("POST", "/api/workflow-execution/runs/delete", refusals=(404,), name="delete_runs"),
)
def delete_runs(ctx: ActionContext, p: DeleteRunsParams) -> dict[str, Any]:
    """Runs that are waiting, running or paused are kept. The checkpoints, results and episodes of removed
    runs remain.
    """
    run_rows = _selected_runs(ctx, p)
    kept_ids, undone_ids = [], []
    for run in run_rows:
        if run["status"] in FINISHED:
            undone_ids.append(run["thread_id"])
            fields = {"workflow_id": run["workflow_id"], "metadata": {"thread_id": run["thread_id"]}}
            record_activity(
                ctx.conn, "workflow_deleted", f"{run['workflow_name']}: removed from the list.", **fields
            )
        else:
            kept_ids.append({"thread_id": run["thread_id"], "why": f"It is {run['status']}."})
    for thread_id in undone_ids:
        ctx.conn.execute(runs.delete().where(runs.c.thread_id == thread_id))
    ctx.target(*undone_ids)
    return {"deleted": len(undone_ids), "kept": kept_ids}


def _selected_runs(ctx: ActionContext, p: DeleteRunsParams) -> list[dict[str, Any]]:
    statuses = {SAME_STATUS.get(status, status) for status in p.statuses} if p.statuses is not None else None
    if p.thread_ids is not None:
        run_rows = [run_row(ctx.conn, thread_id) for thread_id in dict.fromkeys(p.thread_ids)]
    else:
        ids = ctx.conn.execute(select(runs.c.thread_id).order_by(runs.c.created_at, runs.c.thread_id))
        run_rows = [
            run for thread_id in ids.scalars().all() if (run := find_run(ctx.conn, thread_id)) is not None
        ]
    return [run for run in run_rows if statuses is None or run["status"] in statuses]


@action(
    "run.delete_checkpoint",
    result=Deleted,
    summary="Remove the checkpoint of a run that has ended",
    words="Removed the checkpoint of a run",
    route=Route("DELETE", "/api/workflow-execution/threads/{thread_id}"),
    undoable=False,
)
def delete_checkpoint(ctx: ActionContext, p: RunNamed) -> dict[str, Any]:
    """The outputs of its nodes for each page are lost for good; the run stays in the list. 409 while it is
    running.
    """
    run = run_row(ctx.conn, p.thread_id)
    if run["status"] not in FINISHED:
        raise still_going(run["workflow_name"], run["status"])
    checkpoints.forget(ctx.conn, p.thread_id)
    ctx.target(p.thread_id)
    return {"status": "deleted", "id": p.thread_id}
