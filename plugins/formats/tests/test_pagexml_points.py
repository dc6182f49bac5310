"""The points of PAGE files: the fast parser for whole numbers gives the same result as the general one, and
accepts no more.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium_formats.points import parse_points


@given(st.lists(st.tuples(st.integers(-(10**20), 10**20), st.integers(-(10**20), 10**20)), min_size=1))
def test_whole_numbers_are_read_exactly(points: list[tuple[int, int]]) -> None:
    found_points = parse_points(" ".join(f"{x},{y}" for x, y in points))
    assert found_points == points
    assert {type(number) for pair in found_points for number in pair} == {int}


@pytest.mark.parametrize(
    "value",
    [
        "[1,2],[3,4]",
        "true,2",
        "null,null",
        '"1","2"',
        "1,2]",
        "{},1",
        "1,NaN",
        "1,\ud800",
        "[" * 5000,
        "1 2 3",
        "1e999 2",
    ],
)
def test_json_other_than_pairs_of_numbers_is_no_point(value: str) -> None:
    assert parse_points(value) is None


@pytest.mark.parametrize(
    ("value", "points"),
    [
        ("1,2\n3,4", [(1, 2), (3, 4)]),
        (" 1,2  3,4 ", [(1, 2), (3, 4)]),
        ("007,+2", [(7, 2)]),
        ("1.5,2.0 3,4", [(1.5, 2), (3, 4)]),
        ("-0,1e2", [(0, 100)]),
        ("1 2 3.5 4", [(1, 2), (3.5, 4)]),
        ("1,2,3,4", [(1, 2), (3, 4)]),
        ("", []),
    ],
)
def test_points_are_read_however_they_are_spaced(value: str, points: list[tuple[float, float]]) -> None:
    assert parse_points(value) == points


@pytest.mark.parametrize(
    "value",
    [
        "1" * 1_000_000 + "x",
        "1" + " " * 1_000_000 + "x",
        "1e" + "5" * 1_000_000,
        "-1" * 500_000,
        "1. " * 300_001,
    ],
    ids=["digits", "blanks", "exponent", "signs", "numbers"],
)
def test_long_values_are_read_without_backtracking(value: str) -> None:
    """A pattern that backtracks over every split of a number would practically never return."""
    assert parse_points(value) is None
