"""Look at pages, propose hands and signs by similarity, and decide on proposals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import ActionContext, Route, RowRule, action, cancel_with_undo, find_withheld
from armarium_documents.api import pages_under, title_of_work
from armarium_paleography.actions.ground import add, note_row, standing_segment
from armarium_paleography.errors import already_decided, no_pages
from armarium_paleography.queries.likeness import JUDGED, PROPOSALS, likest_judged, worker_target
from armarium_paleography.records.ground import Id
from armarium_paleography.records.likeness import (
    Look,
    LookArgs,
    LookStarted,
    Proposal,
    Proposals,
    Propose,
    proposals,
)

LOOK = "likeness-look"
PENDING = "pending"


@action(
    "likeness.look",
    result=LookStarted,
    summary="Look at the lines and words of pages, so that similar ones can be found.",
    route=Route("POST", "/api/likeness/look", status=202, refusals=(404, 503)),
    words="Started to look at {scope_ids|pages}",
    after_undo=cancel_with_undo,
)
def look(ctx: ActionContext, p: Look) -> dict[str, Any]:
    """Raises Invalid if the scope contains no page, Unavailable if no package that looks at pictures is
    installed.
    """
    worker_target()
    pages = pages_under(ctx.conn, p.scope_ids, for_processing=True)
    if not pages:
        raise no_pages()
    title = title_of_work(ctx.conn, "Look at the writing", pages)
    args = LookArgs(page_ids=pages).model_dump()
    job_id = ctx.enqueue(LOOK, args, title=title, total=len(pages))
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id, "state": "waiting"}


@action(
    "likeness.propose",
    result=Proposals,
    summary="Propose a hand or a sign for segments, by the judged segments most similar to them.",
    route=Route("POST", "/api/likeness/proposals", name="propose_alike"),
    words="Proposed a hand or sign for {segment_ids|a page}",
)
def propose(ctx: ActionContext, p: Propose) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Conflict for a segment that was not looked at. A proposal is not a
    judgement.
    """
    _, name = JUDGED[p.kind]
    items = []
    for segment_id in dict.fromkeys(p.segment_ids):
        segment = standing_segment(ctx.conn, segment_id)
        alike = likest_judged(ctx.conn, ctx.project, p.kind, segment_id)
        # Segments withheld from the caller are never the reason for a proposal made to them.
        likest = next(
            (
                candidate
                for candidate in alike
                if not find_withheld(ctx.project, ctx.principal, [candidate[1]], "show")
            ),
            None,
        )
        if likest is None:
            continue
        identity, like, score = likest
        unsaid = {
            "hand_id": None,
            "sign_id": None,
            "decided_by": None,
            "decided_at": None,
            "resulting_id": None,
        }
        row = {
            "kind": p.kind,
            **unsaid,
            name: identity,
            "segment_id": segment_id,
            "like_segment_id": like,
            "document_id": segment.document_id,
            "score": round(score, 4),
            "state": PENDING,
        }
        items.append(add(ctx, proposals, row))
    return {"items": items, "count": len(items), "total": len(items)}


def _was_rejected(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bool:
    return before is not None and before["state"] == "rejected"


_DECIDED: RowRule[Any] = RowRule("likeness_proposal", "person", when=_was_rejected)
"""A machine may reject a proposal; it takes no rejection back, since a person may have made it."""


@action(
    "likeness.accept",
    result=Proposal,
    summary="Accept a proposal; the judgement is then the caller's own.",
    route=Route("POST", "/api/likeness/proposals/{proposal_id}/accept", name="accept_alike"),
    words="Accepted a proposal on {proposal_id|a page}",
    person_only=True,
)
def accept(ctx: ActionContext, proposal_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it was already decided, and whatever attributing by hand raises."""
    row = _require_pending(ctx, proposal_id)
    note = {"segment_id": row["segment_id"]}
    if row["kind"] == "hand":
        attribution = ctx.run("hand.attribute", {**note, "hand_id": row["hand_id"]})
    else:
        attribution = ctx.run("sign.add_instance", {**note, "sign_id": row["sign_id"]})
    return _record_decision(ctx, row, "accepted", attribution["id"])


@action(
    "likeness.reject",
    result=Proposal,
    summary="Reject a proposal; it is not made again.",
    route=Route("POST", "/api/likeness/proposals/{proposal_id}/reject", name="reject_alike"),
    words="Rejected a proposal on {proposal_id|a page}",
    rules=(_DECIDED,),
)
def reject(ctx: ActionContext, proposal_id: Id) -> dict[str, Any]:
    """Raises NotFound, Conflict if it was already decided."""
    return _record_decision(ctx, _require_pending(ctx, proposal_id), "rejected", None)


def _require_pending(ctx: ActionContext, proposal_id: str) -> dict[str, Any]:
    row = PROPOSALS.require(ctx.conn, proposal_id)
    if row["state"] != PENDING:
        raise already_decided(proposal_id, row["state"])
    return row


def _record_decision(
    ctx: ActionContext, row: dict[str, Any], state: str, attribution_id: str | None
) -> dict[str, Any]:
    values = {
        "state": state,
        "decided_by": ctx.principal.name,
        "decided_at": ctx.now,
        "resulting_id": attribution_id,
    }
    ctx.conn.execute(proposals.update().where(proposals.c.id == row["id"]).values(values))
    note_row(ctx, row)
    return {**row, **values}
