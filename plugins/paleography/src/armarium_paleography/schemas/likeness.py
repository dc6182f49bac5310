"""Requests and answers of similarity and of the bundled fonts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Message, Params, answer_of
from armarium_paleography import models as t
from armarium_paleography.schemas.fields import Id
from armarium_paleography.schemas.list_page import Listed


class Font(Message):
    """A bundled font."""

    name: str
    family: str
    scripts: list[str]
    file: str
    licence: str
    licence_file: str
    order: int


class Fonts(Message):
    """The bundled fonts in fallback order."""

    items: list[Font]
    count: int


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


class ProposalId(Params):
    proposal_id: Id


@answer_of(t.proposals)
class Proposal(Message):
    """A hand or a sign proposed for a segment because it looks like a judged one."""

    kind: ProposalKind
    state: ProposalState


class Proposals(Listed):
    """Proposals, the most similar first."""

    items: list[Proposal]
