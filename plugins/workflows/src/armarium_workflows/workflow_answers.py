"""Workflows as answers show them, those that ship and those of the project alike: each node with its ports."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Path
from sqlalchemy import Connection

from armarium.api import Engine, by_name, query
from armarium_workflows.errors import unknown_workflow
from armarium_workflows.ports import BUILT_IN, inputs_of, outputs_of
from armarium_workflows.queries import WORKFLOWS
from armarium_workflows.records import workflows
from armarium_workflows.schemas.answers import Workflow, Workflows
from armarium_workflows.schemas.requests import NodeIn
from armarium_workflows.system import system_workflows


def stored_workflow(conn: Connection, engine: Engine, workflow_id: str) -> dict[str, Any]:
    """Return the workflow with this id, one that ships or one of the project. Raises NotFound."""
    shipped = system_workflows(engine.recipe_jobs).get(workflow_id)
    if shipped is not None:
        return shipped
    workflow = WORKFLOWS.get(conn, workflow_id)
    if workflow is None:
        raise unknown_workflow(workflow_id)
    return {**workflow, "is_system": False}


@query("/api/workflows", summary="The workflows", answer=Workflows)
def list_workflows(conn: Connection, engine: Engine) -> dict[str, Any]:
    """Those that ship, derived from the recipe jobs of the loaded plugins, then those of the project."""
    order = (workflows.c.folder_path, workflows.c.sort_order, by_name(workflows.c.name), workflows.c.id)
    own = [{**row, "is_system": False} for row in WORKFLOWS.all(conn, order=order)]
    items = [
        shown_workflow(engine, workflow)
        for workflow in [*system_workflows(engine.recipe_jobs).values(), *own]
    ]
    return {"items": items, "count": len(items)}


@query("/api/workflows/{workflow_id}", summary="A workflow", answer=Workflow)
def get_workflow(
    conn: Connection, engine: Engine, workflow_id: Annotated[str, Path(max_length=64)]
) -> dict[str, Any]:
    """With the ports of each node."""
    return shown_workflow(engine, stored_workflow(conn, engine, workflow_id))


def shown_workflow(engine: Engine, stored: dict[str, Any]) -> dict[str, Any]:
    """Return it as answers show it."""
    return {**stored, "nodes": [_node(engine, node) for node in stored["nodes"]]}


def _node(engine: Engine, stored: dict[str, Any]) -> dict[str, Any]:
    node = NodeIn.from_stored(stored).model_dump(mode="json")
    jobs = engine.recipe_jobs
    is_known = node["tool"] in BUILT_IN or node["tool"] in jobs
    return {
        **node,
        "input_ports": [asdict(port) for port in inputs_of(node["tool"], jobs)] if is_known else [],
        "output_ports": [asdict(port) for port in outputs_of(node["tool"], jobs)] if is_known else [],
        "uses_llm": node["tool"] in jobs and jobs[node["tool"]].uses_llm,
    }
