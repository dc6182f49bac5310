"""Requests and answers of finding."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Message, Params, SourceText, listed

Id = Annotated[str, Field(min_length=1, max_length=200)]
Index = Annotated[int, Field(ge=0, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Method = Literal["rules-1", "learned-1"]
State = Literal["proposed", "accepted", "rejected"]


class FindSettings(Params):
    """The confidence needed for a document to be accepted without a person."""

    accept_above: Share | None = Field(
        default=0.95,
        description="Accept documents with at least this confidence of the rules; null: nothing is accepted automatically",
    )


class FindArgs(FindSettings):
    """The arguments of a run: pages, each found within its folder."""

    page_ids: list[str]


class RunParams(Params):
    """Where to find documents: folders, or a selection of pages."""

    scope_ids: Annotated[list[Id], Field(min_length=1, max_length=10_000)]
    accept_above: Share | None = None


class StartedRun(Message):
    """A run that was enqueued."""

    job_id: str
    state: str


class Run(Message):
    """A run: its progress, in words, and the proposals it made."""

    job_id: str
    state: str
    reason: str | None
    words: str
    proposal_ids: list[str]


class Decided(Message):
    """Who accepted or rejected: a person, or a run by its own threshold."""

    by: Literal["run", "person"]
    run_id: str | None = None
    actor: str | None = None


class FoundDocument(Message):
    """Pages that make a document. Positions count from 0; confidence is the least of its start, end and inner joins, and
    null where there is nothing to judge by.
    """

    index: int
    name: str
    page_ids: list[str]
    first_position: int
    last_position: int
    kind: str | None
    prototype_key: str | None
    date: str | None
    parties: list[str]
    confidence: float | None
    reasons: list[str]
    state: State
    accepted_as: str | None
    adjusted_by: str | None
    decided_by: Decided | None
    from_proposal_id: str | None = Field(
        default=None, description="The earlier proposal in which this was set, accepted or rejected"
    )


class FoundGroup(Message):
    """Documents that share two parties, in date order."""

    index: int
    label: str
    document_indexes: list[int]
    parties: list[str]
    reasons: list[str]
    state: State
    accepted_as: str | None
    decided_by: Decided | None


class PageFinding(Message):
    """What was noticed about a page."""

    kind: Literal["blank-verso", "blank-page", "duplicate-shot", "no-reading"]
    page_id: str
    of_page_id: str | None
    similarity: float | None
    reason: str


class Signal(Message):
    """A signal for or against a boundary, in log-odds; a weight of 0 only adds to the reasons."""

    cue: str
    role: Literal["opening", "closing", "furniture", "continuity", "kind"]
    weight: float
    page_id: str
    line: int | None


class Join(Message):
    """Where two leaves meet; a folder's first page has none before it and certainly begins a document. The probability
    is null where nothing is known, and 0 or 1 where a person decided it in an earlier proposal.
    """

    page_id: str
    previous_page_id: str | None
    probability: float | None
    run_probability: float | None = Field(
        default=None, description="What the run says of it, whatever a person decided"
    )
    decided_by: str | None = None
    signals: list[Signal]


class LabelledExample(Message):
    """A person's judgement of a join, with that of the run."""

    left_page_id: str
    right_page_id: str
    boundary: bool
    decided_by: str
    at: str
    run_probability: float | None
    run_reasons: list[str]


class ProposalHead(Message):
    """A proposal as a list shows it."""

    id: str
    folder_id: str
    method: Method
    job_id: str | None
    state: Literal["current", "superseded"]
    superseded_by: str | None
    created_at: str
    pages: int
    leaves: int
    documents_proposed: int


ProposalHeads = listed(ProposalHead, "ProposalHeads", "Proposals, the newest first.")


class Proposal(Message):
    """Which pages of a folder make documents, and why. What the caller may not see is left out and counted."""

    id: str
    folder_id: str
    page_ids: list[str]
    method: Method
    job_id: str | None
    leaves: int
    documents: list[FoundDocument]
    groups: list[FoundGroup]
    findings: list[PageFinding]
    joins: list[Join]
    examples: list[LabelledExample]
    state: Literal["current", "superseded"]
    superseded_by: str | None
    created_at: str
    text_fingerprint: str
    stale: bool | None = Field(
        description="Whether the text of a page has changed; null if that was not checked"
    )
    documents_withheld: int


class KeepParams(Params):
    """What a run found in one folder."""

    folder_id: Id
    proposal: Annotated[SourceText, Field(max_length=64_000_000, description="The proposal as JSON")]


class KeptProposal(Message):
    """The proposal that was stored."""

    id: str
    folder_id: str
    documents: int


class AcceptParams(Params):
    """Which documents to accept: by index, by confidence, or (neither) all that are left."""

    proposal_id: Id
    document_indexes: Annotated[list[Index], Field(min_length=1, max_length=100_000)] | None = None
    min_confidence: Share | None = None
    arrange: bool = True
    groups: bool = True


class AcceptedDocument(Message):
    """A document that was accepted, and its node."""

    index: int
    node_id: str


class MadeGroup(Message):
    """A proposed group that became a group node."""

    index: int
    node_id: str


class Accepted(Message):
    """What was accepted."""

    proposal: Proposal
    accepted: list[AcceptedDocument]
    groups_made: list[MadeGroup]


class RejectParams(Params):
    """Which documents to reject."""

    proposal_id: Id
    document_indexes: Annotated[list[Index], Field(min_length=1, max_length=100_000)]


class Rejected(Message):
    """The proposal with the documents marked."""

    proposal: Proposal


class SplitBody(Params):
    """Where to split a document: *page_id* starts the second one."""

    document_index: Index
    page_id: Id


class JoinBody(Params):
    """Which document to join to the next one."""

    document_index: Index


class MovePageBody(Params):
    """Which document gives its first page to the previous one, or its last to the next one."""

    document_index: Index
    to: Literal["previous", "next"]


class Split(SplitBody):
    """A document becomes two."""

    op: Literal["split"]


class JoinNext(JoinBody):
    """Two documents become one."""

    op: Literal["join"]


class MovePage(MovePageBody):
    """A page moves to the adjacent document."""

    op: Literal["move-page"]


class AdjustParams(Params):
    """What is to be corrected."""

    proposal_id: Id
    change: Annotated[Split | JoinNext | MovePage, Field(discriminator="op")]


class Adjusted(Message):
    """The proposal as corrected by a person, and the examples to learn from."""

    proposal: Proposal
    examples: list[LabelledExample]


class Level(Message):
    """Among the judged joins with at least this confidence, how many the run was right about."""

    level: float
    joins: int
    agreed: int


class Score(Message):
    """How well a run agreed with a person's judgements."""

    id: str
    folder_id: str
    proposal_id: str
    method: Method
    created_at: str
    documents: int
    judged_joins: int
    boundaries_proposed: int
    boundaries_actual: int
    precision: float | None
    recall: float | None
    exact_documents: int
    kinds_confirmed: int
    kinds_right: int
    kind_accuracy: float | None
    levels: list[Level]


class ScoreParams(Params):
    """Which folder to score, and by which proposal (none: its newest)."""

    folder_id: Id
    proposal_id: Id | None = None


class Scored(Message):
    """The new score, the folder's scores, newest first, and the suggested level for automatic acceptance, if
    there is one.
    """

    score: Score
    scores: list[Score]
    suggested_accept_above: float | None


class Scores(Message):
    """Scores, newest first, and the levels of every folder's newest score added up."""

    items: list[Score]
    count: int
    levels: list[Level]
    suggested_accept_above: float | None
    min_joins: int
