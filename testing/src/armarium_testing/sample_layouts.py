"""The pages used by the examples of actions and recipe jobs: drawn, so that the right result is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from armarium.api import Example
from armarium_testing.sample_pages import sample_page, sample_picture

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

WIDTH, HEIGHT = 600, 800

Draw = Callable[["ImageDraw.ImageDraw"], None]


def write_line(pen: ImageDraw.ImageDraw, left: int, baseline: int, right: int, *, height: int = 14) -> None:
    """Draw strokes as tall as letters, in words, from *left* to *right* on *baseline*."""
    for number, x in enumerate(range(left, right - 8, 12)):
        if number % 6 < 5:
            rises = height if number % 3 else round(1.5 * height)
            pen.rectangle((x, baseline - rises, x + 3, baseline), fill=30)
            pen.rectangle((x, baseline - height, x + 9, baseline - height + 3), fill=30)


def sheet_with(draw: Draw, size: tuple[int, int] = (WIDTH, HEIGHT)) -> Image.Image:
    """Return a sheet of light paper with what *draw* draws."""
    from PIL import Image, ImageDraw

    image = Image.new("L", size, 225)
    draw(ImageDraw.Draw(image))
    return image


def letter(pen: ImageDraw.ImageDraw) -> None:
    """Draw two blocks of lines, one above the other."""
    for y in (100, 140, 180, 420, 460, 500):
        write_line(pen, 80, y, 520)


def letter_page(ex: Example) -> str:
    """Create a page with two blocks of text, without lines."""
    return sample_picture(ex, sheet_with(letter))


def add_lines(
    ex: Example, document_id: str, rows: Sequence[int] = (100, 140, 180, 420, 460, 500)
) -> tuple[str, list[str]]:
    """Create a pass with lines on these baselines (pixels of the sample's picture); return its id and theirs."""
    lines = [
        {
            "anchor": {"rect": [80 / WIDTH, (y - 22) / HEIGHT, 440 / WIDTH, 26 / HEIGHT]},
            "baseline": [[80 / WIDTH, y / HEIGHT], [520 / WIDTH, y / HEIGHT]],
        }
        for y in rows
    ]
    page = sample_page(ex, document_id=document_id, segments=lines)
    return page.pass_id, page.segment_ids


def lined_page(ex: Example) -> dict[str, Any]:
    """Create a page with two blocks of text whose lines are known: document_id, pass_id, segment_ids."""
    document_id = letter_page(ex)
    pass_id, segment_ids = add_lines(ex, document_id)
    return {"document_id": document_id, "pass_id": pass_id, "segment_ids": segment_ids}


def leaning_page(ex: Example) -> str:
    """Create a page that leans by three degrees."""
    return sample_picture(ex, sheet_with(letter).rotate(-3, fillcolor=225, expand=True))


def spread(pen: ImageDraw.ImageDraw) -> None:
    """Draw two pages of an open book, with the shadow of its fold between them."""
    for away in range(24):
        for x in (600 - away, 600 + away):
            pen.line((x, 0, x, 800), fill=120 + 4 * away)
    for left in (60, 660):
        for y in range(100, 700, 40):
            write_line(pen, left, y, left + 460)


def spread_page(ex: Example) -> str:
    """Create a picture of an open book."""
    return sample_picture(ex, sheet_with(spread, (1200, 800)))


def table(pen: ImageDraw.ImageDraw) -> None:
    """Draw a ruled table of three rows and two columns, with a word in each cell."""
    for y in (200, 280, 360, 440):
        pen.line((80, y, 520, y), fill=20, width=2)
    for x in (80, 300, 520):
        pen.line((x, 200, x, 440), fill=20, width=2)
    for y in (250, 330, 410):
        write_line(pen, 110, y, 230)
        write_line(pen, 330, y, 450)


def table_page(ex: Example) -> str:
    """Create a page with a ruled table."""
    return sample_picture(ex, sheet_with(table))


SAMPLE_TEXT = (
    "one two three four five six seven eight nine ten\neleven twelve thirteen fourteen fifteen sixteen"
)


def text_page(ex: Example) -> str:
    """Create a page with six lines and a text of its own that has other line breaks."""
    page = lined_page(ex)
    ex.run(
        "artifact.create",
        {"document_id": page["document_id"], "artifact_type": "transcription", "content": SAMPLE_TEXT},
    )
    return str(page["document_id"])


def drawing(pen: ImageDraw.ImageDraw) -> None:
    """Draw a ring and a cross."""
    pen.ellipse((200, 200, 400, 400), outline=20, width=12)
    pen.line((220, 560, 380, 720), fill=20, width=10)
    pen.line((380, 560, 220, 720), fill=20, width=10)


def drawing_page(ex: Example) -> str:
    """Create a page with a drawing in a region."""
    document_id = sample_picture(ex, sheet_with(drawing))
    region = {"kind": "region", "kind_raw": "graphic", "anchor": {"rect": [0.25, 0.2, 0.5, 0.35]}}
    return sample_page(ex, document_id=document_id, segments=[region]).document_id


def signs(pen: ImageDraw.ImageDraw) -> None:
    """Draw lines of writing with the same sign, a struck circle, before three of them."""
    letter(pen)
    for y in SIGN_ROWS:
        pen.ellipse((34, y - 22, 58, y + 2), outline=20, width=3)
        pen.line((30, y + 4, 62, y - 24), fill=20, width=3)


SIGN_ROWS = (100, 180, 460)


def sign_page(ex: Example) -> dict[str, Any]:
    """Create a page with three signs, the first of which is marked by a segment: page_id and settings."""
    document_id = sample_picture(ex, sheet_with(signs))
    pass_id, _ = add_lines(ex, document_id)
    y = SIGN_ROWS[0]
    rect = [27 / WIDTH, (y - 27) / HEIGHT, 38 / WIDTH, 34 / HEIGHT]
    word = {"document_id": document_id, "pass_id": pass_id, "kind": "word", "anchor": {"rect": rect}}
    created = ex.run("segment.create_many", {"segments": [word]})
    return {"page_id": document_id, "settings": {"examples": [created["items"][0]["id"]]}}
