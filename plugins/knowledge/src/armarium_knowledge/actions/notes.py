"""Writes of interpretations of documents and reviews of predicted relations."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Route, action
from armarium_documents.api import require_live
from armarium_knowledge import errors
from armarium_knowledge.actions.persons_only import DECIDED_REVIEWS
from armarium_knowledge.placing import PagePlaces
from armarium_knowledge.queries.claims import shown_interpretations
from armarium_knowledge.queries.entities import live_entity
from armarium_knowledge.records.claims import Claim, Interpretation, InterpretationCreate
from armarium_knowledge.records.entities import (
    Deleted,
    KnowledgePredictionReview,
    ReviewCreate,
    ReviewDecide,
    reviews,
)
from armarium_knowledge.schemas.fields import Id
from armarium_source_model.api import text_fingerprint


@action(
    "interpretation.create",
    result=Interpretation,
    summary="Write an interpretation of a document.",
    route=Route("POST", "/api/interpretations"),
    words="Wrote an interpretation of {document_id|a document}",
)
def interpret(ctx: ActionContext, p: InterpretationCreate) -> dict[str, Any]:
    """Write it, with the fingerprint of the text it interprets. Raises NotFound."""
    require_live(ctx.conn, p.document_id)
    fields = p.model_dump(mode="json")
    mark = text_fingerprint(PagePlaces(ctx.conn, p.document_id).text)
    row = {**fields, "text_fingerprint": mark, "episode_id": None, **ctx.provenance()}
    interpretation = Interpretation.rows.insert(ctx.conn, row)
    ctx.target(interpretation["id"], p.document_id)
    ctx.note_changes(interpretation_ids=[interpretation["id"]], document_ids=[p.document_id])
    return shown_interpretations(ctx.conn, [interpretation])[0]


@action(
    "interpretation.delete",
    result=Deleted,
    summary="Delete an interpretation.",
    route=Route("DELETE", "/api/interpretations/{interpretation_id}"),
    words="Deleted an interpretation",
)
def withdraw(ctx: ActionContext, interpretation_id: Id) -> dict[str, Any]:
    """Delete it. Raises NotFound."""
    row = Interpretation.rows.require(ctx.conn, interpretation_id)
    Interpretation.rows.delete(ctx.conn, interpretation_id)
    ctx.target(interpretation_id, row["document_id"])
    ctx.note_changes(interpretation_ids=[interpretation_id], document_ids=[row["document_id"]])
    return {"status": "deleted", "id": interpretation_id}


@action(
    "prediction_review.create",
    result=KnowledgePredictionReview,
    summary="Save a predicted relation for review.",
    route=Route("POST", "/api/kg/kgembed/reviews"),
    words="Saved a predicted relation for review",
)
def keep(ctx: ActionContext, p: ReviewCreate) -> dict[str, Any]:
    """Save it. Raises NotFound for an entity, Conflict if the same relation of the same two is already pending, or, for a
    machine, was accepted or rejected.
    """
    live_entity(ctx.conn, p.source_entity_id)
    live_entity(ctx.conn, p.target_entity_id)
    review = reviews.c
    same_question = select(review.id, review.state).where(
        review.source_entity_id == p.source_entity_id,
        review.relation == p.relation,
        review.target_entity_id == p.target_entity_id,
    )
    for earlier in ctx.conn.execute(same_question.order_by(review.created_at, review.id)):
        if earlier.state == "pending":
            raise errors.review_pending(earlier.id)
        if earlier.state in ("accepted", "rejected") and ctx.principal.kind != "person":
            raise errors.relation_reviewed(earlier.state, earlier.id)
    fields = {**p.model_dump(mode="json"), "state": "pending", "created_at": ctx.now}
    row = KnowledgePredictionReview.rows.insert(ctx.conn, fields)
    ctx.target(row["id"])
    ctx.note_changes(entity_ids=[p.source_entity_id, p.target_entity_id])
    return row


@action(
    "prediction_review.decide",
    result=KnowledgePredictionReview,
    summary="Accept, reject or defer a predicted relation.",
    route=Route("PATCH", "/api/kg/kgembed/reviews/{review_id}"),
    words="Decided a predicted relation",
    rules=(DECIDED_REVIEWS,),
)
def decide(ctx: ActionContext, p: ReviewDecide) -> dict[str, Any]:
    """Decide it; this can be changed until it has become a statement. Invalid for a statement with any state
    but accepted.
    """
    row = KnowledgePredictionReview.rows.require(ctx.conn, p.review_id)
    if row["resulting_claim_id"] is not None:
        raise errors.has_become_a_claim(row["resulting_claim_id"])
    if p.resulting_claim_id is not None:
        if p.state != "accepted":
            raise errors.claim_of_accepted_only()
        Claim.rows.row(ctx.conn, p.resulting_claim_id)
    if p.state == "pending" and row["state"] in ("accepted", "rejected"):
        raise errors.stays_decided(row["state"])
    decision = {
        "state": p.state,
        "note": p.note if "note" in p.model_fields_set else row["note"],
        "resulting_claim_id": p.resulting_claim_id,
        "reviewed_by": ctx.principal.name,
        "reviewed_at": ctx.now,
    }
    KnowledgePredictionReview.rows.change(ctx.conn, p.review_id, decision)
    ctx.target(p.review_id)
    ctx.note_changes(
        entity_ids=[row["source_entity_id"], row["target_entity_id"]],
        claim_ids=[p.resulting_claim_id] if p.resulting_claim_id else [],
    )
    return {**row, **decision}
