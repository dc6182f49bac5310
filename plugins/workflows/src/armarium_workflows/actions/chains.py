"""Saving chains: steps that are workflows, one after the other."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Example, Route, action
from armarium_workflows.actions.workflows import an_example_saved
from armarium_workflows.chaining import check_chain
from armarium_workflows.records import SavedChain
from armarium_workflows.schemas.answers import Chain, Deleted
from armarium_workflows.schemas.requests import ChainFields, ChainNamed, SaveChainParams
from armarium_workflows.workflow_answers import stored_workflow


def an_example(ex: Example) -> dict[str, Any]:
    """Return a chain of one step."""
    step = {"id": "first", "workflow_id": an_example_saved(ex), "name": "Look"}
    return {"name": "One thing after the other", "steps": [step]}


def an_example_saved_chain(ex: Example) -> str:
    """Save a chain; return its id."""
    return str(ex.run("chain.create", an_example(ex))["id"])


def _check(ctx: ActionContext, p: ChainFields) -> None:
    check_chain(p)
    for step in p.steps:
        stored_workflow(ctx.conn, ctx.engine, step.workflow_id)


@action(
    "chain.create",
    params=ChainFields,
    result=Chain,
    summary="Save a new chain",
    words="Saved a chain of workflows",
    route=Route("POST", "/api/chains", refusals=(404,)),
    example=an_example,
)
def create(ctx: ActionContext, p: ChainFields) -> dict[str, Any]:
    """NotFound for an unknown workflow; Invalid for a jump that leads back or an invalid path."""
    _check(ctx, p)
    sent = {**p.model_dump(mode="json"), "created_at": ctx.now, "updated_at": ctx.now}
    row = SavedChain.rows.insert(ctx.conn, sent)
    ctx.target(row["id"])
    return row


@action(
    "chain.update",
    params=SaveChainParams,
    result=Chain,
    summary="Replace a chain",
    words="Changed a chain of workflows",
    route=Route("PUT", "/api/chains/{chain_id}", refusals=(404,)),
    example=lambda ex: {"chain_id": an_example_saved_chain(ex), **an_example(ex), "name": "Another name"},
)
def update(ctx: ActionContext, p: SaveChainParams) -> dict[str, Any]:
    """Takes all fields, like `chain.create`. Executions in progress keep the steps they started with."""
    SavedChain.rows.require(ctx.conn, p.chain_id)
    _check(ctx, p)
    changes = {**p.model_dump(mode="json", exclude={"chain_id"}), "updated_at": ctx.now}
    SavedChain.rows.change(ctx.conn, p.chain_id, changes)
    ctx.target(p.chain_id)
    return SavedChain.rows.require(ctx.conn, p.chain_id)


@action(
    "chain.delete",
    params=ChainNamed,
    result=Deleted,
    summary="Remove a chain",
    words="Removed a chain of workflows",
    route=Route("DELETE", "/api/chains/{chain_id}", refusals=(404,)),
    example=lambda ex: {"chain_id": an_example_saved_chain(ex)},
)
def delete(ctx: ActionContext, p: ChainNamed) -> dict[str, Any]:
    """Its executions remain, and so does what they made."""
    SavedChain.rows.delete(ctx.conn, p.chain_id)
    ctx.target(p.chain_id)
    return {"status": "deleted", "id": p.chain_id}
