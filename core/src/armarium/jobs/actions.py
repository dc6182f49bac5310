"""The actions on background work: pause, cancel, retry, clear the failed ones, and the mode of the whole engine.

Pause, clear-failed and mode are tracked rows and can be undone like any other; cancel and retry cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import Field

from armarium.actions import ActionContext, NoParams, Params, Route, action
from armarium.actions.undo import UndoContext
from armarium.errors import Conflict
from armarium.jobs import decisions
from armarium.jobs.import_tree import DERIVATIVES, derivatives, import_goes_on
from armarium.jobs.listing import is_counted, no_such, targets
from armarium.jobs.models import FINISHED, JobRow, Mode
from armarium.jobs.queue import loads
from armarium.jobs.queue_view import QueueView
from armarium.messages import Message
from armarium.store.database import raw_of
from armarium.store.tables import json_text


class JobNamed(Params):
    """A job by its id, or the counted rows `waiting:<kind>` and `paused:<kind>`, or `derivatives`."""

    job_id: str = Field(min_length=1, max_length=200)


class PauseJob(JobNamed):
    """A job, and whether to pause or resume it."""

    paused: bool


class JobState(Message):
    """A job and its current state; for a counted row also the number of jobs affected."""

    id: str
    state: str
    applied: int | None = None


class Cleared(Message):
    """How many failed jobs left the list."""

    cleared: int


class PauseBackground(Params):
    """Whether all background work is paused."""

    paused: bool


class SetMode(Params):
    """How waiting work starts."""

    mode: Mode


class BackgroundMode(Message):
    """The mode of background work, and whether it is paused."""

    mode: Mode
    paused: bool


def _view(ctx: ActionContext) -> QueueView:
    return QueueView(ctx.engine.jobs, ctx.library, ctx.conn)


def _single_row(view: QueueView, job_id: str) -> JobRow:
    row = view.row(job_id)
    if row is None:
        raise no_such(job_id)
    return row


def _refuse_of_run(view: QueueView, row: JobRow, verb: str) -> None:
    if view.of_a_run(row):
        raise Conflict(
            f"A workflow run waits for {row.title}; {verb} the run instead.",
            code="handed_in_by_run",
            run_id=row.thread_id or row.handed_in_by,
        )


def _counted_rows(view: QueueView, job_id: str) -> list[JobRow]:
    rows = targets(view, job_id)
    if not rows and job_id == DERIVATIVES and import_goes_on(view):
        return []
    if not rows:
        raise no_such(job_id)
    free = [row for row in rows if not view.of_a_run(row)]
    if not free:
        _refuse_of_run(view, rows[0], "pause or stop")
    return free


def _import_state(view: QueueView) -> str:
    """Return the state of the import row: it is shown while one of its jobs runs, even if none waits."""
    return str(derivatives(view)["state"])


def _note_jobs(ctx: ActionContext, ids: list[str]) -> None:
    ctx.target(*ids)
    ctx.note_changes(job_ids=ids)
    engine, library = ctx.engine, ctx.library

    def tell() -> None:
        engine.jobs.refresh(library)
        store = engine.jobs.store_of(library)
        if store is not None:
            engine.jobs.tell(store, ids, with_relatives=True)

    ctx.on_commit(tell)


def _pause_undone(undone: UndoContext) -> None:
    """Resume what was paused (or the reverse), and notify bodies, kinds and listeners."""
    step = undone.step
    _note_jobs(step, undone.target_ids)
    view = _view(step)
    rows = [row for job_id in undone.target_ids if (row := view.row(job_id)) is not None]
    for row in rows:
        _tell_kinds(step, view, [row], lambda kind: kind.on_pause, row.id in view.held)


def _clearing_undone(undone: UndoContext) -> None:
    _note_jobs(undone.step, undone.target_ids)


def _mode_undone(undone: UndoContext) -> None:
    undone.step.on_commit(undone.step.engine.jobs.reload_mode)


@action(
    name="job.pause",
    result=JobState,
    summary="Pause a job, or resume it; a running job finishes the item in progress first",
    words=lambda p: "Paused a job" if p.get("paused", True) else "Resumed a job",
    scope="either",
    after_undo=_pause_undone,
)
def pause_job(ctx: ActionContext, p: PauseJob) -> dict[str, Any]:
    """Survives a restart of the engine. 409 for a page a workflow run waits for, 404 for an unknown id."""
    view = _view(ctx)
    if is_counted(p.job_id):
        rows = _counted_rows(view, p.job_id)
        changed = [row for row in rows if _hold(ctx, view, row, p.paused)]
        _note_jobs(ctx, [row.id for row in changed])
        _tell_kinds(ctx, view, changed, lambda kind: kind.on_pause, p.paused)
        state = "paused" if p.paused else "waiting"
        return {"id": p.job_id, "state": state if rows else _import_state(view), "applied": len(changed)}
    row = _single_row(view, p.job_id)
    _refuse_of_run(view, row, "pause")
    if _hold(ctx, view, row, p.paused):
        _note_jobs(ctx, [row.id])
        _tell_kinds(ctx, view, [row], lambda kind: kind.on_pause, p.paused)
    after = _view(ctx)
    return {"id": row.id, "state": after.state(_single_row(after, row.id))}


def _hold(ctx: ActionContext, view: QueueView, row: JobRow, paused: bool) -> bool:
    """Write the hold where it changes anything; return whether it did."""
    if view.state(row) in FINISHED:
        return False
    raw = raw_of(ctx.conn)
    hold = raw.execute("SELECT paused FROM job_hold WHERE job_id = ?", (row.id,)).fetchone()
    if bool(hold and hold[0]) == paused:
        return False
    raw.execute(
        "INSERT INTO job_hold (job_id, paused, cleared_at) VALUES (?, ?, NULL) "
        "ON CONFLICT (job_id) DO UPDATE SET paused = excluded.paused",
        (row.id, int(paused)),
    )
    return True


def _tell_kinds(
    ctx: ActionContext, view: QueueView, rows: list[JobRow], hook: Callable[[Any], Any], *more: object
) -> None:
    """After the commit, notify kinds that control something elsewhere (a remote service, a run)."""
    for row in rows:
        kind = view.runner.kinds.get(row.kind)
        notify = hook(kind) if kind is not None else None
        if notify is not None:
            ctx.on_commit(partial(notify, ctx.engine, ctx.library, row.id, *more))


@action(
    name="job.cancel",
    result=JobState,
    summary="Cancel a job and all beneath it; a running job finishes the item in progress first",
    words="Cancelled a job",
    scope="either",
    undoable=False,
)
def cancel_job(ctx: ActionContext, p: JobNamed) -> dict[str, Any]:
    """A remote job is cancelled there too. 409 for a page a workflow run waits for, 404 for an unknown id."""
    view = _view(ctx)
    counted = is_counted(p.job_id)
    if counted:
        rows = _counted_rows(view, p.job_id)
    else:
        rows = [_single_row(view, p.job_id)]
        _refuse_of_run(view, rows[0], "stop")
    reached: list[JobRow] = []
    for row in rows:
        under = [view.row(job_id) for job_id in decisions.subtree(view.raw, row.id)]
        reached += [job for job in under if job is not None and view.state(job) not in FINISHED]
        decisions.cancel(ctx.conn, row.id)
    _note_jobs(ctx, [row.id for row in reached])
    _tell_kinds(ctx, view, reached, lambda kind: kind.on_cancel)
    if counted:
        state = "cancelled" if rows else _import_state(view)
        return {"id": p.job_id, "state": state, "applied": len(rows)}
    after = _view(ctx)
    return {"id": p.job_id, "state": after.state(_single_row(after, p.job_id))}


@action(
    name="job.retry",
    result=JobState,
    summary="Put a failed or cancelled job back in the queue; it resumes from its checkpoint",
    words="Put a job back in the queue",
    scope="either",
    undoable=False,
)
def retry_job(ctx: ActionContext, p: JobNamed) -> dict[str, Any]:
    """409 for a page a workflow run queued, a remote job, or work already waiting; in other states nothing changes."""
    view = _view(ctx)
    if is_counted(p.job_id):
        if not _counted_rows(view, p.job_id):
            return {"id": p.job_id, "state": _import_state(view), "applied": 0}
        raise Conflict(
            f"The jobs behind {p.job_id} are already waiting; there is nothing to retry.",
            code="already_waiting",
        )
    row = _single_row(view, p.job_id)
    _refuse_of_run(view, row, "retry")
    state = view.state(row)
    if state == "waiting":
        raise Conflict(f"{row.title} is already waiting; there is nothing to retry.", code="already_waiting")
    if state in ("failed", "cancelled"):
        asked_for = ctx.action_name == "job.retry"
        if asked_for:
            _refuse_retry_of_run(view, row)
        _refuse_retry(view, row)
        retried = decisions.retry(ctx.conn, row.id)
        decisions.lend_rights(ctx.conn, retried, ctx.principal)
        view.raw.executemany(
            # Paused before it ended: whoever retries it wants it to go on; an undo, to have it as it was.
            "UPDATE job_hold SET cleared_at = NULL, paused = paused AND NOT ?1 WHERE job_id = ?2 "
            "AND (cleared_at IS NOT NULL OR paused AND ?1)",
            [(asked_for, job_id) for job_id in retried],
        )
        _note_jobs(ctx, retried)
    after = _view(ctx)
    return {"id": row.id, "state": after.state(_single_row(after, row.id))}


def _refuse_retry_of_run(view: QueueView, row: JobRow) -> None:
    kind = view.runner.kinds.get(row.kind)
    if kind is not None and kind.is_run:
        raise Conflict(
            f"{row.title} is a workflow run that has ended; have it read again what it did not do.",
            code="run_ended",
        )


def _refuse_retry(view: QueueView, row: JobRow) -> None:
    kinds = view.runner.kinds
    if (kind := kinds.get(row.kind)) is not None and kind.remote_in(kinds.lane_of(row.kind, row.lane)):
        raise Conflict(
            f"{row.title} ran on a remote service and cannot be resumed from here; start it again.",
            code="remote_job",
        )
    if row.failed_children or row.open_children:
        return
    same_key_row = view.raw.execute(
        "SELECT o.title FROM job o, job j WHERE j.id = ? AND o.state IN ('waiting', 'running') AND o.kind = j.kind "
        # Each parent waits for its own job, even if another does the same work.
        "AND o.id <> j.id AND o.parent_id IS j.parent_id AND o.args = j.args AND o.key IS j.key LIMIT 1",
        (row.id,),
    ).fetchone()
    if same_key_row is not None:
        raise Conflict(f"The same work is waiting already ({same_key_row[0]}).", code="already_waiting")


@action(
    name="job.clear_failed",
    result=Cleared,
    summary="Take the failed jobs out of the list; they are kept, and a retry lists one again",
    words="Took failed jobs off the list",
    scope="either",
    after_undo=_clearing_undone,
)
def clear_failed_jobs(ctx: ActionContext, p: NoParams) -> dict[str, Any]:
    """Return how many were cleared."""
    raw = raw_of(ctx.conn)
    ids = [
        row[0]
        for row in raw.execute(
            "SELECT id FROM job WHERE state = 'failed' AND id NOT IN "
            "(SELECT job_id FROM job_hold WHERE cleared_at IS NOT NULL)"
        )
    ]
    raw.executemany(
        "INSERT INTO job_hold (job_id, paused, cleared_at) VALUES (?, 0, ?) "
        "ON CONFLICT (job_id) DO UPDATE SET cleared_at = excluded.cleared_at",
        [(job_id, ctx.now) for job_id in ids],
    )
    if ids:
        _note_jobs(ctx, ids)
    return {"cleared": len(ids)}


def _set(ctx: ActionContext, key: str, value: str) -> None:
    raw_of(ctx.conn).execute(
        "INSERT INTO background_setting (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (key, json_text(value)),
    )


def _read(ctx: ActionContext, key: str) -> str:
    row = raw_of(ctx.conn).execute("SELECT value FROM background_setting WHERE key = ?", (key,)).fetchone()
    return str(loads(row[0])) if row else "automatic"


def _change_mode(ctx: ActionContext, mode: str) -> dict[str, Any]:
    current = _read(ctx, "mode")
    if current != mode:
        if current != "paused":
            _set(ctx, "mode_before", current)
        _set(ctx, "mode", mode)
    ctx.target("background")
    ctx.on_commit(ctx.engine.jobs.reload_mode)
    return {"mode": mode, "paused": mode == "paused"}


@action(
    name="background.pause",
    result=BackgroundMode,
    summary="Pause all background work, or resume it; running items are finished first",
    route=Route("PUT", "/api/activity/jobs/paused", refusals=(), name="pause_all"),
    scope="engine",
    after_undo=_mode_undone,
)
def pause_background(ctx: ActionContext, p: PauseBackground) -> dict[str, Any]:
    """Pausing sets the mode paused; resuming returns to the previous mode."""
    current = _read(ctx, "mode")
    if p.paused:
        return _change_mode(ctx, "paused")
    return _change_mode(ctx, _read(ctx, "mode_before") if current == "paused" else current)


@action(
    name="background.mode",
    result=BackgroundMode,
    summary="Set whether waiting work starts by itself, starts in any case, or does not start",
    route=Route("PUT", "/api/activity/jobs/mode", refusals=()),
    scope="engine",
    after_undo=_mode_undone,
)
def set_background_mode(ctx: ActionContext, p: SetMode) -> dict[str, Any]:
    """`started` lets work run even if a person is at the machine or it runs on battery."""
    return _change_mode(ctx, p.mode)
