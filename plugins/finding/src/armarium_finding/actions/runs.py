"""Starts a run, and stores what it found in a folder."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from armarium.api import ActionContext, Route, action, cancel_with_undo, new_id
from armarium_documents.api import fill_artifact, require_live, title_of_work
from armarium_finding import errors, store
from armarium_finding.decided import Decisions, decisions_of
from armarium_finding.loose import folders_of, pages_in_scope
from armarium_finding.models import said
from armarium_finding.pages import words_of
from armarium_finding.queries import JOB_KIND
from armarium_finding.schemas import (
    FindArgs,
    Id,
    Join,
    KeepParams,
    KeptProposal,
    Method,
    PageFinding,
    RunParams,
    StartedRun,
)
from armarium_source_model.api import reading_rule

MOST_LOOKED_AT = 500


@action(
    "finddocs.run",
    result=StartedRun,
    summary="Find which pages make documents, in folders or among chosen pages.",
    route=Route("POST", "/api/find-documents/runs", name="start_find_documents", refusals=(404, 409)),
    words="Started to find documents in {scope_ids|folders}",
    guards_targets=True,
    after_undo=cancel_with_undo,
)
def run(ctx: ActionContext, p: RunParams) -> dict[str, Any]:
    """Enqueue a run; nothing in the source changes. Without accept_above, nothing is accepted automatically.

    Raises NotFound, Conflict and Invalid for a scope without loose pages, and Invalid if nobody has read any of them.
    """
    pages = pages_in_scope(ctx.conn, p.scope_ids)
    rule = reading_rule(ctx.conn)
    # Of more pages the run says so itself: looking at all of them would keep others from writing.
    if len(pages) <= MOST_LOOKED_AT and not any(words_of(ctx.conn, page, rule).is_read for page in pages):
        raise errors.nothing_read(len(pages))
    args = FindArgs(page_ids=pages, accept_above=p.accept_above)
    title = title_of_work(ctx.conn, "Find documents", pages)
    job_id = ctx.enqueue(JOB_KIND, args.model_dump(mode="json"), title=title, total=len(pages))
    ctx.target(*p.scope_ids, job_id)
    return {"job_id": job_id, "state": "waiting"}


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    page_ids: list[Id] = Field(min_length=1)
    confidence: float | None = Field(ge=0, le=1)
    reasons: list[str]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")

    fingerprint: str
    kind: tuple[str, float] | None = None
    date: str | None = None
    parties: list[str] = Field(default_factory=list)


class _Sent(BaseModel):
    """A proposal as a run sends it: nothing in it is decided yet."""

    model_config = ConfigDict(extra="forbid")

    method: Method
    job_id: str | None
    page_ids: list[Id] = Field(min_length=1)
    leaves: int = Field(ge=1)
    documents: list[_Document]
    groups: list[list[int]]
    findings: list[PageFinding]
    joins: list[Join]
    said: dict[str, _Said]
    features: dict[str, list[Annotated[float, Field(allow_inf_nan=False)]]]
    text_fingerprint: str


@action(
    "finddocs.propose",
    result=KeptProposal,
    summary="Store a run's proposal of which pages of a folder make documents.",
    words="Proposed documents in {folder_id|a folder}",
)
def propose(ctx: ActionContext, p: KeepParams) -> dict[str, Any]:
    """Store it as an artifact of the folder, replacing the previous proposal. Invalid for anything but a
    proposal for the folder, Conflict for one that goes against what a person decided.
    """
    if require_live(ctx.conn, p.folder_id).doc_type != "folder":
        raise errors.not_a_folder(p.folder_id)
    try:
        proposal = _Sent.model_validate(orjson.loads(p.proposal))
    except (ValidationError, orjson.JSONDecodeError) as fault:
        raise errors.not_a_proposal("its JSON does not fit.") from fault
    _check(ctx, p.folder_id, proposal)
    decisions = decisions_of(store.every_proposal(ctx.conn, p.folder_id))
    _keep_to(decisions, proposal)
    head = {
        "pages": len(proposal.page_ids),
        "leaves": proposal.leaves,
        "documents_proposed": len(proposal.documents),
    }
    artifact = ctx.run(
        "artifact.create",
        {
            "document_id": p.folder_id,
            "artifact_type": store.GROUPING,
            "content": orjson.dumps({**head, "job_id": proposal.job_id}).decode(),
            "step_name": store.STEP,
            "provider": "builtin",
            "model": proposal.method,
        },
    )
    proposal_id = str(artifact["id"])
    # Not a free field of the action: a folder of some thousand pages has more joins than such a field may
    # contain.
    fill_artifact(ctx, proposal_id, store.new_proposal_data(proposal.model_dump(mode="json"), decisions))
    ctx.bulk_insert(
        said,
        (
            "id",
            "proposal_id",
            "document_id",
            "kind",
            "kind_weight",
            "date",
            "parties",
            "text_fingerprint",
            "run_id",
        ),
        [
            (
                new_id(),
                proposal_id,
                page_id,
                decision.kind and decision.kind[0],
                decision.kind and decision.kind[1],
                decision.date,
                orjson.dumps(decision.parties).decode(),
                decision.fingerprint,
                ctx.run_id,
            )
            for page_id, decision in proposal.said.items()
        ],
    )
    ctx.target(p.folder_id, proposal_id)
    return {"id": proposal_id, "folder_id": p.folder_id, "documents": len(proposal.documents)}


def _keep_to(decisions: Decisions, proposal: _Sent) -> None:
    """Refuse documents against what a person decided in an earlier proposal; state at each join what that was."""
    settled = decisions.settle(proposal.page_ids)
    starts = {document.page_ids[0] for document in proposal.documents}
    for page_id, (boundary, by) in settled.items():
        if (page_id in starts) != boundary:
            raise errors.against_a_decision(page_id, by, begins=boundary)
    for join in proposal.joins:
        settled_join = settled.get(join.page_id)
        join.decided_by = settled_join and settled_join.by
        join.probability = float(settled_join.boundary) if settled_join else join.run_probability


def _check(ctx: ActionContext, folder_id: str, proposal: _Sent) -> None:
    """Refuse pages that are not loose in the folder, and documents that are not those pages in order."""
    folders = folders_of(ctx.conn, proposal.page_ids)
    for page_id in proposal.page_ids:
        if folders.get(page_id) != folder_id:
            raise errors.not_a_proposal(f"page {page_id} is not a loose page of it.")
    if [page for document in proposal.documents for page in document.page_ids] != proposal.page_ids:
        raise errors.not_a_proposal("its documents are not its pages in order.")
    indexes = [index for group in proposal.groups for index in group]
    if len(set(indexes)) != len(indexes) or any(
        not 0 <= index < len(proposal.documents) for index in indexes
    ):
        raise errors.not_a_proposal("its groups name documents twice, or documents that do not exist.")
    if proposal.said.keys() - set(proposal.page_ids):
        raise errors.not_a_proposal("it refers to other pages.")
