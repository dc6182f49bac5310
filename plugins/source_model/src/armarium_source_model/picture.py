"""Draws a page: its lines over the photograph, and beside it the readings in reading order.

Pure drawing: nothing is read from or written to a project here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from armarium.api import PictureFont
from armarium_source_model.geometry import corners_of

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

Fractions = Sequence[Sequence[float]]
Colour = tuple[int, int, int]

PANEL = (250, 248, 243)
INK = (38, 36, 34)
FAINT = (150, 146, 140)
CORRECTED: Colour = (196, 84, 0)
LINES: tuple[Colour, ...] = ((0, 104, 178), (0, 134, 92))
BASELINE: Colour = (190, 24, 64)
WORD: Colour = (176, 92, 0)
REGION: Colour = (104, 60, 148)
_FINER = 2
"""Shapes are drawn this many times larger and shrunk, which smooths their edges."""


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """One shape to draw. Geometry is in fractions of the image, origin top left; ``rect`` is ``(x, y, w, h)``.

    ``order`` counts from 1 in reading order; ``kind`` "region" draws an outline only and takes no reading.
    """

    order: int
    polygon: Fractions | None
    baseline: Fractions | None
    rect: Sequence[float]
    text: str | None = None
    corrected: bool = False
    kind: Literal["region", "line"] = "line"
    words: Sequence[Fractions] = ()
    """Outlines of its words, drawn too."""
    downward: Literal["", "ttb", "ttb-lr"] = ""
    """That the line runs downward: its columns follow from right to left, or ("ttb-lr", as Mongolian) from left to right."""


def draw_page(
    image: Image.Image, lines: Sequence[DrawnLine], *, max_size: int = 1600, labels: bool = True
) -> Image.Image:
    """The page, at most ``max_size`` pixels on its longer side, with shapes over it and readings to its right.

    Without ``labels`` neither numbers nor readings are drawn and the answer has the page's proportions. ``image``
    is left as it is. ValueError when ``max_size`` leaves no room to draw.
    """
    if max_size < 100:
        raise ValueError(f"max_size is {max_size} pixels; at least 100 pixels are needed to draw a page.")
    page = _shrink(image, max_size)
    page = _draw_shapes(page, lines)
    if not labels:
        return page
    text_lines = sorted((line for line in lines if line.kind == "line"), key=lambda line: line.order)
    _number_lines(page, text_lines)
    return _put_beside(page, _draw_readings(page.size, text_lines))


def _shrink(image: Image.Image, max_size: int) -> Image.Image:
    """Return an RGB copy within ``max_size``; 16-bit greys are scaled to 8 bits, since ``convert`` would clip
    them.
    """
    from PIL import Image

    factor = min(1.0, max_size / max(image.size))
    size = (max(1, round(image.width * factor)), max(1, round(image.height * factor)))
    if image.mode.startswith("I"):
        image = image.convert("I").point(lambda value: value * (1 / 256) + 0).convert("L")
    elif image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        over = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", over.size, "white"), over)
    return image.convert("RGB").resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def _draw_shapes(page: Image.Image, lines: Sequence[DrawnLine]) -> Image.Image:
    from PIL import Image, ImageDraw

    fine = (page.width * _FINER, page.height * _FINER)
    layer = Image.new("RGBA", fine)
    pen = ImageDraw.Draw(layer)
    thin = max(1, round(max(page.size) / 1000)) * _FINER
    for line in (line for line in lines if line.kind == "region"):
        _outline(pen, _shape(line, fine), REGION, 2 * thin)
    for line in (line for line in lines if line.kind == "line"):
        colour = _colour(line)
        shape = _shape(line, fine)
        pen.polygon(shape, fill=(*colour, 46))
        _outline(pen, shape, colour, thin)
        for word in line.words:
            _outline(pen, _pixels(word, fine), WORD, thin)
        if line.baseline:
            pen.line(_pixels(line.baseline, fine), (*BASELINE, 210), thin + _FINER, joint="curve")
    smooth = layer.resize(page.size, Image.Resampling.BOX)
    return Image.alpha_composite(page.convert("RGBA"), smooth).convert("RGB")


def _outline(pen: ImageDraw.ImageDraw, shape: list[tuple[float, float]], colour: Colour, width: int) -> None:
    pen.line([*shape, shape[0]], (*colour, 200), width, joint="curve")


def _number_lines(page: Image.Image, lines: Sequence[DrawnLine]) -> None:
    """Draw a numbered badge at the start of every line, clear of its first letter where there is room."""
    from PIL import ImageDraw

    font = PictureFont(max(10.0, max(page.size) / 110))
    pen = ImageDraw.Draw(page)
    high = font.size * 1.3
    for line in lines:
        x, y = _start(line, page.size)
        text = str(line.order)
        wide = font.width(text) + font.size * 0.6
        left = min(max(0.0, x - wide - 2), page.width - wide)
        top = min(max(0.0, y - high), page.height - high)
        pen.rounded_rectangle((left, top, left + wide, top + high), high / 3, fill=_colour(line))
        font.write(page, (left + font.size * 0.3, top + high * 0.78), text, (255, 255, 255))


def _draw_readings(page: tuple[int, int], lines: Sequence[DrawnLine]) -> Image.Image:
    """Draw the panel of readings in reading order, in as many columns as their number requires."""
    from PIL import Image, ImageDraw

    width, height = page
    margin = max(8, round(max(page) / 60))
    smallest = max(9.0, max(page) / 110)
    # A picture flatter than a row of letters gets a panel taller than itself.
    room = max(float(height - 2 * margin), smallest * 1.5)
    height = max(height, round(room + 2 * margin))
    rows = max(1, int(room / (smallest * 1.5)))
    columns = max(1, -(-len(lines) // rows))
    rows = -(-len(lines) // columns) or 1
    step = min(room / rows, max(page) / 30)
    size = max(1.0, min(step / 1.5, max(page) / 62))
    column = max(round(width * (0.9 if columns == 1 else 0.62)), round(size * 20))
    panel = Image.new("RGB", (column * columns + margin, height), PANEL)
    pen = ImageDraw.Draw(panel)
    if not lines:
        PictureFont(size).write(panel, (margin, margin + size), "No lines on this page.", FAINT)
    if lines and sum(bool(line.downward) for line in lines) * 2 > len(lines):
        return _draw_columns(page, lines, margin)
    for index, line in enumerate(lines):
        left = margin + (index // rows) * column
        top = margin + (index % rows) * step
        _draw_reading(panel, pen, line, (left, top), (column - margin, step), size)
    return panel


def _draw_columns(page: tuple[int, int], lines: Sequence[DrawnLine], margin: int) -> Image.Image:
    """Draw the panel of a page with vertical lines: each reading a column below its number, in reading
    order.
    """
    from PIL import Image, ImageDraw

    height = page[1]
    size = max(9.0, min(max(page) / 62, (height - 2 * margin) / 12))
    step = size * 1.9
    panel = Image.new("RGB", (max(page[0], round(step * len(lines)) + 2 * margin), height), PANEL)
    pen = ImageDraw.Draw(panel)
    number = PictureFont(size * 0.7)
    for index, line in enumerate(lines):
        x = margin + (index + 0.5) * step
        if line.downward != "ttb-lr":
            x = panel.width - x
        label = str(line.order)
        if line.corrected:
            pen.rectangle((x - step / 2, margin, x + step / 2 - 1, height - margin), fill=(255, 238, 214))
        number.write(panel, (x - number.width(label) / 2, margin + size), label, _colour(line))
        text = " ".join((line.text or "").split())[:400]
        words, colour = (text, INK) if text else ("not read" if line.text is None else "empty", FAINT)
        top = margin + 1.5 * size
        font, words = _fit_text(words, size, height - margin - top, downward=True)
        font.write_down(panel, (x, top), words, colour)
    return panel


def _draw_reading(
    panel: Image.Image,
    pen: ImageDraw.ImageDraw,
    line: DrawnLine,
    at: tuple[float, float],
    room: tuple[float, float],
    size: float,
) -> None:
    left, top = at
    base = top + room[1] * 0.68
    number = PictureFont(size * 0.8)
    gutter = size * 2.4
    label = str(line.order)
    if line.corrected:
        bottom = max(top + 1, top + room[1] - 1)
        pen.rectangle((left, top + 1, left + room[0], bottom), fill=(255, 238, 214))
        pen.rectangle((left, top + 1, left + max(2, size / 6), bottom), fill=CORRECTED)
    number.write(panel, (left + gutter - size * 0.5 - number.width(label), base), label, _colour(line))
    start, space = left + gutter, room[0] - gutter
    if line.corrected:
        mark = PictureFont(size * 0.62)
        space -= mark.width("corrected") + size * 0.6
        mark.write(
            panel, (left + room[0] - mark.width("corrected") - size * 0.3, base), "corrected", CORRECTED
        )
    if line.text is None:
        PictureFont(size * 0.8).write(panel, (start, base), "not read", FAINT)
    elif line.text.strip():
        font, text = _fit_text(line.text, size, space)
        font.write(panel, (start, base), text, INK)
    else:
        PictureFont(size * 0.8).write(panel, (start, base), "empty", FAINT)


def _fit_text(text: str, size: float, space: float, *, downward: bool = False) -> tuple[PictureFont, str]:
    """Fit the text into ``space``: reduced to three quarters of its size at most, then cut with an
    ellipsis.
    """

    def length(text: str) -> float:
        return font.height(text) if downward else font.width(text)

    text = " ".join(text.split())[:400]
    font = PictureFont(size)
    width = length(text)
    if width > space:
        font = PictureFont(max(size * 0.75, size * space / width))
    if length(text) <= space:
        return font, text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if length(text[:middle] + "...") <= space:
            low = middle
        else:
            high = middle - 1
    return font, text[:low].rstrip() + "..."


def _put_beside(page: Image.Image, panel: Image.Image) -> Image.Image:
    from PIL import Image

    both = Image.new("RGB", (page.width + panel.width, max(page.height, panel.height)), PANEL)
    both.paste(page, (0, 0))
    both.paste(panel, (page.width, 0))
    return both


def _colour(line: DrawnLine) -> Colour:
    return CORRECTED if line.corrected else LINES[line.order % len(LINES)]


def _shape(line: DrawnLine, size: tuple[int, int]) -> list[tuple[float, float]]:
    """Return the polygon in pixels, or the rectangle's corners if there is none."""
    if line.polygon and len(line.polygon) >= 3:
        return _pixels(line.polygon, size)
    return _pixels(corners_of(line.rect), size)


def _start(line: DrawnLine, size: tuple[int, int]) -> tuple[float, float]:
    """Return where the line begins: its baseline's first point, or the foot of its box."""
    if line.baseline:
        return _pixels(line.baseline[:1], size)[0]
    x, y, _, h = line.rect
    return _pixels(((x, y + h),), size)[0]


def _pixels(points: Fractions, size: tuple[int, int]) -> list[tuple[float, float]]:
    """Convert fractions to pixels, clipped to the image so that a shape outside it costs no memory or
    time.
    """
    width, height = size
    return [
        (min(max(point[0], 0.0), 1.0) * (width - 1), min(max(point[1], 0.0), 1.0) * (height - 1))
        for point in points
    ]
