"""The picture given to the model: ink on paper, level, of one height, without ink of neighbouring lines."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from armarium_reader_hand.crops import cut_line
from armarium_reader_hand.picture import HEIGHT, NARROWEST, WIDEST, line_picture
from armarium_reading.api import LineShape


def _page() -> NDArray[np.uint8]:
    return np.full((400, 600), 200, dtype=np.uint8)


@pytest.mark.parametrize(
    ("height", "width"), [(1, 1), (1, 20_000), (20_000, 1), (48, 500), (96, 1000), (3, 900)]
)
def test_a_line_of_any_size_becomes_one_of_the_models_height(height: int, width: int) -> None:
    out = line_picture(np.full((height, width), 180, dtype=np.uint8))
    assert out.shape[0] == HEIGHT
    assert NARROWEST <= out.shape[1] <= WIDEST * HEIGHT


def test_ink_is_scaled_from_paper_to_darkest_whatever_the_scan() -> None:
    for paper, ink in ((250, 20), (120, 40)):
        line = np.full((HEIGHT, 400), paper, dtype=np.uint8)
        line[20:28, 50:350] = ink
        out = line_picture(line)
        assert out[5, 200] == 0
        assert out[24, 200] == 255


def test_empty_paper_stays_empty() -> None:
    grain = np.random.default_rng(0).integers(198, 203, (HEIGHT, 400)).astype(np.uint8)
    assert line_picture(grain).max() < 64


def test_a_slanted_line_is_cut_level() -> None:
    page = _page()
    for x in range(100, 500):
        y = 100 + (x - 100) // 4
        page[y - 2 : y + 3, x] = 10
    corners = [(100, 80), (500, 180), (500, 220), (100, 120)]
    cut = cut_line(page, LineShape((100, 80, 400, 140), corners, [(100, 100), (500, 200)]))
    rows = np.flatnonzero((cut < 100).sum(axis=1) > 20)
    assert rows.max() - rows.min() < 12
    assert cut.shape[1] > 400


def test_pixels_outside_the_outline_are_paper() -> None:
    page = _page()
    page[100:110, 50:550] = 10
    page[150:160, 50:550] = 10
    # The outline is around the upper stroke; because of a spur on the left, its box includes both strokes.
    outline = [(40, 90), (550, 90), (550, 120), (50, 120), (45, 170), (40, 170)]
    cut = cut_line(page, LineShape((40, 90, 510, 80), outline))
    assert (cut[10:20] < 100).any()
    assert not (cut[40:] < 100).any()


def test_a_bent_baseline_is_straightened() -> None:
    page = _page()
    xs = np.arange(100, 501)
    ys = 200 + np.round(30 * np.sin((xs - 100) / 400 * np.pi)).astype(int)
    for x, y in zip(xs, ys, strict=True):
        page[y - 2 : y + 3, x] = 10
    points = [(float(x), float(y)) for x, y in zip(xs[::40], ys[::40], strict=True)]
    polygon = [(x, y - 25) for x, y in points] + [(x, y + 25) for x, y in points[::-1]]
    cut = cut_line(page, LineShape((100, 175, 400, 80), polygon, points))
    rows = np.flatnonzero((cut < 100).sum(axis=1) > 40)
    assert rows.max() - rows.min() < 12


@pytest.mark.parametrize(
    "line",
    [
        LineShape((0, 0, 1, 1)),
        LineShape((0, 0, 4, 400)),
        LineShape((10, 10, 50, 20), [(10, 10), (60, 10), (60, 10.4)], [(10, 10), (10, 10)]),
        LineShape((590, 390, 10, 10), [(590, 390), (600, 390), (600, 400), (590, 400)]),
        LineShape((20, 20, 300, 30), (), [(320, 45), (20, 45)]),
    ],
)
def test_degenerate_lines_are_cut_too(line: LineShape) -> None:
    cut = cut_line(_page(), line)
    assert cut.size
    assert line_picture(cut).shape[0] == HEIGHT
