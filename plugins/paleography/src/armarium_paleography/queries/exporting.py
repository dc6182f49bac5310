"""Hands, signs and editorial facts for the files of exported pages, and the losses where a file has no place
for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table

from armarium.api import Rows, is_among
from armarium_formats.api import Loss, PageHand, PageModel, PageSegment, PageSign, PageText, TextMark
from armarium_paleography.queries.editorial import FACTS
from armarium_paleography.queries.hands import ATTRIBUTIONS, HANDS
from armarium_paleography.queries.live_segments import count_of, live
from armarium_paleography.queries.signs import INSTANCES, SIGNS
from armarium_paleography.records.hands import attributions, campaigns, hands, members, reading_members
from armarium_paleography.records.marks import allographs, facts, instances, letterforms, signs

UNSAID = 0.5
"""The certainty assumed for a judgement that states none, when rival judgements are compared."""


def mark_page(
    conn: Connection,
    page: PageModel,
    segments: Mapping[str, PageSegment],
    reading_ids: Mapping[str, str],
) -> list[Loss]:
    """Add hands, signs and editorial facts to a page that is exported; return what has no place there."""
    losses = [
        *_hands(conn, page, segments),
        *_facts(conn, segments, reading_ids),
        *_signs(conn, page, segments),
    ]
    standing = (members.c.superseded_at.is_(None), is_among(members.c.segment_id, segments))
    described = (live(letterforms), is_among(letterforms.c.segment_id, segments))
    for what, count in (
        ("campaigns of lines", count_of(conn, members, *standing)),
        ("letterforms", count_of(conn, letterforms, *described)),
    ):
        losses.append(
            Loss(what, count, "no format here can express them; they stay with the page in the project")
        )
    return [loss for loss in losses if loss.count]


def _live_rows(
    rows: Rows, table: Table, conn: Connection, segments: Mapping[str, PageSegment]
) -> list[dict[str, Any]]:
    where = (live(table), is_among(table.c.segment_id, segments))
    return rows.all(conn, *where, order=(table.c.created_at, table.c.id))


def _hands(conn: Connection, page: PageModel, segments: Mapping[str, PageSegment]) -> list[Loss]:
    """Add the most certain judgement of each segment; among equals the oldest."""
    best: dict[str, dict[str, Any]] = {}
    rivals = 0
    for row in _live_rows(ATTRIBUTIONS, attributions, conn, segments):
        other = best.get(row["segment_id"])
        if other is None or _certainty(row) > _certainty(other):
            best[row["segment_id"]] = row
        rivals += other is not None and other["hand_id"] != row["hand_id"]
    for segment_id, row in best.items():
        key = f"hand-{row['hand_id']}"
        segments[segment_id].hand = key
        if key not in page.hands:
            hand = HANDS.require(conn, row["hand_id"])
            about = {name: hand[name] for name in ("scribe", "date", "place", "style", "notes") if hand[name]}
            page.hands[key] = PageHand(hand["label"], about)
    why = "a line has one hand there: the most certain judgement, among equals the oldest"
    return [Loss("rival judgements of hands", rivals, why)]


def _certainty(row: Mapping[str, Any]) -> float:
    return UNSAID if row["certainty"] is None else float(row["certainty"])


def _facts(
    conn: Connection, segments: Mapping[str, PageSegment], reading_ids: Mapping[str, str]
) -> list[Loss]:
    left_out_count = 0
    for fact in _live_rows(FACTS, facts, conn, segments):
        segment = segments[fact["segment_id"]]
        if fact["representation_id"] is not None and fact["representation_id"] != reading_ids.get(
            fact["segment_id"]
        ):
            left_out_count += 1
            continue
        if not segment.texts:
            segment.texts = [PageText("")]
        fields = {name: fact[name] for name in ("reason", "place", "extent", "source") if fact[name]}
        if fact["certainty"] is not None:
            fields["certainty"] = repr(float(fact["certainty"]))
        if fact["extent_quantity"] is not None:
            fields |= {"quantity": f"{fact['extent_quantity']:g}", "unit": fact["extent_unit"]}
        text = segment.texts[0]
        text.marks = [*text.marks, TextMark(fact["kind"], fact["char_start"], fact["char_end"], fields)]
    return [
        Loss(
            "editorial facts of other readings",
            left_out_count,
            "they name characters of a reading that is not in the file",
        )
    ]


def _signs(conn: Connection, page: PageModel, segments: Mapping[str, PageSegment]) -> list[Loss]:
    """Place a sign at its character, or on the whole of a word; in a line without its character it has no place."""
    left_out_count = 0
    for row in _live_rows(INSTANCES, instances, conn, segments):
        segment, sign = segments[row["segment_id"]], SIGNS.get(conn, row["sign_id"])
        if sign is None or not segment.texts:
            left_out_count += 1
            continue
        text = segment.texts[0]
        character = chr(int(sign["code_point"][2:], 16)) if sign["code_point"] else None
        places = [at for at, char in enumerate(text.text) if char == character]
        key = f"sign-{sign['id']}"
        marks = [TextMark("sign", at, at + 1, {"sign": key}) for at in places]
        if not marks and segment.kind == "word":
            marks = [TextMark("sign", 0, len(text.text), {"sign": key})]
        if not marks:
            left_out_count += 1
            continue
        text.marks = [*text.marks, *marks]
        listed = tuple((ref["authority"], ref["number"]) for ref in sign["list_references"])
        page.signs[key] = PageSign(sign["name"], character, listed)
    return [Loss("places of signs", left_out_count, "the text of the line does not contain their character")]


EXPORTED = (
    hands,
    attributions,
    campaigns,
    members,
    reading_members,
    facts,
    signs,
    instances,
    allographs,
    letterforms,
)
"""Tables whose rows leave a project as records; proposals are not among them, the other project makes its own."""
