"""Hands, and the judgements that attribute segments to them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import Engine, Library, by_name, is_among, query
from armarium_paleography.queries.live_segments import Limit, Offset, list_rows, live, live_ids, stands
from armarium_paleography.records.hands import (
    Attribution,
    Attributions,
    Hand,
    Hands,
    SegmentHands,
    attributions,
    hands,
)

HANDS = Hand.rows
ATTRIBUTIONS = Attribution.rows


@query("/api/hands", summary="The hands of the project", answer=Hands, refusals=())
def list_hands(
    conn: Connection,
    include_withdrawn: Annotated[bool, Query(description="also those that were withdrawn")] = False,
    limit: Limit = None,
    offset: Offset = 0,
) -> dict[str, Any]:
    """Ordered by label."""
    conditions = () if include_withdrawn else (live(hands),)
    return list_rows(
        HANDS, conn, *conditions, order=(by_name(hands.c.label), hands.c.id), limit=limit, offset=offset
    )


@query("/api/hands/segment/{segment_id}", summary="The hands of a segment", answer=SegmentHands)
def hands_of_segment(conn: Connection, segment_id: str) -> dict[str, Any]:
    """Every live judgement, the oldest first. For a merged segment, those of the segment it became."""
    attribution = attributions.c
    here = is_among(attribution.segment_id, live_ids(conn, segment_id))
    items = ATTRIBUTIONS.all(
        conn, live(attributions), here, stands(attributions), order=(attribution.created_at, attribution.id)
    )
    return {"segment_id": segment_id, "items": items, "count": len(items)}


def select_by_hand(
    engine: Engine, library: Library, conn: Connection, by: str, value: str
) -> Collection[str] | None:
    """Return the segments that a live judgement gives to a hand; None where it is not asked by a hand."""
    if by != "hand":
        return None
    HANDS.require(conn, value)
    attribution = attributions.c
    return (
        conn.execute(select(attribution.segment_id).where(attribution.hand_id == value, live(attributions)))
        .scalars()
        .all()
    )


@query("/api/hands/{hand_id}/attributions", summary="Everything in one hand", answer=Attributions)
def attributions_of_hand(
    conn: Connection, hand_id: str, limit: Limit = None, offset: Offset = 0
) -> dict[str, Any]:
    """The live judgements for the hand, the oldest first. What was deleted or is in the Trash is left out."""
    HANDS.require(conn, hand_id)
    attribution = attributions.c
    conditions = (attribution.hand_id == hand_id, live(attributions), stands(attributions))
    return list_rows(ATTRIBUTIONS, conn, *conditions, order=(attribution.id,), limit=limit, offset=offset)
