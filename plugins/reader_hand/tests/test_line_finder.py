"""The line finder: it passes the reader suite, finds tilted lines whole, and answers sensibly to any picture."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from armarium_demo.samples import sample_pages
from armarium_reader_hand.lines.finder import LineFinder
from armarium_reader_hand.lines.ink import are_written
from armarium_reading.api import exercise_reader
from armarium_worker import FoundLine


@pytest.fixture(scope="module")
def finder() -> LineFinder:
    """The finder with its network loaded."""
    new_finder = LineFinder(threads=2)
    new_finder.load()
    return new_finder


def find(finder: LineFinder, image: Image.Image, path: Path) -> list[FoundLine]:
    """The lines of a picture."""
    image.save(path)
    return list(finder.find_lines(finder.open_page(path, 1 << 30)))


def lean(lines: list[FoundLine]) -> float:
    """The middle of the degrees by which lines climb."""
    spans = [np.subtract(line.baseline[-1], line.baseline[0]) for line in lines]
    return float(np.median([np.degrees(np.arctan2(-down, across)) for across, down in spans]))


def test_it_is_a_reader(tmp_path: Path) -> None:
    (sample,) = sample_pages(count=1, scale=0.6)
    page, kit = tmp_path / "page.jpg", tmp_path / "kit"
    page.write_bytes(sample.jpeg)
    kit.mkdir()
    assert exercise_reader(LineFinder, kit, page=page).checked


def test_a_tilted_page_has_the_lines_of_the_level_one_and_they_lean(
    finder: LineFinder, tmp_path: Path
) -> None:
    (sample,) = sample_pages(count=1, scale=0.6)
    level = Image.open(io.BytesIO(sample.jpeg))
    tilted = level.rotate(8, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    before = find(finder, level, tmp_path / "level.png")
    after = find(finder, tilted, tmp_path / "tilted.png")
    assert before
    assert abs(len(before) - len(after)) <= max(1, len(before) // 10)
    assert lean(after) - lean(before) == pytest.approx(8, abs=1)


def of_two_bytes(grey: Image.Image) -> Image.Image:
    return Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)


def ink_without_paper(grey: Image.Image) -> Image.Image:
    return Image.merge("LA", (Image.new("L", grey.size, 0), Image.eval(grey, lambda value: 255 - value)))


@pytest.mark.parametrize(
    ("change", "name"),
    [(of_two_bytes, "16-bit.png"), (of_two_bytes, "16-bit.tif"), (ink_without_paper, "alpha.png"),
     (lambda grey: grey.convert("RGB").convert("CMYK"), "cmyk.jpg"), (lambda grey: grey.convert("P"), "palette.png"),
     (lambda grey: Image.fromarray(np.asarray(grey).astype(np.float32) / 255), "fractions.tif")],
)  # fmt: skip
def test_a_page_has_the_same_lines_whatever_its_pixels_are(
    finder: LineFinder, tmp_path: Path, change: Callable[[Image.Image], Image.Image], name: str
) -> None:
    (sample,) = sample_pages(count=1, scale=0.4)
    grey = Image.open(io.BytesIO(sample.jpeg)).convert("L")
    assert len(find(finder, change(grey), tmp_path / name)) == len(find(finder, grey, tmp_path / "l.png")) > 3


def test_a_page_that_its_file_turns_has_its_lines_where_they_are_seen(
    finder: LineFinder, tmp_path: Path
) -> None:
    (sample,) = sample_pages(count=1, scale=0.4)
    grey = Image.open(io.BytesIO(sample.jpeg)).convert("L")
    turned, orientation = grey.rotate(90, expand=True), Image.Exif()
    orientation[0x0112] = 6
    turned.save(tmp_path / "turned.jpg", exif=orientation)
    page = finder.open_page(tmp_path / "turned.jpg", 1 << 30)
    assert (page.width, page.height) == grey.size
    assert abs(lean(list(finder.find_lines(page)))) < 3


@pytest.mark.parametrize(
    ("mode", "size", "tone"),
    [("L", (1, 1), 0), ("L", (30_000, 200), 250), ("L", (20_000, 30), 250), ("L", (3, 9_000), 250), ("I;16", (400, 300), 40_000),
     ("CMYK", (600, 400), (10, 10, 10, 0)), ("L", (600, 800), 255), ("L", (600, 800), 0)],
)  # fmt: skip
def test_pictures_without_writing_have_no_lines(
    finder: LineFinder, tmp_path: Path, mode: str, size: tuple[int, int], tone: int | tuple[int, ...]
) -> None:
    assert find(finder, Image.new(mode, size, tone), tmp_path / "page.tif") == []


def test_a_page_of_a_photograph_alone_has_no_lines(finder: LineFinder, tmp_path: Path) -> None:
    tones = np.random.default_rng(0).normal(128, 60, (40, 60)).clip(0, 255).astype(np.uint8)
    photograph = Image.fromarray(tones).resize((1200, 800), Image.Resampling.BICUBIC)
    assert find(finder, photograph, tmp_path / "photograph.png") == []


def test_a_leaf_through_which_the_other_side_shines_has_no_lines(finder: LineFinder, tmp_path: Path) -> None:
    page = sample_pages(count=7, scale=0.6)[-1]
    assert page.is_blank
    assert find(finder, Image.open(io.BytesIO(page.jpeg)), tmp_path / "blank.png") == []


def test_what_stands_out_less_than_the_page_s_writing_is_none_of_its_lines() -> None:
    """Ink, faint ink beside it, light letters on a dark ground, and the dark ground beside the leaf."""
    grey = np.full((500, 400), 190, np.uint8)
    grey[:, 300:] = 25
    for top, ground, ink in ((20, 190, 110), (100, 190, 125), (180, 190, 178), (260, 40, 210)):
        grey[top : top + 40, 20:280] = ground
        grey[top + 10 : top + 30, 30:270:6] = ink
        grey[top + 10 : top + 30, 31:270:6] = ink
    grey[330:370:3, 310:390] = 40
    boxes = [(20, top, 280, top + 40) for top in (20, 100, 180, 260)] + [(310, 330, 390, 370)]
    outlines = [
        np.array([(left, top), (right, top), (right, bottom), (left, bottom)], float)
        for left, top, right, bottom in boxes
    ]
    assert are_written(grey, outlines).tolist() == [True, True, False, True, False]
    assert are_written(grey, outlines[2:3]).tolist() == [False]
    assert are_written(grey, []).tolist() == []
