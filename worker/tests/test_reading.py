"""The reader contract as it is served: shapes clipped to the page, text unchanged, one model and one page kept loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from armarium_worker import Reader, WorkerFailed, WorkerProcess, WorkerRefused

Start = Callable[..., WorkerProcess]
ORIENTATION = 0x0112


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A file; the readers of these tests do not open it."""
    path = tmp_path / "page.bin"
    path.write_bytes(b"page")
    return path


def test_shapes_are_clipped_to_the_page_and_those_outside_are_left_out(start: Start, page: Path) -> None:
    found = start("Steps").call("find_lines", {"image": str(page)})
    assert (found["width"], found["height"]) == (100, 60)
    assert [line["rect"] for line in found["lines"]] == [[0, 0, 90, 25], [0, 20, 90, 25], [0, 40, 90, 20]]
    assert all(0 <= x <= 100 and 0 <= y <= 60 for line in found["lines"] for x, y in line["polygon"])
    assert {line["confidence"] for line in found["lines"]} == {1.0}
    assert found["seconds"] >= 0


def test_readings_keep_their_order_and_their_code_points(start: Start, page: Path) -> None:
    lines = [{"rect": [0, 0, 10, 10]}] * 3
    read = start("Steps").call("read_lines", {"image": str(page), "lines": lines})
    assert [reading["text"] for reading in read["readings"]] == ["שלום", "a?b", "loads 1"]
    assert [reading["confidence"] for reading in read["readings"]] == [0.0, 0.0, 0.0]


def test_a_page_read_in_one_call_gives_lines_with_their_readings(start: Start, page: Path) -> None:
    read = start("Steps").call("read_page", {"image": str(page)})
    assert [line["reading"]["text"] for line in read["lines"]] == ["שלום", "a?b", "loads 1"]


def test_the_model_stays_loaded_until_another_is_asked_for(start: Start, page: Path) -> None:
    worker = start("Steps")
    three = {"image": str(page), "lines": [{"rect": [0, 0, 10, 10]}] * 3}
    for _ in range(2):
        assert worker.call("read_lines", three)["readings"][2]["text"] == "loads 1"
    assert worker.call("read_lines", {**three, "language": "he"})["readings"][2]["text"] == "loads 2"


def test_a_model_file_that_is_gone_is_refused(start: Start, page: Path) -> None:
    with pytest.raises(WorkerRefused, match=r"model file gone\.mlmodel is no longer there"):
        start("Steps").call("find_lines", {"image": str(page), "model": str(page.parent / "gone.mlmodel")})


def test_a_page_that_is_gone_broken_or_of_another_size_is_refused(start: Start, page: Path) -> None:
    worker = start("Steps")
    with pytest.raises(WorkerRefused, match="not there any more"):
        worker.call("find_lines", {"image": str(page.parent / "gone.jpg")})
    with pytest.raises(WorkerRefused, match=r"100 x 60 pixels and 10 x 10 were recorded"):
        worker.call("find_lines", {"image": str(page), "width": 10, "height": 10})
    broken = page.parent / "broken"
    broken.write_bytes(b"broken")
    with pytest.raises(WorkerRefused, match="cannot be decoded"):
        worker.call("find_lines", {"image": str(broken)})
    assert worker.call("find_lines", {"image": str(page)})["lines"]


def test_a_reader_that_loses_lines_fails_the_call(start: Start, page: Path) -> None:
    lines = [{"rect": [0, 0, 10, 10]}] * 3
    with pytest.raises(WorkerFailed, match="was given 3 lines and read 1"):
        start("Forgetful").call("read_lines", {"image": str(page), "lines": lines})


@pytest.mark.parametrize(
    ("mode", "kind"), [("RGB", "jpg"), ("L", "jpg"), ("P", "png"), ("RGBA", "png"), ("1", "tif")]
)
@pytest.mark.parametrize("turned", [1, 6])
def test_an_opened_page_is_upright_in_colour_and_needs_its_file_no_more(
    tmp_path: Path, mode: str, kind: str, turned: int
) -> None:
    """Its left half is black, or its upper half once it has been turned to the right."""
    image = Image.new("L", (40, 20), 255)
    image.paste(0, (0, 0, 20, 20))
    path, exif = tmp_path / f"page.{kind}", Image.Exif()
    exif[ORIENTATION] = turned
    image.convert(mode).save(path, exif=exif)
    page = Reader().open_page(path, 1000)
    path.unlink()
    assert (page.image.mode, page.width, page.height) == ("RGB", *((40, 20) if turned == 1 else (20, 40)))
    black, white = ((5, 10), (35, 10)) if turned == 1 else ((10, 5), (10, 35))
    assert [page.image.getpixel(place) for place in (black, white)] == [(0, 0, 0), (255, 255, 255)]
    assert page.image.getexif().get(ORIENTATION, 1) == 1
