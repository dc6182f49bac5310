"""How long a running job will still take is told by its own pace."""

from __future__ import annotations

import pytest

from armarium.jobs import pace, waits
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


def test_a_job_that_does_not_come_further_says_so_until_it_does(clock: list[float]) -> None:
    job = Pace()
    clock[0] += pace.STANDSTILL - 1
    assert job.tell_standstill() is None
    clock[0] += 121
    assert job.tell_standstill() == "Has not come further for 12 minutes."
    job.note(1)
    assert job.tell_standstill() is None


def test_the_one_who_has_been_silent_longest_is_named(clock: list[float]) -> None:
    running = waits.Waits()
    with (
        running.answer_of("the first") as note_life,
        running.answer_of("the worker for a.b:C", told_after=60),
    ):
        clock[0] += 10
        assert running.tell() == "Has been waiting for an answer from the first for 10 seconds."
        note_life()
        assert running.tell() is None
        clock[0] += 290
        assert running.tell() == "Has been waiting for an answer from the worker for a.b:C for 5 minutes."
    assert running.tell() is None
