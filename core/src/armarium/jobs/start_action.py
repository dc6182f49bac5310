"""An action that does nothing but queue a job, made from the job's kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from armarium.actions.context import ActionContext, Example
from armarium.actions.definition import Action, Route, action
from armarium.jobs.kinds import JobKind
from armarium.jobs.undoing import cancel_with_undo
from armarium.messages import Message


class QueuedJob(Message):
    """A job that was put in the queue."""

    job_id: str


def start_action(
    name: str,
    kind: JobKind,
    *,
    targets: Iterable[str] = (),
    check: Callable[[ActionContext, Any], object] | None = None,
    words: str | None = None,
    route: Route | None = None,
    example: Callable[[Example], dict[str, Any]] | None = None,
) -> Action[Any]:
    """Return an action named *name* that queues a job of *kind*; its parameters are the kind's arguments.

    *check* refuses what must not be queued. *targets* are the parameters whose ids the audit row names beside the
    job's; a lock on a document among them refuses the action. Undoing the step cancels what has not been done yet.
    """
    assert kind.args is not None, f"the kind {kind.name} declares no arguments"
    target_names = tuple(targets)

    def start(ctx: ActionContext, p: Any) -> dict[str, Any]:
        if check is not None:
            check(ctx, p)
        job_id = ctx.enqueue(kind.name, p.model_dump(mode="json"), title=kind.summary)
        ctx.target(*(getattr(p, field) for field in target_names), job_id)
        return {"job_id": job_id}

    return action(
        name,
        params=kind.args,
        result=QueuedJob,
        summary=f"{kind.summary}, as a background job",
        words=words,
        route=route,
        example=example,
        guards_targets=True,
        after_undo=cancel_with_undo,
    )(start)
