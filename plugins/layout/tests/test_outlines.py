"""Outlines from ink: every stroke of a line is inside its own outline, and none of its neighbours'; on made
and real pages.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy
import pytest
from layout_pages import page_lines, paper, real_image, sentence, write

from armarium_layout.finding.ink import sheet_of
from armarium_layout.finding.outlines import outlines_of


def fill_shape(shape: tuple[int, int], points: Any) -> Any:
    mask = numpy.zeros(shape, numpy.uint8)
    cv2.fillPoly(mask, [numpy.int32(points)], 1)
    return mask > 0


def page_of_lines(pitch: int) -> tuple[Any, list[list[tuple[float, float]]], list[Any]]:
    """Return a page, its baselines, and the ink of each line separately."""
    import random

    dice = random.Random(3)
    image = paper(1000, 700)
    baselines, inks = [], []
    for number in range(8):
        y = 80 + pitch * number
        text = sentence(dice, 800, 30)
        alone = paper(1000, 700)
        write(alone, 90, y, text, 30)
        write(image, 90, y, text, 30)
        right = 90 + 800
        baselines.append([(90.0, float(y)), (float(right), float(y))])
        inks.append(numpy.asarray(alone) < 120)
    return image, baselines, inks


@pytest.mark.parametrize("pitch", [70, 48, 38])
def test_an_outline_holds_its_own_ink_and_no_other(pitch: int) -> None:
    image, baselines, inks = page_of_lines(pitch)
    sheet = sheet_of(image)
    outlines = outlines_of(sheet.ink, baselines)
    for number, outline in enumerate(outlines):
        assert outline is not None
        mask = fill_shape(sheet.ink.shape, outline)
        others = numpy.any([ink for at, ink in enumerate(inks) if at != number], axis=0)
        assert (mask & inks[number]).sum() / inks[number].sum() > 0.985
        assert (mask & others).sum() / inks[number].sum() < 0.02


@pytest.mark.parametrize("off", [5, 8])
def test_neighbours_in_the_same_row_do_not_flatten_an_outline(off: int) -> None:
    """Line finders return the halves of a row, or a note beside it, as overlapping lines at slightly
    different heights.
    """
    image, baselines, inks = page_of_lines(48)
    (left, y), (right, _) = baselines[3]
    halves = [[(left, y), (600.0, y)], [(420.0, y + off), (right, y + off)]]
    beside = [[(right - 20, y + 48 + off), (right + 90, y + 48 + off)]]
    outlines = outlines_of(sheet_of(image).ink, [*baselines[:3], *halves, *baselines[4:], *beside])
    covered = numpy.zeros(inks[0].shape, bool)
    for outline in outlines[3:5]:
        assert outline is not None
        covered |= fill_shape(inks[0].shape, outline)
    assert (covered & inks[3]).sum() / inks[3].sum() > 0.97
    assert outlines[5] is not None
    mask = fill_shape(inks[0].shape, outlines[5])
    assert (mask & inks[4]).sum() / inks[4].sum() > 0.97


def test_an_outline_follows_a_line_that_climbs() -> None:
    image, baselines, inks = page_of_lines(70)
    turn = cv2.getRotationMatrix2D((500, 350), 3, 1.0)
    leaning = cv2.warpAffine(numpy.asarray(image), turn, (1000, 700), borderValue=225)
    ink = cv2.warpAffine(inks[3].astype(numpy.uint8), turn, (1000, 700)) > 0
    moved = [[tuple(turn @ (x, y, 1)) for x, y in line] for line in baselines]
    outline = outlines_of(leaning < 120, moved)[3]
    assert outline is not None
    mask = fill_shape(ink.shape, outline)
    assert (mask & ink).sum() / ink.sum() > 0.97
    # A box around it would contain its neighbours' ink as well.
    assert mask.sum() < 0.75 * (max(x for x, _ in outline) - min(x for x, _ in outline)) * (
        max(y for _, y in outline) - min(y for _, y in outline)
    )


def test_a_baseline_written_from_right_to_left_gives_the_same_outline() -> None:
    image, baselines, _ = page_of_lines(70)
    ink = sheet_of(image).ink
    there = outlines_of(ink, baselines)
    assert outlines_of(ink, [line[::-1] for line in baselines]) == there


@pytest.mark.parametrize(
    "baseline",
    [
        [(100.0, 50.0), (100.0, 600.0)],
        [(100.0, 50.0)],
        [(100.0, 50.0), (100.0, 50.0)],
        [(-500.0, -500.0), (-400.0, -500.0)],
        [(5000.0, 9000.0), (6000.0, 9000.0)],
        [(100.0, 690.0), (800.0, 695.0)],
    ],
    ids=["upright", "one point", "no length", "before the page", "beyond it", "no ink"],
)
def test_a_baseline_without_ink_gets_no_outline(baseline: list[tuple[float, float]]) -> None:
    image, baselines, _ = page_of_lines(70)
    assert outlines_of(sheet_of(image).ink, [*baselines, baseline])[-1] is None


REAL = [
    (
        "page-pairs/kraken-notarial/170025120000003,0074.jpg",
        "page-pairs/kraken-notarial/170025120000003,0074.xml",
        0.75,
    ),
    ("page-pairs/bronod/0003.jpg", "page-pairs/bronod/page/0003.xml", 0.85),
    ("page-pairs/mariages/FRAN_0187_49914_L.jpg", "page-pairs/mariages/FRAN_0187_49914_L.xml", 0.9),
]


@pytest.mark.parametrize(("picture", "layout", "least"), REAL)
def test_on_real_hands_an_outline_holds_the_ink_that_a_person_outlined(
    picture: str, layout: str, least: float
) -> None:
    """The ink within both outlines as a share of the ink within either, the median of the page's lines."""
    sheet = sheet_of(real_image(picture, 2000))
    lines = page_lines(layout, (sheet.width, sheet.height))
    outlines = outlines_of(sheet.ink, [line["Baseline"] for line in lines])
    shares = []
    for line, outline in zip(lines, outlines, strict=True):
        ours = (
            fill_shape(sheet.ink.shape, outline) & sheet.ink
            if outline
            else numpy.zeros(sheet.ink.shape, bool)
        )
        theirs = fill_shape(sheet.ink.shape, line["Coords"]) & sheet.ink
        shares.append((ours & theirs).sum() / max(1, (ours | theirs).sum()))
    assert float(numpy.median(shares)) > least
