"""Create and withdraw hands, attribute segments to them, withdraw attributions."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, RowLaw, action
from armarium_paleography.actions.ground import (
    add,
    live_row,
    rests_on_live,
    standing_segment,
    withdraw_row,
    withdraw_where,
)
from armarium_paleography.errors import SaidAlready
from armarium_paleography.queries.hands import ATTRIBUTIONS, HANDS
from armarium_paleography.queries.live_segments import live
from armarium_paleography.records.ground import Id
from armarium_paleography.records.hands import (
    SAME_JUDGEMENT,
    Attribute,
    Attribution,
    Hand,
    HandCreate,
    attributions,
    hands,
)

OF_A_LIVE_HAND = rests_on_live("hand_attribution", "hand_id", "hand")

SAID_ONCE = RowLaw.one(
    "hand_attribution",
    SAME_JUDGEMENT,
    lambda row, other: SaidAlready("hand", row["segment_id"], other, "changed"),
    ended="withdrawn_at",
)
"""A judge makes the same judgement of a segment at most once, whatever is undone or redone."""


@action(
    "hand.create",
    result=Hand,
    summary="Create a hand.",
    route=Route("POST", "/api/hands", name="create_hand", refusals=()),
    words="Created a hand",
)
def create(ctx: ActionContext, p: HandCreate) -> dict[str, Any]:
    """A machine may also create one; the row records who did."""
    return add(ctx, hands, p.model_dump())


@action(
    "hand.withdraw",
    result=Hand,
    summary="Withdraw a hand and the attributions to it.",
    route=Route("POST", "/api/hands/{hand_id}/withdraw", name="withdraw_hand"),
    laws=(*OF_A_LIVE_HAND, SAID_ONCE),
    words="Withdrew a hand",
)
def withdraw(ctx: ActionContext, hand_id: Id) -> dict[str, Any]:
    """Raises NotFound, Withdrawn. Its live attributions are withdrawn with it; undo restores them."""
    row = live_row(HANDS, "hand", ctx.conn, hand_id)
    withdraw_where(ctx, attributions, attributions.c.hand_id == hand_id)
    return withdraw_row(ctx, hands, row)


@action(
    "hand.attribute",
    result=Attribution,
    summary="Attribute a segment to a hand.",
    route=Route("POST", "/api/hands/attributions", name="attribute"),
    laws=(*OF_A_LIVE_HAND, SAID_ONCE),
    words="Attributed a line of {segment_id|a page} to a hand",
)
def attribute(ctx: ActionContext, p: Attribute) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Withdrawn, SaidAlready. Other judgements of the segment remain beside
    it.
    """
    live_row(HANDS, "hand", ctx.conn, p.hand_id)
    segment = standing_segment(ctx.conn, p.segment_id)
    attribution = {**p.model_dump(), **ctx.provenance()}
    same_judgement = (attributions.c[name] == attribution[name] for name in SAME_JUDGEMENT)
    for standing in ATTRIBUTIONS.all(ctx.conn, live(attributions), *same_judgement):
        raise SaidAlready("hand", p.segment_id, standing["id"])
    return add(ctx, attributions, {**p.model_dump(), "document_id": segment.document_id})


@action(
    "hand.attribution_withdraw",
    result=Attribution,
    summary="Withdraw the attribution of a segment to a hand.",
    route=Route("POST", "/api/hands/attributions/{attribution_id}/withdraw", name="withdraw_attribution"),
    laws=(*OF_A_LIVE_HAND, SAID_ONCE),
    words="Withdrew an attribution to a hand on {attribution_id|a page}",
)
def withdraw_attribution(ctx: ActionContext, attribution_id: Id) -> dict[str, Any]:
    """Raises NotFound, Withdrawn."""
    return withdraw_row(ctx, attributions, live_row(ATTRIBUTIONS, "attribution", ctx.conn, attribution_id))
