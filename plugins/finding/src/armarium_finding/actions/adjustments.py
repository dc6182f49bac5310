"""A person corrects a proposal: one action for a split, a join and a moved page."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, action, refuse_withheld
from armarium_finding import adjusting, store
from armarium_finding.actions.answering import answer, keep
from armarium_finding.schemas import Adjusted, AdjustParams


@action(
    "finddocs.adjust",
    result=Adjusted,
    summary="Split a document of a proposal, join two, or move a page from one to the next.",
    words="Corrected which pages make a document in {|a folder}",
    person_only=True,
    undo_name="finddocs.unadjust",
)
def adjust(ctx: ActionContext, p: AdjustParams) -> dict[str, Any]:
    """Correct the proposal. Raises NotFound, Conflict if it was superseded or the document was decided,
    Invalid for an impossible change.
    """
    proposal = store.require_current(ctx.conn, p.proposal_id)
    change, by = p.change, ctx.principal.name
    touched = [change.document_index]
    if change.op == "join":
        touched.append(change.document_index + 1)
    elif change.op == "move-page":
        touched.append(change.document_index + (-1 if change.to == "previous" else 1))
    touched_documents = [document for document in proposal["documents"] if document["index"] in touched]
    refuse_withheld(
        ctx.project,
        ctx.principal,
        [page for document in touched_documents for page in document["page_ids"]],
        "show",
    )
    if change.op == "split":
        examples = adjusting.split(proposal, change.document_index, change.page_id, by, ctx.now)
    elif change.op == "join":
        examples = adjusting.join(proposal, change.document_index, by, ctx.now)
    else:
        examples = adjusting.move_page(proposal, change.document_index, change.to, by, ctx.now)
    store.regroup(ctx.conn, proposal)
    keep(ctx, proposal)
    return {"proposal": answer(ctx, proposal), "examples": examples}
