"""Lines in columns without regions, as a machine finds them: what no single box may decide, and what is not clear."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from armarium_source_model.order import Lean, Shape, lean_of, order_page, reading_sequence

LINE, PITCH, TOP = 0.022, 0.018, 0.06
"""Boxes of manuscripts are thicker than their lines are apart."""


def column(name: str, left: float, width: float, rows: int = 40, *, shift: float = 0.0) -> list[Shape]:
    """Return the lines of a column, ragged at the right."""
    dice = random.Random(name)
    return [
        Shape(f"{name}{row:02}", "line", left, TOP + shift + row * PITCH, width - dice.uniform(0, 0.01), LINE)
        for row in range(rows)
    ]


def tight(rows: int = 40) -> list[Shape]:
    """Return a page of two columns whose boxes nearly touch."""
    return [*column("a", 0.1, 0.39, rows), *column("b", 0.495, 0.39, rows, shift=0.006)]


def ids(shapes: list[Shape]) -> list[str]:
    return [shape.id for shape in shapes]


def read(shapes: list[Shape]) -> list[str]:
    """Return the order of shapes that are listed in no order."""
    listed = list(shapes)
    random.Random(7).shuffle(listed)
    return reading_sequence(listed)


def main(order: list[str]) -> list[str]:
    return [one for one in order if one[0] in "abcd"]


def changes(order: list[str]) -> int:
    return sum(one[0] != other[0] for one, other in pairwise(main(order)))


def test_two_columns_that_nearly_touch_are_read_one_after_the_other() -> None:
    assert read(tight()) == ids(tight())


@pytest.mark.parametrize(
    "stray",
    [
        Shape("x", "line", 0.93, 0.4, 0.01, 0.01),
        Shape("x", "line", 0.488, 0.4, 0.006, 0.01),
        Shape("x", "line", 0.2, 0.4, 0.02, 0.012),
        Shape("x", "line", 0.47, 0.01, 0.03, 0.02),
    ],
    ids=["in the margin", "in the gutter", "in a column", "a page number"],
)
def test_a_stray_piece_does_not_mix_the_columns(stray: Shape) -> None:
    assert main(read([*tight(), stray])) == ids(tight())


def test_a_piece_in_each_of_several_rows_does_not_mix_the_columns() -> None:
    dice = random.Random(3)
    crumbs = [
        Shape(f"x{n}", "line", dice.uniform(0.1, 0.85), dice.uniform(0.06, 0.75), 0.012, 0.012)
        for n in range(8)
    ]
    assert main(read([*tight(), *crumbs])) == ids(tight())


def test_lines_of_both_columns_taken_for_one_do_not_cut_the_columns() -> None:
    page = tight()
    for row in (5, 17, 30):
        page[row] = page[row]._replace(w=0.78)
        page = [shape for shape in page if shape.id != f"b{row:02}"]
    assert main(read(page)) == ids(page)


def test_a_heading_across_the_columns_is_read_between_them() -> None:
    above = [*column("a", 0.1, 0.38, 12), *column("b", 0.5, 0.38, 12)]
    heading = Shape("h", "line", 0.1, TOP + 13 * PITCH, 0.78, LINE)
    below = [
        shape._replace(id="c" + shape.id, y=shape.y + 15 * PITCH)
        for shape in [*column("a", 0.1, 0.38, 12), *column("b", 0.5, 0.38, 12)]
    ]
    assert read([*above, heading, *below]) == ids([*above, heading, *below])


@pytest.mark.parametrize("before", ["a", "b"])
def test_initials_in_boxes_of_their_own_are_read_with_their_line(before: str) -> None:
    """Also where they stand in the gutter, before the lines of the right column."""
    page = [*column("a", 0.1, 0.36), *column("b", 0.51, 0.36, shift=0.006)]
    wanted: list[str] = []
    initials: list[Shape] = []
    for shape in page:
        if shape.id[0] == before and int(shape.id[1:]) % 2 == 0:
            initials.append(Shape(f"i{shape.id}", "line", shape.x - 0.025, shape.y, 0.018, LINE))
            wanted.append(initials[-1].id)
        wanted.append(shape.id)
    assert read([*page, *initials]) == wanted


def test_an_initial_over_three_lines_is_read_before_the_first_of_them() -> None:
    page = [
        shape._replace(x=0.16, w=0.32) if shape.id in ("a10", "a11", "a12") else shape for shape in tight()
    ]
    initial = Shape("i", "line", 0.1, page[10].y, 0.05, LINE + 2 * PITCH)
    order = read([*page, initial])
    assert order[9:12] == ["a09", "i", "a10"]
    assert main(order) == ids(page)


def test_notes_beside_a_column_are_read_after_it() -> None:
    notes = [Shape(f"n{n}", "line", 0.9, 0.3 + n * 0.014, 0.07, 0.012) for n in range(5)]
    assert read([*notes, *tight()]) == ids([*tight(), *notes])


def test_a_gloss_between_two_lines_is_read_between_them() -> None:
    gloss = Shape("g", "line", 0.2, TOP + 20 * PITCH - 0.002, 0.1, 0.008)
    order = read([*tight(), gloss])
    assert order[order.index("g") - 1 : order.index("g") + 2] == ["a19", "g", "a20"]


def test_two_pages_of_two_columns_on_one_photograph() -> None:
    page = [
        shape
        for name, left in zip("abcd", (0.03, 0.25, 0.54, 0.76), strict=True)
        for shape in column(name, left, 0.21)
    ]
    assert read(page) == ids(page)


def test_a_short_last_column_is_read_last() -> None:
    page = [*column("a", 0.1, 0.39), *column("b", 0.495, 0.39, 6)]
    assert read(page) == ids(page)


@pytest.mark.parametrize("direction", ["rtl", "ttb"])
def test_tight_columns_in_other_directions(direction: str) -> None:
    def turn(one: Shape) -> Shape:
        if direction == "rtl":
            return one._replace(x=1 - one.x - one.w)
        return one._replace(x=1 - one.y - one.h, y=one.x, w=one.h, h=one.w)

    page = [turn(shape) for shape in tight()]
    assert reading_sequence(page[::-1], direction=direction) == ids(tight())


def spoil_drop(page: list[Shape], dice: random.Random) -> list[Shape]:
    return [shape for shape in page if dice.random() > 0.1]


def spoil_split(page: list[Shape], dice: random.Random) -> list[Shape]:
    found: list[Shape] = []
    for shape in page:
        if dice.random() < 0.1:
            cut = dice.uniform(0.3, 0.7) * shape.w
            found.append(shape._replace(id=shape.id + "1", w=cut - 0.002))
            found.append(shape._replace(id=shape.id + "2", x=shape.x + cut + 0.002, w=shape.w - cut - 0.002))
        else:
            found.append(shape)
    return found


def spoil_edges(page: list[Shape], dice: random.Random) -> list[Shape]:
    return [
        shape._replace(
            x=shape.x + dice.gauss(0, 0.004),
            y=shape.y + dice.gauss(0, 0.0015),
            w=shape.w + dice.gauss(0, 0.004),
        )
        for shape in page
    ]


@pytest.mark.parametrize("spoil", [spoil_drop, spoil_split, spoil_edges])
@pytest.mark.parametrize("seed", range(5))
def test_mistakes_of_a_finder_cost_at_most_their_own_place(
    spoil: Callable[[list[Shape], random.Random], list[Shape]], seed: int
) -> None:
    page = spoil(tight(), random.Random(seed))
    order = read(page)
    assert changes(order) == 1
    kept = set(pairwise(ids(page))) & set(pairwise(order))
    assert len(kept) >= 0.95 * (len(page) - 1)


def test_rows_of_short_cells_are_read_row_by_row_beside_a_stray_long_line() -> None:
    cells = [
        Shape(f"{row:02}{at}", "line", 0.1 + 0.15 * at, 0.1 + 0.04 * row, 0.05, 0.02)
        for row in range(15)
        for at in range(5)
    ]
    stray = Shape("x", "line", 0.1, 0.9, 0.7, 0.02)
    assert read([*cells, stray]) == ids([*cells, stray])


def test_a_number_at_the_end_of_each_line_is_read_with_it() -> None:
    page = [
        shape
        for row in range(20)
        for shape in (
            Shape(f"{row:02}a", "line", 0.1, 0.05 + row * 0.04, 0.5 + 0.01 * (row % 5), 0.025),
            Shape(f"{row:02}b", "line", 0.8, 0.05 + row * 0.04, 0.05, 0.025),
        )
    ]
    assert read(page) == ids(page)


# ------------------------------------------------------------------------------------------------- doubt and statement


def test_a_page_of_one_column_and_one_of_clear_columns_leave_no_doubt() -> None:
    assert not order_page(column("a", 0.1, 0.8)).in_doubt
    assert not order_page(tight()).in_doubt


def test_a_gutter_that_many_lines_cross_leaves_doubt() -> None:
    page = tight()
    crossing = [shape._replace(w=0.6) if number % 5 == 0 else shape for number, shape in enumerate(page[:40])]
    assert order_page([*crossing, *page[40:]]).in_doubt


def test_the_number_of_columns_that_somebody_states_decides() -> None:
    halves = [
        Shape(f"{row}{half}", "line", 0.1 + 0.4 * half, 0.1 + 0.03 * row, 0.39, 0.02)
        for row in range(6)
        for half in (0, 1)
    ]
    across = ids(halves)
    assert reading_sequence(halves) == across
    assert reading_sequence(halves, columns=1) == across
    assert reading_sequence(halves, columns=2) == sorted(across, key=lambda one: (one[1], one[0]))
    assert not order_page(halves, columns=2).in_doubt


@pytest.mark.parametrize("number", range(1, 7))
def test_any_number_of_columns_loses_no_line(number: int) -> None:
    assert sorted(reading_sequence(tight(), columns=number)) == sorted(ids(tight()))


def test_stated_columns_leave_a_heading_where_it_stands() -> None:
    heading = Shape("h", "line", 0.2, 0.0, 0.6, 0.03)
    assert reading_sequence([*tight(), heading], columns=2) == ["h", *ids(tight())]


def test_stated_columns_are_those_of_the_region_with_most_lines() -> None:
    region = Shape("r", "region", 0.05, 0.05, 0.9, 0.9)
    inside = [shape._replace(parent_id="r") for shape in tight()]
    note = Shape("n", "line", 0.97, 0.5, 0.02, 0.02)
    order = reading_sequence([region, note, *inside[::-1]], columns=2)
    assert [one for one in order if one[0] in "ab"] == ids(tight())


# ----------------------------------------------------------------------------------------------------------- baselines


def test_vertical_baselines_tell_the_lean_of_a_page_as_level_ones_do() -> None:
    level = [[[0.1, 0.1 + 0.1 * n], [0.9, 0.116 + 0.1 * n]] for n in range(5)]
    assert lean_of(level) == Lean(pytest.approx(0.02), False)
    # The same page turned by a quarter: what fell to the right now falls to the left.
    turned = [[[1 - y, x] for x, y in line] for line in level]
    assert lean_of(turned) == Lean(pytest.approx(0.02), True)
    assert lean_of([]) == Lean(0.0, None)
