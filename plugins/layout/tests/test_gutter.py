"""Where open books are split, and that single pages are not: made spreads, spreads joined from real pages,
real ones.
"""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest
from layout_pages import DATA, paper, real_image, write_block
from PIL import Image

from armarium_layout.finding.gutter import LOOKED_AT, gutter_of
from armarium_layout.finding.ink import sheet_of


def spread(at: float, *, shadow: int, lean: float = 0.0, seed: int = 1) -> Any:
    """Draw two written pages that meet at *at* (of the width) in a shadow so many grey levels deep."""
    width, height = 1600, 1000
    image = paper(width, height, grain=3, seed=seed)
    middle = int(at * width)
    write_block(image, 90, 80, middle - 220, 22, seed=seed)
    write_block(image, middle + 110, 80, width - middle - 220, 22, seed=seed + 1)
    pixels = numpy.asarray(image).astype(float)
    fold = middle + lean * width * numpy.linspace(-0.5, 0.5, height)[:, None]
    away = numpy.abs(numpy.arange(width)[None, :] - fold)
    return Image.fromarray(numpy.clip(pixels - shadow * numpy.exp(-away / 12), 0, 255).astype(numpy.uint8))


@pytest.mark.parametrize("at", [0.45, 0.5, 0.56])
@pytest.mark.parametrize("shadow", [40, 120])
@pytest.mark.parametrize("lean", [0.0, 0.012])
def test_a_fold_is_found_where_it_is(at: float, shadow: int, lean: float) -> None:
    gutter = gutter_of(sheet_of(spread(at, shadow=shadow, lean=lean), LOOKED_AT))
    assert gutter is not None
    assert abs(gutter.x - at) < 0.008
    assert abs((gutter.foot - gutter.top) - lean) < 0.008


def test_one_page_in_two_columns_is_not_cut() -> None:
    image = paper(1500, 1300, grain=3)
    write_block(image, 100, 80, 580, 30, seed=1)
    write_block(image, 800, 80, 580, 30, seed=2)
    assert gutter_of(sheet_of(image, LOOKED_AT)) is None


@pytest.mark.parametrize(("width", "height"), [(1, 1), (30, 10), (900, 1300), (1300, 900), (4000, 20)])
def test_blank_upright_and_tiny_pictures_are_not_cut(width: int, height: int) -> None:
    assert gutter_of(sheet_of(paper(width, height, grain=2), LOOKED_AT)) is None


@pytest.mark.parametrize("name", ["0001", "0003", "0014", "0021", "0024", "0041"])
def test_real_openings_are_cut_at_their_fold(name: str) -> None:
    """Measured by eye on the photographs: the folds run between 0.485 and 0.505 of the width."""
    gutter = gutter_of(sheet_of(real_image(f"page-pairs/bronod/{name}.jpg", LOOKED_AT), LOOKED_AT))
    assert gutter is not None
    assert 0.485 < gutter.x < 0.505


def test_a_printed_opening_beside_a_dark_table_is_cut_at_its_fold() -> None:
    gutter = gutter_of(sheet_of(real_image("hocr/litver.png"), LOOKED_AT))
    assert gutter is not None
    assert 0.54 < gutter.x < 0.58


def test_real_single_pages_and_envelopes_are_not_cut() -> None:
    names = [
        "series-wills/0016.jpg",
        "series-wills/0025.jpg",
        "series-wills/0026.jpg",
        "page-pairs/prima-simple/SimplePage.png",
    ]
    for name in names:
        assert gutter_of(sheet_of(real_image(name, LOOKED_AT), LOOKED_AT)) is None, name


def test_spreads_joined_from_real_pages_are_cut_where_they_were_joined() -> None:
    if not DATA.is_dir():
        pytest.skip("the real pages are not here: set ARMARIUM_SHARED_DATA to their folder")
    names = sorted(path for path in (DATA / "series-wills").glob("*.jpg"))
    dice = random.Random(4)
    off = []
    while len(off) < 8:
        pages = [Image.open(path).convert("L") for path in dice.sample(names, 2)]
        if any(not 0.6 < page.width / page.height < 0.8 for page in pages):
            continue
        halves = [page.resize((round(page.width * 1000 / page.height), 1000)) for page in pages]
        joined = Image.new("L", (halves[0].width + halves[1].width, 1000))
        joined.paste(halves[0], (0, 0))
        joined.paste(halves[1], (halves[0].width, 0))
        gutter = gutter_of(sheet_of(joined, LOOKED_AT))
        off.append(1.0 if gutter is None else abs(gutter.x - halves[0].width / joined.width))
    # The photographs have strips of table at their sides, and the edge of a sheet is as good a place as the join.
    assert sum(one < 0.03 for one in off) >= 7
