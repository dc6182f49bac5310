"""Whether a picture shows two pages side by side, and where to split it."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy

from armarium_layout.finding.ink import Pixels, Sheet, rows_of

LOOKED_AT = 1200
"""The longest side, in pixels, at which a fold is looked for."""
NARROWEST = 1.08
"""A picture whose width is less than this many times its height is one page."""
FROM, TO = 0.3, 0.7
"""The gutter is looked for between these shares of the width of the photographed sheets."""
FOLD = 0.12
"""Two columns are two pages only with at least this strong a sign of a fold."""
DEEP = 4
"""By how many grey levels the bottom of a fold's shadow must be darker than both of its edges."""
SURE = 0.5
"""The score from which a picture is a spread (see `gutter_of`)."""


class Gutter(NamedTuple):
    """Where two pages meet: x at the top and at the bottom, as shares of the width, and how certain that is
    (0 to 1).
    """

    top: float
    foot: float
    score: float

    @property
    def x(self) -> float:
        """Return where a vertical cut does least harm."""
        return (self.top + self.foot) / 2


def gutter_of(sheet: Sheet) -> Gutter | None:
    """Return the gutter of an open book; None if the picture shows one page.

    A fold is a line, a shadow or the edge of a sheet from top to bottom, in a corridor without writing, not
    far from the middle, with a page on either side.
    """
    if sheet.width < NARROWEST * sheet.height:
        return None
    left, right = _find_paper(sheet.grey)
    width = right - left
    begin, end = int(left + FROM * width), int(left + TO * width)
    if end - begin < 8:
        return None
    best = Gutter(0, 0, -1.0)
    # Letters count as lighter paper here: the straight edge of a printed column is not the edge of a sheet.
    paper = cv2.dilate(sheet.grey, numpy.ones((3, max(3, round(0.006 * sheet.width)) | 1), numpy.uint8))
    fold, step, white = _fold(sheet.grey), _step(paper), _mark_white(sheet)
    height = sheet.height
    # A camera rarely looks straight down, so the fold leans.
    for lean in numpy.linspace(-0.02, 0.02, 9) * sheet.width:
        rows = numpy.linspace(-0.5, 0.5, height)[:, None] * lean
        folded = numpy.maximum(
            _mean_along(fold, rows, begin, end), numpy.abs(_mean_along(step, rows, begin, end))
        )
        score = 0.6 * folded + 0.4 * _mean_along(white, rows, begin, end)
        away = numpy.abs(numpy.arange(begin, end) - (left + right) / 2) / width
        score = score - 0.9 * numpy.maximum(0, away - 0.04)
        at = int(score.argmax())
        if score[at] > best.score and folded[at] >= FOLD:
            x = begin + at
            top, foot = (x - lean / 2) / sheet.width, (x + lean / 2) / sheet.width
            best = Gutter(float(top), float(foot), float(score[at]))
    if best.score < SURE or not _both_sides(sheet, best, (left, right)):
        return None
    return _move_into_shadow(sheet, best)


def _move_into_shadow(sheet: Sheet, gutter: Gutter) -> Gutter:
    """Return the gutter moved to the bottom of its shadow, if it lies in one: the sides of a shadow are steps too."""
    lean, near = (gutter.foot - gutter.top) * sheet.width, max(3, round(0.018 * sheet.width))
    at = round(gutter.x * sheet.width)
    rows = numpy.linspace(-0.5, 0.5, sheet.height)[:, None] * lean
    grey = cv2.GaussianBlur(sheet.grey.astype(numpy.float32), (0, 0), 2)
    depths = _mean_along(grey, rows, at - near, at + near + 1)
    lowest = int(depths.argmin())
    rim = min(float(depths[: lowest + 1].max()), float(depths[lowest:].max()))
    if rim - depths[lowest] < DEEP:
        return gutter
    moved = (at - near + lowest) / sheet.width - gutter.x
    return Gutter(gutter.top + moved, gutter.foot + moved, gutter.score)


def _find_paper(grey: Pixels) -> tuple[int, int]:
    """Return from where to where there is paper, left to right; a dark or plain table at the sides is excluded."""
    columns = numpy.percentile(grey, 75, axis=0).astype(float)
    bright = columns > 0.6 * numpy.percentile(columns, 80)
    bright_rows = numpy.flatnonzero(bright)
    return (int(bright_rows[0]), int(bright_rows[-1]) + 1) if len(bright_rows) else (0, grey.shape[1])


def _fold(grey: Pixels) -> Pixels:
    """Return for every pixel how much darker it is than its neighbours to the left and right, 0 to 1: a fold,
    its shadow, its thread.
    """
    small = grey.astype(numpy.float32)
    width = grey.shape[1]
    fold_depth = numpy.zeros(small.shape, numpy.float32)
    for reach in (0.004, 0.012, 0.03):
        span = max(2, round(reach * width))
        around = cv2.GaussianBlur(small, (0, 0), sigmaX=span / 2, sigmaY=3)
        beside = numpy.minimum(numpy.roll(around, 2 * span, axis=1), numpy.roll(around, -2 * span, axis=1))
        fold_depth = numpy.maximum(fold_depth, numpy.clip((beside - around) / (0.12 * beside + 1), 0, 1))
    return fold_depth


def _step(grey: Pixels) -> Pixels:
    """Return for every pixel by how much its left side is lighter (below 0: darker) than its right side: the
    edge of a sheet.
    """
    small = cv2.GaussianBlur(grey.astype(numpy.float32), (0, 0), sigmaX=1.2, sigmaY=4)
    # The edge in a photograph is a pixel or two wide; the next lean tried differs by less than this.
    reach = max(2, round(0.003 * grey.shape[1]))
    return numpy.clip((numpy.roll(small, reach, axis=1) - numpy.roll(small, -reach, axis=1)) / 24, -1, 1)


def _mark_white(sheet: Sheet) -> Pixels:
    """Return 1 for every pixel without writing close to its left and right, otherwise 0."""
    span = max(3, round(0.012 * sheet.width)) | 1
    near = cv2.dilate(sheet.ink.astype(numpy.uint8), numpy.ones((1, span), numpy.uint8))
    return 1.0 - near.astype(numpy.float32)


def _mean_along(values: Pixels, rows: Pixels, begin: int, end: int) -> Pixels:
    """Return the mean of *values* along a leaning line, for each place where it crosses the middle height."""
    height = values.shape[0]
    step = max(1, height // 300)
    picked = numpy.arange(int(0.05 * height), int(0.95 * height), step)
    columns = numpy.clip(
        numpy.rint(numpy.arange(begin, end)[None, :] + rows[picked]), 0, values.shape[1] - 1
    ).astype(int)
    return values[picked[:, None], columns].mean(axis=0)


def _both_sides(sheet: Sheet, gutter: Gutter, ends: tuple[int, int]) -> bool:
    """Return whether both halves are pages: of similar width, and at least one with writing."""
    at = gutter.x * sheet.width
    left, right = at - ends[0], ends[1] - at
    if min(left, right) < 0.5 * max(left, right):
        return False
    rows = rows_of(sheet.ink)
    crossing = sum(row.left < at - 0.01 * sheet.width and row.right > at + 0.01 * sheet.width for row in rows)
    sides = [sum(row.right <= at + 5 for row in rows), sum(row.left >= at - 5 for row in rows)]
    return max(sides) >= 1 and crossing <= 0.2 * sum(sides) + 1
