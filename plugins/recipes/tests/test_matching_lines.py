"""The rule that matches found lines with checked ones, on cases made by hand with the answer a person would give."""

from __future__ import annotations

from typing import Any

import pytest

from armarium_recipes.bakeoffs.matching import count_lines, outline


def box(x: float, y: float, w: float, h: float, **more: Any) -> dict[str, Any]:
    return {"rect": [x, y, w, h], **more}


def make_slanted(x: float, y: float, w: float, h: float, rise: float) -> dict[str, Any]:
    """Return a line whose right end is *rise* lower than its left."""
    points = [[x, y], [x + w, y + rise], [x + w, y + rise + h], [x, y + h]]
    return box(x, min(y, y + rise), w, h + abs(rise), polygon=points)


TWO = [box(100, 100, 800, 40), box(100, 170, 800, 40)]
CASES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], tuple[int, int]]] = {
    "the same boxes": (TWO, TWO, (2, 0)),
    "in another order": (TWO, TWO[::-1], (2, 0)),
    "nothing found": (TWO, [], (0, 0)),
    "a tall box of each row": (TWO, [box(95, 85, 815, 70), box(98, 155, 810, 66)], (2, 0)),
    "a box around both rows": (TWO, [box(100, 95, 800, 120)], (0, 1)),
    "a row found in two halves, one larger": (TWO, [box(100, 100, 480, 40), box(590, 100, 310, 40), TWO[1]], (2, 1)),
    "a row found in three pieces": (TWO, [box(100, 100, 250, 40), box(370, 100, 250, 40), box(640, 100, 260, 40)], (0, 3)),
    "a row found twice": (TWO, [*TWO, box(102, 101, 795, 39)], (2, 1)),
    "rows found half a row too low": (TWO, [box(100, 135, 800, 40), box(100, 205, 800, 40)], (0, 2)),
    "less than half of the row": (TWO[:1], [box(100, 100, 390, 40)], (0, 1)),
    "more than half of the row": (TWO[:1], [box(100, 100, 410, 40)], (1, 0)),
    "a box that runs on into the next column": (TWO[:1], [box(100, 100, 1700, 40)], (0, 1)),
    "the neighbour column alone": (TWO[:1], [box(1000, 100, 800, 40)], (0, 1)),
    "slanted rows, each box over the next": (
        [make_slanted(100, 100, 800, 30, 90), make_slanted(100, 160, 800, 30, 90)],
        [make_slanted(95, 96, 810, 38, 91), make_slanted(97, 157, 806, 36, 89)],
        (2, 0),
    ),
    "slanted rows, one found lower by a row": (
        [make_slanted(100, 100, 800, 30, 90), make_slanted(100, 160, 800, 30, 90)],
        [make_slanted(100, 160, 800, 30, 90), make_slanted(100, 220, 800, 30, 90)],
        (1, 1),
    ),
    "columns of vertical writing": (
        [box(800, 50, 60, 700), box(700, 50, 60, 700)],
        [box(703, 60, 50, 690), box(790, 55, 80, 690)],
        (2, 0),
    ),
    "two characters of vertical writing, said to be": (
        [box(800, 50, 60, 80, direction="ttb")],
        [box(800, 52, 62, 78)],
        (1, 0),
    ),
    "vertical columns merged": ([box(800, 50, 60, 700), box(700, 50, 60, 700)], [box(695, 50, 170, 700)], (0, 1)),
    "an outline of two points is its box": (TWO[:1], [box(100, 100, 800, 40, polygon=[[0, 0], [1, 1]])], (1, 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_rule_decides_as_a_person_would(case: str) -> None:
    reference, found, (right, extra) = CASES[case]
    lines = count_lines(list(map(outline, reference)), [True] * len(reference), list(map(outline, found)))
    assert (lines["lines_found"], lines["extra_lines"]) == (right, extra)
    assert lines["lines_checked"] == len(reference)


def test_lines_that_nobody_checked_are_neither_wanted_nor_too_many() -> None:
    outlines = list(map(outline, TWO))
    lines = count_lines(outlines, [True, False], outlines)
    assert lines == {"lines_checked": 1, "lines_found": 1, "extra_lines": 0}
