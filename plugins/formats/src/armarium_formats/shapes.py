"""Boxes as most formats state them, left, top, right, bottom, and as outlines; the largest number that a page may have."""

from __future__ import annotations

from collections.abc import Iterable

from armarium_formats.page_model import Point

LARGEST = 1_000_000_000
"""No number of a page is larger; what is, is taken for none."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


def corners(box: Box) -> list[Point]:
    """A box as an outline, clockwise from its top left corner."""
    left, top, right, bottom = box
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def surround(boxes: Iterable[Box]) -> Box:
    """The box around boxes."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
