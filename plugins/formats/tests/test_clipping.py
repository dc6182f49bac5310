"""Clipping of shapes to the page, compared with shapely."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from armarium_formats.shapes import clip_outline, clip_path

shapely = pytest.importorskip("shapely", reason="shapely is not installed (make dev)")
SIZE = (100, 100)

RAYS = st.lists(st.tuples(st.floats(0, 2 * math.pi), st.integers(1, 120)), min_size=3, max_size=14)
NUMBERS = st.integers(-60, 160)


@settings(max_examples=300)
@given(RAYS, NUMBERS, NUMBERS, st.booleans())
def test_an_outline_is_clipped_into_the_parts_on_the_page(
    rays: list[tuple[float, int]], x: int, y: int, backwards: bool
) -> None:
    points = [(round(x + far * math.cos(at)), round(y + far * math.sin(at))) for at, far in sorted(rays)]
    outline = shapely.Polygon(points)
    assume(outline.is_valid and outline.area > 0)
    expected = outline.intersection(shapely.box(0, 0, *SIZE))
    parts = [shapely.Polygon(one) for one in clip_outline(points[::-1] if backwards else points, SIZE)]
    assert sum(part.area for part in parts) == pytest.approx(expected.area, abs=1e-6)
    for part in parts:
        assert part.buffer(0).difference(expected.buffer(1e-6)).area < 1e-6
    if all(part.is_valid for part in parts):
        assert len([part for part in parts if part.area > 1e-6]) == len(
            [one for one in getattr(expected, "geoms", [expected]) if one.area > 1e-6]
        )


@settings(max_examples=300)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=10))
def test_a_baseline_is_clipped_into_the_parts_on_the_page(points: list[tuple[int, int]]) -> None:
    frame = shapely.box(0, 0, *SIZE)
    expected = sum(
        shapely.LineString(way).intersection(frame).length for way in pairwise(points) if way[0] != way[1]
    )
    runs = [shapely.LineString(run) for run in clip_path(points, SIZE)]
    assert sum(run.length for run in runs) == pytest.approx(expected, abs=1e-6)
    assert all(run.difference(frame.buffer(1e-6)).length < 1e-6 for run in runs)


def test_an_outline_that_crosses_itself_is_clipped_to_what_it_encloses() -> None:
    """A bow tie, its knot on the page and its right half reaching beyond it."""
    bow = [(20, 20), (140, 80), (140, 20), (20, 80)]
    expected = shapely.make_valid(shapely.Polygon(bow)).intersection(shapely.box(0, 0, *SIZE))
    parts = [shapely.Polygon(one) for one in clip_outline(bow, SIZE)]
    assert all(part.is_valid for part in parts)
    assert shapely.union_all(parts).symmetric_difference(expected).area < 1e-6


def test_a_baseline_along_the_edge_of_the_page_lies_on_it() -> None:
    assert clip_path([(0, -20), (0, 50)], SIZE) == [[(0, 0), (0, 50)]]
    assert clip_path([(10, 100), (130, 100)], SIZE) == [[(10, 100), (100, 100)]]
