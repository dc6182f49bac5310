"""Bake-offs by hand: whose hand a line is, how each candidate reads the lines of each hand, and which
differences are significant when all are tested together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_paleography.api import attributions, hands
from armarium_recipes.models_bakeoffs import champions
from armarium_source_model.api import segments
from armarium_training.api import interval, paired_p_value

MIN_LINES = 100
"""Lines of a hand below which nothing is stated about it."""
SIGNIFICANT = 0.05

Lines = Mapping[str, tuple[int, int]]
"""For each line, by its segment: the number of wrong characters, and of all characters."""


def hand_of_lines(conn: Connection, segment_ids: Iterable[str]) -> dict[str, str]:
    """Return the hand of each line attributed to one, directly or through its region.

    A line with rival attributions has none. Its own attributions take precedence over those of its region,
    and those to withdrawn hands are ignored.
    """
    ids = list(segment_ids)
    parents = {
        row.id: row.parent_segment_id
        for row in conn.execute(
            select(segments.c.id, segments.c.parent_segment_id).where(is_among(segments.c.id, ids))
        )
    }
    hand_ids = {*ids, *(parent for parent in parents.values() if parent is not None)}
    hands_of: dict[str, set[str]] = {}
    query = (
        select(attributions.c.segment_id, attributions.c.hand_id)
        .join(hands, hands.c.id == attributions.c.hand_id)
        .where(
            is_among(attributions.c.segment_id, sorted(hand_ids)),
            attributions.c.withdrawn_at.is_(None),
            hands.c.withdrawn_at.is_(None),
        )
    )
    for row in conn.execute(query):
        hands_of.setdefault(row.segment_id, set()).add(row.hand_id)
    hand_of = {}
    for segment_id in ids:
        of_it = hands_of.get(segment_id) or hands_of.get(parents.get(segment_id) or "") or set()
        if len(of_it) == 1:
            (hand_of[segment_id],) = of_it
    return hand_of


def holm(values: Sequence[float]) -> list[float]:
    """Return *values* (p-values) corrected for multiple tests by Holm's method, in the same order, each at most 1."""
    corrected = [1.0] * len(values)
    highest = 0.0
    for place, number in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        highest = max(highest, min(1.0, (len(values) - place) * values[number]))
        corrected[number] = highest
    return corrected


def by_hand(
    hand_of: Mapping[str, str], measured: Mapping[str, Lines], in_use: Mapping[str | None, str | None]
) -> list[dict[str, Any]]:
    """Return, for each hand with enough lines, how the candidates (*measured*: card to lines, the same lines
    for all) read them.

    *in_use*: the card that reads each hand's lines now; None: the card for all other lines. Every difference
    from it is tested (paired, by line) and corrected for all tests of all hands.
    """
    results = []
    lines_of: dict[str, list[str]] = {}
    common = set.intersection(*(set(lines) for lines in measured.values())) if measured else set()
    for segment_id in sorted(common):
        if segment_id in hand_of:
            lines_of.setdefault(hand_of[segment_id], []).append(segment_id)
    tests: list[tuple[dict[str, Any], float]] = []
    for hand_id, lines in sorted(lines_of.items()):
        if len(lines) < MIN_LINES:
            continue
        model_now = in_use.get(hand_id, in_use.get(None))
        rows = []
        for card, read in measured.items():
            own = [read[line] for line in lines]
            chars = sum(count for _, count in own)
            if not chars:
                continue
            row = {"card": card, "cer": round(sum(distance for distance, _ in own) / chars, 6), "p": None}
            row["interval"] = _interval(own)
            if model_now in measured and card != model_now:
                p_value = paired_p_value([measured[str(model_now)][line] for line in lines], own)
                if p_value is not None:
                    tests.append((row, p_value))
            rows.append(row)
        rows.sort(key=lambda row: (row["cer"], row["card"]))
        results.append(
            {
                "hand_id": hand_id,
                "lines": len(lines),
                "in_use": model_now if model_now in measured else None,
                "rows": rows,
            }
        )
    for (row, _), corrected in zip(tests, holm([p_value for _, p_value in tests]), strict=True):
        row["p"] = round(corrected, 5)
    for result in results:
        result["better"] = _choose_better(result)
        result["promoted"] = False
    return results


def _interval(lines: Sequence[tuple[int, int]]) -> list[float] | None:
    import numpy as np

    return interval(np.array(lines, dtype=np.float64))


def _choose_better(result: Mapping[str, Any]) -> str | None:
    used = next((row["cer"] for row in result["rows"] if row["card"] == result["in_use"]), None)
    if used is None:
        return None
    able = [
        row for row in result["rows"] if row["p"] is not None and row["p"] < SIGNIFICANT and row["cer"] < used
    ]
    return able[0]["card"] if able else None


def champion_cards(conn: Connection, besides: str) -> dict[str | None, str | None]:
    """Return the card of each hand that has a reader of its own, except those chosen by the bake-off
    *besides*.
    """
    query = select(champions.c.hand_id, champions.c.card, champions.c.bakeoff_id)
    return {row.hand_id: row.card for row in conn.execute(query) if row.bakeoff_id != besides}
