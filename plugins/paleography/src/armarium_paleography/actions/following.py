"""What happens to judgements when segments are merged or split, readings are corrected, or pages move to
another project.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Table, or_

from armarium.api import ActionContext, is_among, new_id
from armarium_paleography.actions.ground import withdraw_where
from armarium_paleography.queries.campaigns import MEMBERS, READINGS, membership, reading_memberships
from armarium_paleography.queries.editorial import FACTS, counting_text
from armarium_paleography.queries.hands import ATTRIBUTIONS, HANDS
from armarium_paleography.queries.letterforms import ALLOGRAPHS, LETTERFORMS, description
from armarium_paleography.queries.live_segments import live
from armarium_paleography.queries.signs import INSTANCES, SIGNS
from armarium_paleography.records.ground import metadata
from armarium_paleography.records.hands import (
    SAME_JUDGEMENT,
    attributions,
    hands,
    members,
    reading_members,
)
from armarium_paleography.records.likeness import proposals
from armarium_paleography.records.marks import allographs, facts, instances, letterforms, signs
from armarium_source_model.api import ReadingChange, Why, move_span, span_in_new_text

PENDING = "pending"
OF_SEGMENTS = ("hand.attribute", "sign.add_instance", "campaign.assign", "letterform.set")
"""The actions that judge segments. Rows that follow their segments obey the laws of these actions, also when
undone and redone.
"""
_JUDGE_AND_HAND = tuple(name for name in SAME_JUDGEMENT if name != "segment_id")


def _set(ctx: ActionContext, table: Table, identity: str, **values: Any) -> None:
    ctx.conn.execute(table.update().where(table.c.id == identity).values(values))


def move_facts(ctx: ActionContext, corrected: ReadingChange) -> list[Why]:
    """Move the editorial facts and campaigns of a reading to the correction that counts instead of it, as far as they can
    be placed. The rest stays on the earlier reading and is returned with the reason."""
    reasons: list[Why] = []
    on_it = (facts.c.representation_id == corrected.old_id, live(facts))
    for fact in FACTS.all(ctx.conn, *on_it, order=(facts.c.id,)):
        place_now = _place(fact, corrected.old_text, corrected.new_text)
        if isinstance(place_now, str):
            reasons.append((fact["id"], place_now))
            continue
        start, end = place_now
        _set(ctx, facts, fact["id"], representation_id=corrected.new_id, char_start=start, char_end=end)
    columns = ("id", "representation_id", "campaign_id", "document_id", *ctx.provenance())
    provenance = tuple(ctx.provenance().values())
    rows = [
        (
            new_id(),
            corrected.new_id,
            reading_membership["campaign_id"],
            reading_membership["document_id"],
            *provenance,
        )
        for reading_membership in reading_memberships(ctx.conn, corrected.old_id)
    ]
    if rows:
        ctx.obey_laws_of("campaign.assign_reading")
        ctx.bulk_insert(reading_members, columns, rows)
    return reasons


def _place(fact: Mapping[str, Any], old: str, new: str) -> tuple[int | None, int | None] | str:
    """Return the span on *new* of a fact's span on *old* (no span remains no span), or the reason why there is none."""
    start, end = fact["char_start"], fact["char_end"]
    if start is None or end is None:
        return None, None
    # A place between two characters has none that could occur once.
    return (move_span if start == end else span_in_new_text)(start, end, old, new)


def copy_facts(ctx: ActionContext, copied: ReadingChange) -> None:
    """Copy the editorial facts and campaigns of a reading that is copied across a match."""
    ctx.obey_laws_of("campaign.assign_reading")
    place = {"segment_id": copied.segment_id, "document_id": copied.document_id}
    of_it = (facts.c.representation_id == copied.old_id, live(facts))
    for fact in FACTS.all(ctx.conn, *of_it, order=(facts.c.id,)):
        values = {**restate(ctx, fact), **place, "representation_id": copied.new_id}
        ctx.conn.execute(facts.insert().values(values))
    for reading_membership in reading_memberships(ctx.conn, copied.old_id):
        values = {**restate(ctx, reading_membership), "representation_id": copied.new_id}
        ctx.conn.execute(reading_members.insert().values(values))


def restate(ctx: ActionContext, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return *row* with a new id. A machine's copy is not attributed to the person who made the original."""
    own = ctx.provenance()
    made_by = {name: row[name] for name in own} if ctx.principal.restates_persons else own
    return {**row, **made_by, "id": new_id()}


def follow_merge(ctx: ActionContext, absorbed_ids: Sequence[str], keep_id: str) -> None:
    """Move all judgements to the segment that remains, without duplicates; its own campaign and description win."""
    ctx.obey_laws_of(*OF_SEGMENTS)
    _merge_rows(ctx, attributions, ATTRIBUTIONS, _JUDGE_AND_HAND, absorbed_ids, keep_id)
    _merge_rows(ctx, instances, INSTANCES, ("sign_id",), absorbed_ids, keep_id)
    _merge_facts(ctx, absorbed_ids, keep_id)
    _merge_campaigns(ctx, absorbed_ids, keep_id)
    own = description(ctx.conn, keep_id)
    for absorbed in absorbed_ids:
        for form in LETTERFORMS.all(ctx.conn, letterforms.c.segment_id == absorbed, live(letterforms)):
            if own is None:
                _set(ctx, letterforms, form["id"], segment_id=keep_id)
                own = form
            else:
                withdraw_where(ctx, letterforms, letterforms.c.id == form["id"])
    pictures = is_among(signs.c.picture_segment_id, absorbed_ids)
    ctx.conn.execute(signs.update().where(pictures).values(picture_segment_id=keep_id))
    about = or_(
        is_among(proposals.c.segment_id, absorbed_ids),
        is_among(proposals.c.like_segment_id, absorbed_ids),
    )
    ctx.conn.execute(proposals.delete().where(about, proposals.c.state == PENDING))


def _merge_rows(
    ctx: ActionContext,
    table: Table,
    rows: Any,
    same: tuple[str, ...],
    absorbed_ids: Sequence[str],
    keep_id: str,
) -> None:
    standing = rows.all(ctx.conn, table.c.segment_id == keep_id, live(table))
    standing_keys = {tuple(row[name] for name in same) for row in standing}
    for row in rows.all(
        ctx.conn, is_among(table.c.segment_id, absorbed_ids), live(table), order=(table.c.id,)
    ):
        key = tuple(row[name] for name in same)
        if key in standing_keys:
            withdraw_where(ctx, table, table.c.id == row["id"])
        else:
            standing_keys.add(key)
            _set(ctx, table, row["id"], segment_id=keep_id)


def _merge_facts(ctx: ActionContext, absorbed_ids: Sequence[str], keep_id: str) -> None:
    """Move a span to the joined reading if its own reading occurs there exactly once; otherwise leave it on its own."""
    joined = counting_text(ctx.conn, keep_id)
    where = (is_among(facts.c.segment_id, absorbed_ids), live(facts))
    for fact in FACTS.all(ctx.conn, *where, order=(facts.c.id,)):
        values: dict[str, Any] = {"segment_id": keep_id}
        reading = READINGS.get(ctx.conn, fact["representation_id"]) if fact["representation_id"] else None
        if joined is not None and reading is not None and reading["content"]:
            whole = span_in_new_text(0, len(reading["content"]), reading["content"], joined["text"])
            if not isinstance(whole, str):
                values["representation_id"] = joined["representation_id"]
                if fact["char_start"] is None:
                    values |= {"char_start": whole[0], "char_end": whole[1]}
                else:
                    values["char_start"] = whole[0] + fact["char_start"]
                    values["char_end"] = whole[0] + fact["char_end"]
        _set(ctx, facts, fact["id"], **values)


def _merge_campaigns(ctx: ActionContext, absorbed_ids: Sequence[str], keep_id: str) -> None:
    own = membership(ctx.conn, keep_id)
    for absorbed in absorbed_ids:
        other = membership(ctx.conn, absorbed)
        if other is None:
            continue
        if own is None:
            own = other
            _set(ctx, members, other["id"], segment_id=keep_id)
        else:
            _set(ctx, members, other["id"], superseded_at=ctx.now)


def follow_split(ctx: ActionContext, segment_id: str, part_ids: Sequence[str]) -> None:
    """Give every part the hands and the campaign of the whole, and each fact to the part that has its characters."""
    ctx.obey_laws_of(*OF_SEGMENTS)
    parts = [part_id for part_id in part_ids if part_id != segment_id]
    here = (attributions.c.segment_id == segment_id, live(attributions))
    _copy_rows(ctx, attributions, ATTRIBUTIONS.all(ctx.conn, *here), parts)
    standing = (members.c.segment_id == segment_id, members.c.superseded_at.is_(None))
    _copy_rows(ctx, members, MEMBERS.all(ctx.conn, *standing), parts)
    counting = counting_text(ctx.conn, segment_id)
    texts = {part: reading for part in parts if (reading := counting_text(ctx.conn, part)) is not None}
    where = (facts.c.segment_id == segment_id, live(facts), facts.c.char_start.is_not(None))
    for fact in FACTS.all(ctx.conn, *where, order=(facts.c.id,)):
        if counting is not None and fact["representation_id"] == counting["representation_id"]:
            continue
        old = READINGS.require(ctx.conn, fact["representation_id"])["content"] or ""
        places_by_part = {
            part: place
            for part, text in texts.items()
            if not isinstance(
                place := span_in_new_text(fact["char_start"], fact["char_end"], old, text["text"]), str
            )
        }
        if len(places_by_part) == 1:
            ((part, (start, end)),) = places_by_part.items()
            where_now = {"segment_id": part, "representation_id": texts[part]["representation_id"]}
            _set(ctx, facts, fact["id"], **where_now, char_start=start, char_end=end)


def _copy_rows(
    ctx: ActionContext, table: Table, rows: Sequence[Mapping[str, Any]], parts: Sequence[str]
) -> None:
    """Copy each row to each part; rows that become equal are copied once."""
    copies: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        copy = restate(ctx, row)
        copies.setdefault(tuple(copy.get(name) for name in SAME_JUDGEMENT), copy)
    for copy in copies.values():
        for part in parts:
            ctx.conn.execute(table.insert().values({**copy, "id": new_id(), "segment_id": part}))


def settle_arrivals(ctx: ActionContext, new: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """After a transfer, use this project's hands, signs and allographs of the same name in place of those
    that arrived.
    """
    _settle(ctx, hands, HANDS, [("label",)], new.get("hand", ()))
    _settle(ctx, signs, SIGNS, [("code_point",), ("name",)], new.get("sign", ()))
    _settle(ctx, allographs, ALLOGRAPHS, [("character", "name")], new.get("letterform_allograph", ()))
    return []


def _settle(
    ctx: ActionContext, table: Table, rows: Any, keys: Sequence[tuple[str, ...]], new_ids: Sequence[str]
) -> None:
    """Redirect references from a new row to the live row of this project with the same key, and remove the
    new row.

    *keys*: the columns to match by, the most reliable first. Rows that were distinct in the other project
    remain distinct: of several with one name, the oldest is matched to the oldest here, and so on.
    """
    new_set, taken_ids = set(new_ids), set[str]()
    age = (table.c.created_at, table.c.id)
    oldest_first = [row["id"] for row in rows.all(ctx.conn, is_among(table.c.id, new_ids), order=age)]
    for key, identity in itertools.product(keys, oldest_first):
        row = rows.get(ctx.conn, identity)
        if row is None or row["withdrawn_at"] is not None or any(row[name] is None for name in key):
            continue
        same_key = (*(table.c[name] == row[name] for name in key), live(table), table.c.id != identity)
        same_rows = rows.all(ctx.conn, *same_key, order=age)
        others = (row for row in same_rows if row["id"] not in new_set | taken_ids)
        own = next((other["id"] for other in others if not _differ(other, row)), None)
        if own is None:
            continue
        taken_ids.add(own)
        for other in metadata.tables.values():
            for column in (
                key_column.parent for key_column in other.foreign_keys if key_column.column.table is table
            ):
                ctx.conn.execute(other.update().where(column == identity).values({column.name: own}))
        ctx.conn.execute(table.delete().where(table.c.id == identity))


def _differ(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether both have a code point and these differ: then they are two signs, even if the names are equal."""
    points = {row["code_point"] for row in (first, other) if row.get("code_point")}
    return len(points) > 1
