"""Likeness: vectors of segments, and proposals by them; and the bundled fonts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy import Column, Index, LargeBinary, Table, Text

from armarium.api import (
    Message,
    Params,
    Record,
    derived,
    listed,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_documents.api import documents
from armarium_paleography.records.ground import Id, metadata, part_of
from armarium_source_model.api import segments


class Font(Message):
    """A bundled font."""

    name: str
    family: str
    scripts: list[str]
    file: str
    licence: str
    licence_file: str
    order: int


Fonts = listed(Font, "Fonts", "The bundled fonts in fallback order.")

ProposalKind = Literal["hand", "sign"]
ProposalState = Literal["pending", "accepted", "rejected"]


class Look(Params):
    """The pages whose lines and words should be looked at."""

    scope_ids: Annotated[list[Id], Field(min_length=1, max_length=10_000)]


class LookArgs(Params):
    """The arguments of a job that looks at pages."""

    page_ids: list[str]


class LookStarted(Message):
    """A job that was enqueued."""

    job_id: str
    state: str


class Like(Message):
    """A segment similar to the one asked about; 1 is the same picture, 0 is no more similar than any two."""

    segment_id: str
    document_id: str
    score: float


class Likes(Message):
    """The segments most similar to one, the most similar first."""

    segment_id: str
    items: list[Like]
    count: int
    looked_at: Annotated[int, Field(description="segments that were looked at, of those the caller may see")]
    withheld: Annotated[
        int,
        Field(description="segments that were looked at and that the caller may not see, similar or not"),
    ]


class Propose(Params):
    """Segments for which a hand or a sign should be proposed, by the judged segments most similar to them."""

    kind: ProposalKind
    segment_ids: Annotated[list[Id], Field(min_length=1, max_length=1_000)]


@record(
    metadata,
    "likeness_proposal",
    tracked(label="proposal", document="document_id"),
    reference("hand_id", "hand.id", required=False),
    reference("sign_id", "sign.id", required=False),
    reference("segment_id", segments.c.id),
    reference("like_segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    Index("ix_likeness_proposal_state", "state", "kind", "id"),
    last=provenance_columns(),
    hint="The list of proposals has the right one.",
)
class Proposal(Record):
    """A hand or a sign proposed for a segment because it looks like a judged one."""

    kind: ProposalKind
    hand_id: str | None
    sign_id: str | None
    segment_id: str
    like_segment_id: str
    document_id: str
    score: float
    state: ProposalState
    decided_by: str | None
    decided_at: str | None
    # The attribution or instance that was made when it was accepted.
    resulting_id: str | None


Proposals = part_of(Proposal, "Proposals", "Proposals, the most similar first.")

proposals = Proposal.table

vectors = Table(
    "likeness_vector",
    metadata,
    Column("segment_id", Text, primary_key=True),
    Column("document_id", Text, nullable=False, index=True),
    # Of the picture and shape it was made from: when these change, the vector is made again.
    Column("fingerprint", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    info=derived(document="document_id"),
)
"""What the picture of a segment looks like, as a vector of unit length (float16)."""
