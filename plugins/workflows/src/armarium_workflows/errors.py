"""The refusals of workflows, each a sentence a person can act on."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import BadRequest, Conflict, Forbidden, Invalid, NotFound
from armarium_reading.api import LINEREADER


class PathFault(ValueError):
    """What is wrong with a path or a pipe, or with the value that it met."""


def unknown_workflow(workflow_id: str) -> NotFound:
    """404: neither a saved workflow nor one that ships."""
    return NotFound(
        f"There is no workflow {workflow_id[:64]} in this project; the list of workflows names them.",
        code="unknown_workflow",
    )


def unknown_chain(chain_id: str) -> NotFound:
    """404."""
    return NotFound(
        f"There is no chain {chain_id[:64]} in this project; the list of chains names them.",
        code="unknown_chain",
    )


def unknown_execution(execution_id: str) -> NotFound:
    """404."""
    return NotFound(
        f"There is no execution {execution_id[:64]} of a chain in this project.", code="unknown_execution"
    )


def unknown_run(thread_id: str) -> NotFound:
    """404."""
    return NotFound(
        f"There is no workflow run {thread_id[:64]} in this project; the list of runs names them.",
        code="unknown_run",
    )


def job_ended(job_id: str, state: str) -> Conflict:
    """409: a run is put beneath work that goes on, never beneath what has ended."""
    return Conflict(
        f"The job {job_id[:64]} has ended ({state}), so nothing is run as a part of it. Run the workflow by itself.",
        code="job_ended",
        state=state,
    )


def system_workflow(name: str) -> Forbidden:
    """403: what ships is read only."""
    return Forbidden(
        f"“{name}” ships with the engine and is not changed; make a workflow of your own from its nodes.",
        code="system_workflow",
    )


def faulty_graph(problems: Sequence[str]) -> Invalid:
    """422: the graph cannot run; every reason."""
    more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
    return Invalid(f"{problems[0]}{more}", code="invalid_workflow", problems=list(problems[:100]))


def faulty_chain(problem: str) -> Invalid:
    """422."""
    return Invalid(problem, code="invalid_chain")


def empty_chain(name: str) -> BadRequest:
    """400: nothing to execute."""
    return BadRequest(
        f"The chain “{name}” has no steps, so there is nothing to execute; add one.", code="empty_chain"
    )


def no_override(provider: str) -> BadRequest:
    """400: no node takes the reader that the run is to use."""
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


def no_pages() -> Invalid:
    """422: nothing to work on."""
    return Invalid("There are no pages in what was named, so there is nothing to run over.", code="no_pages")


def not_paused(name: str, status: str) -> Conflict:
    """409."""
    return Conflict(
        f"The run of “{name}” is {status}, not paused, so it cannot be resumed.", code="not_paused"
    )


def already_ended(name: str, status: str) -> Conflict:
    """409: nothing left to pause or cancel."""
    return Conflict(
        f"The run of “{name}” has ended ({status}); only what still goes on can be stopped.", code="run_ended"
    )


def not_begun(name: str) -> Conflict:
    """409: a step of a chain that has not come to it."""
    return Conflict(
        f"The chain has not come to the run of “{name}” yet; pause or cancel the run that goes on.",
        code="not_begun",
    )


def still_going(name: str, status: str) -> Conflict:
    """409."""
    return Conflict(
        f"The run of “{name}” is still {status}; wait for its end, or cancel it first.", code="still_going"
    )


def nothing_left(name: str) -> Conflict:
    """409."""
    return Conflict(
        f"The run of “{name}” did all its pages, so nothing is left to read again.", code="nothing_left"
    )


def no_checkpoint(name: str) -> Conflict:
    """409."""
    return Conflict(
        f"The checkpoint of the run of “{name}” was removed, so what it did not do is no longer known; start it anew.",
        code="no_checkpoint",
    )


def same_run() -> Invalid:
    """422."""
    return Invalid("Left and right are the same run; name two.", code="same_run")


def not_done(name: str, status: str) -> Conflict:
    """409 with reason."""
    return Conflict(
        f"The run of “{name}” is {status}; runs are compared when both are done.",
        code="run_not_done",
        reason=status,
    )


def has_written(audit_id: str, thread_id: str, steps: int) -> Conflict:
    """409: taking back the start of a run that has written would leave what it wrote without its run."""
    wrote = "one step" if steps == 1 else f"{steps} steps"
    return Conflict(
        f"This step cannot be taken back: the run {thread_id} has written {wrote} since. Take those back first: they are "
        f"the set {thread_id}. Nothing was changed.",
        code="undo_refused",
        reason="not-undoable",
        audit_id=audit_id,
        set_id=thread_id,
    )


def still_ending(audit_id: str, name: str) -> Conflict:
    """409: a run that was cancelled and has not ended yet; it goes on again only from its end."""
    return Conflict(
        f"This step cannot be taken back yet: the run of “{name}” is finishing the page in hand. Take it back when that has "
        "ended. Nothing was changed.",
        code="undo_refused",
        reason="not-undoable",
        audit_id=audit_id,
    )


def at_work(audit_id: str, name: str) -> Conflict:
    """409: a run is taken back whole, and so when nothing is in its hands."""
    return Conflict(
        f"This step cannot be taken back: the run of “{name}” is at work. Cancel it first. Nothing was changed.",
        code="undo_refused",
        reason="not-undoable",
        audit_id=audit_id,
    )
