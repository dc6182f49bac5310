"""Which reader reads the lines of which hand, for the job that reads lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from armarium_reading.api import OwnReader
from armarium_recipes.bakeoffs.hands import hand_of_lines
from armarium_recipes.models_bakeoffs import champions


def readers_of_lines(conn: Connection, segment_ids: Sequence[str]) -> Mapping[str, OwnReader]:
    """Return the champion of the hand that each line is attributed to; a line with rival attributions has none."""
    rows = conn.execute(select(champions.c.hand_id, champions.c.reader, champions.c.model))
    of_hand = {row.hand_id: OwnReader(row.reader, row.model) for row in rows}
    if not of_hand:
        return {}
    hands = hand_of_lines(conn, segment_ids)
    return {line: of_hand[hand] for line, hand in hands.items() if hand in of_hand}
