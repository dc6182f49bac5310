"""Mentions, refused mentions, and what is on a line or page: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from sqlalchemy import Index

from armarium.api import (
    Computed,
    Message,
    Params,
    Record,
    paged,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_documents.api import documents, representations
from armarium_knowledge.records.ground import metadata
from armarium_knowledge.schemas.fields import Dates, Fraction, Id, Links, Name, Offset, Word
from armarium_source_model.api import segments


class MentionCreate(Params):
    """Characters of the page's text that name an entity."""

    entity_id: Id
    document_id: Id
    char_start: Offset
    char_end: Offset
    confidence: Fraction | None = None


class Repoint(Params):
    """The mention at these characters names another entity."""

    entity_id: Id
    document_id: Id
    char_start: Offset
    char_end: Offset
    to_entity_id: Id


class Respan(Params):
    """The mention at these characters moves to other ones."""

    entity_id: Id
    document_id: Id
    char_start: Offset
    char_end: Offset
    new_char_start: Offset
    new_char_end: Offset


class NamedOnLine(Params):
    """A name found on a line; the offsets count in the line's reading."""

    segment_id: Id
    representation_id: Id
    char_start: Offset
    char_end: Offset
    entity_id: Id | None = Field(default=None, description="The entity it names, if that is known.")
    canonical_name: Name | None = None
    entity_type: Word = "other"
    confidence: Fraction | None = None
    date_values: Dates = []
    authority_links: Links = Field(
        default=[], description="What identifies it: it goes to the entity with this link."
    )


class TakeMentions(Params):
    """The names found on one page."""

    document_id: Id
    episode_id: Id | None = None
    names: Annotated[list[NamedOnLine], Field(max_length=20_000)]


class Taken(Message):
    """What was written, and how many names were left out: already there, refused, or no longer on the line."""

    mention_ids: list[str]
    entity_ids: list[str]
    left_out: int


class Named(Message):
    """Characters of one reading of one line, and the entity that they name; offsets in the page's text are computed."""

    entity_id: str
    document_id: str
    segment_id: str
    representation_id: str
    segment_char_start: int
    segment_char_end: int
    text: str


@record(
    metadata,
    "mention",
    tracked(label="mention", document="document_id"),
    reference("entity_id", "entity.id", index=False),
    reference("document_id", documents.c.id, index=False),
    reference("segment_id", segments.c.id),
    reference("representation_id", representations.c.id),
    Index("ix_mention_entity", "entity_id", "document_id"),
    Index("ix_mention_document", "document_id", "entity_id"),
    last=provenance_columns(),
    hint="List the mentions of the entity to find the right id.",
)
class Mention(Named, Record):
    """Where an entity is named."""

    confidence: float | None
    corrected_by_person: bool
    # Of the reading as it was when somebody last looked at the mention: of this line, not of the page.
    text_fingerprint: str
    episode_id: str | None
    char_start: Computed[
        Annotated[int | None, Field(description="Offset in the page's text; null if it cannot be placed")]
    ]
    char_end: Computed[int | None]
    refused_entity_ids: Computed[list[str]]
    stale: Computed[
        Annotated[bool, Field(description="Whether its line has changed since it was last looked at")]
    ]
    placed: Computed[bool]
    unplaced_reason: Computed[str | None]


MentionPage = paged(Mention)


@record(
    metadata,
    "mention_refusal",
    tracked(label="refused mention", document="document_id"),
    reference("entity_id", "entity.id"),
    reference("document_id", documents.c.id),
    reference("segment_id", segments.c.id),
    reference("representation_id", representations.c.id),
    last=provenance_columns(),
)
class RefusedMention(Named, Record):
    """Characters that somebody stated do not name an entity: no machine may name it there again."""


mentions, refusals = Mention.table, RefusedMention.table


class MentionPlaced(Message):
    """Where the mention is now."""

    mention: Mention


class RefusedSpan(Message):
    """Characters that do not name an entity."""

    id: str
    entity_id: str
    canonical_name: str
    text: str
    char_start: int | None
    char_end: int | None


class PageMention(Mention):
    canonical_name: str
    entity_type: str


class PageMentions(Message):
    """Every mention on a page, those with a place first, in order, and what was refused there."""

    document_id: str
    items: list[PageMention]
    count: int
    unplaced: int
    refused: list[RefusedSpan]


class KnownName(Message):
    """Words of the page that are a name known to the project."""

    char_start: int
    char_end: int
    text: str
    segment_id: str
    entity_id: str
    canonical_name: str
    entity_type: str
    name: Annotated[str, Field(description="The name by which it was found")]
    score: Annotated[float, Field(description="1 for the name itself; less for one that seems misread")]
    others: Annotated[list[str], Field(description="Other entities of the same name")]


class KnownNames(Message):
    """Known names that are not yet mentions on the page, in the order of the text."""

    document_id: str
    items: list[KnownName]
    count: int


class StatementOnLine(Message):
    """A statement that rests on a line, with its characters on the line's reading."""

    claim_id: str
    text: str
    representation_id: str | None
    char_start: int | None
    char_end: int | None
    curation_state: str
    verdict: str | None


class MentionOnLine(Message):
    """A mention on a line: its characters there and in the page's text."""

    mention: str
    entity_id: str
    canonical_name: str
    char_start: int | None
    char_end: int | None
    source_char_start: int | None
    source_char_end: int | None
    corrected_by_person: bool


class Statements(Message):
    """The statements and mentions on a segment."""

    segment_id: str
    statements: list[StatementOnLine]
    mentions: list[MentionOnLine]
