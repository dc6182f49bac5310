"""Errors that are proposed because others like them were corrected, what was said of them, and lines worth a look."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from sqlalchemy import Column, Index, Text

from armarium.api import (
    HIDDEN,
    Message,
    Params,
    Record,
    SourceText,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_checking.records.checks import Id, metadata
from armarium_documents.api import documents
from armarium_source_model.api import segments

Word = Annotated[SourceText, Field(min_length=1, max_length=400)]
Place = Annotated[int, Field(ge=0, le=100_000)]
MOST_AT_ONCE = 1_000


class ProposalItem(Params):
    """A proposal as it was listed."""

    segment_id: Id
    reading_id: Id
    char_start: Place
    char_end: Place
    read: Word
    proposed: Word


class Decide(Params):
    """Which proposals are errors, and which are not: all of it is one step."""

    accepted: Annotated[list[ProposalItem], Field(max_length=MOST_AT_ONCE)] = []
    rejected: Annotated[list[ProposalItem], Field(max_length=MOST_AT_ONCE)] = []


class Decided(Message):
    """The readings that were written, one for each corrected line, and how many proposals are not offered again."""

    representation_ids: list[str]
    rejected: int


@record(
    metadata,
    "check_rejection",
    tracked(label="rejected proposal", document="document_id"),
    reference("document_id", documents.c.id),
    reference("segment_id", segments.c.id),
    Column("read", Text, nullable=False, info=HIDDEN),
    Column("proposed", Text, nullable=False, info=HIDDEN),
    Index("ix_check_rejection_words", "read", "proposed"),
    last=provenance_columns(),
)
class Rejection(Record):
    """A word of a line that a person said is right as it was read."""

    document_id: str
    segment_id: str
    read: str
    proposed: str


rejections = Rejection.table


class Proposal(Message):
    """A word of a line that is probably misread in a way that was corrected elsewhere. `probability`: by what is known, to
    order by. `ink`: how much likelier the ink is under the proposed text, as a logarithm; null where it was not asked for or
    nothing is known. wrong, right: the word that was corrected, in the line `corrected_segment_id`.
    """

    document_id: str
    segment_id: str
    reading_id: str
    char_start: int
    char_end: int
    read: str
    proposed: str
    text: str
    probability: float
    ink: float | None
    picture: str
    corrected_segment_id: str
    wrong: str
    right: str


class Proposals(Message):
    """The best first; `more`: whether there are others after these."""

    items: list[Proposal]
    count: int
    more: bool


class DisputedLine(Message):
    """A line that a correction helps, with what speaks for it. expected: how many of its characters are probably wrong;
    where its reader did not say how sure it was (`confidence` null), a guess by which it is ordered, and no finding. disagreement: in how many another reader differs. rare: words that are rare, and one confusion from one that is known.
    shared: how many other lines have one of these words.
    """

    document_id: str
    segment_id: str
    reading_id: str
    text: str
    confidence: float | None
    expected: float
    disagreement: int
    rare: list[str]
    shared: int
    picture: str


class DisputedLines(Message):
    """Those that a correction helps most first."""

    items: list[DisputedLine]
    count: int
    limit: int
    offset: int
