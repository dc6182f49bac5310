"""Scores a proposal against people's judgements."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from armarium.api import ActionContext, Route, action, is_among
from armarium_documents.api import classifications, documents, require_live
from armarium_finding import errors, scoring, store
from armarium_finding.decided import is_judged
from armarium_finding.queries import levels_now
from armarium_finding.schemas import Scored, ScoreParams


@action(
    "finddocs.score",
    result=Scored,
    summary="Measure a proposal against the documents that a person accepted, rejected or adjusted.",
    route=Route("POST", "/api/find-documents/score", name="score_found_documents"),
    words="Scored the documents found in {folder_id|a folder}",
    undoable=False,
)
def score(ctx: ActionContext, p: ScoreParams) -> dict[str, Any]:
    """Store the score beside the folder's others. Invalid for a folder without a proposal, or with none
    judged by a person.
    """
    folder = require_live(ctx.conn, p.folder_id)
    proposal_id = p.proposal_id or store.newest_of(ctx.conn, folder.id)
    if proposal_id is None:
        raise errors.no_proposal(folder.id)
    proposal = store.dress(ctx.conn, store.read_proposal(ctx.conn, proposal_id))
    if proposal["folder_id"] != folder.id:
        raise errors.other_folder(proposal_id, folder.id)
    if not any(is_judged(document) for document in proposal["documents"]):
        raise errors.none_judged(proposal_id)
    artifact = ctx.run(
        "artifact.create",
        {
            "document_id": folder.id,
            "artifact_type": store.SCORE,
            "data": scoring.score(proposal, _kinds(ctx, proposal)),
            "source_artifact_id": proposal_id,
            "step_name": store.STEP,
            "provider": "builtin",
            "model": proposal["method"],
        },
    )
    ctx.target(folder.id, proposal_id)
    ours = store.scores_of(ctx.conn, folder.id)
    written_score = next(score_row for score_row in ours if score_row["id"] == artifact["id"])
    suggestion = levels_now(ctx.conn, proposal["method"])["suggested_accept_above"]
    return {"score": written_score, "scores": ours, "suggested_accept_above": suggestion}


def _kinds(ctx: ActionContext, proposal: dict[str, Any]) -> dict[str, str | None]:
    """Return the present kinds of the nodes of accepted documents: node -> the name of its prototype."""
    nodes = [
        document["accepted_as"] for document in proposal["documents"] if document["accepted_as"] is not None
    ]
    joined = documents.outerjoin(classifications, classifications.c.key == documents.c.prototype_key)
    query = select(documents.c.id, classifications.c.label).select_from(joined)
    rows = ctx.conn.execute(query.where(is_among(documents.c.id, nodes), documents.c.deleted_at.is_(None)))
    return {row[0]: row[1] for row in rows}
