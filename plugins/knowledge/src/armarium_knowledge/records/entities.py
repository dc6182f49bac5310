"""Entities, matches of them, and reviews of predicted relations: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import Boolean, Column, Index, Text, text

from armarium.api import (
    HIDDEN,
    Computed,
    Message,
    Params,
    Record,
    Structure,
    by_name,
    listed,
    missing,
    paged,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_knowledge.records.ground import metadata
from armarium_knowledge.schemas.fields import (
    Dates,
    EntityState,
    Fraction,
    Id,
    Ids,
    JsonObject,
    Language,
    Links,
    LongText,
    MatchMethod,
    MatchState,
    Name,
    Names,
    Places,
    ReviewState,
    ShortText,
    Word,
)

TYPES = ("person", "location", "organization", "event", "concept", "citation", "other")
"""The types of entity in every project; a project's settings may name more."""


class EntityFields(Params):
    """What is sent of an entity and stored as it is."""

    canonical_name: Name
    entity_type: Word
    parent_id: Id | None = None
    names: Names = []
    description: LongText | None = None
    language: Language | None = None
    date_values: Dates = []
    place_values: Places = []
    authority_links: Links = []


class EntityCreate(EntityFields):
    """A new entity."""

    metadata: JsonObject = {}


class EntityUpdate(EntityCreate):
    """Changes of an entity: what is left out stays, null clears; a list replaces the existing one."""

    entity_id: Id
    canonical_name: Name = ""
    entity_type: Word = ""
    curation_state: EntityState = "unreviewed"


class EntityId(Params):
    entity_id: Id


class Merge(Params):
    """Entities that are the same as the survivor."""

    survivor_id: Id
    ids: Annotated[Ids, Field(min_length=1)]


class EntityName(Message):
    """One name, and who gave it."""

    id: str
    text: str
    romanized: str | None
    language: str | None
    script: str | None
    when: str | None
    source: str | None
    provenance_kind: str
    created_by: str | None
    run_id: str | None
    created_at: str


class Support(Message):
    """How often a document names an entity."""

    document_id: str
    mentions: int


@record(
    metadata,
    "entity",
    tracked(
        label="entity",
        monotonic=("updated_at",),
        large=("metadata", "place_values"),
        structure=Structure(("merged_into_id",)),
    ),
    reference("parent_id", "entity.id", required=False),
    reference("merged_into_id", "entity.id", required=False),
    Index("ix_entity_type", "entity_type"),
    last=(
        # Every name without case and diacritics, one per line: the text searched for names, maintained by the
        # actions.
        Column("folded_names", Text, nullable=False, info=HIDDEN),
        Column("episode_id", Text, info=HIDDEN),
        *provenance_columns(),
        Column("updated_at", Text, nullable=False),
    ),
    hint="List the entities to find the right id.",
)
class Entity(EntityFields, Record):
    """A person, a place or anything else that is named."""

    names: list[EntityName]  # type: ignore[assignment]  # an answer says who gave each name
    curation_state: str
    merged_into_id: str | None
    metadata: dict[str, Any]
    aliases: Computed[list[str]]
    source_document_ids: Computed[list[str]]
    source_supports: Computed[list[Support]]
    corroboration_count: Computed[Annotated[int, Field(description="How many live documents name it")]]


EntityPage = paged(Entity)

entities = Entity.table
"""A merged entity remains, and says into which it was merged."""

NOT_MERGED = entities.c.merged_into_id.is_(None)
"""Which entities are listed: a condition without parameters, or SQLite would not use the index of those."""
Index(
    "ix_entity_listed",
    by_name(entities.c.canonical_name),
    entities.c.id,
    # So that words are looked for in the index: the rows are many times as wide.
    entities.c.folded_names,
    sqlite_where=NOT_MERGED,
)


class Merged(Message):
    """The survivor, and what was merged into it."""

    entity: Entity
    merged_ids: list[str]


class Deleted(Message):
    """What was deleted."""

    status: Literal["deleted"]
    id: str


@record(
    metadata,
    "entity_match",
    tracked(label="match of entities"),
    reference("survivor_entity_id", "entity.id"),
    reference("candidate_entity_id", "entity.id"),
    Column("decided_by", Text),
    Column("decided_by_person", Boolean, nullable=False, info=HIDDEN),
    Index("ix_entity_match_state", "state", text("score DESC")),
    refusal=missing("match", "List the matches of entities to find the right id."),
)
class EntityMatchCandidate(Record):
    """Two entities that may be the same."""

    survivor_entity_id: str
    candidate_entity_id: str
    score: float
    method: MatchMethod
    state: MatchState
    reason: str | None
    decided_by: str | None
    decided_at: str | None
    created_at: str


matches = EntityMatchCandidate.table
"""Only a person decides that two entities are the same."""
MatchPage = paged(EntityMatchCandidate)


class Decide(Params):
    """The decision about a match."""

    match_id: Id
    state: Literal["accepted", "rejected"]
    reason: ShortText | None = None


class ProposedMatch(Params):
    survivor_id: Id
    candidate_id: Id
    score: Fraction
    method: MatchMethod = "manual"
    reason: ShortText | None = None


class ProposeMatches(Params):
    """Pairs of entities that may be the same; a pair that is decided or pending is left out."""

    pairs: Annotated[list[ProposedMatch], Field(min_length=1, max_length=10_000)]


class ProposedMatches(Message):
    """The ids of the matches that were written."""

    match_ids: list[str]


class FindMatches(Params):
    """Among which entities to look; left out: all."""

    entity_ids: Ids = []
    min_score: Annotated[Fraction, Field(description="How similar two names must be, from 0 to 1")] = 0.88


class Queued(Message):
    """A job that was enqueued."""

    job_id: str


class ReviewCreate(Params):
    """A predicted relation of two entities."""

    run_id: Word | None = None
    """The run of the model that predicted, as the sender states it: not the run that wrote the row."""
    source_entity_id: Id
    relation: Word
    target_entity_id: Id
    score: Fraction
    rank: Annotated[int, Field(ge=0, le=2**53)] | None = None
    model_id: Word | None = None
    model_config_snapshot: JsonObject = {}


class ReviewDecide(Params):
    review_id: Id
    state: ReviewState
    note: ShortText | None = None
    resulting_claim_id: Id | None = None


@record(
    metadata,
    "prediction_review",
    tracked(label="review of a prediction"),
    reference("source_entity_id", "entity.id"),
    reference("target_entity_id", "entity.id"),
    reference("resulting_claim_id", "claim.id", required=False),
    Index("ix_prediction_review_state", "state", "created_at"),
    refusal=missing("review", "List the reviews of predictions to find the right id."),
)
class KnowledgePredictionReview(ReviewCreate, Record):
    """A relation that a model predicted, and what was decided about it."""

    state: ReviewState
    note: str | None
    resulting_claim_id: str | None
    reviewed_by: str | None
    reviewed_at: str | None
    created_at: str


reviews = KnowledgePredictionReview.table

ReviewList = listed(KnowledgePredictionReview, "ReviewList", "Reviews, the oldest first.")


class WrittenDate(Message):
    """A date as it is written, and when that was in the Gregorian calendar."""

    as_written: str
    iso_start: str | None
    iso_end: str | None
    precision: str
    calendar: str


class DateRead(Message):
    """What was read; null for what is not a date."""

    date: WrittenDate | None
