"""Campaigns of sources, segments and readings."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select

from armarium.api import Rows, is_among, query
from armarium_documents.api import representations, require_document
from armarium_paleography.errors import unknown_reading
from armarium_paleography.queries.live_segments import live, live_ids
from armarium_paleography.records.hands import (
    Campaign,
    Campaigns,
    Membership,
    ReadingCampaigns,
    ReadingMembership,
    SegmentCampaign,
    campaigns,
    members,
    reading_members,
)

CAMPAIGNS = Campaign.rows
MEMBERS = Membership.rows
READING_MEMBERS = ReadingMembership.rows
READINGS = Rows(representations, missing=unknown_reading)

FIRST_LAID_DOWN = (campaigns.c.sequence, campaigns.c.created_at, campaigns.c.id)


@query("/api/campaigns/document/{document_id}", summary="The campaigns of a source", answer=Campaigns)
def campaigns_of_document(conn: Connection, document_id: str) -> dict[str, Any]:
    """The live campaigns, in the order in which they were written."""
    require_document(conn, document_id)
    where = (campaigns.c.document_id == document_id, live(campaigns))
    return CAMPAIGNS.list_all(conn, *where, order=FIRST_LAID_DOWN)


@query("/api/campaigns/segment/{segment_id}", summary="The campaign of a segment", answer=SegmentCampaign)
def campaign_of_segment(conn: Connection, segment_id: str) -> dict[str, Any]:
    """Null if it belongs to none. For a merged segment, that of the segment it became."""
    standing = next(
        (row for identity in live_ids(conn, segment_id) if (row := membership(conn, identity))), None
    )
    campaign = None if standing is None else CAMPAIGNS.get(conn, standing["campaign_id"])
    return {"segment_id": segment_id, "campaign": campaign}


@query(
    "/api/campaigns/reading/{representation_id}",
    summary="The campaigns of a reading",
    answer=ReadingCampaigns,
)
def campaigns_of_reading(conn: Connection, representation_id: str) -> dict[str, Any]:
    """The campaigns whose writing the reading gives, in the order in which they were written."""
    READINGS.require(conn, representation_id)
    ids = [row["campaign_id"] for row in reading_memberships(conn, representation_id)]
    items = CAMPAIGNS.all(conn, is_among(campaigns.c.id, ids), live(campaigns), order=FIRST_LAID_DOWN)
    return {
        "representation_id": representation_id,
        "campaign_ids": [campaign["id"] for campaign in items],
        "items": items,
        "count": len(items),
    }


def membership(conn: Connection, segment_id: str) -> dict[str, Any] | None:
    """Return the current membership of a segment."""
    where = (members.c.segment_id == segment_id, members.c.superseded_at.is_(None))
    return next(iter(MEMBERS.all(conn, *where)), None)


def reading_memberships(conn: Connection, representation_id: str) -> list[dict[str, Any]]:
    """Return the current memberships of a reading."""
    member = reading_members.c
    is_current = (member.representation_id == representation_id, member.superseded_at.is_(None))
    return READING_MEMBERS.all(conn, *is_current, order=(member.id,))


def next_sequence(conn: Connection, document_id: str) -> int:
    """Return the number that follows the last of a source's live campaigns."""
    last = select(func.max(campaigns.c.sequence)).where(
        campaigns.c.document_id == document_id, live(campaigns)
    )
    return int(conn.execute(last).scalar() or 0) + 1
