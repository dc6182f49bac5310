"""Sample pages: the same on every call, with a ground truth that lies inside the picture and on the ink."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image

from armarium_demo.samples import (
    SamplePage,
    manuscript_page,
    sample_documents,
    sample_pages,
    write_sample_pages,
)
from armarium_demo.samples.__main__ import main
from armarium_demo.samples.layout import draw_ink, lay_out
from armarium_demo.samples.photograph import bend_between, bend_points
from armarium_demo.samples.sheet import Block, Frame, Hand, PageText

SMALL = 0.5


@pytest.fixture(scope="module")
def pages() -> list[SamplePage]:
    return sample_pages(scale=SMALL)


def test_twelve_pages_hold_letters_deeds_columns_a_telegram_and_blank_versos(pages: list[SamplePage]) -> None:
    assert [page.name for page in pages] == [f"{number:04}" for number in range(1, 13)]
    assert [page.name for page in pages if page.is_blank] == ["0007", "0012"]
    assert {"marginalia", "page-number", "heading", "paragraph"} <= {
        region.kind for page in pages for region in page.regions
    }
    assert {page.language for page in pages} == {"es", "en", "la", "zxx"}


def test_a_seed_gives_the_same_bytes_and_another_seed_other_pictures_of_the_same_text() -> None:
    first, again, other = (sample_pages(seed, count=2, scale=0.3)[1] for seed in (1, 1, 2))
    assert first.jpeg == again.jpeg
    assert first.truth() == again.truth()
    assert first.jpeg != other.jpeg
    assert first.text == other.text


def test_the_order_of_drawing_leaves_a_page_as_it_is() -> None:
    forwards, backwards = sample_pages(count=2, scale=0.25), sample_pages(count=2, scale=0.25)
    assert [forwards[0].jpeg, forwards[1].jpeg] == [page.jpeg for page in reversed(backwards)][::-1]


def test_every_shape_of_the_truth_lies_inside_the_picture(pages: list[SamplePage]) -> None:
    for page in pages:
        shapes = [region.polygon for region in page.regions]
        shapes += [line.polygon for line in page.lines] + [line.baseline for line in page.lines]
        for x, y in (point for shape in shapes for point in shape):
            assert 0 <= x <= page.width
            assert 0 <= y <= page.height


def test_lines_lie_in_their_regions_in_reading_order(pages: list[SamplePage]) -> None:
    for page in pages:
        assert [line.order for line in page.lines] == list(range(1, len(page.lines) + 1))
        for region in page.regions:
            middles = [_middle(line.baseline) for line in region.lines]
            assert middles == sorted(middles, key=lambda point: point[1])
            left, top, right, bottom = _box(region.polygon)
            for x, y in middles:
                assert left <= x <= right
                assert top <= y <= bottom


def test_a_line_polygon_covers_ink_and_the_blank_verso_has_none(pages: list[SamplePage]) -> None:
    page = pages[0]
    for line in page.lines:
        left, top, right, bottom = _box(line.polygon)
        inside = page.picture.convert("L").crop((round(left), round(top), round(right), round(bottom)))
        dark, light = inside.getextrema()
        assert isinstance(light, int)
        assert isinstance(dark, int)
        assert light - dark > 70
    blank = pages[6].picture.convert("L")
    middle = blank.crop((120, 120, blank.width - 120, blank.height - 120))
    dark, light = middle.getextrema()
    assert isinstance(dark, int)
    assert dark > 90
    assert pages[6].text == ""


def test_two_columns_are_read_one_after_the_other(pages: list[SamplePage]) -> None:
    register = pages[5]
    numbers = [int(line.text.split(".")[0]) for line in register.lines if line.text[0].isdigit()]
    assert numbers == list(range(1, 15))
    assert (
        _middle(register.lines[1].baseline)[0] < register.width / 2 < _middle(register.lines[-1].baseline)[0]
    )


def test_documents_name_their_pages_and_one_begins_in_the_middle_of_a_page(pages: list[SamplePage]) -> None:
    documents = {document.key: document.pages for document in sample_documents()}
    assert documents["letter-ribera"] == ("0001", "0002")
    assert documents["power-quintana"] == ("0003", "0004")
    assert documents["sale-almazara"] == ("0004", "0005")
    assert {name for names in documents.values() for name in names} == {page.name for page in pages}
    for page in pages:
        assert {region.document for region in page.regions} <= set(page.documents)


def test_a_bend_takes_corners_to_corners() -> None:
    square = ((0.0, 0.0), (100.0, 0.0), (100.0, 200.0), (0.0, 200.0))
    corners = ((3.0, 5.0), (98.0, 1.0), (104.0, 196.0), (-2.0, 203.0))
    assert bend_points(square, bend_between(square, corners)) == corners


def test_pages_and_truth_are_written_apart(tmp_path: Path) -> None:
    paths = write_sample_pages(tmp_path / "pages", count=2, scale=0.3, truth=tmp_path / "truth")
    assert sorted((tmp_path / "pages").iterdir()) == paths
    with Image.open(paths[0]) as picture:
        assert (picture.format, picture.size, picture.info["dpi"]) == ("JPEG", (480, 690), (60, 60))
    truth = json.loads((tmp_path / "truth" / "0001.json").read_text(encoding="utf-8"))
    assert truth["regions"][0]["lines"][0]["text"].startswith("Puerto Claro")
    documents = json.loads((tmp_path / "truth" / "documents.json").read_text(encoding="utf-8"))
    assert [(document["key"], document["pages"]) for document in documents] == [
        ("letter-ribera", ["0001", "0002"])
    ]


def test_a_leaning_hand_leans_about_its_baseline() -> None:
    """Each pixel row of tall letters moves to the right by slope times its height over the baseline; lower rows do not
    move.
    """

    def ink(slope: float) -> tuple[np.ndarray, float]:
        block = Block("lllll", size=80)
        page = PageText("x", "deed", "en", Hand(slope=slope, unsteady=0.0), (Frame(200, 200, 900, (block,)),))
        laid = lay_out(page, 1.0, Random(1), None)
        drawn = np.asarray(draw_ink(page, laid, 1.0, Random(1), None))
        return drawn, laid[0].lines[0].baseline[0][1]

    (upright, baseline), (leaning, _) = ink(0.0), ink(0.25)
    for height in (2, 20, 40, 54):
        row = round(baseline) - height
        starts = [int(np.flatnonzero(drawn[row] > 90)[0]) for drawn in (upright, leaning)]
        assert starts[1] - starts[0] == pytest.approx(0.25 * height, abs=1.5)


def test_a_font_file_may_be_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="resource"):
        sample_pages(count=1, font_path=tmp_path / "absent.ttf")


@pytest.mark.parametrize(("wrong", "said"), [({"count": 0}, "give 1 to 12"), ({"scale": 0.01}, "legible")])
def test_a_count_or_scale_that_makes_no_page_is_refused(wrong: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        sample_pages(**wrong)  # type: ignore[arg-type]


def test_the_command_writes_pages_and_refuses_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--count", "1", "--scale", "0.25"]) == 0
    assert capsys.readouterr().out == f"1 sample pages in {tmp_path}\n"
    assert main([str(tmp_path), "--count", "99"]) == 2
    assert "give 1 to 12" in capsys.readouterr().err


def _box(points: Sequence[tuple[float, float]]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _middle(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    left, top, right, bottom = _box(points)
    return (left + right) / 2, (top + bottom) / 2


def test_a_manuscript_page_wavers_the_same_on_every_call_and_its_truth_lies_on_the_ink() -> None:
    page, again = manuscript_page(scale=SMALL), manuscript_page(scale=SMALL)
    assert page.jpeg == again.jpeg
    assert page.name not in {sample_page.name for sample_page in sample_pages(scale=SMALL)}
    grey = np.asarray(page.picture.convert("L"), dtype=float)
    for line in page.lines:
        xs, ys = zip(*line.polygon, strict=True)
        cut = grey[round(min(ys)) : round(max(ys)), round(min(xs)) : round(max(xs))]
        assert cut.min() < cut.mean() - 50, line.text
