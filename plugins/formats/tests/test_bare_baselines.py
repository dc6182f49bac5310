"""Lines with a baseline and no outline get boxes as high as a line of text, not as flat as their baselines."""

from __future__ import annotations

import json

import pytest

from armarium_formats.api import PageModel, PageSegment, Point
from armarium_formats.placing import PlacedSegments, place
from armarium_formats.shapes import LIKELY, MOST, line_height

SIZE = (1000, 2000)
NOTE = "lines have a baseline and no outline; they got boxes as high as the page's lines."


def line(name: str, baseline: list[Point], points: list[Point] | None = None) -> PageSegment:
    return PageSegment(name, "line", points=points or [], baseline=baseline)


def page(*lines: PageSegment) -> PageModel:
    region = PageSegment(
        "r", "region", "TextRegion", [(0, 0), (1000, 0), (1000, 2000), (0, 2000)], children=list(lines)
    )
    return PageModel(*SIZE, "a.jpg", [region])


def boxes(placed: PlacedSegments) -> dict[str, list[int]]:
    """Return left, top, right and bottom in pixels by key."""
    width, height = SIZE
    found = {}
    for key, anchor in zip(placed.segments.keys, placed.segments.anchors, strict=True):
        x, y, w, h = json.loads("{" + anchor.lstrip("{,"))["rect"]
        found[key] = [round(one) for one in (x * width, y * height, (x + w) * width, (y + h) * height)]
    return found


def place_lines(*lines: PageSegment) -> PlacedSegments:
    return place(page(*lines), SIZE, "a.xml", "pagexml")


def test_a_box_is_as_high_as_the_distance_between_lines() -> None:
    lines = place_lines(*(line(f"l{n}", [(100, 200 + 80 * n), (900, 204 + 80 * n)]) for n in range(4)))
    assert boxes(lines)["l1"] == [100, 220, 900, 304]
    assert lines.notes == [f"4 {NOTE}"]


def test_a_box_is_as_high_as_the_lines_that_have_an_outline() -> None:
    drawn = line("d", [(100, 290), (900, 290)], [(100, 260), (900, 260), (900, 300), (100, 300)])
    lines = place_lines(drawn, line("l", [(100, 500), (900, 500)]))
    assert boxes(lines)["l"] == [100, 470, 900, 510]
    assert lines.notes == ["1 line has a baseline and no outline; it got a box as high as the page's lines."]


def test_columns_and_paragraph_spacing_do_not_affect_the_height_of_lines() -> None:
    left = [line(f"l{n}", [(100, 200 + 60 * n), (400, 200 + 60 * n)]) for n in range(5)]
    right = [line(f"r{n}", [(600, 207 + 60 * n), (900, 207 + 60 * n)]) for n in range(5)]
    below = [line(f"b{n}", [(100, 900 + 60 * n), (900, 900 + 60 * n)]) for n in range(5)]
    assert line_height(page(*left, *right, *below), SIZE) == 60


def test_a_line_that_runs_down_has_its_box_on_both_sides() -> None:
    lines = place_lines(*(line(f"l{n}", [(900 - 100 * n, 200), (900 - 100 * n, 1800)]) for n in range(3)))
    assert boxes(lines)["l1"] == [750, 200, 850, 1800]


@pytest.mark.parametrize(("gap", "height"), [(None, LIKELY * 2000), (900, MOST * 2000)])
def test_heights_that_the_page_does_not_show_are_bounded(gap: int | None, height: float) -> None:
    lines = [line("a", [(100, 300), (900, 300)])]
    if gap:
        lines.append(line("b", [(100, 300 + gap), (900, 300 + gap)]))
    assert line_height(page(*lines), SIZE) == height


def test_a_box_ends_at_the_edge_of_the_page() -> None:
    lines = place_lines(line("a", [(100, 5), (900, 5)]), line("b", [(100, 1999), (900, 1999)]))
    assert boxes(lines)["a"][1] == 0
    assert boxes(lines)["b"][3] == 2000


def test_the_box_of_a_line_covers_its_words() -> None:
    holding = line("l", [(100, 500), (900, 500)])
    holding.children = [PageSegment("w", "word", points=[(110, 450), (300, 450), (300, 512), (110, 512)])]
    lines = place_lines(holding)
    assert boxes(lines)["l"] == [100, 450, 900, 512]
    assert lines.notes == []
