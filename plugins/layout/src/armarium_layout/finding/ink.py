"""A page as arrays: its grey levels, its ink, and the boxes of its writing.

Everything here is in pixels of the (reduced) picture, origin top left. Arrays are rows by columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import cv2
import numpy

from armarium_images.api import ink_of, plain

if TYPE_CHECKING:
    from PIL import Image

Pixels = Any
"""An array of uint8 or bool; OpenCV's types say no more than that it is an array."""

LONGEST = 2000
"""The longest side, in pixels, at which a page is processed: a letter on a dense page is still ten pixels tall."""

SPECK = 3
"""Pieces smaller than this in both directions are dirt."""
LARGEST = 0.2
"""Pieces taller than this share of the page are not letters but a picture, a rule or the table under the page."""


class Box(NamedTuple):
    """A rectangle: left, top, right, bottom (right and bottom are exclusive)."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def union(self, other: Box) -> Box:
        """Return the smallest box that contains both."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def shared_area(self, other: Box) -> float:
        """Return the area that both cover."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)


class Sheet(NamedTuple):
    """A page to be processed. scale: pixels of these arrays per pixel of the picture."""

    grey: Pixels
    ink: Pixels
    scale: float

    @property
    def width(self) -> int:
        return int(self.grey.shape[1])

    @property
    def height(self) -> int:
        return int(self.grey.shape[0])


def sheet_of(image: Image.Image, longest: int = LONGEST) -> Sheet:
    """Return an upright picture as grey levels and ink, reduced so that its longest side is at most
    *longest*.
    """
    grey = numpy.asarray(plain(image).convert("L"))
    scale = min(1.0, longest / max(grey.shape))
    if scale < 1:
        size = (max(1, round(grey.shape[1] * scale)), max(1, round(grey.shape[0] * scale)))
        grey = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
    return Sheet(grey, (ink_of(grey) == 0) & _paper(grey), scale)


def _paper(grey: Pixels) -> Pixels:
    """Return where the page is: everywhere, or the bright part if the picture shows what is under the page."""
    everywhere = numpy.ones(grey.shape, bool)
    if min(grey.shape) < 128:
        return everywhere
    small = cv2.resize(grey, None, fx=0.125, fy=0.125, interpolation=cv2.INTER_AREA)
    threshold, bright = cv2.threshold(small, 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    edge = numpy.concatenate([bright[0], bright[-1], bright[:, 0], bright[:, -1]])
    if edge.mean() > 0.8 or threshold > 160:
        return everywhere
    # Writing makes holes in the paper: these are closed, and bright things outside it (a ruler) are excluded.
    solid = cv2.morphologyEx(bright, cv2.MORPH_CLOSE, numpy.ones((15, 15), numpy.uint8))
    solid = cv2.morphologyEx(solid, cv2.MORPH_OPEN, numpy.ones((5, 5), numpy.uint8))
    outlines, _ = cv2.findContours(solid, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    page = max(outlines, key=cv2.contourArea, default=None)
    if page is None or cv2.contourArea(page) < 0.3 * small.size:
        return everywhere
    mask = numpy.zeros(small.shape, numpy.uint8)
    cv2.drawContours(mask, [cv2.convexHull(page)], -1, 1, -1)
    inside = cv2.erode(mask, numpy.ones((3, 3), numpy.uint8), borderValue=1)
    return cv2.resize(inside, (grey.shape[1], grey.shape[0]), interpolation=cv2.INTER_NEAREST) > 0


def pieces_of(ink: Pixels) -> tuple[list[Box], Pixels]:
    """Return the boxes of connected ink that may be letters or parts of letters, and the labels (0: none of these)."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(ink.astype(numpy.uint8), connectivity=8)
    height, width = ink.shape
    tallest, widest = LARGEST * height, 0.5 * width
    keep = numpy.zeros(count, numpy.int32)
    boxes: list[Box] = []
    for number in range(1, count):
        x, y, w, h, _ = (int(value) for value in stats[number])
        if max(w, h) < SPECK or h > tallest or w > widest or max(w, h) > 40 * min(w, h):
            continue
        at_edge = x == 0 or y == 0 or x + w == width or y + h == height
        if at_edge and max(w / width, h / height) > 0.05:
            continue
        boxes.append(Box(x, y, x + w, y + h))
        keep[number] = len(boxes)
    return boxes, keep[labels]


def letter_height(boxes: list[Box]) -> float:
    """Return how tall the letters are: the median of the pieces, with wider ones weighing more; 0 if there are none."""
    tall = [box for box in boxes if box.height > SPECK]
    if not tall:
        return 0.0
    heights = numpy.array([box.height for box in tall])
    weights = numpy.array([min(box.width, 4 * box.height) for box in tall])
    order = numpy.argsort(heights)
    total = numpy.cumsum(weights[order])
    return float(heights[order][numpy.searchsorted(total, total[-1] / 2)])


def rows_of(ink: Pixels, *, reach: float = 2.0) -> list[Box]:
    """Return boxes of writing in a row: letters closer to each other than *reach* letter heights.

    A line of text gives one box or, if it is broken by wide spaces, several. Letters far larger than the
    others (a title) form rows of their own. Ordered from the top.
    """
    boxes, labels = pieces_of(ink)
    height = letter_height(boxes)
    if not height:
        return []
    rows = _rows(boxes, labels, height, reach)
    large = [
        box
        for box in boxes
        if 3 * height < box.height < 15 * height
        and box.width < 3 * box.height < 9 * box.width
        and not any(box.shared_area(row) for row in rows)
    ]
    if large:
        taller = letter_height(large)
        alone = numpy.zeros(len(boxes) + 1, bool)
        for box in large:
            alone[boxes.index(box) + 1] = True
        rows += _rows(boxes, numpy.where(alone[labels], labels, 0), taller, reach)
    return sorted(_merge_crumbs(rows), key=lambda box: (box.top, box.left))


def _rows(boxes: list[Box], labels: Pixels, height: float, reach: float) -> list[Box]:
    # Only the bodies of letters join a row: the long strokes of handwriting would join several rows.
    letters = numpy.zeros(len(boxes) + 1, bool)
    letters[1:] = [0.3 * height <= box.height <= 3 * height for box in boxes]
    body = letters[labels].astype(numpy.uint8)
    joined = cv2.morphologyEx(
        body, cv2.MORPH_CLOSE, numpy.ones((1, max(3, round(reach * height))), numpy.uint8)
    )
    # A row is solid for part of a letter's height; two rows that touch only by a stroke are separated.
    upright = numpy.ones((max(2, round(0.3 * height)), 1), numpy.uint8)
    level = numpy.ones((1, max(2, round(0.6 * height))), numpy.uint8)
    solid = cv2.morphologyEx(cv2.morphologyEx(joined, cv2.MORPH_OPEN, upright), cv2.MORPH_OPEN, level)
    _, _, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    return [
        Box(x, y, x + w, y + h)
        for x, y, w, h, _ in stats[1:].tolist()
        if w >= 0.5 * height and 0.3 * height <= h <= 4 * height
    ]


def _merge_crumbs(rows: list[Box]) -> list[Box]:
    """Return rows without the small ones in or on a larger one; those are merged into it."""
    whole: list[Box] = []
    for row in sorted(rows, key=lambda box: -box.width * box.height):
        for number, larger in enumerate(whole):
            across = min(row.right, larger.right) - max(row.left, larger.left)
            down = min(row.bottom, larger.bottom) - max(row.top, larger.top)
            if (
                across >= 0.5 * row.width
                and down >= -0.3 * larger.height
                and row.height < 0.6 * larger.height
            ):
                whole[number] = larger.union(row)
                break
        else:
            whole.append(row)
    return whole
