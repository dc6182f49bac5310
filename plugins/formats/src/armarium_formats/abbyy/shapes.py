"""Boxes of FineReader elements (l, t, r, b), and the outline of a block that is made of several rectangles."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from armarium_formats.page_model import Point
from armarium_formats.point_limits import Stated, line_of
from armarium_formats.shapes import LARGEST, Box, corners, surround

if TYPE_CHECKING:
    from lxml import etree


def number_of(value: str | None) -> float | None:
    """Return a number, whole if it is; None for anything else, infinities, and more than a thousand
    million.
    """
    found: float
    try:
        found = int(value or "")
    except ValueError:
        try:
            found = float(value or "")
        except ValueError:
            return None
    return found if -LARGEST <= found <= LARGEST else None


def box_of(element: etree._Element) -> Box | None:
    """Return the l, t, r, b of an element in either order; None if one is not a number."""
    left, top, right, bottom = (number_of(element.get(key)) for key in ("l", "t", "r", "b"))
    if left is None or top is None or right is None or bottom is None:
        return None
    return min(left, right), min(top, bottom), max(left, right), max(top, bottom)


def shapes_of(root: etree._Element) -> Iterator[Stated]:
    """Yield the corners of the rectangles that make up blocks."""
    for region in root.iter("{*}region"):
        yield 4 * sum(1 for _ in region.iter("{*}rect")), line_of(region)


def outline_of(boxes: list[Box]) -> list[Point]:
    """Return one outline around stacked rectangles, down the right side and up the left; else their box."""
    stack = sorted(boxes, key=lambda box: box[1])
    joined = all(
        abs(above[3] - below[1]) <= 1 and above[0] < below[2] and below[0] < above[2]
        for above, below in pairwise(stack)
    )
    if len(stack) < 2 or not joined:
        return corners(surround(boxes))
    right: list[Point] = []
    left: list[Point] = []
    for l, t, r, b in stack:  # noqa: E741
        right += [(r, t), (r, b)]
        left += [(l, t), (l, b)]
    return [*right, *reversed(left)]
