"""Examples of the actions and recipe jobs of workflows: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example


def chain_create(ex: Example) -> dict[str, Any]:
    """Return a chain of one step."""
    step = {"id": "first", "workflow_id": an_example_saved(ex), "name": "Look"}
    return {"name": "One thing after the other", "steps": [step]}


def an_example_saved_chain(ex: Example) -> str:
    """Save a chain; return its id."""
    return str(ex.run("chain.create", chain_create(ex))["id"])


def run_pause(ex: Example) -> dict[str, Any]:
    return {"thread_id": ex.run("workflow.execute", workflow_execute(ex))["thread_id"]}


def run_resume(ex: Example) -> dict[str, Any]:
    run = run_pause(ex)
    ex.run("run.pause", run)
    return run


def run_delete_checkpoint(ex: Example) -> dict[str, Any]:
    run = run_pause(ex)
    ex.run("run.cancel", run)
    return run


def workflow_execute(ex: Example) -> dict[str, Any]:
    """Create a workflow and a page for it; return their ids."""
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})["id"]
    return {"workflow_id": an_example_saved(ex), "scope_ids": [page]}


def workflow_execute_in_job(ex: Example) -> dict[str, Any]:
    workflow = workflow_execute(ex)
    job_id = ex.run("workflow.execute", workflow)["thread_id"]
    return {"workflow_id": workflow["workflow_id"], "page_ids": workflow["scope_ids"], "job_id": job_id}


def run_read_again(ex: Example) -> dict[str, Any]:
    thread_id = ex.run("workflow.execute", workflow_execute(ex))["thread_id"]
    ex.run("run.cancel", {"thread_id": thread_id})
    return {"thread_id": thread_id}


def workflow_create(ex: Example | None = None) -> dict[str, Any]:
    """Return a graph of two nodes."""
    edge = {"id": "e", "source": "pages", "source_port": "pages", "target": "result", "target_port": "value"}
    nodes = [{"id": "pages", "tool": "input"}, {"id": "result", "tool": "output"}]
    return {"name": "Look at pages", "nodes": nodes, "edges": [edge]}


def an_example_saved(ex: Example) -> str:
    """Save a workflow; return its id."""
    return str(ex.run("workflow.create", workflow_create())["id"])


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "chain.create": chain_create,
    "chain.update": lambda ex: {
        "chain_id": an_example_saved_chain(ex),
        **chain_create(ex),
        "name": "Another name",
    },
    "chain.delete": lambda ex: {"chain_id": an_example_saved_chain(ex)},
    "run.pause": run_pause,
    "run.resume": run_resume,
    "run.cancel": run_pause,
    "run.delete": lambda ex: {"thread_ids": [run_delete_checkpoint(ex)["thread_id"]]},
    "run.delete_checkpoint": run_delete_checkpoint,
    "workflow.execute": workflow_execute,
    "workflow.execute_in_job": workflow_execute_in_job,
    "chain.execute": lambda ex: {"chain_id": an_example_saved_chain(ex)},
    "run.read_again": run_read_again,
    "workflow.create": workflow_create,
    "workflow.update": lambda ex: {
        "workflow_id": an_example_saved(ex),
        **workflow_create(),
        "name": "Look twice",
    },
    "workflow.delete": lambda ex: {"workflow_id": an_example_saved(ex)},
}
