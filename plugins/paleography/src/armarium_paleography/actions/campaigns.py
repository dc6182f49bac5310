"""Create, change and withdraw campaigns; assign segments and readings to them."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, RowLaw, action
from armarium_documents.api import ancestor_ids, require_live
from armarium_paleography.actions.ground import (
    add,
    live_row,
    note_row,
    rests_on_live,
    standing_segment,
    withdraw_row,
)
from armarium_paleography.errors import campaign_stands, given_already, other_source
from armarium_paleography.queries.campaigns import (
    CAMPAIGNS,
    READINGS,
    campaign_of_segment,
    campaigns_of_reading,
    membership,
    next_sequence,
    reading_memberships,
)
from armarium_paleography.queries.hands import HANDS
from armarium_paleography.records.ground import Id
from armarium_paleography.records.hands import (
    Assign,
    AssignReading,
    Campaign,
    CampaignCreate,
    CampaignUpdate,
    ReadingCampaigns,
    SegmentCampaign,
    campaigns,
    members,
    reading_members,
)
from armarium_source_model.api import refuse_provisional

ONE_CAMPAIGN = RowLaw.one(
    "campaign_member",
    ("segment_id",),
    lambda row, _: campaign_stands(row["segment_id"]),
    ended="superseded_at",
)
"""A segment belongs to at most one campaign, whatever is undone or redone."""

ONCE_A_READING = RowLaw.one(
    "campaign_reading",
    ("representation_id", "campaign_id"),
    lambda row, _: given_already(row["representation_id"], row["campaign_id"]),
    ended="superseded_at",
)
"""A reading is assigned to a campaign at most once."""


OF_A_LIVE_CAMPAIGN = tuple(
    law
    for table in (members, reading_members)
    for law in rests_on_live(table.name, "campaign_id", "campaign", ended="superseded_at")
)


@action(
    "campaign.create",
    result=Campaign,
    summary="Create a campaign of writing on a source.",
    route=Route("POST", "/api/campaigns", name="create_campaign"),
    words="Created a campaign on {document_id|a source}",
)
def create(ctx: ActionContext, p: CampaignCreate) -> dict[str, Any]:
    """Raises NotFound, Conflict for a source in the Trash, Withdrawn. Without a `sequence` it becomes the
    last one.
    """
    require_live(ctx.conn, p.document_id)
    if p.hand_id is not None:
        live_row(HANDS, "hand", ctx.conn, p.hand_id)
    sequence = next_sequence(ctx.conn, p.document_id) if p.sequence is None else p.sequence
    return add(ctx, campaigns, {**p.model_dump(), "sequence": sequence})


@action(
    "campaign.update",
    result=Campaign,
    summary="Change the fields of a campaign.",
    route=Route("PATCH", "/api/campaigns/{campaign_id}", name="update_campaign"),
    words="Changed a campaign on {campaign_id|a source}",
)
def update(ctx: ActionContext, p: CampaignUpdate) -> dict[str, Any]:
    """Raises NotFound, Withdrawn. A field that is not sent is unchanged; null clears it."""
    row = live_row(CAMPAIGNS, "campaign", ctx.conn, p.campaign_id)
    changes = p.dump_changes("campaign_id")
    if changes.get("hand_id") is not None:
        live_row(HANDS, "hand", ctx.conn, changes["hand_id"])
    if changes:
        ctx.conn.execute(campaigns.update().where(campaigns.c.id == p.campaign_id).values(changes))
    note_row(ctx, row)
    return {**row, **changes}


@action(
    "campaign.withdraw",
    result=Campaign,
    summary="Withdraw a campaign and the memberships in it.",
    route=Route("POST", "/api/campaigns/{campaign_id}/withdraw", name="withdraw_campaign"),
    laws=(ONE_CAMPAIGN, ONCE_A_READING, *OF_A_LIVE_CAMPAIGN),
    words="Withdrew a campaign on {campaign_id|a source}",
)
def withdraw(ctx: ActionContext, campaign_id: Id) -> dict[str, Any]:
    """Raises NotFound, Withdrawn. The memberships of its segments and readings end with it; undo restores
    them.
    """
    row = live_row(CAMPAIGNS, "campaign", ctx.conn, campaign_id)
    for table in (members, reading_members):
        standing = (table.c.campaign_id == campaign_id, table.c.superseded_at.is_(None))
        ctx.conn.execute(table.update().where(*standing).values(superseded_at=ctx.now))
    return withdraw_row(ctx, campaigns, row)


@action(
    "campaign.assign",
    result=SegmentCampaign,
    summary="Assign a segment to a campaign.",
    route=Route("PUT", "/api/campaigns/segment/{segment_id}", name="assign_segment"),
    laws=(ONE_CAMPAIGN, *OF_A_LIVE_CAMPAIGN),
    words="Assigned a line of {segment_id|a page} to a campaign",
)
def assign(ctx: ActionContext, p: Assign) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Withdrawn, OtherSource. The previous membership remains as superseded."""
    segment = standing_segment(ctx.conn, p.segment_id)
    if p.campaign_id is not None:
        _of_its_source(ctx, p.campaign_id, segment.document_id)
    before = membership(ctx.conn, p.segment_id)
    if (None if before is None else before["campaign_id"]) != p.campaign_id:
        if before is not None:
            ended = members.update().where(members.c.id == before["id"])
            ctx.conn.execute(ended.values(superseded_at=ctx.now))
        if p.campaign_id is not None:
            row = {"segment_id": p.segment_id, "campaign_id": p.campaign_id}
            add(ctx, members, {**row, "document_id": segment.document_id})
    ctx.target(p.segment_id)
    ctx.note_changes(segment_ids=[p.segment_id], document_ids=[segment.document_id])
    return campaign_of_segment(ctx.conn, p.segment_id)


@action(
    "campaign.assign_reading",
    result=ReadingCampaigns,
    summary="Set the campaigns whose writing a reading gives.",
    route=Route("PUT", "/api/campaigns/reading/{representation_id}", name="assign_reading"),
    laws=(ONCE_A_READING, *OF_A_LIVE_CAMPAIGN),
    words="Set the campaigns of a reading of {representation_id|a page}",
)
def assign_reading(ctx: ActionContext, p: AssignReading) -> dict[str, Any]:
    """Raises NotFound, Conflict for a page in the Trash, Withdrawn, OtherSource. Replaces the previous
    campaigns.
    """
    refuse_provisional(p.representation_id)
    reading = READINGS.require(ctx.conn, p.representation_id)
    require_live(ctx.conn, reading["document_id"])
    wanted_ids = dict.fromkeys(p.campaign_ids)
    for campaign_id in wanted_ids:
        _of_its_source(ctx, campaign_id, reading["document_id"])
    standing = {
        reading_membership["campaign_id"]: reading_membership["id"]
        for reading_membership in reading_memberships(ctx.conn, p.representation_id)
    }
    table = reading_members
    for campaign_id, identity in standing.items():
        if campaign_id not in wanted_ids:
            ctx.conn.execute(table.update().where(table.c.id == identity).values(superseded_at=ctx.now))
    for campaign_id in wanted_ids:
        if campaign_id not in standing:
            row = {"representation_id": p.representation_id, "campaign_id": campaign_id}
            add(ctx, table, {**row, "document_id": reading["document_id"]})
    ctx.target(p.representation_id)
    ctx.note_changes(representation_ids=[p.representation_id], document_ids=[reading["document_id"]])
    return campaigns_of_reading(ctx.conn, p.representation_id)


def _of_its_source(ctx: ActionContext, campaign_id: str, document_id: str) -> None:
    campaign = live_row(CAMPAIGNS, "campaign", ctx.conn, campaign_id)
    if campaign["document_id"] not in ancestor_ids(ctx.conn, document_id):
        raise other_source(campaign_id, campaign["document_id"], document_id)
