"""Requests and answers of paleography."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from armarium.api import Message, Params, SourceText, answer_of
from armarium_paleography import models as t

Id = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Words = Annotated[str, Field(max_length=10_000)]
Short = Annotated[str, Field(min_length=1, max_length=80)]
Certainty = Annotated[float, Field(ge=0, le=1, description="0 to 1")]
FactKind = Literal["unclear", "lost", "restored", "supplied", "superfluous", "deleted", "added"]
_CODE_POINT = re.compile(r"U\+(?:[0-9A-F]{4,5}|10[0-9A-F]{4})")


def _code_point(value: str) -> str:
    if not _CODE_POINT.fullmatch(value) or ("U+D800" <= value <= "U+DFFF" and len(value) == 6):
        raise ValueError("a code point is written as U+ and four to six hexadecimal capitals, such as U+A75B")
    return value


CodePoint = Annotated[str, AfterValidator(_code_point)]


# ------------------------------------------------------------------------------------------- hands


class HandCreate(Params):
    """A hand: one writer's writing."""

    label: Name
    scribe: Name | None = None
    date: Annotated[Name | None, Field(description="in words")] = None
    place: Name | None = None
    style: Name | None = None
    notes: Words | None = None


class HandId(Params):
    hand_id: Id


@answer_of(t.hands)
class Hand(Message):
    """A hand."""


class Hands(Message):
    """The hands of the project."""

    items: list[Hand]
    count: int
    total: int


class Attribute(Params):
    """That a segment is of a hand, as the caller judges."""

    hand_id: Id
    segment_id: Id
    certainty: Certainty | None = None
    note: Words | None = None


class AttributionId(Params):
    attribution_id: Id


@answer_of(t.attributions)
class Attribution(Message):
    """A judgement of a segment's hand."""


class Attributions(Message):
    """Judgements of hands."""

    items: list[Attribution]
    count: int
    total: int


class SegmentHands(Message):
    """Every live judgement of a segment's hand, rivals side by side."""

    segment_id: str
    items: list[Attribution]
    count: int


# --------------------------------------------------------------------------------------- campaigns


class CampaignCreate(Params):
    """A campaign of writing on a source."""

    document_id: Id
    name: Name
    sequence: Annotated[int | None, Field(ge=1, le=1_000_000, description="1: laid down first")] = None
    hand_id: Id | None = None
    date: Annotated[Name | None, Field(description="in words")] = None
    notes: Words | None = None


class CampaignUpdate(Params):
    """What of a campaign is to be another."""

    campaign_id: Id
    name: Name = ""
    sequence: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    hand_id: Id | None = None
    date: Name | None = None
    notes: Words | None = None


class CampaignId(Params):
    campaign_id: Id


class Assign(Params):
    """The campaign a segment belongs to; null: to none."""

    segment_id: Id
    campaign_id: Id | None


class AssignReading(Params):
    """The campaigns that a reading gives."""

    representation_id: Id
    campaign_ids: Annotated[list[Id], Field(max_length=1_000)]


@answer_of(t.campaigns)
class Campaign(Message):
    """A campaign."""


class Campaigns(Message):
    """Campaigns, the one laid down first at the beginning."""

    items: list[Campaign]
    count: int


class SegmentCampaign(Message):
    """The campaign of a segment."""

    segment_id: str
    campaign: Campaign | None


class ReadingCampaigns(Message):
    """The campaigns of a reading."""

    representation_id: str
    campaign_ids: list[str]
    items: list[Campaign]
    count: int


# --------------------------------------------------------------------------------- editorial facts


class FactCreate(Params):
    """What is seen on a segment, of a span of one of its readings or of it all."""

    segment_id: Id
    kind: FactKind
    representation_id: Annotated[
        Id | None, Field(description="left out where characters are named: the counting transcription")
    ] = None
    char_start: Annotated[int | None, Field(ge=0)] = None
    char_end: Annotated[int | None, Field(ge=0)] = None
    extent: Annotated[Name | None, Field(description="in words: about three letters")] = None
    extent_quantity: Annotated[float | None, Field(gt=0, le=1_000_000)] = None
    extent_unit: Short | None = None
    reason: Name | None = None
    place: Annotated[Name | None, Field(description="above, margin, …")] = None
    certainty: Certainty | None = None
    source: Annotated[Name | None, Field(description="what it is supplied or restored from")] = None

    @model_validator(mode="after")
    def _both_ends(self) -> FactCreate:
        if (self.char_start is None) != (self.char_end is None):
            raise ValueError("char_start and char_end are sent both, or neither")
        if (self.extent_quantity is None) != (self.extent_unit is None):
            raise ValueError("extent_quantity and extent_unit are sent both, or neither")
        return self


class FactId(Params):
    fact_id: Id


@answer_of(t.facts)
class Fact(Message):
    """An editorial fact."""

    kind: FactKind


class CountingReading(Message):
    """The transcription that counts."""

    representation_id: str
    text: SourceText
    basis: str


class SegmentFacts(Message):
    """The live facts of a segment, and the reading that counts."""

    segment_id: str
    facts: list[Fact]
    counting_reading: CountingReading | None


# ------------------------------------------------------------------------------------------- signs


class ListReference(Message):
    """The number of a sign in a published list."""

    authority: Name
    number: Name


class SignCreate(Params):
    """A sign, with a segment that is the picture of it."""

    name: Name
    picture_segment_id: Id
    code_point: CodePoint | None = None
    list_references: Annotated[list[ListReference], Field(max_length=100)] = Field(default_factory=list)
    variant_of: Id | None = None
    variant: Name | None = None
    notes: Words | None = None


class SignId(Params):
    sign_id: Id


class AddInstance(Params):
    """That a segment shows a sign."""

    sign_id: Id
    segment_id: Id
    certainty: Certainty | None = None


class InstanceId(Params):
    instance_id: Id


@answer_of(t.signs)
class Sign(Message):
    """A sign."""

    list_references: list[ListReference]


class Signs(Message):
    """The signs of the project."""

    items: list[Sign]
    count: int
    total: int


@answer_of(t.instances)
class Instance(Message):
    """An instance of a sign."""


class Instances(Message):
    """Where a sign stands."""

    items: list[Instance]
    count: int
    total: int


# ------------------------------------------------------------------------------------- letterforms


class Feature(Message):
    """What one part of a letter looks like, in words of one's own."""

    component: Short
    feature: Short


class Describe(Params):
    """How the character of a segment is written; it takes the place of an earlier description."""

    segment_id: Id
    character: Short
    allograph_id: Id | None = None
    hand_id: Id | None = None
    features: Annotated[list[Feature], Field(max_length=200)] = Field(default_factory=list)


class Clear(Params):
    segment_id: Id


class AllographCreate(Params):
    """One way to write a character."""

    character: Short
    name: Name
    notes: Words | None = None


class AllographId(Params):
    allograph_id: Id


@answer_of(t.allographs)
class Allograph(Message):
    """An allograph."""


class Allographs(Message):
    """The allographs of the project."""

    items: list[Allograph]
    count: int


@answer_of(t.letterforms)
class Letterform(Message):
    """How the character of a segment is written."""

    features: list[Feature]


class Letterforms(Message):
    """Letterforms."""

    items: list[Letterform]
    count: int
    total: int


class SegmentLetterform(Message):
    """The description of a segment's letterform."""

    segment_id: str
    letterform: Letterform | None


class FeatureCount(Message):
    """A feature in use, and how often."""

    component: str
    feature: str
    count: int


class Features(Message):
    """The features in use, the most frequent first."""

    items: list[FeatureCount]
    count: int


# ------------------------------------------------------------------------------------------- fonts


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


# ---------------------------------------------------------------------------------------- likeness

ProposalKind = Literal["hand", "sign"]
ProposalState = Literal["pending", "accepted", "rejected"]


class Look(Params):
    """The pages whose lines and words are to be looked at."""

    scope_ids: Annotated[list[Id], Field(min_length=1, max_length=10_000)]


class LookArgs(Params):
    """The arguments of a job that looks at pages."""

    page_ids: list[str]


class LookStarted(Message):
    """A job that was put in the queue."""

    job_id: str
    state: str


class Like(Message):
    """A segment that looks like the one asked about; 1 is the same picture, 0 is no more alike than any two."""

    segment_id: str
    document_id: str
    score: float


class Likes(Message):
    """The segments that look most like one, the likest first."""

    segment_id: str
    items: list[Like]
    count: int
    looked_at: Annotated[int, Field(description="segments of the project that were looked at")]


class Propose(Params):
    """Segments for which a hand or a sign is to be proposed, after those that look most like them."""

    kind: ProposalKind
    segment_ids: Annotated[list[Id], Field(min_length=1, max_length=1_000)]


class ProposalId(Params):
    proposal_id: Id


@answer_of(t.proposals)
class Proposal(Message):
    """A hand or a sign that is proposed for a segment, because it looks like one that is judged."""

    kind: ProposalKind
    state: ProposalState


class Proposals(Message):
    """Proposals, the likest first."""

    items: list[Proposal]
    count: int
    total: int
