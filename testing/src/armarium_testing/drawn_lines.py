"""Pages with lines whose words were drawn at known places: what alignment is measured against."""

from __future__ import annotations

import math
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SIZE = (1600, 500)
Box = tuple[float, float, float, float]


def draw_line(
    words: list[str], *, left: int = 100, top: int = 200, high: int = 52
) -> tuple[Image.Image, list[Box]]:
    """A page with one line; the box of the ink of each word, as it was drawn."""
    page = Image.new("L", SIZE, 240)
    font = ImageFont.load_default(size=high)
    boxes: list[Box] = []
    for word in words:
        ink = Image.new("L", SIZE, 240)
        ImageDraw.Draw(ink).text((left, top), word, font=font, fill=20)
        box = ink.point(lambda value: 255 if value < 120 else 0).getbbox()
        assert box is not None
        boxes.append(box)
        page.paste(ink, (0, 0), ink.point(lambda value: 255 - value))
        left = int(box[2]) + high // 2
    return page, boxes


def turn_page(
    page: Image.Image, degrees: float, points: list[tuple[float, float]]
) -> tuple[Image.Image, list[tuple[float, float]]]:
    """The page turn_page about its middle (clockwise), and where *points* of it lie then."""
    x0, y0 = page.width / 2, page.height / 2
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    moved = [(x0 + cos * (x - x0) - sin * (y - y0), y0 + sin * (x - x0) + cos * (y - y0)) for x, y in points]
    return page.rotate(-degrees, Image.Resampling.BICUBIC, fillcolor=240), moved


def corners(box: Box) -> list[tuple[float, float]]:
    left, top, right, bottom = box
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def around(points: list[tuple[float, float]]) -> Box:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def overlap(one: Box, other: Box) -> float:
    """Intersection over union."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    if wide <= 0 or high <= 0:
        return 0.0
    both = wide * high
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return both / (sum(areas) - both)


def save(page: Image.Image, folder: Path) -> Path:
    path = folder / "page.png"
    page.save(path)
    return path
