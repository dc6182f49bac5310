"""Saving workflows: every graph is checked when it is saved; those that ship are read only."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Engine, Route, action
from armarium_workflows.errors import faulty_graph, system_workflow
from armarium_workflows.graph import Graph, problems_of
from armarium_workflows.records import SavedWorkflow
from armarium_workflows.schemas.answers import Deleted, Workflow
from armarium_workflows.schemas.requests import SaveWorkflowParams, WorkflowFields, WorkflowNamed
from armarium_workflows.workflow_answers import shown_workflow, stored_workflow


@action(
    "workflow.create",
    result=Workflow,
    summary="Save a new workflow",
    words="Saved a workflow",
    route=Route("POST", "/api/workflows", refusals=(404,)),
)
def create(ctx: ActionContext, p: WorkflowFields) -> dict[str, Any]:
    """Invalid, naming node and port, if the graph cannot run: types, cycles, missing inputs, paths."""
    _check(ctx.engine, p)
    fields = {**p.model_dump(mode="json"), "created_at": ctx.now, "updated_at": ctx.now}
    row = SavedWorkflow.rows.insert(ctx.conn, fields)
    ctx.target(row["id"])
    return shown_workflow(ctx.engine, {**row, "is_system": False})


def _check(engine: Engine, p: WorkflowFields) -> None:
    problems = problems_of(Graph(p.nodes, p.edges), engine.recipe_jobs)
    if problems:
        raise faulty_graph(problems)


def _get_own(ctx: ActionContext, workflow_id: str) -> dict[str, Any]:
    """Return a workflow of the project. Raises Forbidden for one that ships, and NotFound."""
    workflow = stored_workflow(ctx.conn, ctx.engine, workflow_id)
    if workflow["is_system"]:
        raise system_workflow(workflow["name"])
    return workflow


@action(
    "workflow.update",
    result=Workflow,
    summary="Replace a workflow",
    words="Changed a workflow",
    route=Route("PUT", "/api/workflows/{workflow_id}", refusals=(404,)),
)
def update(ctx: ActionContext, p: SaveWorkflowParams) -> dict[str, Any]:
    """Takes all fields, like `workflow.create`. Runs in progress keep the graph they started with."""
    workflow = _get_own(ctx, p.workflow_id)
    _check(ctx.engine, p)
    changes = {**p.model_dump(mode="json", exclude={"workflow_id"}), "updated_at": ctx.now}
    SavedWorkflow.rows.change(ctx.conn, p.workflow_id, changes)
    ctx.target(p.workflow_id)
    return shown_workflow(ctx.engine, {**workflow, **changes})


@action(
    "workflow.delete",
    result=Deleted,
    summary="Remove a workflow",
    words="Removed a workflow",
    route=Route("DELETE", "/api/workflows/{workflow_id}", refusals=(404,)),
)
def delete(ctx: ActionContext, p: WorkflowNamed) -> dict[str, Any]:
    """Its runs remain, and so does what they made."""
    _get_own(ctx, p.workflow_id)
    SavedWorkflow.rows.delete(ctx.conn, p.workflow_id)
    ctx.target(p.workflow_id)
    return {"status": "deleted", "id": p.workflow_id}
