"""Record and withdraw editorial facts."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, action
from armarium_paleography.actions.ground import add, live_row, standing_segment, withdraw_row
from armarium_paleography.errors import no_reading, other_segment, span_outside
from armarium_paleography.queries.campaigns import READINGS
from armarium_paleography.queries.editorial import FACTS, counting_text
from armarium_paleography.records.ground import Id
from armarium_paleography.records.marks import Fact, FactCreate, facts

LOST = "lost"


@action(
    "editorial.create",
    result=Fact,
    summary="Record an editorial fact of a segment.",
    route=Route("POST", "/api/editorial", name="create_fact"),
    words="Recorded an editorial fact of {segment_id|a page}",
)
def create(ctx: ActionContext, p: FactCreate) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, and Invalid for a reading of another segment or a span outside the
    reading.
    """
    segment = standing_segment(ctx.conn, p.segment_id)
    row = {**p.model_dump(), "document_id": segment.document_id}
    text = ""
    if p.representation_id is not None:
        reading = READINGS.require(ctx.conn, p.representation_id)
        if reading["segment_id"] != p.segment_id:
            raise other_segment(p.representation_id, p.segment_id)
        text = reading["content"] or ""
    elif p.char_start is not None:
        counting = counting_text(ctx.conn, p.segment_id)
        if counting is None:
            raise no_reading(p.segment_id)
        row["representation_id"], text = counting["representation_id"], counting["text"]
    if p.char_start is not None and p.char_end is not None:
        least = p.char_start + (p.kind != LOST)
        if not least <= p.char_end <= len(text):
            raise span_outside(p.char_start, p.char_end, len(text))
    return add(ctx, facts, row)


@action(
    "editorial.withdraw",
    result=Fact,
    summary="Withdraw an editorial fact.",
    route=Route("POST", "/api/editorial/{fact_id}/withdraw", name="withdraw_fact"),
    words="Withdrew an editorial fact of {fact_id|a page}",
)
def withdraw(ctx: ActionContext, fact_id: Id) -> dict[str, Any]:
    """Raises NotFound, Withdrawn."""
    return withdraw_row(ctx, facts, live_row(FACTS, "editorial fact", ctx.conn, fact_id))
