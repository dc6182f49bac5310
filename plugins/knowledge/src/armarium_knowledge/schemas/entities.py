"""Requests and answers about entities, matches of them and predictions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from armarium.api import Message, Params, answer_of, listed, paged
from armarium_knowledge.models import entities, matches, reviews
from armarium_knowledge.schemas.fields import (
    Dates,
    EntityState,
    Fraction,
    Id,
    Ids,
    JsonObject,
    Language,
    Links,
    MatchMethod,
    MatchState,
    Name,
    Names,
    Places,
    ReviewState,
    ShortText,
    Text,
    Word,
)

TYPES = ("person", "location", "organization", "event", "concept", "citation", "other")
"""The types of entity in every project; a project's settings may name more."""


class EntityCreate(Params):
    """A new entity."""

    canonical_name: Name
    entity_type: Word
    parent_id: Id | None = None
    names: Names = []
    description: Text | None = None
    language: Language | None = None
    date_values: Dates = []
    place_values: Places = []
    authority_links: Links = []
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


@answer_of(entities)
class Entity(Message):
    """A person, a place or anything else that is named."""

    names: list[EntityName]
    aliases: list[str]
    date_values: list[dict[str, Any]]
    place_values: list[dict[str, Any]]
    authority_links: list[dict[str, Any]]
    source_document_ids: list[str]
    source_supports: list[Support]
    corroboration_count: Annotated[int, Field(description="How many live documents name it")]


EntityPage = paged(Entity)


class Merged(Message):
    """The survivor, and what was merged into it."""

    entity: Entity
    merged_ids: list[str]


class Deleted(Message):
    """What was deleted."""

    status: Literal["deleted"]
    id: str


@answer_of(matches)
class EntityMatchCandidate(Message):
    """Two entities that may be the same."""

    method: MatchMethod
    state: MatchState


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

    source_entity_id: Id
    relation: Word
    target_entity_id: Id
    score: Fraction
    rank: Annotated[int, Field(ge=0, le=2**53)] | None = None
    model_id: Word | None = None
    run_id: Word | None = None
    model_config_snapshot: JsonObject = {}


class ReviewDecide(Params):
    review_id: Id
    state: ReviewState
    note: ShortText | None = None
    resulting_claim_id: Id | None = None


@answer_of(reviews)
class KnowledgePredictionReview(Message):
    """A relation that a model predicted, and what was decided about it."""

    state: ReviewState


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
