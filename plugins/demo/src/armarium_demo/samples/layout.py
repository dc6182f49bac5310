"""Lays a page's text out on its sheet: which words are on which line, where, and with how much ink.

All numbers are pixels of the flat sheet; the photograph's bend and tilt are applied later (``photograph.py``).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from armarium.api import PictureFont
from armarium_demo.samples.sheet import SHEET, Block, Frame, PageText

if TYPE_CHECKING:
    from PIL import Image

Point = tuple[float, float]

ASCENT, DESCENT = 0.80, 0.27
"""How far a line reaches above and below its baseline, as parts of its size."""
CELL = 0.35
"""Mesh size of the distortion of an unsteady hand, as a fraction of a line's size."""


@dataclass(frozen=True, slots=True)
class LaidWord:
    """One word: pen start on the baseline, width, and how much ink the pen carried (0 to 255)."""

    text: str
    x: float
    y: float
    width: float
    ink: int


@dataclass(frozen=True, slots=True)
class LaidLine:
    """One line of words; ``baseline`` and ``polygon`` follow its unsteady course."""

    text: str
    words: tuple[LaidWord, ...]
    size: float
    baseline: tuple[Point, ...]
    polygon: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class LaidRegion:
    """One block of text with its lines in reading order."""

    block: Block
    lines: tuple[LaidLine, ...]


def lay_out(page: PageText, scale: float, rng: random.Random, font_path: Path | None) -> list[LaidRegion]:
    """Return the page's regions in reading order. ValueError when a text runs off the sheet (a fault of the texts)."""
    regions: list[LaidRegion] = []
    for frame in page.frames:
        top = frame.y * scale
        for block in frame.blocks:
            font = PictureFont(block.size * scale, page.hand.style, font_path)
            region, top = _lay_block(page, frame, block, font, top, scale, rng)
            regions.append(region)
        if top - frame.blocks[-1].gap * scale > (SHEET[1] - 40) * scale:
            raise ValueError(
                f"The text of sample page {page.name} runs off the sheet; shorten it or move its frame."
            )
    return regions


def _lay_block(
    page: PageText,
    frame: Frame,
    block: Block,
    font: PictureFont,
    top: float,
    scale: float,
    rng: random.Random,
) -> tuple[LaidRegion, float]:
    lines = []
    leading = font.size * page.hand.leading
    for words, indent in _wrap(block, font, frame.width * scale, block.indent * scale):
        width = sum(font.width(word) for word in words) + font.width(" ") * (len(words) - 1)
        spare = frame.width * scale - width
        left = frame.x * scale + {"left": indent, "right": spare, "centre": spare / 2}[block.align]
        lines.append(_lay_line(page, words, font, left, top + font.size * ASCENT, rng))
        top += leading
    return LaidRegion(block, tuple(lines)), top + block.gap * scale


def _wrap(block: Block, font: PictureFont, width: float, indent: float) -> Iterator[tuple[list[str], float]]:
    for part in block.text.split("\n"):
        line: list[str] = []
        right_edge = start = indent
        for word in part.split():
            needed = font.width(word)
            if line and right_edge + needed > width:
                yield line, start
                line, right_edge, start = [], 0.0, 0.0
            line.append(word)
            right_edge += needed + font.width(" ")
        yield line, start
        indent = 0.0


def _lay_line(
    page: PageText, words: list[str], font: PictureFont, left: float, y: float, rng: random.Random
) -> LaidLine:
    size, unsteady = font.size, page.hand.unsteady
    rise = rng.uniform(-0.004, 0.004) * unsteady
    laid: list[LaidWord] = []
    x, ink = left, rng.uniform(0.8, 1.0)
    for word in words:
        ink -= 0.03 * unsteady
        if ink < 0.66:  # the pen was dipped again
            ink = 1.0
        shake = rng.uniform(-0.025, 0.025) * size * unsteady
        width = font.width(word)
        laid.append(LaidWord(word, x, y + (x - left) * rise + shake, width, round(255 * ink)))
        x += width + font.width(" ") * (1 + rng.uniform(-0.12, 0.2) * unsteady)
    return LaidLine(
        " ".join(words), tuple(laid), size, _baseline(laid), _polygon(laid, font.size, page.hand.slope)
    )


def _baseline(words: list[LaidWord]) -> tuple[Point, ...]:
    points: list[Point] = [(word.x, word.y) for word in words]
    last = words[-1]
    return (*points, (last.x + last.width, last.y))


def _polygon(words: list[LaidWord], size: float, slope: float) -> tuple[Point, ...]:
    up, down, pad = size * ASCENT, size * DESCENT, size * 0.12
    lean_up, lean_down = slope * up, slope * down
    top: list[Point] = []
    bottom: list[Point] = []
    for word in words:
        for x in (word.x, word.x + word.width):
            top.append((x + lean_up, word.y - up - pad))
            bottom.append((x - lean_down, word.y + down))
    top[0], bottom[0] = (top[0][0] - lean_up - pad, top[0][1]), (bottom[0][0] - pad, bottom[0][1])
    top[-1], bottom[-1] = (top[-1][0] + pad, top[-1][1]), (bottom[-1][0] + lean_down + pad, bottom[-1][1])
    return (*top, *reversed(bottom))


def draw_ink(
    page: PageText, regions: list[LaidRegion], scale: float, rng: random.Random, font_path: Path | None
) -> Image.Image:
    """Return the sheet's ink as a mask (white is ink): rules first, then every word with its amount of ink."""
    from PIL import Image, ImageChops, ImageDraw

    sheet = Image.new("L", (round(SHEET[0] * scale), round(SHEET[1] * scale)))
    pen = ImageDraw.Draw(sheet)
    for x0, y0, x1, y1 in page.rules:
        pen.line(
            (x0 * scale, y0 * scale, x1 * scale, y1 * scale), rng.randint(120, 190), max(1, round(3 * scale))
        )
    for region in regions:
        for line in region.lines:
            font = PictureFont(line.size, page.hand.style, font_path)
            for word in line.words:
                mask, start, base = font.mask(word.text)
                lean = (1, page.hand.slope, -page.hand.slope * base, 0, 1, 0)
                mask = mask.transform(mask.size, Image.Transform.AFFINE, lean, Image.Resampling.BICUBIC)
                if page.hand.waver:
                    mask = _waver(mask, line.size, page.hand.waver, rng)
                box = (round(word.x) - start, round(word.y) - base)
                faded = mask.point([value * word.ink // 255 for value in range(256)])
                under = sheet.crop((*box, box[0] + mask.width, box[1] + mask.height))
                sheet.paste(ImageChops.lighter(under, faded), box)
    return sheet


def _waver(mask: Image.Image, size: float, waver: float, rng: random.Random) -> Image.Image:
    """Return the ink as an unsteady hand draws it: the corners of a grid over it are displaced, and the ink with them."""
    from PIL import Image

    cell = max(4, round(size * CELL))
    across, down = -(-mask.width // cell), -(-mask.height // cell)
    net = [
        [
            (x * cell + rng.gauss(0, waver * size), y * cell + rng.gauss(0, waver * size))
            for x in range(across + 1)
        ]
        for y in range(down + 1)
    ]
    pieces = []
    for y in range(down):
        for x in range(across):
            box = (x * cell, y * cell, min(mask.width, (x + 1) * cell), min(mask.height, (y + 1) * cell))
            corners = (net[y][x], net[y + 1][x], net[y + 1][x + 1], net[y][x + 1])
            pieces.append((box, tuple(value for corner in corners for value in corner)))
    return mask.transform(mask.size, Image.Transform.MESH, pieces, Image.Resampling.BICUBIC)
