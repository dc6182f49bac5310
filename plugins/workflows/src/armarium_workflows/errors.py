"""The refusals of workflows, one sentence each that a person can act on."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import BadRequest, Conflict, Forbidden, Invalid, NotFound, NotUndoable
from armarium_reading.api import LINEREADER


class PathFault(ValueError):
    """What is wrong with a path or a pipe, or with the value it was applied to."""


unknown_workflow = NotFound.saying(
    "unknown_workflow",
    "There is no workflow {workflow_id:.64} in this project; the list of workflows names them.",
)
unknown_chain = NotFound.saying(
    "unknown_chain", "There is no chain {chain_id:.64} in this project; the list of chains names them."
)
unknown_execution = NotFound.saying(
    "unknown_execution", "There is no execution {execution_id:.64} of a chain in this project."
)
unknown_run = NotFound.saying(
    "unknown_run", "There is no workflow run {thread_id:.64} in this project; the list of runs names them."
)
unknown_step = NotFound.saying(
    "unknown_step", "The run has no step {node_id:.64}; its answer names the steps it has."
)
job_ended = Conflict.saying(
    "job_ended",
    "The job {job_id:.64} has ended ({state}), so no run can be part of it. Run the workflow by itself.",
    state="state",
)
system_workflow = Forbidden.saying(
    "system_workflow",
    "“{name}” ships with the engine and cannot be changed; make a workflow of your own from its nodes.",
)


def faulty_graph(problems: Sequence[str]) -> Invalid:
    """422: the graph cannot run, for every reason found."""
    more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
    return Invalid(f"{problems[0]}{more}", code="invalid_workflow", problems=list(problems[:100]))


faulty_chain = Invalid.saying("invalid_chain", "{problem}")
empty_chain = BadRequest.saying(
    "empty_chain", "The chain “{name}” has no steps, so there is nothing to execute; add one."
)


def no_override(provider: str) -> BadRequest:
    """400: no node can use the reader or provider chosen for the run."""
    if provider == LINEREADER:
        return BadRequest(
            "No node of this workflow reads lines, so no line reader can be used for it. Leave the override out, or choose a "
            "workflow with such a node.",
            code="no_node_for_override",
        )
    return BadRequest(
        f"No node of this workflow lets its provider be chosen, so {provider} cannot be used for it. Leave the override "
        "out, or choose a workflow with such a node.",
        code="no_node_for_override",
    )


no_pages = Invalid.saying(
    "no_pages", "The documents named contain no pages, so there is nothing to run over."
)
not_paused = Conflict.saying(
    "not_paused", "The run of “{name}” is {status}, not paused, so it cannot be resumed."
)
already_ended = Conflict.saying(
    "run_ended", "The run of “{name}” has ended ({status}); only a run in progress can be stopped."
)
not_begun = Conflict.saying(
    "not_begun", "The chain has not reached the run of “{name}” yet; pause or cancel the run in progress."
)
still_going = Conflict.saying(
    "still_going", "The run of “{name}” is still {status}; wait until it ends, or cancel it first."
)
nothing_left = Conflict.saying(
    "nothing_left", "The run of “{name}” did all its pages, so there is nothing left to read again."
)
left_is_gone = Conflict.saying(
    "nothing_left",
    "The pages that the run of “{name}” did not do are in the Trash or gone; restore them to read them again.",
)
no_checkpoint = Conflict.saying(
    "no_checkpoint",
    "The checkpoint of the run of “{name}” was removed, so the pages it did not do are no longer known; "
    "start a new run.",
)
same_run = Invalid.saying("same_run", "Left and right are the same run; name two.")
not_done = Conflict.saying(
    "run_not_done",
    "The run of “{name}” is {status}; runs can be compared when both are done.",
    reason="status",
)


def has_written(audit_id: str, thread_id: str, steps: int) -> NotUndoable:
    """409: undoing the start of a run that has written something would leave what it wrote without its run."""
    wrote = "one step" if steps == 1 else f"{steps} steps"
    return NotUndoable(
        f"This step cannot be undone: the run {thread_id} has written {wrote} since. Undo those first: they "
        f"are the set {thread_id}. Nothing was changed.",
        audit_id=audit_id,
        set_id=thread_id,
    )


still_ending = NotUndoable.saying(
    "undo_refused",
    "This step cannot be undone yet: the run of “{name}” is finishing its current page. Undo it when that has ended. "
    "Nothing was changed.",
    audit_id="audit_id",
)
at_work = NotUndoable.saying(
    "undo_refused",
    "This step cannot be undone: the run of “{name}” is running. Cancel it first. Nothing was changed.",
    audit_id="audit_id",
)
