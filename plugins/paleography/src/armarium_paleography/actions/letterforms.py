"""Describe letterforms, and declare allographs."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from armarium.api import ActionContext, Route, RowLaw, action
from armarium_paleography.actions.ground import add, live_row, standing_segment, withdraw_row
from armarium_paleography.errors import description_stands, not_described, other_character
from armarium_paleography.queries.hands import HANDS
from armarium_paleography.queries.letterforms import ALLOGRAPHS, description
from armarium_paleography.records.ground import Id
from armarium_paleography.records.marks import (
    Allograph,
    AllographCreate,
    Clear,
    ClearedLetterform,
    Describe,
    Letterform,
    allographs,
    letterforms,
)

ONE_DESCRIPTION = RowLaw.one(
    "letterform", ("segment_id",), lambda row, _: description_stands(row["segment_id"]), ended="withdrawn_at"
)
"""A segment has at most one live description, whatever is undone or redone."""


@action(
    "letterform.set",
    result=Letterform,
    summary="Describe the letterform of a segment.",
    route=Route("PUT", "/api/letterforms/segment/{segment_id}", name="describe_letterform"),
    laws=(ONE_DESCRIPTION,),
    words="Described a letterform on {segment_id|a page}",
)
def describe(ctx: ActionContext, p: Describe) -> dict[str, Any]:
    """Raises NotFound, SegmentDeleted, Withdrawn, OtherCharacter. An earlier description is withdrawn."""
    segment = standing_segment(ctx.conn, p.segment_id)
    if p.allograph_id is not None:
        own = live_row(ALLOGRAPHS, "allograph", ctx.conn, p.allograph_id)["character"]
        if normalize("NFC", own) != p.character:
            raise other_character(p.allograph_id, own, p.character)
    if p.hand_id is not None:
        live_row(HANDS, "hand", ctx.conn, p.hand_id)
    before = description(ctx.conn, p.segment_id)
    if before is not None:
        withdraw_row(ctx, letterforms, before)
    described = {
        (feature["component"], feature["feature"]): feature for feature in p.model_dump()["features"]
    }
    values = {**p.model_dump(), "features": list(described.values()), "document_id": segment.document_id}
    return add(ctx, letterforms, values)


@action(
    "letterform.clear",
    result=ClearedLetterform,
    summary="Clear the description of a segment's letterform.",
    route=Route("DELETE", "/api/letterforms/segment/{segment_id}", name="clear_letterform"),
    laws=(ONE_DESCRIPTION,),
    words="Cleared the description of a letterform on {segment_id|a page}",
)
def clear(ctx: ActionContext, p: Clear) -> dict[str, Any]:
    """Raises NotFound if none is described, SegmentDeleted. Returns the description that was cleared."""
    standing_segment(ctx.conn, p.segment_id)
    before = description(ctx.conn, p.segment_id)
    if before is None:
        raise not_described(p.segment_id)
    return {"status": "deleted", **withdraw_row(ctx, letterforms, before)}


@action(
    "letterform.allograph_create",
    result=Allograph,
    summary="Declare an allograph: one way to write a character.",
    route=Route("POST", "/api/letterforms/allographs", name="create_allograph", refusals=()),
    words="Declared an allograph",
)
def create_allograph(ctx: ActionContext, p: AllographCreate) -> dict[str, Any]:
    """A character may have any number of allographs."""
    return add(ctx, allographs, p.model_dump())


@action(
    "letterform.allograph_withdraw",
    result=Allograph,
    summary="Withdraw an allograph; letterforms described by it still name it.",
    route=Route("POST", "/api/letterforms/allographs/{allograph_id}/withdraw", name="withdraw_allograph"),
    words="Withdrew an allograph",
)
def withdraw_allograph(ctx: ActionContext, allograph_id: Id) -> dict[str, Any]:
    """Raises NotFound, Withdrawn."""
    return withdraw_row(ctx, allographs, live_row(ALLOGRAPHS, "allograph", ctx.conn, allograph_id))
