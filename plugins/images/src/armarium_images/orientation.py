"""EXIF orientations as maps of points, and the affine map from a piece to its source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

UPRIGHT = 1

INVERSE = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 8, 7: 7, 8: 6}
"""The orientation that turns back what another turned."""


class Box(NamedTuple):
    """A rectangle in whole pixels of one frame, origin top left."""

    left: int
    top: int
    width: int
    height: int


def turn_point(
    orientation: int, x: float, y: float, width: float = 1, height: float = 1
) -> tuple[float, float]:
    """Return where the stored point (x, y) of a frame is once *orientation* (1 to 8) is applied."""
    if orientation == 2:
        return width - x, y
    if orientation == 3:
        return width - x, height - y
    if orientation == 4:
        return x, height - y
    if orientation == 5:
        return y, x
    if orientation == 6:
        return height - y, x
    if orientation == 7:
        return height - y, width - x
    if orientation == 8:
        return y, width - x
    return x, y


def turn_box(orientation: int, box: Box, width: int, height: int) -> Box:
    """Return *box* as it is once *orientation* is applied to its frame."""
    first = turn_point(orientation, box.left, box.top, width, height)
    second = turn_point(orientation, box.left + box.width, box.top + box.height, width, height)
    left, top = min(first[0], second[0]), min(first[1], second[1])
    return Box(int(left), int(top), int(max(first[0], second[0]) - left), int(max(first[1], second[1]) - top))


def affine_to_source(orientation: int, rect: Sequence[float]) -> list[float]:
    """Return the map from a piece's fractions to its source's: x = a·u + c·v + e, y = b·u + d·v + f.

    *rect* is the piece `[x, y, w, h]` in fractions of the upright source; *orientation* is what would turn
    the piece upright (1 if it is).
    """
    x, y, w, h = rect

    def place(u: float, v: float) -> tuple[float, float]:
        across, down = turn_point(orientation, u, v)
        return x + w * across, y + h * down

    (e, f), (right_x, right_y), (down_x, down_y) = place(0, 0), place(1, 0), place(0, 1)
    return [right_x - e, right_y - f, down_x - e, down_y - f, e, f]
