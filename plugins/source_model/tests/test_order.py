"""The derived order of a page: generated layouts with a known order, and the properties of every order."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armarium_source_model.order import Lean, Shape, lean_of, line_shape_direction, reading_sequence

LINE = 0.02
PITCH = 0.028


def turn_shape(shape: Shape, direction: str) -> Shape:
    """Return a shape of a left-to-right layout on a square page as it would be on a page of another direction."""
    x, y, w, h = shape.x, shape.y, shape.w, shape.h
    if direction == "rtl":
        x = 1 - x - w
    elif direction == "ttb":
        x, y, w, h = 1 - y - h, x, h, w
    return shape._replace(x=x, y=y, w=w, h=h)


def leaning(shapes: list[Shape], slope: float) -> list[Shape]:
    """Return the shapes of a page that drops to the right by *slope*, as upright boxes around them."""
    out = []
    for shape in shapes:
        cx, cy = shape.x + shape.w / 2, shape.y + shape.h / 2
        nx, ny = cx - slope * (cy - 0.5), cy + slope * (cx - 0.5)
        w, h = shape.w + abs(slope) * shape.h, shape.h + abs(slope) * shape.w
        out.append(shape._replace(x=nx - w / 2, y=ny - h / 2, w=w, h=h))
    return out


@st.composite
def layouts(draw: st.DrawFn) -> tuple[list[Shape], list[str]]:
    """Generate lines without regions: a title, bands of one to four columns, furniture at head and foot, marginalia."""
    shapes: list[Shape] = []
    wanted: list[str] = []

    def line(x: float, y: float, w: float, **more: object) -> None:
        name = f"l{len(shapes)}"
        shapes.append(Shape(name, "line", x, y, w, LINE, **more))  # type: ignore[arg-type]
        wanted.append(name)

    margin = draw(st.booleans())
    left, right = (0.2, 0.95) if margin else (0.05, 0.95)
    if draw(st.booleans()):
        line(0.45, 0.01, 0.1, is_furniture=True)
    y = 0.06
    if draw(st.booleans()):
        line(left + 0.05, y, right - left - 0.1)
        y += 0.05
    for _ in range(draw(st.integers(1, 3))):
        columns = draw(st.integers(1, 4))
        rows = draw(st.integers(4, 8))
        gutter = 0.035
        width = (right - left - gutter * (columns - 1)) / columns
        shift = draw(st.floats(0, 0.3))
        for column in range(columns):
            for row in range(rows):
                # Neighbouring columns need not share their rows; a paragraph's last line may be shorter.
                full = row < rows - 1 or columns == 1
                share = 1.0 if full else draw(st.floats(0.5, 1.0))
                line(
                    left + column * (width + gutter),
                    y + row * PITCH + (shift * PITCH if column % 2 else 0),
                    width * share,
                )
        if y + (rows + 1) * PITCH + 0.03 > 0.75:
            break
        y += (rows + 1) * PITCH
        line(left, y, right - left)
        y += PITCH + 0.01
    if margin:
        for n in range(draw(st.integers(1, 3))):
            line(0.03, 0.2 + 0.1 * n, 0.12, role="marginalia")
    if draw(st.booleans()):
        line(0.45, 0.96, 0.1, is_furniture=True)
    return shapes, wanted


@settings(max_examples=150, deadline=None)
@given(layouts(), st.sampled_from(["ltr", "rtl", "ttb"]), st.randoms(use_true_random=False))
def test_columns_margins_and_furniture_in_every_direction(
    layout: tuple[list[Shape], list[str]], direction: str, chance: random.Random
) -> None:
    shapes, wanted = layout
    shapes = [turn_shape(shape, direction) for shape in shapes]
    if direction == "ttb":
        # The head and foot of a vertical page are still its top and bottom, so this comparison leaves them out.
        furniture = {shape.id for shape in shapes if shape.is_furniture}
        shapes = [shape for shape in shapes if not shape.is_furniture]
        wanted = [name for name in wanted if name not in furniture]
    chance.shuffle(shapes)
    assert reading_sequence(shapes, direction=direction) == wanted


@settings(max_examples=60, deadline=None)
@given(layouts(), st.floats(-0.02, 0.02))
def test_a_leaning_page_is_read_as_if_it_were_straight(
    layout: tuple[list[Shape], list[str]], slope: float
) -> None:
    shapes, wanted = layout
    assert reading_sequence(leaning(shapes, slope), lean=Lean(slope)) == wanted


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(0, 0.9),
            st.floats(0, 0.9),
            st.floats(0.001, 0.1),
            st.floats(0.001, 0.1),
            st.integers(-1, 30),
            st.sampled_from(["region", "line", "word"]),
            st.sampled_from([None, "ltr", "rtl", "ttb", "btt", "alternating", "nonsense"]),
            st.booleans(),
        ),
        max_size=40,
    ),
    st.sampled_from([None, "ltr", "rtl", "ttb", "btt"]),
)
def test_every_shape_comes_exactly_once_and_after_its_parent(
    rows: list[tuple[float, float, float, float, int, str, str | None, bool]], direction: str | None
) -> None:
    shapes = [
        Shape(
            str(n),
            kind,
            x,
            y,
            w,
            h,
            str(parent) if 0 <= parent < n else None,
            furniture,
            stated,
        )
        for n, (x, y, w, h, parent, kind, stated, furniture) in enumerate(rows)
    ]
    sequence = reading_sequence(shapes, direction=direction)
    assert sorted(sequence) == sorted(shape.id for shape in shapes)
    place = {name: n for n, name in enumerate(sequence)}
    assert all(place[shape.parent_id] < place[shape.id] for shape in shapes if shape.parent_id is not None)


def test_a_ring_of_parents_loses_nothing() -> None:
    shapes = [Shape("a", "region", 0, 0, 1, 1, "b"), Shape("b", "region", 0, 0, 1, 1, "a")]
    assert sorted(reading_sequence(shapes)) == ["a", "b"]


def test_an_unknown_parent_counts_as_none() -> None:
    shapes = [Shape("b", "line", 0, 0.5, 1, 0.1, "gone"), Shape("a", "line", 0, 0.1, 1, 0.1)]
    assert reading_sequence(shapes) == ["a", "b"]


def test_lines_are_nested_in_regions_and_words_in_lines() -> None:
    shapes = [
        Shape("right", "region", 0.55, 0.1, 0.4, 0.8),
        Shape("left", "region", 0.05, 0.1, 0.4, 0.8),
        Shape("r1", "line", 0.55, 0.1, 0.4, 0.02, "right"),
        Shape("l2", "line", 0.05, 0.2, 0.4, 0.02, "left"),
        Shape("l1", "line", 0.05, 0.1, 0.4, 0.02, "left"),
        Shape("w2", "word", 0.25, 0.1, 0.1, 0.02, "l1"),
        Shape("w1", "word", 0.05, 0.1, 0.1, 0.02, "l1"),
    ]
    assert reading_sequence(shapes) == ["left", "l1", "w1", "w2", "l2", "right", "r1"]
    assert reading_sequence(shapes, direction="rtl") == ["right", "r1", "left", "l1", "w2", "w1", "l2"]


def test_a_region_that_states_its_own_direction_is_read_by_it() -> None:
    shapes = [
        Shape("hebrew", "line", 0.1, 0.1, 0.8, 0.03, direction="rtl"),
        Shape("one", "word", 0.6, 0.1, 0.2, 0.03, "hebrew"),
        Shape("two", "word", 0.2, 0.1, 0.2, 0.03, "hebrew"),
        Shape("latin", "line", 0.1, 0.2, 0.8, 0.03),
        Shape("three", "word", 0.2, 0.2, 0.2, 0.03, "latin"),
        Shape("four", "word", 0.6, 0.2, 0.2, 0.03, "latin"),
    ]
    assert reading_sequence(shapes) == ["hebrew", "one", "two", "latin", "three", "four"]


def test_the_halves_of_a_verse_are_read_across_and_not_as_columns() -> None:
    verses = [
        Shape(f"{row}{half}", "line", 0.1 + 0.4 * half, 0.1 + 0.03 * row, 0.39, 0.02)
        for row in range(6)
        for half in (0, 1)
    ]
    assert reading_sequence(verses) == [verse.id for verse in verses]


def test_short_cells_in_level_rows_are_read_row_by_row() -> None:
    cells = [
        Shape(f"{row}{column}", "line", 0.1 + 0.3 * column, 0.1 + 0.04 * row, 0.05, 0.02)
        for row in range(5)
        for column in range(3)
    ]
    assert reading_sequence(cells) == [cell.id for cell in cells]


def test_cells_that_say_their_place_are_read_by_it() -> None:
    cells = [
        Shape("b", "region", 0.1, 0.1, 0.1, 0.1, row=1, column=0),
        Shape("a", "region", 0.5, 0.5, 0.1, 0.1, row=0, column=1),
        Shape("0", "region", 0.9, 0.9, 0.1, 0.1, row=0, column=0),
    ]
    assert reading_sequence(cells) == ["0", "a", "b"]


def test_a_heading_that_overlaps_a_column_box_is_still_read_first() -> None:
    shapes = [
        Shape("two", "region", 0.52, 0.14, 0.4, 0.7),
        Shape("one", "region", 0.08, 0.14, 0.42, 0.7),
        Shape("head", "region", 0.1, 0.05, 0.8, 0.12),
        Shape("edge", "region", 0.02, 0.03, 0.05, 0.9, role="marginalia"),
    ]
    assert reading_sequence(shapes) == ["head", "one", "two", "edge"]


@pytest.mark.parametrize(
    ("note", "margin"),
    [
        ("footnote", "Marginalia"),
        ("TextRegion:footnote", "TextRegion:marginalia"),
        ("TextBlock:Footnote", "TextBlock:MarginTextZone"),
        ("MarginTextZone:footnote", "MarginTextZone:note"),
        ("TextRegion:footnote-continued", "TextRegion:Marginalia_Metadata"),
    ],
)
def test_footnotes_come_before_marginalia_and_after_the_text(note: str, margin: str) -> None:
    """A file's format may put another word before theirs (see `split_kind` of the formats)."""
    shapes = [
        Shape("note", "region", 0.2, 0.1, 0.7, 0.05, role=note),
        Shape("margin", "region", 0.02, 0.1, 0.1, 0.3, role=margin),
        Shape("text", "region", 0.2, 0.3, 0.7, 0.5, role="TextRegion:paragraph"),
    ]
    assert reading_sequence(shapes) == ["text", "note", "margin"]


def test_mongolian_columns_follow_each_other_from_left_to_right() -> None:
    lines = [Shape(f"{n}", "line", 0.1 * n, 0.1, 0.05, 0.8, script="Mong") for n in range(4)]
    assert reading_sequence(lines, direction="ttb") == ["0", "1", "2", "3"]
    chinese = [line._replace(script="Hani") for line in lines]
    assert reading_sequence(chinese, direction="ttb") == ["3", "2", "1", "0"]


@pytest.mark.parametrize(("height", "found"), [(0.5, "ttb"), (0.02, None)])
def test_tall_lines_show_that_a_page_is_vertical(height: float, found: str | None) -> None:
    lines = [Shape(str(n), "line", 0.1 * n, 0.1, 0.05, height) for n in range(5)]
    assert line_shape_direction(lines) == found


def test_few_or_steep_baselines_give_no_slope() -> None:
    assert lean_of([[[0, 0], [1, 0.01]]]).slope == 0
    assert lean_of([[[0, 0], [0.8, 1]]] * 5).slope == 0
    assert lean_of([[[0, 0], [1, 0.01]]] * 5).slope == pytest.approx(0.01)


def test_thousands_of_overlapping_boxes_are_ordered_too() -> None:
    chance = random.Random(5)
    boxes = [
        Shape(str(n), "line", chance.random() * 0.5, chance.random() * 0.9, 0.4, 0.05) for n in range(2000)
    ]
    assert sorted(reading_sequence(boxes)) == sorted(box.id for box in boxes)


def test_an_unmarked_gloss_beside_the_block_is_read_after_it() -> None:
    block = [Shape(f"b{n}", "line", 0.3, 0.1 + n * 0.04, 0.6, 0.03) for n in range(8)]
    gloss = [Shape("g0", "line", 0.08, 0.15, 0.1, 0.02), Shape("g1", "line", 0.08, 0.175, 0.1, 0.02)]
    assert reading_sequence(gloss + block)[-2:] == ["g0", "g1"]


def test_as_many_narrow_lines_as_full_ones_are_a_column_not_glosses() -> None:
    block = [Shape(f"b{n}", "line", 0.4, 0.1 + n * 0.04, 0.5, 0.03) for n in range(8)]
    column = [Shape(f"c{n}", "line", 0.1, 0.1 + n * 0.04, 0.18, 0.03) for n in range(8)]
    assert reading_sequence(block + column)[:8] == [shape.id for shape in column]


places = st.sampled_from([0.0, 0.1, 0.2, 0.5])
tangles = st.lists(
    st.builds(
        Shape,
        st.uuids().map(lambda one: one.hex),
        st.sampled_from(["region", "line", "word"]),
        places,
        places,
        st.sampled_from([0.05, 0.1, 0.4]),
        st.sampled_from([0.02, 0.1, 0.4]),
        st.none(),
        st.booleans(),
        st.sampled_from([None, None, "ltr", "rtl", "ttb", "btt"]),
        st.sampled_from([None, None, "marginalia", "footnote"]),
        st.sampled_from([None, "Latn", "Mong"]),
    ),
    max_size=150,
)


@settings(max_examples=150, deadline=None)
@given(tangles, st.sampled_from([None, "ltr", "rtl", "ttb"]), st.randoms(use_true_random=False))
def test_the_order_depends_on_the_shapes_and_not_on_how_they_are_listed(
    shapes: list[Shape], direction: str | None, chance: random.Random
) -> None:
    """The same page is always read the same way, also where boxes coincide, rules contradict in a circle or votes tie."""
    once = reading_sequence(shapes, direction=direction, aspect=0.7, lean=Lean(0.01))
    assert sorted(once) == sorted(shape.id for shape in shapes)
    listed = list(shapes)
    chance.shuffle(listed)
    assert reading_sequence(listed, direction=direction, aspect=0.7, lean=Lean(0.01)) == once


def test_lines_of_one_length_in_many_columns_have_no_glosses_among_them() -> None:
    """However far out a column is: the order of a page of a hundred columns once began with its eighth."""
    page = [Shape(f"{n:04}", "line", (n // 20) / 101, (n % 20) / 21, 0.006, 0.004) for n in range(2000)]
    assert reading_sequence(page[::-1], aspect=4.0) == [shape.id for shape in page]
