"""The picture of a page shows its lines in place and its readings beside them, and no text can break it."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageChops

from armarium_demo.samples import SamplePage, sample_pages
from armarium_source_model.picture import CORRECTED, PANEL, DrawnLine, draw_page

Shape = tuple[tuple[float, float], ...]


@pytest.fixture(scope="module")
def page() -> SamplePage:
    return sample_pages(count=3, scale=0.4)[2]


def test_the_page_is_on_the_left_and_its_readings_on_the_right(page: SamplePage) -> None:
    drawn_page = draw_page(page.picture, drawn_lines(page), max_size=800)
    assert drawn_page.height == 800
    assert drawn_page.width > 1.5 * 800 * page.width / page.height
    panel = drawn_page.crop((round(800 * page.width / page.height) + 1, 0, drawn_page.width, 800))
    colours = panel.getcolors(1 << 24)
    assert colours is not None
    assert max(colours)[1] == PANEL
    assert len(colours) > 20


def test_a_line_is_tinted_inside_its_polygon_and_the_margin_is_left_alone(page: SamplePage) -> None:
    size = max(page.picture.size)
    before = draw_page(page.picture, [], max_size=size, labels=False)
    after = draw_page(page.picture, drawn_lines(page)[-1:], max_size=size, labels=False)
    changed = ImageChops.difference(before, after).getbbox()
    assert changed is not None
    xs, ys = zip(*page.lines[-1].polygon, strict=True)
    assert changed == pytest.approx((min(xs), min(ys), max(xs), max(ys)), abs=4)


def test_without_labels_the_answer_has_the_page_s_size_and_the_image_is_left_as_it_was(
    page: SamplePage,
) -> None:
    before = page.picture.tobytes()
    assert draw_page(page.picture, drawn_lines(page), labels=False).size == page.picture.size
    assert page.picture.tobytes() == before


def test_a_corrected_line_is_marked_on_the_page_and_in_the_panel(page: SamplePage) -> None:
    marked = draw_page(page.picture, drawn_lines(page, corrected=4))
    plain = draw_page(page.picture, drawn_lines(page))
    assert pixels_of(marked, CORRECTED) > pixels_of(plain, CORRECTED) + 50


@pytest.mark.parametrize("size", [(1, 1), (8, 8), (30, 1), (1, 30), (1600, 3), (3, 1600)])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_picture_too_small_or_too_flat_for_letters_is_drawn_all_the_same(
    size: tuple[int, int], count: int
) -> None:
    lines = [DrawnLine(n + 1, None, None, (0.1, n / 10, 0.5, 0.1), "words", n == 2) for n in range(count)]
    drawn_page = draw_page(Image.new("L", size, 230), lines)
    assert drawn_page.width > size[0]
    assert drawn_page.height >= size[1]


def test_the_same_page_gives_the_same_picture(page: SamplePage) -> None:
    assert draw_page(page.picture, drawn_lines(page)) == draw_page(page.picture, drawn_lines(page))


@pytest.mark.parametrize(
    "text",
    ["", " \n ", "漢字", "العربية", "a" * 5000, "\x00\ud800", "👩‍🚀 q̃", None],
    ids=lambda text: repr(text)[:9],
)
def test_any_text_is_drawn(page: SamplePage, text: str | None) -> None:
    line = DrawnLine(1, None, None, (0.1, 0.1, 0.5, 0.05), text, corrected=True)
    assert draw_page(page.picture, [line], max_size=300).width > 300 * page.width / page.height


@pytest.mark.parametrize(
    ("polygon", "baseline"),
    [
        (((0.2, 0.2), (0.4, 0.2)), ((0.2, 0.2),)),
        (((-3.0, 0.2), (9.0, 0.2), (0.4, 7.0)), ((-1.0, 0.5), (2.0, 0.5))),
        ((), ()),
    ],
)
def test_shapes_too_short_or_outside_the_page_are_held_to_it(
    page: SamplePage, polygon: Shape, baseline: Shape
) -> None:
    lines = [DrawnLine(1, polygon, baseline, (0.2, 0.2, 0.0, 0.0), "text")]
    assert draw_page(page.picture, lines, max_size=300).height == 300


def test_a_page_of_hundreds_of_lines_gets_more_columns(page: SamplePage) -> None:
    many = [DrawnLine(n, None, None, (0.1, n / 500, 0.3, 0.001), f"línea {n}") for n in range(1, 401)]
    few = draw_page(page.picture, many[:20], max_size=600)
    assert draw_page(page.picture, many, max_size=600).width > few.width


def test_a_page_without_lines_says_so(page: SamplePage) -> None:
    drawn_page = draw_page(page.picture, [], max_size=400)
    panel = drawn_page.crop((round(400 * page.width / page.height) + 1, 0, drawn_page.width, 400))
    assert len(panel.getcolors(1 << 24) or []) > 1


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "LA", "CMYK", "I;16", "I", "F"])
def test_pages_of_every_mode_are_drawn(mode: str) -> None:
    image = Image.new(mode, (200, 300))
    assert draw_page(image, [DrawnLine(1, None, None, (0.1, 0.1, 0.5, 0.1), "a")], max_size=200).mode == "RGB"


def test_sixteen_bit_greys_keep_their_shades() -> None:
    image = Image.new("I;16", (120, 120), 32768)
    pixel = draw_page(image, [], labels=False).getpixel((60, 60))
    assert pixel == pytest.approx((128, 128, 128), abs=2)


def test_a_size_that_leaves_no_room_is_refused(page: SamplePage) -> None:
    with pytest.raises(ValueError, match="at least 100 pixels"):
        draw_page(page.picture, [], max_size=20)


def drawn_lines(page: SamplePage, corrected: int = 0) -> list[DrawnLine]:
    def fractions(points: Shape) -> Shape:
        return tuple((x / page.width, y / page.height) for x, y in points)

    return [
        DrawnLine(
            line.order,
            fractions(line.polygon),
            fractions(line.baseline),
            (0.0, 0.0, 1.0, 1.0),
            line.text,
            corrected=line.order == corrected,
        )
        for line in page.lines
    ]


def pixels_of(picture: Image.Image, colour: tuple[int, int, int]) -> int:
    return sum(count for count, pixel in picture.getcolors(1 << 24) or [] if pixel == colour)


@pytest.mark.parametrize(("way", "first"), [("ttb", "right"), ("ttb-lr", "left")])
def test_readings_of_vertical_lines_are_drawn_in_columns(way: str, first: str) -> None:
    """The first column is at its own side of the panel and is taller than wide, and so is its ink."""
    texts = ["ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ", ""] if way == "ttb-lr" else ["春眠不覺曉", ""]
    lines = [
        DrawnLine(n + 1, None, None, (0.1 + n / 3, 0.1, 0.1, 0.8), text, downward=way)  # type: ignore[arg-type]
        for n, text in enumerate(texts)
    ]
    page = Image.new("RGB", (600, 600), "white")
    drawn_page = draw_page(page, lines)
    panel = np.asarray(drawn_page.crop((600, 0, drawn_page.width, drawn_page.height)).convert("L"))
    ink = np.argwhere(panel < 90)
    across = np.median(ink[:, 1]) / panel.shape[1]
    assert (across > 0.7) == (first == "right")
    assert np.ptp(ink[:, 0]) > 3 * np.ptp(ink[:, 1])
