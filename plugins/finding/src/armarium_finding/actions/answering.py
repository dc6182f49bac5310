"""How an action stores a changed proposal and returns it to the caller."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from armarium.api import ActionContext, find_withheld
from armarium_documents.api import revise_artifact
from armarium_finding import store


def hidden_pages(ctx: ActionContext, proposal: dict[str, Any]) -> Collection[str]:
    """Return the pages of a proposal that the caller may not see."""
    return find_withheld(ctx.project, ctx.principal, proposal["page_ids"], "show").keys()


def keep(ctx: ActionContext, proposal: dict[str, Any]) -> None:
    """Write a changed proposal, and name it and its folder in the step."""
    revise_artifact(ctx, proposal["id"], store.data_of(proposal))
    ctx.target(proposal["folder_id"], proposal["id"])
    ctx.note_changes(document_ids=[proposal["folder_id"]])


def answer(ctx: ActionContext, proposal: dict[str, Any]) -> dict[str, Any]:
    """Return a dressed proposal as the caller may see it."""
    return store.hidden_from(proposal, hidden_pages(ctx, proposal))
