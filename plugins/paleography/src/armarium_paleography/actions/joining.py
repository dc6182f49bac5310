"""Change what hands, signs and allographs are called, and join those that turn out to be one."""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from sqlalchemy import Column, Table

from armarium.api import ActionContext, Route, Rows, action, is_among
from armarium_paleography.actions.ground import live_row, note_row, withdraw_row
from armarium_paleography.actions.hands import OF_A_LIVE_HAND, SAID_ONCE
from armarium_paleography.actions.letterforms import ONE_DESCRIPTION
from armarium_paleography.actions.signs import OF_A_LIVE_SIGN, ONE_SIGN_A_CODE_POINT, SHOWN_ONCE
from armarium_paleography.errors import CodePointTaken, joined_with_itself, other_character
from armarium_paleography.queries.hands import HANDS
from armarium_paleography.queries.letterforms import ALLOGRAPHS
from armarium_paleography.queries.live_segments import live
from armarium_paleography.queries.signs import SIGNS, holder_of
from armarium_paleography.records.hands import (
    SAME_JUDGEMENT,
    Hand,
    HandMerge,
    HandUpdate,
    attributions,
    campaigns,
    hands,
)
from armarium_paleography.records.marks import (
    Allograph,
    AllographMerge,
    AllographUpdate,
    Sign,
    SignMerge,
    SignUpdate,
    allographs,
    instances,
    letterforms,
    signs,
)


def _change(ctx: ActionContext, table: Table, row: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    if changes:
        ctx.conn.execute(table.update().where(table.c.id == row["id"]).values(changes))
    note_row(ctx, row)
    return {**row, **changes}


def _move(
    ctx: ActionContext, column: Column[Any], ids: list[str], to: str, same: tuple[str, ...] = ()
) -> None:
    """Let the live rows whose *column* names one of *ids* name *to*; one that says what a row of *to* says already
    (equal in *same*) is withdrawn.
    """
    table = column.table
    rows = Rows(table)
    keys_there = {tuple(row[name] for name in same) for row in rows.all(ctx.conn, live(table), column == to)}
    for row in rows.all(ctx.conn, live(table), is_among(column, ids), order=(table.c.id,)):
        row_now = {**row, column.name: to}
        key = tuple(row_now[name] for name in same)
        if same and key in keys_there:
            withdraw_row(ctx, table, row)
            continue
        keys_there.add(key)
        _change(ctx, table, row, {column.name: to})


def _variant_chain(ctx: ActionContext, row: dict[str, Any]) -> list[str]:
    """Return what the sign *row* is a variant of, what that is a variant of, and so on."""
    chain: list[str] = []
    while (above := row["variant_of"]) is not None and above not in chain:
        chain.append(above)
        row = SIGNS.require(ctx.conn, above)
    return chain


def _find_others(
    rows: Rows, what: str, ctx: ActionContext, identity: str, ids: list[str]
) -> list[dict[str, Any]]:
    if identity in ids:
        raise joined_with_itself(what)
    return [live_row(rows, what, ctx.conn, identity) for identity in dict.fromkeys(ids)]


@action(
    "hand.update",
    result=Hand,
    summary="Change what a hand is called and what is known of it.",
    route=Route("PATCH", "/api/hands/{hand_id}", name="update_hand"),
    words="Changed a hand",
)
def update_hand(ctx: ActionContext, p: HandUpdate) -> dict[str, Any]:
    """Raises NotFound, Withdrawn. A field that is not sent is unchanged; null clears it."""
    row = live_row(HANDS, "hand", ctx.conn, p.hand_id)
    return _change(ctx, hands, row, p.dump_changes("hand_id"))


@action(
    "hand.merge",
    result=Hand,
    summary="Join hands that turn out to be one.",
    route=Route("POST", "/api/hands/{hand_id}/merge", name="merge_hands"),
    laws=(*OF_A_LIVE_HAND, SAID_ONCE),
    words="Joined hands",
)
def merge_hands(ctx: ActionContext, p: HandMerge) -> dict[str, Any]:
    """What is in the others is in this one from then on, and they are withdrawn; undo restores them. Raises
    NotFound, Withdrawn, Invalid.
    """
    row = live_row(HANDS, "hand", ctx.conn, p.hand_id)
    others = _find_others(HANDS, "hand", ctx, p.hand_id, p.other_ids)
    _move(ctx, attributions.c.hand_id, p.other_ids, p.hand_id, SAME_JUDGEMENT)
    _move(ctx, letterforms.c.hand_id, p.other_ids, p.hand_id)
    _move(ctx, campaigns.c.hand_id, p.other_ids, p.hand_id)
    for other in others:
        withdraw_row(ctx, hands, other)
    note_row(ctx, row)
    return row


@action(
    "sign.update",
    result=Sign,
    summary="Change what a sign is called and what is known of it.",
    route=Route("PATCH", "/api/signs/{sign_id}", name="update_sign"),
    laws=(ONE_SIGN_A_CODE_POINT,),
    words="Changed a sign",
)
def update_sign(ctx: ActionContext, p: SignUpdate) -> dict[str, Any]:
    """Raises NotFound, Withdrawn, CodePointTaken. A field that is not sent is unchanged; null clears it."""
    row = live_row(SIGNS, "sign", ctx.conn, p.sign_id)
    if p.code_point is not None and (holder := holder_of(ctx.conn, p.code_point)) not in (None, p.sign_id):
        raise CodePointTaken(p.code_point, str(holder))
    return _change(ctx, signs, row, p.dump_changes("sign_id"))


@action(
    "sign.merge",
    result=Sign,
    summary="Join signs that turn out to be one.",
    route=Route("POST", "/api/signs/{sign_id}/merge", name="merge_signs"),
    laws=(ONE_SIGN_A_CODE_POINT, *OF_A_LIVE_SIGN, SHOWN_ONCE),
    words="Joined signs",
)
def merge_signs(ctx: ActionContext, p: SignMerge) -> dict[str, Any]:
    """The instances of the others are of this one from then on; undo restores them. Raises NotFound, Withdrawn,
    Invalid.
    """
    row = live_row(SIGNS, "sign", ctx.conn, p.sign_id)
    others = _find_others(SIGNS, "sign", ctx, p.sign_id, p.other_ids)
    if set(p.other_ids) & set(_variant_chain(ctx, row)):
        # It would be a variant of itself.
        row = _change(ctx, signs, row, {"variant_of": None})
    _move(ctx, instances.c.sign_id, p.other_ids, p.sign_id, ("segment_id",))
    _move(ctx, signs.c.variant_of, p.other_ids, p.sign_id)
    for other in others:
        withdraw_row(ctx, signs, other)
    note_row(ctx, row)
    return row


@action(
    "letterform.allograph_update",
    result=Allograph,
    summary="Change what an allograph is called.",
    route=Route("PATCH", "/api/letterforms/allographs/{allograph_id}", name="update_allograph"),
    words="Changed an allograph",
)
def update_allograph(ctx: ActionContext, p: AllographUpdate) -> dict[str, Any]:
    """Raises NotFound, Withdrawn. A field that is not sent is unchanged; null clears it."""
    row = live_row(ALLOGRAPHS, "allograph", ctx.conn, p.allograph_id)
    return _change(ctx, allographs, row, p.dump_changes("allograph_id"))


@action(
    "letterform.allograph_merge",
    result=Allograph,
    summary="Join allographs that turn out to be one.",
    route=Route("POST", "/api/letterforms/allographs/{allograph_id}/merge", name="merge_allographs"),
    laws=(ONE_DESCRIPTION,),
    words="Joined allographs",
)
def merge_allographs(ctx: ActionContext, p: AllographMerge) -> dict[str, Any]:
    """Letterforms of the others are of this one from then on; undo restores them. Raises NotFound, Withdrawn,
    OtherCharacter, Invalid.
    """
    row = live_row(ALLOGRAPHS, "allograph", ctx.conn, p.allograph_id)
    others = _find_others(ALLOGRAPHS, "allograph", ctx, p.allograph_id, p.other_ids)
    for other in others:
        if normalize("NFC", other["character"]) != normalize("NFC", row["character"]):
            raise other_character(other["id"], other["character"], row["character"])
    _move(ctx, letterforms.c.allograph_id, p.other_ids, p.allograph_id)
    for other in others:
        withdraw_row(ctx, allographs, other)
    note_row(ctx, row)
    return row
