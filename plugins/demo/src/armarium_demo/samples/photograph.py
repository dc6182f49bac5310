"""Turns a sheet's ink into a photograph of paper: tint, fibres, stains, tilt, uneven light, blur and grain.

All randomness comes from the generator passed in, so the same seed gives the same picture.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

from armarium_demo.samples.sheet import Hand

PHOTOGRAPH = (1600, 2300)
Point = tuple[float, float]
Bend = tuple[float, float, float, float, float, float, float, float]


def place_sheet(sheet: tuple[int, int], picture: tuple[int, int], rng: random.Random) -> tuple[Point, ...]:
    """Return where the sheet's four corners (clockwise from top left) lie in the picture: tilted, slightly keystoned."""
    from math import cos, radians, sin

    angle = radians(rng.choice((-1, 1)) * rng.uniform(0.25, 1.1))
    middle_x, middle_y = picture[0] / 2, picture[1] / 2
    half_x, half_y = sheet[0] / 2, sheet[1] / 2
    corners = []
    for x, y in ((-half_x, -half_y), (half_x, -half_y), (half_x, half_y), (-half_x, half_y)):
        stray_x, stray_y = rng.uniform(-0.004, 0.004) * sheet[0], rng.uniform(-0.004, 0.004) * sheet[0]
        corners.append(
            (
                middle_x + x * cos(angle) - y * sin(angle) + stray_x,
                middle_y + x * sin(angle) + y * cos(angle) + stray_y,
            )
        )
    return tuple(corners)


def bend_between(origin: Sequence[Point], target: Sequence[Point]) -> Bend:
    """Return the eight numbers of the projective map that takes four points to four others."""
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(origin, target, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y, u])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y, v])
    for column in range(8):
        pivot = max(range(column, 8), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [value / head for value in rows[column]]
        for row in range(8):
            if row != column and rows[row][column]:
                factor = rows[row][column]
                rows[row] = [
                    value - factor * pivot for value, pivot in zip(rows[row], rows[column], strict=True)
                ]
    a, b, c, d, e, f, g, h = (row[8] for row in rows)
    return a, b, c, d, e, f, g, h


def bend_points(points: Sequence[Point], bend: Bend) -> tuple[Point, ...]:
    """Return the mapped points, rounded to a tenth of a pixel."""
    a, b, c, d, e, f, g, h = bend
    moved = []
    for x, y in points:
        depth = g * x + h * y + 1
        moved.append((round((a * x + b * y + c) / depth, 1), round((d * x + e * y + f) / depth, 1)))
    return tuple(moved)


def photograph(
    ink: Image.Image,
    behind: Image.Image | None,
    hand: Hand,
    corners: Sequence[Point],
    picture: tuple[int, int],
    rng: random.Random,
    wear: float = 0.0,
) -> Image.Image:
    """Return an RGB photograph of the sheet on dark cloth.

    ``behind`` is the ink that shows through from the back; ``wear`` fades the ink and softens the focus.
    """
    from PIL import Image, ImageChops, ImageFilter, ImageOps

    paper = _paper(ink.size, hand, rng)
    if behind is not None:
        ghost = ImageOps.mirror(behind).filter(ImageFilter.GaussianBlur(ink.width / 650))
        paper.paste(_darker(hand.paper, 0.72), mask=ghost.point([value * 62 // 100 for value in range(256)]))
    paper.paste(hand.ink, mask=ImageChops.multiply(ink, _flow(ink.size, wear, rng)))

    cloth = ImageOps.colorize(_clouds(picture, 180, 18, 58, rng), "black", (176, 164, 150))
    square = (
        (0.0, 0.0),
        (float(ink.width), 0.0),
        (float(ink.width), float(ink.height)),
        (0.0, float(ink.height)),
    )
    back = bend_between(corners, square)
    perspective, bicubic = Image.Transform.PERSPECTIVE, Image.Resampling.BICUBIC
    lying = paper.transform(picture, perspective, back, bicubic)
    edge = Image.new("L", ink.size, 255).transform(picture, perspective, back, bicubic)
    shadow = ImageChops.offset(edge, picture[0] // 200, picture[0] // 160)
    shadow = shadow.filter(ImageFilter.GaussianBlur(picture[0] / 160)).point([v * 3 // 5 for v in range(256)])
    cloth.paste((8, 7, 6), mask=shadow)
    cloth.paste(lying, mask=edge)

    light = _clouds(picture, 3, 205, 255, rng)
    lit = ImageChops.multiply(cloth, Image.merge("RGB", (light, light, light)))
    lit = lit.filter(ImageFilter.GaussianBlur(picture[0] / 1600 * (rng.uniform(0.45, 0.8) + 1.1 * wear)))
    grain = _grain(picture, rng)
    return ImageChops.add(lit, Image.merge("RGB", (grain, grain, grain)), 1, -128)


def _flow(size: tuple[int, int], wear: float, rng: random.Random) -> Image.Image:
    """Return how much of the ink is left where: nearly all on a fresh page, little in patches of a worn one."""
    from PIL import ImageChops

    fine = _clouds(size, 60, 200 - round(60 * wear), 255, rng)
    return ImageChops.multiply(fine, _clouds(size, 7, 235 - round(190 * wear), 255, rng))


def _paper(size: tuple[int, int], hand: Hand, rng: random.Random) -> Image.Image:
    from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps

    tone = ImageChops.multiply(_clouds(size, 5, 232, 255, rng), _clouds(size, 24, 242, 255, rng))
    tone = ImageChops.multiply(tone, _clouds(size, 210, 241, 255, rng))
    fibres = Image.new("L", size, 255)
    pen = ImageDraw.Draw(fibres)
    unit = size[0] / 1500
    for _ in range(420):
        x, y = rng.uniform(0, size[0]), rng.uniform(0, size[1])
        run, fall = rng.uniform(-14, 14) * unit, rng.uniform(-9, 9) * unit
        pen.line((x, y, x + run, y + fall), rng.randint(225, 246), 1)
    tone = ImageChops.multiply(tone, fibres.filter(ImageFilter.GaussianBlur(0.6)))
    stains = Image.new("L", size, 255)
    pen = ImageDraw.Draw(stains)
    for _ in range(rng.randint(3, 7)):
        x, y, reach = rng.uniform(0, size[0]), rng.uniform(0, size[1]), rng.uniform(15, 120) * unit
        pen.ellipse((x - reach, y - reach * 0.7, x + reach, y + reach * 0.7), fill=rng.randint(218, 242))
    tone = ImageChops.multiply(tone, stains.filter(ImageFilter.GaussianBlur(14 * unit)))
    return ImageOps.colorize(tone, "black", hand.paper)


def _clouds(size: tuple[int, int], cells: int, low: int, high: int, rng: random.Random) -> Image.Image:
    """Return smooth random light between two grey values, ``cells`` of them across the width."""
    from PIL import Image

    down = max(2, round(cells * size[1] / size[0]))
    small = Image.frombytes("L", (cells, down), rng.randbytes(cells * down))
    span = [low + (high - low) * value // 255 for value in range(256)]
    return small.resize(size, Image.Resampling.BICUBIC).point(span)


def _grain(size: tuple[int, int], rng: random.Random) -> Image.Image:
    """Return sensor noise around 128: the mean of two uniform noises, reduced to a few grey values."""
    from PIL import Image

    flat = [Image.frombytes("L", size, rng.randbytes(size[0] * size[1])) for _ in range(2)]
    return Image.blend(flat[0], flat[1], 0.5).point([128 + (value - 128) * 9 // 128 for value in range(256)])


def _darker(colour: tuple[int, int, int], factor: float) -> tuple[int, int, int]:
    red, green, blue = (round(channel * factor) for channel in colour)
    return red, green, blue
