"""RapidOCR passes the reader suite on a generated page, with its own weights and without a network."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest

from armarium_demo.samples import SamplePage, sample_pages
from armarium_reader_rapidocr import reader as module
from armarium_reader_rapidocr.crops import cut_line, line_box
from armarium_reader_rapidocr.reader import WEIGHTS, RapidOcrReader, weights_folder
from armarium_reading.api import LineShape, Refused, exercise_reader


@pytest.fixture(scope="module")
def sample() -> SamplePage:
    """The first sample page, small."""
    return sample_pages(count=1, scale=0.6)[0]


@pytest.fixture(scope="module")
def picture(sample: SamplePage, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of its picture."""
    path = tmp_path_factory.mktemp("page") / "page.jpg"
    path.write_bytes(sample.jpeg)
    return path


@pytest.mark.slow
def test_it_is_a_reader(picture: Path, sample: SamplePage, tmp_path: Path) -> None:
    proof = exercise_reader(RapidOcrReader, tmp_path, page=picture, least_lines=len(sample.lines) // 2)
    assert proof.left_out == {}
    assert "read_lines: a page" in proof.checked


def test_it_reads_the_page(picture: Path, sample: SamplePage) -> None:
    reader = RapidOcrReader(threads=2)
    reader.load()
    page = reader.open_page(picture, 10**9)
    shapes = [
        LineShape(rect=_around(line.polygon), polygon=line.polygon, baseline=line.baseline)
        for line in sample.lines
    ]
    read = list(reader.read_lines(page, shapes))
    near = [
        difflib.SequenceMatcher(None, line.text, reading.text).ratio()
        for line, reading in zip(sample.lines, read, strict=True)
    ]
    assert sum(near) / len(near) > 0.7, [reading.text for reading in read]


def test_the_weights_are_in_the_wheel_and_found_without_importing_it() -> None:
    assert all((weights_folder() / name).is_file() for name in WEIGHTS.values())
    (model,) = RapidOcrReader.models_here(Path("nowhere"), None)
    assert model.shipped
    assert (model.size_bytes or 0) > 10_000_000


def test_weights_that_are_not_there_are_refused_and_never_fetched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "weights_folder", lambda: tmp_path)
    with pytest.raises(Refused, match="does not contain PP-OCRv6"):
        RapidOcrReader().load()


def test_a_language_it_does_not_know_is_refused_with_those_it_does() -> None:
    assert RapidOcrReader.why_not("es") is None
    assert RapidOcrReader.why_not("es-MX") is None
    assert "does not read the language 'he'" in str(RapidOcrReader.why_not("he"))


def test_a_line_is_cut_along_its_baseline() -> None:
    import numpy as np

    image = np.zeros((200, 300, 3), dtype=np.uint8)
    slanted = LineShape(
        (10, 10, 200, 60), ((10, 10), (200, 50), (200, 70), (110, 55), (10, 30)), ((10, 25), (200, 65))
    )
    height, width = cut_line(image, slanted).shape[:2]
    assert width > 190
    assert height < 45
    upright = LineShape((10, 10, 20, 100))
    assert cut_line(image, upright).shape[:2] == (20, 100)


def test_corners_come_in_one_order_however_they_were_drawn() -> None:
    square = ((0, 0), (10, 0), (10, 4), (0, 4))
    expected = [[0, 0], [10, 0], [10, 4], [0, 4]]
    for turn in range(4):
        drawn = (*square[turn:], *square[:turn])
        assert line_box(LineShape((0, 0, 10, 4), drawn)).tolist() == expected
        assert line_box(LineShape((0, 0, 10, 4), drawn[::-1])).tolist() == expected


def _around(points: tuple[tuple[float, float], ...]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return (min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys))
