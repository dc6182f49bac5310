"""Editorial facts, signs and their instances, letterforms and allographs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from sqlalchemy import Index

from armarium.api import Message, Params, Record, SourceText, Structure, listed, record, reference, tracked
from armarium_documents.api import documents, representations
from armarium_paleography.records.ground import (
    LIVE,
    Certainty,
    CodePoint,
    FactKind,
    Id,
    Name,
    Others,
    Short,
    Term,
    Words,
    made_and,
    metadata,
    part_of,
)
from armarium_source_model.api import segments


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


@record(
    metadata,
    "editorial_fact",
    tracked(label="editorial fact", document="document_id"),
    reference("segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    reference("representation_id", representations.c.id, required=False),
    last=made_and("withdrawn_at"),
    hint="The facts of its segment have the right one.",
)
class Fact(FactCreate, Record):
    """An editorial fact."""


Facts = listed(Fact, "EditorialFacts", "Editorial facts, segment by segment.")


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


class SignUpdate(Params):
    """The fields of a sign to change."""

    sign_id: Id
    name: Name = ""
    code_point: CodePoint | None = None
    list_references: Annotated[list[ListReference], Field(max_length=100)] = Field(default_factory=list)
    variant: Name | None = None
    notes: Words | None = None


class SignMerge(Params):
    """The sign that stays, and those that turn out to be the same."""

    sign_id: Id
    other_ids: Others


class AddInstance(Params):
    """A segment that shows a sign."""

    sign_id: Id
    segment_id: Id
    certainty: Certainty | None = None


class SeenSign(Params):
    """A segment and the sign it shows: a declared one by its id, or one by name, declared now if there is none."""

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


@record(
    metadata,
    "sign",
    tracked(label="sign", structure=Structure(("withdrawn_at",))),
    # Null only if the picture remained in another project.
    reference("picture_segment_id", segments.c.id, required=False),
    reference("variant_of", "sign.id", required=False),
    Index("ix_sign_code_point", "code_point", sqlite_where=LIVE),
    last=made_and("withdrawn_at"),
    hint="The list of signs has the right one.",
)
class Sign(SignCreate, Record):
    """A sign."""


Signs = part_of(Sign, "Signs", "The signs of the project.")


@record(
    metadata,
    "sign_instance",
    tracked(
        label="instance of a sign",
        document="document_id",
        rivals=("sign_id", "segment_id"),
        ended="withdrawn_at",
    ),
    reference("sign_id", "sign.id", index=False),
    reference("segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    Index("ix_sign_instance_sign", "sign_id", "id", sqlite_where=LIVE),
    last=made_and("withdrawn_at"),
    hint="The instances of its sign have the right one.",
)
class Instance(AddInstance, Record):
    """An instance of a sign."""


Instances = part_of(Instance, "Instances", "The instances of a sign.")


class Feature(Message):
    """What one part of a letter looks like, in free terms."""

    component: Term
    feature: Term


class Describe(Params):
    """How the character of a segment is written; replaces an earlier description."""

    segment_id: Id
    character: Term
    allograph_id: Id | None = None
    hand_id: Id | None = None
    features: Annotated[list[Feature], Field(max_length=200)] = Field(default_factory=list)


class Clear(Params):
    segment_id: Id


class AllographCreate(Params):
    """One way to write a character."""

    character: Term
    name: Name
    notes: Words | None = None


class AllographUpdate(Params):
    """The fields of an allograph to change; its character stays, for letterforms are described by it."""

    allograph_id: Id
    name: Name = ""
    notes: Words | None = None


class AllographMerge(Params):
    """The allograph that stays, and those that turn out to be the same."""

    allograph_id: Id
    other_ids: Others


@record(
    metadata,
    "letterform_allograph",
    tracked(label="allograph", structure=Structure(("withdrawn_at",))),
    last=made_and("withdrawn_at"),
    hint="The list of allographs has the right one.",
)
class Allograph(AllographCreate, Record):
    """An allograph."""


Allographs = listed(Allograph, "Allographs", "The allographs of the project.")


@record(
    metadata,
    "letterform",
    tracked(label="letterform", document="document_id", rivals=("segment_id",), ended="withdrawn_at"),
    reference("segment_id", segments.c.id, index=False),
    reference("document_id", documents.c.id),
    reference("allograph_id", "letterform_allograph.id", required=False),
    reference("hand_id", "hand.id", required=False),
    Index("ix_letterform_segment", "segment_id", sqlite_where=LIVE),
    Index("ix_letterform_character", "character", "id", sqlite_where=LIVE),
    last=made_and("withdrawn_at"),
)
class Letterform(Describe, Record):
    """How the character of a segment is written."""


class ClearedLetterform(Letterform):
    """The description that was cleared."""

    status: Literal["deleted"]


Letterforms = part_of(Letterform, "Letterforms", "Letterforms.")


class SegmentLetterform(Message):
    """The description of a segment's letterform."""

    segment_id: str
    letterform: Letterform | None


class FeatureCount(Message):
    """A feature in use, and how often."""

    component: str
    feature: str
    count: int


Features = listed(FeatureCount, "Features", "The features in use, the most frequent first.")


class Letter(Message):
    """A letter beyond ASCII, how often the text that counts has it, and the sign declared with its code point."""

    letter: str
    uses: int
    sign_id: str | None
    name: str | None


Letters = listed(Letter, "Letters", "The letters of the project that keyboards lack.")

facts, signs, instances = Fact.table, Sign.table, Instance.table
allographs, letterforms = Allograph.table, Letterform.table
