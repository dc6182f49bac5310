"""The line finder: it passes the reader suite, finds tilted lines whole, and answers sensibly to any picture."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from armarium_demo.samples import sample_pages
from armarium_reader_hand.lines.finder import LineFinder
from armarium_reading.api import exercise_reader
from armarium_worker import FoundLine


@pytest.fixture(scope="module")
def finder() -> LineFinder:
    """The finder with its network loaded."""
    made = LineFinder(threads=2)
    made.load()
    return made


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


@pytest.mark.parametrize(
    ("mode", "size", "tone"),
    [("L", (1, 1), 0), ("L", (20_000, 30), 250), ("L", (3, 9_000), 250), ("I;16", (400, 300), 40_000),
     ("CMYK", (600, 400), (10, 10, 10, 0)), ("L", (600, 800), 255), ("L", (600, 800), 0)],
)  # fmt: skip
def test_pictures_without_writing_have_no_lines(
    finder: LineFinder, tmp_path: Path, mode: str, size: tuple[int, int], tone: int | tuple[int, ...]
) -> None:
    assert find(finder, Image.new(mode, size, tone), tmp_path / "page.tif") == []
