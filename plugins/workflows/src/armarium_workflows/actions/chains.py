"""Saving chains: steps that are workflows, one after the other."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, action
from armarium_workflows.chaining import check_chain
from armarium_workflows.records import SavedChain
from armarium_workflows.schemas.answers import Chain, Deleted
from armarium_workflows.schemas.requests import ChainFields, ChainNamed, SaveChainParams
from armarium_workflows.workflow_answers import stored_workflow


def _check(ctx: ActionContext, p: ChainFields) -> None:
    check_chain(p)
    for step in p.steps:
        stored_workflow(ctx.conn, ctx.engine, step.workflow_id)


@action(
    "chain.create",
    result=Chain,
    summary="Save a new chain",
    words="Saved a chain of workflows",
    route=Route("POST", "/api/chains", refusals=(404,)),
)
def create(ctx: ActionContext, p: ChainFields) -> dict[str, Any]:
    """NotFound for an unknown workflow; Invalid for a jump that leads back or an invalid path."""
    _check(ctx, p)
    fields = {**p.model_dump(mode="json"), "created_at": ctx.now, "updated_at": ctx.now}
    row = SavedChain.rows.insert(ctx.conn, fields)
    ctx.target(row["id"])
    return row


@action(
    "chain.update",
    result=Chain,
    summary="Replace a chain",
    words="Changed a chain of workflows",
    route=Route("PUT", "/api/chains/{chain_id}", refusals=(404,)),
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
    result=Deleted,
    summary="Remove a chain",
    words="Removed a chain of workflows",
    route=Route("DELETE", "/api/chains/{chain_id}", refusals=(404,)),
)
def delete(ctx: ActionContext, p: ChainNamed) -> dict[str, Any]:
    """Its executions remain, and so does what they made."""
    SavedChain.rows.delete(ctx.conn, p.chain_id)
    ctx.target(p.chain_id)
    return {"status": "deleted", "id": p.chain_id}
