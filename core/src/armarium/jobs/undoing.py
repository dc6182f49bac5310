"""What the undo of a step does with the jobs that the step queued; what they wrote are steps of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium.errors import Conflict
from armarium.store.tables import json_text

if TYPE_CHECKING:
    from armarium.actions.undo import UndoContext


def cancel_with_undo(undo: UndoContext) -> None:
    """For `after_undo` of an action that starts jobs: cancel those that are not done; a redo queues them again.

    The action names its jobs among its targets. What they have written by then stays, and is undone by their set.
    """
    jobs = undo.step.conn.exec_driver_sql(
        "SELECT id, state FROM job WHERE id IN (SELECT value FROM json_each(?))",
        (json_text(undo.target_ids),),
    ).all()
    for job_id, state in jobs:
        if undo.redo and state == "cancelled":
            try:
                undo.step.run("job.retry", {"job_id": job_id})
            except Conflict as refused:
                # Somebody has started the same work again meanwhile: it is done once.
                if refused.code != "already_waiting":
                    raise
        elif not undo.redo and state in ("waiting", "paused", "running"):
            undo.step.run("job.cancel", {"job_id": job_id})
