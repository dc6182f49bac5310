"""Rectangles and points in fractions of one frame, origin top left: their validation, and field types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

TOLERANCE = 1e-6
"""How far an edge may stand outside the frame before it is refused."""


def fault_of_rect(rect: Sequence[float]) -> str | None:
    """Return what is wrong with `[x, y, w, h]` as a predicate ("has no area …"); None if it is valid.

    Valid are four finite fractions, w and h above 0, inside the frame up to TOLERANCE.
    """
    if len(rect) != 4:
        return f"has {len(rect)} numbers; a rect is [x, y, w, h] in fractions of the image."
    x, y, w, h = rect
    try:
        finite = math.isfinite(x) and math.isfinite(y) and math.isfinite(w) and math.isfinite(h)
    except (TypeError, OverflowError):
        finite = False
    if not finite:
        return "contains something that is not a finite number; send four finite fractions."
    if w <= 0 or h <= 0:
        return f"has no area (width {w:g}, height {h:g}); both must be above 0."
    if x < -TOLERANCE or y < -TOLERANCE or x + w > 1 + TOLERANCE or y + h > 1 + TOLERANCE:
        return (
            f"[{x:g}, {y:g}, {w:g}, {h:g}] reaches outside the image; "
            "x, y, x + w and y + h are fractions between 0 and 1."
        )
    return None


def check_rect(rect: list[float]) -> list[float]:
    """Return `[x, y, w, h]`; ValueError saying what is wrong with it."""
    fault = fault_of_rect(rect)
    if fault is not None:
        raise ValueError(f"the rect {fault}")
    return rect


def check_point(point: list[float]) -> list[float]:
    """Return `[x, y]`; ValueError outside the frame."""
    if not all(math.isfinite(number) and -TOLERANCE <= number <= 1 + TOLERANCE for number in point):
        raise ValueError("a point is [x, y] in fractions between 0 and 1")
    return point


Rect = Annotated[list[float], Field(min_length=4, max_length=4), AfterValidator(check_rect)]
Point = Annotated[list[float], Field(min_length=2, max_length=2), AfterValidator(check_point)]


def union(rects: list[list[float]]) -> list[float]:
    """Return the smallest rect around *rects*, rounded to twelve decimals to remove floating-point noise."""
    left = min(rect[0] for rect in rects)
    top = min(rect[1] for rect in rects)
    right = max(rect[0] + rect[2] for rect in rects)
    bottom = max(rect[1] + rect[3] for rect in rects)
    return [round(number, 12) for number in (left, top, right - left, bottom - top)]
