"""Turns the hands, signs and editorial facts of an imported file into rows of the project, in the step of the
import.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from armarium.api import ActionContext, Invalid
from armarium_formats.api import FACT_KINDS, PageHand, PageSign, ReadMarks, TextMark
from armarium_paleography.queries.hands import HANDS
from armarium_paleography.queries.live_segments import live
from armarium_paleography.queries.signs import SIGNS, holder_of, signs_by_name
from armarium_paleography.records.hands import hands

SIGN = "sign"


def take_marks(ctx: ActionContext, read: ReadMarks) -> list[str]:
    """Take over the hands, signs and editorial facts that a file states; return notes for the import."""
    counts: Counter[str] = Counter()
    hand_ids = {key: _hand(ctx, key, hand, counts) for key, hand in read.hands.items()}
    for segment_id, key in read.hand_of:
        if key in hand_ids:
            ctx.run("hand.attribute", {"hand_id": hand_ids[key], "segment_id": segment_id})
            counts["lines attributed to hands"] += 1
    signs: dict[str, str] = {}
    for text in read.texts:
        for mark in text.marks:
            if mark.kind == SIGN:
                key = mark.stated["sign"]
                if key not in signs:
                    signs[key] = _sign(ctx, key, read.signs[key], text.segment_id, counts)
                _instance(ctx, signs[key], text.segment_id, counts)
            elif mark.kind in FACT_KINDS:
                _fact(ctx, text.segment_id, text.representation_id, mark, counts)
    if not counts:
        return []
    losses = ", ".join(f"{what} ({count})" for what, count in counts.items())
    return [f"The file's hands, signs and editorial facts are now records of the project: {losses}"]


def _hand(ctx: ActionContext, key: str, hand: PageHand, counts: Counter[str]) -> str:
    """Return the live hand named by the key of one of our own exports, otherwise the oldest with that label,
    otherwise a new one.
    """
    same_row = HANDS.get(ctx.conn, key.removeprefix("hand-"))
    if same_row is not None and same_row["withdrawn_at"] is None and same_row["label"] == hand.label:
        return str(same_row["id"])
    for row in HANDS.all(ctx.conn, live(hands), hands.c.label == hand.label, order=(hands.c.id,)):
        return str(row["id"])
    counts["hands declared"] += 1
    return str(ctx.run("hand.create", {"label": hand.label, **hand.stated})["id"])


def _sign(ctx: ActionContext, key: str, sign: PageSign, segment_id: str, counts: Counter[str]) -> str:
    """Return the live sign named by the key, otherwise the one with its code point, otherwise the one with
    its name, otherwise a new one whose picture is the first line that shows it.
    """
    same_row = SIGNS.get(ctx.conn, key.removeprefix("sign-"))
    if same_row is not None and same_row["withdrawn_at"] is None and same_row["name"] == sign.name:
        return str(same_row["id"])
    code_point = f"U+{ord(sign.character):04X}" if sign.character else None
    sign_id = holder_of(ctx.conn, code_point) if code_point else None
    sign_id = sign_id or signs_by_name(ctx.conn).get(sign.name.casefold())
    if sign_id is not None:
        return sign_id
    counts["signs declared"] += 1
    listed = [{"authority": authority, "number": number} for authority, number in sign.references[:100]]
    declared = {"name": sign.name, "code_point": code_point, "list_references": listed}
    return str(ctx.run("sign.create", {**declared, "picture_segment_id": segment_id})["id"])


def _instance(ctx: ActionContext, sign_id: str, segment_id: str, counts: Counter[str]) -> None:
    taken_sign = ctx.run("sign.take", {"signs": [{"segment_id": segment_id, "sign_id": sign_id}]})
    counts["places of signs"] += len(taken_sign["instance_ids"])


def _fact(
    ctx: ActionContext, segment_id: str, representation_id: str | None, mark: TextMark, counts: Counter[str]
) -> None:
    fact: dict[str, Any] = {"segment_id": segment_id, "kind": mark.kind, **_read_stated(mark.stated)}
    if representation_id is not None:
        places = {"char_start": mark.start, "char_end": mark.end}
        fact |= {"representation_id": representation_id, **places}
    try:
        ctx.run("editorial.create", fact)
        counts["editorial facts"] += 1
    except Invalid:
        # The file's words remain in its original and in the stored markup; one fact is no reason to refuse
        # the import.
        counts["editorial facts that could not be placed and are left out"] += 1


def _read_stated(attributes: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        key: attributes[key] for key in ("reason", "place", "extent", "source") if attributes.get(key)
    }
    if "certainty" in attributes:
        fields["certainty"] = float(attributes["certainty"])
    if "quantity" in attributes:
        fields |= {"extent_quantity": float(attributes["quantity"]), "extent_unit": attributes["unit"]}
    return fields
