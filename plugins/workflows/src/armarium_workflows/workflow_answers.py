"""Workflows as answers show them, those that ship and those of the project alike: each node with its ports."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine
from armarium_workflows.errors import unknown_workflow
from armarium_workflows.ports import BUILT_IN, inputs_of, outputs_of
from armarium_workflows.queries import WORKFLOWS
from armarium_workflows.records import workflows
from armarium_workflows.schemas.requests import NodeIn
from armarium_workflows.system import system_workflows


def stored_workflow(conn: Connection, engine: Engine, workflow_id: str) -> dict[str, Any]:
    """Return the workflow with this id, one that ships or one of the project. Raises NotFound."""
    shipped = system_workflows(engine.recipe_jobs).get(workflow_id)
    if shipped is not None:
        return shipped
    found = WORKFLOWS.get(conn, workflow_id)
    if found is None:
        raise unknown_workflow(workflow_id)
    return {**found, "is_system": False}


def all_workflows(conn: Connection, engine: Engine) -> list[dict[str, Any]]:
    """Return those that ship, then those of the project by folder and order."""
    order = (workflows.c.folder_path, workflows.c.sort_order, workflows.c.name, workflows.c.id)
    own = [{**row, "is_system": False} for row in WORKFLOWS.all(conn, order=order)]
    return [shown_workflow(engine, one) for one in [*system_workflows(engine.recipe_jobs).values(), *own]]


def shown_workflow(engine: Engine, stored: dict[str, Any]) -> dict[str, Any]:
    """Return it as answers show it."""
    return {**stored, "nodes": [_node(engine, node) for node in stored["nodes"]]}


def _node(engine: Engine, stored: dict[str, Any]) -> dict[str, Any]:
    node = NodeIn.model_validate(stored).model_dump(mode="json")
    jobs = engine.recipe_jobs
    known = node["tool"] in BUILT_IN or node["tool"] in jobs
    return {
        **node,
        "input_ports": [port_spec.as_answer() for port_spec in inputs_of(node["tool"], jobs)]
        if known
        else [],
        "output_ports": [output.as_answer() for output in outputs_of(node["tool"], jobs)] if known else [],
        "uses_llm": node["tool"] in jobs and jobs[node["tool"]].uses_llm,
    }
