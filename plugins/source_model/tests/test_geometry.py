"""The validator of shapes: what it accepts, and each sentence of refusal."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium_source_model.geometry import (
    MAX_POINTS,
    BadGeometry,
    clip_points,
    measure_box,
    outline_of,
    pixel_bounds,
    rect_around,
    refuse_outside,
    sound_baseline,
    sound_geometry,
    sound_pixels,
    sound_polygon,
    tile_of,
    validate_baseline,
    validate_points,
    validate_polygon,
    validate_rect,
)

SQUARE = [(0.1, 0.1), (0.4, 0.1), (0.4, 0.4), (0.1, 0.4)]


@pytest.mark.parametrize(
    ("rect", "words"),
    [
        ([0.1, 0.1, 0.5], "3 numbers"),
        ([math.nan, 0.1, 0.5, 0.5], "finite"),
        ([0.1, math.inf, 0.5, 0.5], "finite"),
        ([0.1, 0.1, "a", 0.5], "finite"),
        ([0.1, 0.1, 10**400, 0.5], "finite"),
        ([0.1, 0.1, 0, 0.5], "no area"),
        ([0.1, 0.1, 0.5, -0.1], "no area"),
        ([-0.01, 0.1, 0.5, 0.5], "outside"),
        ([0.1, 0.6, 0.5, 0.5], "outside"),
    ],
)
def test_a_rect_that_cannot_be_held_is_refused_in_words(rect: list[float], words: str) -> None:
    with pytest.raises(BadGeometry, match=words):
        validate_rect(rect)


def test_an_edge_may_overshoot_by_the_tolerance() -> None:
    assert validate_rect([0.0, 0.0, 1.0 + 5e-7, 1.0]) == (0.0, 0.0, 1.0 + 5e-7, 1.0)
    with pytest.raises(BadGeometry):
        validate_rect([0.0, 0.0, 1.0 + 5e-6, 1.0])


@pytest.mark.parametrize(
    ("polygon", "words"),
    [
        ([(0.1, 0.1), (0.2, 0.2)], "at least 3"),
        ([(0.1, 0.1), (0.2, math.nan), (0.3, 0.1)], "finite numbers"),
        ([(0.1, 0.1), (math.inf, 0.2), (-math.inf, 0.1)], "finite numbers"),
        ([(0.1, 0.1), (0.2,), (0.3, 0.1)], "finite numbers"),
        ([(0.1, 0.1), (0.2, 0.2, 0.2), (0.3, 0.1)], "finite numbers"),
        ([(0.1, 0.1), ("a", 0.2), (0.3, 0.1)], "finite numbers"),
        ([(0.1, 0.1), (1.2, 0.2), (0.3, 0.1)], "outside the image"),
        ([(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)], "no area"),
        ([(0.1, 0.1)] * 4, "no area"),
        ([(0.1, 0.1), (0.2, 0.2), (0.3, 0.1)] * MAX_POINTS, "simplify"),
    ],
)
def test_a_polygon_that_cannot_be_held_is_refused_in_words(
    polygon: list[tuple[float, ...]], words: str
) -> None:
    with pytest.raises(BadGeometry, match=words):
        validate_polygon(polygon)
    with pytest.raises(BadGeometry, match=words):
        sound_polygon(polygon)


def test_a_shape_is_checked_once_and_kept_as_its_json_with_its_bounds() -> None:
    held = sound_polygon(SQUARE)
    assert held == ("[[0.1,0.1],[0.4,0.1],[0.4,0.4],[0.1,0.4]]", (0.1, 0.1, 0.4, 0.4))
    with pytest.raises(BadGeometry, match=r"outside its rect \[0.2"):
        refuse_outside(held.box, (0.2, 0.1, 0.3, 0.3))
    assert sound_baseline(SQUARE[:2]) == ("[[0.1,0.1],[0.4,0.1]]", (0.1, 0.1, 0.4, 0.1))


def test_a_long_outline_that_begins_along_one_side_is_held_and_a_long_line_is_not() -> None:
    along = [(0.1 + step / 100, 0.1) for step in range(20)]
    validate_polygon([*along, (0.1, 0.2)])
    validate_polygon([*along, *((x, 0.2) for x, _ in reversed(along))])
    with pytest.raises(BadGeometry, match="no area"):
        validate_polygon(along)


def test_a_polygon_outside_its_rect_is_refused_and_the_rect_named() -> None:
    with pytest.raises(BadGeometry, match=r"outside its rect \[0.2"):
        validate_polygon(SQUARE, (0.2, 0.1, 0.3, 0.3))
    validate_polygon(SQUARE, (0.1 + 5e-7, 0.1, 0.3, 0.3))


def test_a_polygon_that_crosses_itself_is_held() -> None:
    validate_polygon([(0.1, 0.1), (0.4, 0.4), (0.4, 0.1), (0.1, 0.4)])


@pytest.mark.parametrize(
    ("baseline", "words"),
    [([(0.1, 0.1)], "1 point;"), ([], "0 points"), ([(0.1, 0.1), (0.1, 0.1)], "no length")],
)
def test_a_baseline_that_cannot_be_held_is_refused(baseline: list[tuple[float, float]], words: str) -> None:
    with pytest.raises(BadGeometry, match=words):
        validate_baseline(baseline)
    with pytest.raises(BadGeometry, match=words):
        sound_baseline(baseline)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_the_rect_around_points_encloses_them_and_can_be_held(points: list[tuple[float, float]]) -> None:
    rect = rect_around(points)
    validate_rect(rect)
    validate_points(points, least=1, what="The points", rect=rect)


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=3, max_size=9))
def test_clipped_shapes_are_inside_the_image(points: list[tuple[float, float]]) -> None:
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in clip_points(points))


@given(st.floats(0, 0.99), st.floats(0, 0.99), st.floats(1e-6, 0.01), st.floats(1e-6, 0.01))
def test_a_tile_is_one_of_the_grid(x: float, y: float, w: float, h: float) -> None:
    tile = tile_of(x, y, w, h)
    assert tile == int((y + h / 2) * 16) * 16 + int((x + w / 2) * 16)
    assert 0 <= tile < 256


def test_an_imported_shape_keeps_its_valid_parts_and_names_the_others() -> None:
    sound = sound_geometry(SQUARE, [(0.1, 0.3), (0.4, 0.3)])
    assert sound.rect == pytest.approx((0.1, 0.1, 0.3, 0.3))
    assert sound.problem is None

    line_only = sound_geometry([(0.1, 0.1), (0.2, 0.2)], [(0.1, 0.3), (0.4, 0.3)])
    assert line_only.polygon is None
    assert line_only.baseline is not None
    assert line_only.rect is not None
    assert "at least 3" in str(line_only.problem)

    outside = sound_geometry([(0.5, 0.5), (1.4, 0.5), (1.4, 0.9)], None)
    assert outside.polygon is None
    assert outside.rect == pytest.approx((0.5, 0.5, 0.5, 0.4))

    nothing = sound_geometry([(math.nan, 1), (2, 2), (3, 3)], None)
    assert nothing.rect is None
    assert nothing.problem

    given_rect = sound_geometry(SQUARE, [(5, 5), (6, 6)], (0.2, 0.2, 0.1, 0.1))
    assert given_rect.rect == pytest.approx((0.1, 0.1, 0.3, 0.3))
    assert "outside its rect" in str(given_rect.problem)
    assert sound_geometry(None, None).rect is None


def outcome(make: Callable[[], object]) -> object:
    """Return what is made of the shape, or the sentence of the refusal."""
    try:
        return make()
    except BadGeometry as refusal:
        return refusal.detail


pixels = st.one_of(
    st.integers(-3, 40), st.floats(-1, 40), st.sampled_from([math.nan, math.inf, 0.1, 0.2, 0.3, 1e-13])
)


@given(st.lists(st.tuples(pixels, pixels), max_size=6), st.integers(1, 40), st.integers(1, 40))
def test_points_in_pixels_are_held_and_refused_as_their_fractions_are(
    points: list[tuple[float, float]], width: int, height: int
) -> None:
    fractions = [(x / width, y / height) for x, y in points]
    box = pixel_bounds(points)
    for area, sound in ((True, sound_polygon), (False, sound_baseline)):
        made = outcome(lambda area=area: sound_pixels(points, (width, height), box, area=area))  # type: ignore[misc]
        assert made == outcome(lambda sound=sound: sound(fractions))  # type: ignore[misc]


@pytest.mark.parametrize("points", [[], [(1, 2, 3)], [("a", 1)], [(10**400, 1), (0.5, 1)]])
def test_what_are_no_points_has_no_bounds(points: list[tuple[float, float]]) -> None:
    assert pixel_bounds(points) is None


def test_an_outline_is_the_polygon_or_else_the_corners_of_the_rect() -> None:
    assert outline_of({"rect": [1, 2, 10, 5]}) == ((1, 2), (11, 2), (11, 7), (1, 7))
    assert measure_box(outline_of({"rect": [1, 2, 10, 5]})) == (1, 2, 10, 5)
    drawn = [[1, 2], [3, 4], [5, 6]]
    assert outline_of({"rect": [1, 2, 10, 5], "polygon": drawn}) == drawn
