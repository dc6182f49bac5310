"""Rectangles and outlines in fractions of one frame, origin top left, as request models take them (A 1)."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import AfterValidator, Field

TOLERANCE = 1e-6
"""How far an edge may stand outside the frame before it is refused."""


def check_rect(rect: list[float]) -> list[float]:
    """`[x, y, w, h]` itself; ValueError for what is not finite, has no area or reaches outside the frame."""
    if not all(math.isfinite(number) for number in rect):
        raise ValueError("a rect holds four finite fractions")
    x, y, w, h = rect
    if w <= 0 or h <= 0:
        raise ValueError(f"the rect has no area (width {w:g}, height {h:g})")
    if x < -TOLERANCE or y < -TOLERANCE or x + w > 1 + TOLERANCE or y + h > 1 + TOLERANCE:
        raise ValueError("the rect reaches outside the picture; x, y, x + w and y + h lie between 0 and 1")
    return rect


def check_point(point: list[float]) -> list[float]:
    """`[x, y]` itself; ValueError outside the frame."""
    if not all(math.isfinite(number) and -TOLERANCE <= number <= 1 + TOLERANCE for number in point):
        raise ValueError("a point is [x, y] in fractions between 0 and 1")
    return point


Rect = Annotated[list[float], Field(min_length=4, max_length=4), AfterValidator(check_rect)]
Point = Annotated[list[float], Field(min_length=2, max_length=2), AfterValidator(check_point)]


def union(rects: list[list[float]]) -> list[float]:
    """The smallest rect around *rects*."""
    left = min(rect[0] for rect in rects)
    top = min(rect[1] for rect in rects)
    right = max(rect[0] + rect[2] for rect in rects)
    bottom = max(rect[1] + rect[3] for rect in rects)
    return [left, top, right - left, bottom - top]
