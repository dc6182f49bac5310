"""Traced drawings cover the ink they were traced from; signs are found where they were drawn, and nowhere
else.
"""

from __future__ import annotations

import re
from typing import Any

import cv2
import numpy
import pytest
from layout_pages import paper, precision_and_recall, real_image, write_block
from PIL import ImageDraw

from armarium_layout.finding.ink import Box, sheet_of
from armarium_layout.finding.signs import signs_like
from armarium_layout.finding.tracing import trace_ink


def redraw(svg: str) -> Any:
    """Return the ink of an SVG made of closed paths of straight lines, filled by the even-odd rule: an
    independent renderer.
    """
    from lxml import etree

    root = etree.fromstring(svg.encode())
    width, height = (int(value) for value in root.get("viewBox").split()[2:])
    big = numpy.zeros((height * 4, width * 4), numpy.uint8)
    path = root[0].get("d")
    polygons = [
        numpy.array([[float(x) * 4, float(y) * 4] for x, y in re.findall(r"([\d.-]+) ([\d.-]+)", part)])
        .round()
        .astype(numpy.int32)
        for part in path.split("Z")
        if part
    ]
    cv2.fillPoly(big, polygons, 1)
    cv2.polylines(big, polygons, True, 1, 4)
    return cv2.resize(big.astype(numpy.float32), (width, height), interpolation=cv2.INTER_AREA) >= 0.5


def figure() -> Any:
    image = paper(400, 400)
    pen = ImageDraw.Draw(image)
    pen.ellipse((60, 60, 340, 340), outline=20, width=14)
    pen.ellipse((150, 150, 250, 250), outline=20, width=8)
    pen.line((0, 390, 399, 300), fill=20, width=9)
    return numpy.asarray(image) < 120


def test_a_traced_drawing_covers_its_ink_and_its_holes_stay_open() -> None:
    ink = figure()
    svg = trace_ink(ink)
    assert svg is not None
    again = redraw(svg)
    assert (again & ink).sum() / (again | ink).sum() > 0.95
    assert not again[200, 200]
    assert not again[100, 200]


def test_a_traced_drawing_is_well_formed_and_not_endless() -> None:
    dice = numpy.random.default_rng(1)
    svg = trace_ink(dice.random((900, 900)) > 0.5)
    assert svg is None or len(svg) < 1_000_000
    assert "script" not in (trace_ink(figure()) or "")


@pytest.mark.parametrize("shape", [(1, 1), (3, 50), (200, 200)])
def test_where_nothing_is_drawn_nothing_is_traced(shape: tuple[int, int]) -> None:
    assert trace_ink(numpy.zeros(shape, bool)) is None


def test_a_real_ornament_is_traced_faithfully() -> None:
    sheet = sheet_of(real_image("page-pairs/bronod/0001.jpg", 2000))
    ink = sheet.ink[1100:1200, 1250:1750]
    svg = trace_ink(ink)
    assert svg is not None
    again = redraw(svg)
    # Specks are deliberately left out.
    assert (again & ink).sum() / ink.sum() > 0.9
    assert (
        again & ~cv2.dilate(ink.astype(numpy.uint8), numpy.ones((3, 3))).astype(bool)
    ).sum() < 0.05 * ink.sum()


def rosette(pen: Any, x: int, y: int, size: int) -> Box:
    """Draw a sign: a circle with a cross in it and a tail."""
    pen.ellipse((x, y, x + size, y + size), outline=25, width=3)
    pen.line((x, y + size / 2, x + size, y + size / 2), fill=25, width=3)
    pen.line((x + size / 2, y, x + size / 2, y + size), fill=25, width=3)
    return Box(x, y, x + size, y + size)


def page_of_signs() -> tuple[Any, list[Box]]:
    image = paper(1000, 1200, grain=3)
    write_block(image, 160, 60, 720, 30, seed=3)
    pen = ImageDraw.Draw(image)
    return image, [
        rosette(pen, x, y, size)
        for x, y, size in ((60, 90, 44), (80, 400, 40), (55, 700, 50), (910, 300, 44))
    ]


def test_signs_are_found_in_place_also_smaller_and_larger() -> None:
    image, truth = page_of_signs()
    ink = sheet_of(image).ink
    first = truth[0]
    example = ink[int(first.top) - 4 : int(first.bottom) + 4, int(first.left) - 4 : int(first.right) + 4]
    boxes = [sign.box for sign in signs_like([example], ink)]
    assert precision_and_recall(boxes, truth, 0.6) == (1.0, 1.0)


def test_with_two_examples_each_match_belongs_to_the_more_similar_one() -> None:
    image, truth = page_of_signs()
    pen = ImageDraw.Draw(image)
    star = []
    for x, y in ((920, 600), (60, 950)):
        pen.polygon([(x, y + 36), (x + 20, y), (x + 40, y + 36)], outline=25, width=3)
        star.append(Box(x, y, x + 40, y + 36))
    ink = sheet_of(image).ink
    cut = [
        ink[int(b.top) - 4 : int(b.bottom) + 4, int(b.left) - 4 : int(b.right) + 4]
        for b in (truth[0], star[0])
    ]
    found = signs_like(cut, ink)
    assert precision_and_recall([s.box for s in found if s.example == 0], truth, 0.5) == (1.0, 1.0)
    assert precision_and_recall([s.box for s in found if s.example == 1], star, 0.5) == (1.0, 1.0)


@pytest.mark.parametrize(
    "example", [numpy.zeros((20, 20), bool), numpy.zeros((0, 0), bool), numpy.ones((2, 2), bool)]
)
def test_an_example_without_ink_finds_nothing(example: Any) -> None:
    assert signs_like([example], figure()) == []


def test_an_example_larger_than_the_page_finds_nothing() -> None:
    assert signs_like([figure()], numpy.ones((10, 10), bool)) == []


def test_words_that_recur_in_a_register_are_found_and_hardly_anything_else() -> None:
    """The word "dit" of its first column and "idem No" of the second, each about 54 times on both pages."""
    sheet = sheet_of(real_image("page-pairs/bronod/0014.jpg", 4000), 4000)
    drawn = [(0.1025, 0.2005, 0.0195, 0.012), (0.165, 0.2005, 0.04, 0.014)]
    columns = [((0.10, 0.125), (0.543, 0.568)), ((0.16, 0.21), (0.60, 0.655))]
    cut = [
        sheet.ink[
            round(y * sheet.height) : round((y + h) * sheet.height),
            round(x * sheet.width) : round((x + w) * sheet.width),
        ]
        for x, y, w, h in drawn
    ]
    found = signs_like(cut, sheet.ink)
    right = [
        any(low < item.box.middle[0] / sheet.width < high for low, high in columns[item.example])
        for item in found
    ]
    assert sum(right) >= 0.85 * 108
    assert sum(right) >= 0.95 * len(right)
