"""Requests and answers of hands and campaigns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armarium.api import Message, Params, answer_of
from armarium_paleography import models as t
from armarium_paleography.schemas.fields import Certainty, Id, Name, Words
from armarium_paleography.schemas.list_page import Listed


class HandCreate(Params):
    """A hand: the writing of one scribe."""

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


class Hands(Listed):
    """The hands of the project."""

    items: list[Hand]


class Attribute(Params):
    """The caller's judgement that a segment is in a hand."""

    hand_id: Id
    segment_id: Id
    certainty: Certainty | None = None
    note: Words | None = None


class AttributionId(Params):
    attribution_id: Id


@answer_of(t.attributions)
class Attribution(Message):
    """A judgement of a segment's hand."""


class Attributions(Listed):
    """Judgements of hands."""

    items: list[Attribution]


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


class CampaignId(Params):
    campaign_id: Id


class Assign(Params):
    """The campaign a segment belongs to; null: none."""

    segment_id: Id
    campaign_id: Id | None


class AssignReading(Params):
    """The campaigns whose writing a reading gives."""

    representation_id: Id
    campaign_ids: Annotated[list[Id], Field(max_length=1_000)]


@answer_of(t.campaigns)
class Campaign(Message):
    """A campaign."""


class Campaigns(Message):
    """Campaigns, in the order in which they were written."""

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
