"""Hands, and campaigns of writing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from sqlalchemy import Column, Index, Integer

from armarium.api import Message, Params, Record, Structure, listed, record, reference, tracked
from armarium_documents.api import documents, representations
from armarium_paleography.records.ground import (
    CURRENT,
    LIVE,
    Certainty,
    Id,
    Name,
    Others,
    Words,
    made_and,
    metadata,
    part_of,
)
from armarium_source_model.api import segments


class HandCreate(Params):
    """A hand: the writing of one scribe."""

    label: Name
    scribe: Name | None = None
    date: Annotated[Name | None, Field(description="in words")] = None
    place: Name | None = None
    style: Name | None = None
    notes: Words | None = None


class HandUpdate(HandCreate):
    """The fields of a hand to change."""

    hand_id: Id
    label: Name = ""


class HandMerge(Params):
    """The hand that stays, and those that turn out to be the same."""

    hand_id: Id
    other_ids: Others


@record(
    metadata,
    "hand",
    tracked(label="hand", structure=Structure(("withdrawn_at",))),
    Index("ix_hand_label", "label"),
    last=made_and("withdrawn_at"),
    hint="The list of hands has the right one.",
)
class Hand(HandCreate, Record):
    """A hand."""


Hands = part_of(Hand, "Hands", "The hands of the project.")


class Attribute(Params):
    """The caller's judgement that a segment is in a hand."""

    hand_id: Id
    segment_id: Id
    certainty: Certainty | None = None
    note: Words | None = None


SAME_JUDGEMENT = ("hand_id", "segment_id", "provenance_kind", "created_by")
"""The columns that are equal in two judgements of one judge that say the same."""


@record(
    metadata,
    "hand_attribution",
    tracked(
        label="attribution to a hand", document="document_id", rivals=SAME_JUDGEMENT, ended="withdrawn_at"
    ),
    reference("hand_id", "hand.id", index=False),
    reference("segment_id", segments.c.id),
    reference("document_id", documents.c.id),
    Index("ix_hand_attribution_hand", "hand_id", "id", sqlite_where=LIVE),
    last=made_and("withdrawn_at"),
    hint="The judgements on its segment have the right one.",
)
class Attribution(Attribute, Record):
    """A judgement of a segment's hand."""


Attributions = part_of(Attribution, "Attributions", "Judgements of hands.")


class SegmentHands(Message):
    """Every live judgement of a segment's hand, including rivals."""

    segment_id: str
    items: list[Attribution]
    count: int


class CampaignCreate(Params):
    """A campaign of writing on a source."""

    document_id: Id
    name: Name
    sequence: Annotated[int | None, Field(ge=1, le=1_000_000, description="1: written first")] = None
    hand_id: Id | None = None
    date: Annotated[Name | None, Field(description="in words")] = None
    notes: Words | None = None


class CampaignUpdate(Params):
    """The fields of a campaign to change."""

    campaign_id: Id
    name: Name = ""
    sequence: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    hand_id: Id | None = None
    date: Name | None = None
    notes: Words | None = None


class Assign(Params):
    """The campaign a segment belongs to; null: none."""

    segment_id: Id
    campaign_id: Id | None


@record(
    metadata,
    "campaign_member",
    tracked(
        label="membership of a campaign",
        document="document_id",
        rivals=("segment_id",),
        ended="superseded_at",
    ),
    reference("segment_id", segments.c.id, index=False),
    reference("campaign_id", "campaign.id"),
    reference("document_id", documents.c.id),
    Index("ix_campaign_member_segment", "segment_id", sqlite_where=CURRENT),
    last=made_and("superseded_at"),
)
class Membership(Record):
    """Membership of a segment in a campaign: at most one is current, earlier ones remain as superseded."""


class AssignReading(Params):
    """The campaigns whose writing a reading gives."""

    representation_id: Id
    campaign_ids: Annotated[list[Id], Field(max_length=1_000)]


@record(
    metadata,
    "campaign_reading",
    tracked(
        label="campaign of a reading",
        document="document_id",
        rivals=("representation_id", "campaign_id"),
        ended="superseded_at",
    ),
    reference("representation_id", representations.c.id, index=False),
    reference("campaign_id", "campaign.id"),
    reference("document_id", documents.c.id),
    Index("ix_campaign_reading_of", "representation_id", sqlite_where=CURRENT),
    last=made_and("superseded_at"),
)
class ReadingMembership(Record):
    """A campaign whose writing a reading gives; a reading may give several."""


@record(
    metadata,
    "campaign",
    tracked(label="campaign", document="document_id", structure=Structure(("withdrawn_at",))),
    reference("document_id", documents.c.id),
    Column("sequence", Integer, nullable=False),
    reference("hand_id", "hand.id", required=False),
    last=made_and("withdrawn_at"),
    hint="The campaigns of its source have the right one.",
)
class Campaign(CampaignCreate, Record):
    """A campaign."""


Campaigns = listed(Campaign, "Campaigns", "Campaigns, in the order in which they were written.")


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


hands, attributions, campaigns = Hand.table, Attribution.table, Campaign.table
members, reading_members = Membership.table, ReadingMembership.table
