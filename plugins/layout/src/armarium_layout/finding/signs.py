"""Places on a page that look like an example: the same sign drawn again, slightly larger or smaller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy

from armarium_layout.finding.ink import Box, Pixels

TALL = 32
"""The shorter side, in pixels, at which examples are compared: a word reduced by its length looks like any other."""
LONGEST = 128
"""The greatest longer side."""
SIZES = (0.8, 0.9, 1.0, 1.12, 1.25)
"""How much larger or smaller a sign may be than its example."""
LIKE = 0.64
"""The similarity (1: identical) from which a place is a sign."""
INKED = 0.5
"""A place has at least this share of the example's ink, and at most twice as much."""


class Sign(NamedTuple):
    """A place that looks like an example. example: its index in the list given; likeness: up to 1."""

    box: Box
    example: int
    likeness: float


def signs_like(examples: Sequence[Pixels], ink: Pixels, like: float = LIKE) -> list[Sign]:
    """Return where *ink* (True: ink) contains what an example shows (its ink, in pixels of the same picture).

    Each place once, for the example it resembles most; in order of similarity.
    """
    signs: list[Sign] = []
    for number, example in enumerate(examples):
        trimmed = _trim_paper(example)
        if trimmed is not None:
            signs += _places(trimmed, number, ink, like)
    separate: list[Sign] = []
    for sign in sorted(signs, key=lambda sign: -sign.likeness):
        area = sign.box.width * sign.box.height
        if all(
            sign.box.shared_area(other_sign.box)
            < 0.3 * min(area, other_sign.box.width * other_sign.box.height)
            for other_sign in separate
        ):
            separate.append(sign)
    return separate


def _trim_paper(ink: Pixels) -> Pixels | None:
    """Return an example without the paper around it; None if it has hardly any ink."""
    rows, columns = numpy.flatnonzero(ink.any(axis=1)), numpy.flatnonzero(ink.any(axis=0))
    if len(rows) < 3 or len(columns) < 3:
        return None
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _places(example: Pixels, number: int, ink: Pixels, like: float) -> list[Sign]:
    places = []
    scale = min(1.0, TALL / min(example.shape), LONGEST / max(example.shape))
    page = _soften(ink, scale)
    for size in SIZES:
        pattern = _soften(example, scale * size)
        # Paper around the sign counts too: a stroke of a larger letter is not the sign.
        pattern = numpy.pad(pattern, 3)
        if pattern.shape[0] >= page.shape[0] or pattern.shape[1] >= page.shape[1] or not pattern.std():
            continue
        likeness = cv2.matchTemplate(page, pattern, cv2.TM_CCOEFF_NORMED)
        peaks = (likeness >= like) & (likeness == cv2.dilate(likeness, numpy.ones((9, 9), numpy.uint8)))
        height, width = pattern.shape
        inked = pattern.sum()
        for y, x in numpy.argwhere(peaks).tolist():
            ink_there = float(page[y : y + height, x : x + width].sum())
            if INKED * inked <= ink_there <= 2 * inked:
                corner = (x + 3) / scale, (y + 3) / scale
                box = Box(*corner, corner[0] + (width - 6) / scale, corner[1] + (height - 6) / scale)
                places.append(Sign(box, number, float(likeness[y, x])))
    return places


def _soften(ink: Pixels, scale: float) -> Pixels:
    """Return ink at another scale and softened, so that strokes need not match pixel by pixel."""
    size = (max(1, round(ink.shape[1] * scale)), max(1, round(ink.shape[0] * scale)))
    shrunk = cv2.resize(ink.astype(numpy.float32), size, interpolation=cv2.INTER_AREA)
    return cv2.GaussianBlur(shrunk, (0, 0), 1.2)
