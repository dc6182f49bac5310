"""Requests and answers of editorial facts, signs and letterforms."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armarium.api import Message, Params, SourceText, answer_of
from armarium_paleography import models as t
from armarium_paleography.schemas.fields import Certainty, CodePoint, FactKind, Id, Name, Short, Words
from armarium_paleography.schemas.list_page import Listed


class FactCreate(Params):
    """What is seen on a segment, or on a span of one of its readings."""

    segment_id: Id
    kind: FactKind
    representation_id: Annotated[
        Id | None, Field(description="default where characters are named: the counting transcription")
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
            raise ValueError("send both char_start and char_end, or neither")
        if (self.extent_quantity is None) != (self.extent_unit is None):
            raise ValueError("send both extent_quantity and extent_unit, or neither")
        return self


class FactId(Params):
    fact_id: Id


@answer_of(t.facts)
class Fact(Message):
    """An editorial fact."""

    kind: FactKind


class CountingReading(Message):
    """The counting transcription."""

    representation_id: str
    text: SourceText
    basis: str


class SegmentFacts(Message):
    """The live facts of a segment, and its counting reading."""

    segment_id: str
    facts: list[Fact]
    counting_reading: CountingReading | None


class ListReference(Message):
    """The number of a sign in a published list."""

    authority: Name
    number: Name


class SignCreate(Params):
    """A sign, with a segment as its picture."""

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
    """A segment that shows a sign."""

    sign_id: Id
    segment_id: Id
    certainty: Certainty | None = None


class InstanceId(Params):
    instance_id: Id


class SeenSign(Params):
    """A segment and the sign it shows: a declared one by its id, or one by name, declared now if there is
    none.
    """

    segment_id: Id
    sign_id: Id | None = None
    name: Name | None = None
    certainty: Certainty | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> SeenSign:
        if (self.sign_id is None) == (self.name is None):
            raise ValueError("send either sign_id or name, not both")
        return self


class TakeSigns(Params):
    """The signs that someone looking for them saw on segments."""

    signs: Annotated[list[SeenSign], Field(min_length=1, max_length=20_000)]


class TakenSigns(Message):
    """declared: signs that are new; instance_ids: instances that are new (a segment that showed the sign is
    unchanged).
    """

    declared: list[str]
    instance_ids: list[str]


@answer_of(t.signs)
class Sign(Message):
    """A sign."""

    list_references: list[ListReference]


class Signs(Listed):
    """The signs of the project."""

    items: list[Sign]


@answer_of(t.instances)
class Instance(Message):
    """An instance of a sign."""


class Instances(Listed):
    """The instances of a sign."""

    items: list[Instance]


class Feature(Message):
    """What one part of a letter looks like, in free terms."""

    component: Short
    feature: Short


class Describe(Params):
    """How the character of a segment is written; replaces an earlier description."""

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


class ClearedLetterform(Letterform):
    """The description that was cleared."""

    status: Literal["deleted"]


class Letterforms(Listed):
    """Letterforms."""

    items: list[Letterform]


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
