"""Writes of interpretations of documents and reviews of predicted relations."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Example, Route, action
from armarium_documents.api import require_live
from armarium_knowledge import errors, samples
from armarium_knowledge.actions.persons_only import DECIDED_REVIEWS
from armarium_knowledge.placing import PagePlaces
from armarium_knowledge.queries.claims import shown_interpretations
from armarium_knowledge.queries.entities import live_entity
from armarium_knowledge.records.claims import (
    Claim,
    Interpretation,
    InterpretationCreate,
    InterpretationId,
)
from armarium_knowledge.records.entities import (
    Deleted,
    KnowledgePredictionReview,
    ReviewCreate,
    ReviewDecide,
    reviews,
)
from armarium_source_model.api import text_fingerprint


def _interpret_example(ex: Example) -> dict[str, Any]:
    return {
        "document_id": samples.read_page(ex)["page_id"],
        "framework_id": "micro-history",
        "framework_name": "Micro-history",
        "text": "A small sale that shows who could own land",
        "key_insights": ["The seller signs himself"],
    }


@action(
    "interpretation.create",
    params=InterpretationCreate,
    result=Interpretation,
    summary="Write an interpretation of a document.",
    route=Route("POST", "/api/interpretations"),
    words="Wrote an interpretation of {document_id|a document}",
    example=_interpret_example,
)
def interpret(ctx: ActionContext, p: InterpretationCreate) -> dict[str, Any]:
    """Write it, with the fingerprint of the text it interprets. Raises NotFound."""
    require_live(ctx.conn, p.document_id)
    stated = p.model_dump(mode="json")
    mark = text_fingerprint(PagePlaces(ctx.conn, p.document_id).text)
    row = {**stated, "text_fingerprint": mark, "episode_id": None, **ctx.provenance()}
    made = Interpretation.rows.insert(ctx.conn, row)
    ctx.target(made["id"], p.document_id)
    ctx.note_changes(interpretation_ids=[made["id"]], document_ids=[p.document_id])
    return shown_interpretations(ctx.conn, [made])[0]


def _write_example(ex: Example) -> dict[str, Any]:
    return {"interpretation_id": ex.run("interpretation.create", _interpret_example(ex))["id"]}


@action(
    "interpretation.delete",
    params=InterpretationId,
    result=Deleted,
    summary="Delete an interpretation.",
    route=Route("DELETE", "/api/interpretations/{interpretation_id}"),
    words="Deleted an interpretation",
    example=_write_example,
)
def withdraw(ctx: ActionContext, p: InterpretationId) -> dict[str, Any]:
    """Delete it. Raises NotFound."""
    row = Interpretation.rows.require(ctx.conn, p.interpretation_id)
    Interpretation.rows.delete(ctx.conn, p.interpretation_id)
    ctx.target(p.interpretation_id, row["document_id"])
    ctx.note_changes(interpretation_ids=[p.interpretation_id], document_ids=[row["document_id"]])
    return {"status": "deleted", "id": p.interpretation_id}


def _predict_example(ex: Example) -> dict[str, Any]:
    return {
        "source_entity_id": samples.entity(ex),
        "relation": "owned",
        "target_entity_id": samples.entity(ex, "The vineyard", "location"),
        "score": 0.8,
    }


@action(
    "prediction_review.create",
    params=ReviewCreate,
    result=KnowledgePredictionReview,
    summary="Save a predicted relation for review.",
    route=Route("POST", "/api/kg/kgembed/reviews"),
    words="Saved a predicted relation for review",
    example=_predict_example,
)
def keep(ctx: ActionContext, p: ReviewCreate) -> dict[str, Any]:
    """Save it. Raises NotFound for an entity, Conflict if the same relation of the same two is already pending, or, for a
    machine, was accepted or rejected.
    """
    live_entity(ctx.conn, p.source_entity_id)
    live_entity(ctx.conn, p.target_entity_id)
    r = reviews.c
    same = select(r.id, r.state).where(
        r.source_entity_id == p.source_entity_id,
        r.relation == p.relation,
        r.target_entity_id == p.target_entity_id,
    )
    for known in ctx.conn.execute(same.order_by(r.created_at, r.id)):
        if known.state == "pending":
            raise errors.review_pending(known.id)
        if known.state in ("accepted", "rejected") and ctx.principal.kind != "person":
            raise errors.relation_reviewed(known.state, known.id)
    sent = {**p.model_dump(mode="json"), "state": "pending", "created_at": ctx.now}
    row = KnowledgePredictionReview.rows.insert(ctx.conn, sent)
    ctx.target(row["id"])
    ctx.note_changes(entity_ids=[p.source_entity_id, p.target_entity_id])
    return row


@action(
    "prediction_review.decide",
    params=ReviewDecide,
    result=KnowledgePredictionReview,
    summary="Accept, reject or defer a predicted relation.",
    route=Route("PATCH", "/api/kg/kgembed/reviews/{review_id}"),
    words="Decided a predicted relation",
    rules=(DECIDED_REVIEWS,),
    example=lambda ex: {
        "review_id": ex.run("prediction_review.create", _predict_example(ex))["id"],
        "state": "deferred",
    },
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
    done = {
        "state": p.state,
        "note": p.note if "note" in p.model_fields_set else row["note"],
        "resulting_claim_id": p.resulting_claim_id,
        "reviewed_by": ctx.principal.name,
        "reviewed_at": ctx.now,
    }
    KnowledgePredictionReview.rows.change(ctx.conn, p.review_id, done)
    ctx.target(p.review_id)
    ctx.note_changes(
        entity_ids=[row["source_entity_id"], row["target_entity_id"]],
        claim_ids=[p.resulting_claim_id] if p.resulting_claim_id else [],
    )
    return {**row, **done}
