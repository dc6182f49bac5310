"""Where the images of a step are in a history table, against a plain scan of its rows."""

from __future__ import annotations

import random
import sqlite3

import pytest

from armarium.errors import Conflict
from armarium.history.capture import history_name
from armarium.history.spans import span


@pytest.mark.parametrize("seed", range(20))
def test_the_span_of_every_step_is_that_of_a_scan(seed: int) -> None:
    chance = random.Random(seed)
    rows: list[tuple[int, int]] = []
    seq = step = 0
    for _ in range(chance.randint(1, 30)):
        step += chance.choice((1, 1, 1, 2, 5))
        for _ in range(chance.choice((1, 1, 2, 3, 70, 300))):
            seq += 1 if chance.random() < 0.95 else chance.randint(2, 90)
            rows.append((seq, step))
    raw = sqlite3.connect(":memory:")
    raw.execute(f"CREATE TABLE {history_name('leaf')} (seq INTEGER PRIMARY KEY, audit_seq INTEGER)")
    raw.executemany(f"INSERT INTO {history_name('leaf')} VALUES (?, ?)", rows)
    for asked in range(step + 3):
        of_step = [number for number, by in rows if by == asked]
        found = span(raw, "leaf", asked)
        assert [
            number for number, _ in rows if found is not None and found[0] <= number <= found[1]
        ] == of_step
        assert (found is None) is (not of_step)


def test_a_row_without_a_step_is_damage() -> None:
    raw = sqlite3.connect(":memory:")
    raw.execute(f"CREATE TABLE {history_name('leaf')} (seq INTEGER PRIMARY KEY, audit_seq INTEGER)")
    raw.executemany(f"INSERT INTO {history_name('leaf')} VALUES (?, ?)", [(1, 1), (2, None), (3, 3)])
    with pytest.raises(Conflict, match="doctor"):
        span(raw, "leaf", 3)
