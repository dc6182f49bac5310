"""Pages made level and straight: by the angle and bend that the test gave them, on drawn and on real pages."""

from __future__ import annotations

from typing import Any

import cv2
import numpy
import pytest
from layout_pages import page_lines, paper, real_image, write_block
from PIL import Image

from armarium_layout.finding.ink import sheet_of
from armarium_layout.finding.leveling import (
    MESH,
    bend_of,
    curves_of,
    lean_of,
    lean_of_lines,
    level_picture,
    straighten_picture,
)


def page() -> Any:
    image = paper(1000, 1400, grain=3)
    write_block(image, 100, 90, 780, 36, seed=7)
    return image


@pytest.mark.parametrize("degrees", [-6.0, -2.5, -0.4, 0.0, 0.8, 5.0])
def test_a_known_skew_is_found(degrees: float) -> None:
    # Pillow rotates counter-clockwise; lines that fall to the right have a positive angle.
    turned = page().rotate(-degrees, expand=True, fillcolor=225, resample=3)
    assert lean_of(sheet_of(turned)) == pytest.approx(degrees, abs=0.12)


@pytest.mark.parametrize("degrees", [-3.0, 2.0])
@pytest.mark.parametrize(
    "name",
    [
        "page-pairs/dinglehopper-larex/462875_0008.jpg",
        "hocr/426117689_0459.jpg",
        "alto-pairs/caroline/bsb00095929.0011.jpeg",
    ],
)
def test_on_real_pages_an_added_rotation_is_found(name: str, degrees: float) -> None:
    image = real_image(name)
    before = lean_of(sheet_of(image))
    after = lean_of(sheet_of(image.rotate(-degrees, expand=True, fillcolor=200, resample=3)))
    assert after - before == pytest.approx(degrees, abs=0.25)


def test_a_levelled_page_is_level_and_its_transform_leads_each_point_back() -> None:
    turned = numpy.asarray(page().rotate(-4, expand=True, fillcolor=225, resample=3))
    # A mark that can be recognised: nothing else on the page is black and as wide.
    turned = turned.copy()
    cv2.circle(turned, (300, 500), 16, 0, -1)
    made = level_picture(turned, 4.0)
    assert abs(lean_of(sheet_of(Image.fromarray(made.pixels)))) < 0.15
    ys, xs = numpy.nonzero(cv2.blur(made.pixels, (15, 15)) < 8)
    u, v = xs.mean() / made.pixels.shape[1], ys.mean() / made.pixels.shape[0]
    a, b, c, d, e, f = made.transform
    assert (a * u + c * v + e) * turned.shape[1] == pytest.approx(300, abs=1.5)
    assert (b * u + d * v + f) * turned.shape[0] == pytest.approx(500, abs=1.5)


def bend_page(pixels: Any, depth: float) -> Any:
    """Return a page whose lines sag in the middle by *depth* of its height, more at the bottom than at the
    top.
    """
    height, width = pixels.shape
    x, y = numpy.meshgrid(numpy.arange(width, dtype=numpy.float32), numpy.arange(height, dtype=numpy.float32))
    drop = depth * height * ((x / width - 0.5) ** 2 * 4) * (0.5 + y / height)
    return cv2.remap(
        pixels, x, (y + drop).astype(numpy.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )


def wobble(pixels: Any) -> float:
    """Return how far the rows of a page deviate from level, in pixels: the median of their deviations."""
    curves = curves_of(sheet_of(Image.fromarray(pixels)))
    return float(numpy.median([numpy.std([y for _, y in curve]) for curve in curves])) * pixels.shape[0]


def test_lines_that_sag_are_made_straight() -> None:
    straight = numpy.asarray(page())
    sagging = bend_page(straight, 0.015)
    bend = bend_of(curves_of(sheet_of(Image.fromarray(sagging))))
    assert bend is not None
    made = straighten_picture(sagging, bend)
    assert wobble(sagging) > 2 * wobble(straight)
    assert wobble(made.pixels) < 1.3 * wobble(straight)
    assert made.pixels.shape == sagging.shape


def test_the_mesh_maps_each_point_to_the_source_picture() -> None:
    sagging = bend_page(numpy.asarray(page()), 0.02)
    bend = bend_of(curves_of(sheet_of(Image.fromarray(sagging))))
    assert bend is not None
    made = straighten_picture(sagging, bend)
    assert (len(made.mesh), len(made.mesh[0])) == (MESH, MESH)
    height, width = sagging.shape
    for row, line in enumerate(made.mesh):
        for column, (x, y) in enumerate(line):
            at = (
                min(width - 1, round(column / (MESH - 1) * (width - 1))),
                min(height - 1, round(row / (MESH - 1) * (height - 1))),
            )
            source_y = min(height - 1, max(0, round(y * (height - 1))))
            assert x == pytest.approx(column / (MESH - 1), abs=1e-6)
            near = sagging[max(0, source_y - 3) : source_y + 4, at[0]].astype(int)
            assert near.min() - 8 <= int(made.pixels[at[1], at[0]]) <= near.max() + 8


def test_straight_blank_and_tiny_pages_are_not_changed() -> None:
    assert bend_of(curves_of(sheet_of(page()))) is None
    for image in (paper(600, 800, grain=2), paper(1, 1), paper(40, 3000)):
        assert lean_of(sheet_of(image)) == 0.0
        assert bend_of(curves_of(sheet_of(image))) is None


@pytest.mark.parametrize("name", ["page-pairs/dinglehopper-larex/462875_0008.jpg", "hocr/426117689_0459.jpg"])
def test_real_print_that_was_bent_is_straighter_afterwards(name: str) -> None:
    sagging = bend_page(numpy.asarray(real_image(name)), 0.015)
    bend = bend_of(curves_of(sheet_of(Image.fromarray(sagging))))
    assert bend is not None
    assert wobble(straighten_picture(sagging, bend).pixels) < 0.6 * wobble(sagging)


def test_the_skew_is_taken_from_known_lines() -> None:
    """A fall of one thirtieth is two degrees; lines that run up the page or are hardly a word long do not
    count, and two lines are not enough.
    """
    falling = [((0.1, y), (0.9, y + 0.8 / 30)) for y in (0.1, 0.2, 0.3, 0.4)]
    upright, short = ((0.05, 0.9), (0.06, 0.1)), ((0.1, 0.5), (0.12, 0.4))
    assert lean_of_lines([*falling, upright, short], (1000, 1000)) == pytest.approx(1.909, abs=0.01)
    assert lean_of_lines([*falling[:2], upright, short], (1000, 1000)) is None


def test_the_skew_of_a_real_page_equals_that_of_hand_drawn_lines() -> None:
    name = "page-pairs/kraken-notarial/170025120000003,0074"
    image = real_image(f"{name}.jpg", 2000)
    lines = page_lines(f"{name}.xml", image.size)
    drawn = [[(x / image.width, y / image.height) for x, y in line["Baseline"]] for line in lines]
    lean = lean_of_lines(drawn, (image.height, image.width))
    assert lean == pytest.approx(-1.38, abs=0.1)
    assert lean_of(sheet_of(image)) == pytest.approx(lean, abs=0.3)


def test_a_page_with_writing_at_all_angles_is_not_rotated() -> None:
    """An envelope with four rising lines, a stamp up its side and a sum: no angle gives sharp rows."""
    assert lean_of(sheet_of(real_image("series-wills/0002.jpg", 2000))) == 0.0
