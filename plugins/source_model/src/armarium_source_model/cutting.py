"""Cuts the picture of one segment out of its page, masked, straightened, bounded in size; pure.

Nothing is read from or written to a project here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

MARGIN = 0.05
"""Of the longer side, on every side."""
LEAST_MARGIN = 4
"""Pixels of the page's own picture."""
WHITE = 255

XY = tuple[float, float]


def lean_of(baseline: Sequence[Sequence[float]], width: float, height: float) -> float:
    """Return the angle in radians of a baseline to its nearest axis; fractions of a *width* x *height*
    picture.

    Between -45 and 45 degrees: a vertical line is made plumb, not laid down, and one written from the right
    is not turned upside down.
    """
    dx = (baseline[-1][0] - baseline[0][0]) * width
    dy = (baseline[-1][1] - baseline[0][1]) * height
    angle = math.atan2(dy, dx)
    return angle - round(angle / (math.pi / 2)) * (math.pi / 2)


def cut_segment(
    image: Image.Image,
    rect: Sequence[float],
    polygon: Sequence[Sequence[float]] | None = None,
    *,
    lean: float = 0.0,
    mask: bool = False,
    size: int = 1024,
    scale: float = 1.0,
) -> Image.Image:
    """Cut out the area of a segment with a margin, white beyond the image, its longer side at most *size*.

    rect, polygon: fractions of *image*. lean: radians to turn back (from `lean_of`). mask: white outside the
    polygon (outside the rect if there is none). scale: how much *image* was shrunk already, so that the
    margin keeps its size. The picture is never enlarged.
    """
    from PIL import Image as Images
    from PIL import ImageDraw

    page = plain(image)
    width, height = page.size
    x, y, w, h = rect
    outline = polygon or [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
    points = [(point[0] * width, point[1] * height) for point in outline]
    middle = ((x + w / 2) * width, (y + h / 2) * height)
    turned = [_turn(point, middle, -lean) for point in points]
    left, top = min(point[0] for point in turned), min(point[1] for point in turned)
    right, bottom = max(point[0] for point in turned), max(point[1] for point in turned)
    margin = max(LEAST_MARGIN * scale, MARGIN * max(right - left, bottom - top))
    x0, y0 = math.floor(left - margin), math.floor(top - margin)
    x1, y1 = math.ceil(right + margin), math.ceil(bottom + margin)
    area = (max(1, x1 - x0), max(1, y1 - y0))
    white = WHITE if page.mode == "L" else (WHITE, WHITE, WHITE)
    if lean:
        cos, sin = math.cos(lean), math.sin(lean)
        cx, cy = middle
        # Output pixel (u, v) shows the page's point that rotates to (u + x0, v + y0).
        matrix = (
            cos, -sin, cx + cos * (x0 - cx) - sin * (y0 - cy),
            sin, cos, cy + sin * (x0 - cx) + cos * (y0 - cy),
        )  # fmt: skip
        cut = page.transform(
            area, Images.Transform.AFFINE, matrix, Images.Resampling.BICUBIC, fillcolor=white
        )
    else:
        cut = Images.new(page.mode, area, white)
        inside = (max(0, x0), max(0, y0), min(width, x1), min(height, y1))
        if inside[2] > inside[0] and inside[3] > inside[1]:
            cut.paste(page.crop(inside), (inside[0] - x0, inside[1] - y0))
    if mask:
        stencil = Images.new("L", area, 0)
        ImageDraw.Draw(stencil).polygon([(across - x0, down - y0) for across, down in turned], fill=255)
        cut = Images.composite(cut, Images.new(cut.mode, area, white), stencil)
    factor = size / max(cut.size)
    if factor < 1:
        smaller = (max(1, round(cut.width * factor)), max(1, round(cut.height * factor)))
        cut = cut.resize(smaller, Images.Resampling.LANCZOS, reducing_gap=3.0)
    return cut


def plain(image: Image.Image) -> Image.Image:
    """Convert *image* to 8-bit grey or RGB; 16-bit greys are scaled, transparency is laid on white."""
    from PIL import Image as Images

    if image.mode in ("L", "RGB"):
        return image
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 256) + 0).convert("L")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        over = image.convert("RGBA")
        return Images.alpha_composite(Images.new("RGBA", over.size, "white"), over).convert("RGB")
    return image.convert("L" if image.mode == "1" else "RGB")


def _turn(point: XY, about: XY, angle: float) -> XY:
    cos, sin = math.cos(angle), math.sin(angle)
    dx, dy = point[0] - about[0], point[1] - about[1]
    return about[0] + cos * dx - sin * dy, about[1] + sin * dx + cos * dy
