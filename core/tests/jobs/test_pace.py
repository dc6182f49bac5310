"""How long a running job will still take is told by its own pace."""

from __future__ import annotations

import pytest

from armarium.jobs import pace
from armarium.jobs.pace import Pace, part_of


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    at = [100.0]
    monkeypatch.setattr(pace.time, "monotonic", lambda: at[0])
    return at


def test_the_rest_takes_as_long_as_what_was_done_since_the_first_report(clock: list[float]) -> None:
    running = Pace()
    assert running.seconds_left(10) is None
    # What an earlier run had done, before it was interrupted, tells nothing of the pace of this one.
    running.note(4)
    clock[0] += 60
    assert running.seconds_left(10) is None
    running.note(part=0.5)
    assert running.seconds_left(10) == 660
    running.note(6)
    assert running.seconds_left(10) == 120
    assert running.seconds_left(6) is None


def test_nothing_is_told_in_the_first_seconds(clock: list[float]) -> None:
    running = Pace()
    running.note(0)
    running.note(1)
    clock[0] += pace.SOONEST - 1
    assert running.seconds_left(2) is None


def test_the_part_of_the_item_in_hand_needs_to_know_of_how_many() -> None:
    assert part_of(None) == part_of({"done": 3, "total": None}) == part_of({"done": 3}) == 0
    assert part_of({"done": 3, "total": 4}) == 0.75
    assert part_of({"done": 5, "total": 4}) == 1
