"""The lean of a page and the bend of its lines, and the picture made level and straight."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import cv2
import numpy

from armarium_layout.finding.ink import Pixels, Sheet, letter_height, pieces_of

Curve = Sequence[tuple[float, float]]
"""The course of a line over the page: points in fractions of the picture, left to right."""

STEEPEST = 8.0
"""Degrees: a page that leans more was not laid askew but written so."""
CLEARLY = 1.3
"""How much sharper the rows must be at the best angle than at the median one: with few lines, or writing at all
angles, no angle is much sharper, and the page is left as it is.
"""
LEAST = 0.1
"""Degrees below which a page counts as level."""
LONG = 0.1
"""Lines longer than this share of the width show the lean of the page."""
TERMS = [(i, j) for i in (1, 2, 3, 4) for j in (0, 1, 2)]
"""The powers of x and y in the polynomial of a bend."""
MESH = 9
"""Points per side of the mesh that maps a straightened picture to the one it is made from."""
BENT = 0.06
"""Lines that bend by less than this share of the distance between them are straight."""


def lean_of(sheet: Sheet) -> float:
    """Return by how many degrees the lines of a page fall to the right; 0 if it has no writing.

    This is the angle at which letters form the sharpest rows.
    """
    boxes, _ = pieces_of(sheet.ink)
    letters = letter_height(boxes)
    points = numpy.array(
        [(*box.middle, box.width) for box in boxes if 0.3 * letters <= box.height <= 3 * letters]
    )
    if len(points) < 20:
        return 0.0
    xs, ys = points[:, 0], points[:, 1]
    weights = numpy.minimum(points[:, 2], 4 * letters)
    # A row is viewed through a slit of a quarter of a letter.
    slit = max(1.0, letters / 4)

    def sharpness(degrees: float) -> float:
        level = (ys - xs * numpy.tan(numpy.radians(degrees))) / slit
        rows = numpy.bincount((level - level.min()).astype(int), weights=weights)
        return float((rows**2).sum())

    everywhere = [sharpness(degrees) for degrees in numpy.arange(-STEEPEST, STEEPEST + 0.25, 0.5)]
    if max(everywhere) < CLEARLY * float(numpy.median(everywhere)):
        return 0.0
    best = 0.0
    for step, reach in ((0.5, STEEPEST), (0.1, 0.5), (0.02, 0.1)):
        tried = numpy.arange(best - reach, best + reach + step / 2, step)
        best = float(tried[int(numpy.argmax([sharpness(degrees) for degrees in tried]))])
    return best if abs(best) <= STEEPEST else 0.0


def lean_of_lines(curves: Sequence[Curve], shape: tuple[int, int]) -> float | None:
    """Return by how many degrees known lines fall to the right on a picture of (height, width), with longer
    ones weighing more; None if too few are long and level enough to tell.
    """
    height, width = shape
    leans = []
    for curve in curves:
        across = (curve[-1][0] - curve[0][0]) * width
        fall = (curve[-1][1] - curve[0][1]) * height
        if across > LONG * width and abs(fall) <= numpy.tan(numpy.radians(STEEPEST)) * across:
            leans.append((float(numpy.degrees(numpy.arctan2(fall, across))), across))
    if len(leans) < 3:
        return None
    leans.sort()
    reached = numpy.cumsum([across for _, across in leans])
    return leans[int(numpy.searchsorted(reached, reached[-1] / 2))][0]


class LevelPicture(NamedTuple):
    """A picture made level, and the six numbers that map its fractions to those of the picture it was made from."""

    pixels: Pixels
    transform: list[float]


def level_picture(pixels: Pixels, degrees: float) -> LevelPicture:
    """Return *pixels* rotated so that lines that fall by *degrees* to the right become level; enlarged, so
    that no corner is lost.
    """
    height, width = pixels.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    cos, sin = abs(turn[0, 0]), abs(turn[0, 1])
    new_width, new_height = round(width * cos + height * sin), round(width * sin + height * cos)
    turn[:, 2] += [(new_width - width) / 2, (new_height - height) / 2]
    turned = cv2.warpAffine(
        pixels, turn, (new_width, new_height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    back = cv2.invertAffineTransform(turn)
    transform = [
        back[0, 0] * new_width / width,
        back[1, 0] * new_width / height,
        back[0, 1] * new_height / width,
        back[1, 1] * new_height / height,
        back[0, 2] / width,
        back[1, 2] / height,
    ]
    return LevelPicture(turned, [float(value) for value in transform])


def curves_of(sheet: Sheet) -> list[list[tuple[float, float]]]:
    """Return the course of the rows of a page whose lines are unknown: the middles of its writing, left to right."""
    boxes, labels = pieces_of(sheet.ink)
    letters = letter_height(boxes)
    if not letters:
        return []
    is_kept = numpy.zeros(len(boxes) + 1, bool)
    is_kept[1:] = [0.4 * letters <= box.height <= 2 * letters for box in boxes]
    body = is_kept[labels].astype(numpy.uint8)
    joined = cv2.morphologyEx(body, cv2.MORPH_CLOSE, numpy.ones((1, round(3 * letters) | 1), numpy.uint8))
    joined = cv2.morphologyEx(
        joined, cv2.MORPH_OPEN, numpy.ones((max(2, round(0.3 * letters)), 1), numpy.uint8)
    )
    count, rows, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=4)
    curves = []
    for number in range(1, count):
        x, y, w, h, _ = (int(value) for value in stats[number])
        if w < 0.15 * sheet.width:
            continue
        part = rows[y : y + h, x : x + w] == number
        places = numpy.linspace(0, w - 1, max(6, min(40, w // max(1, round(2 * letters))))).astype(int)
        curve = []
        for begin, end in itertools.pairwise(places):
            at = numpy.nonzero(part[:, begin : end + 1])[0]
            if len(at):
                curve.append(((x + (begin + end) / 2) / sheet.width, (y + float(at.mean())) / sheet.height))
        if len(curve) >= 4:
            curves.append(curve)
    return curves


class Bend(NamedTuple):
    """How far the lines of a page deviate from level at each place: a polynomial of fractions, in heights of
    the page.
    """

    factors: Pixels

    def offset_at(self, x: Pixels, y: Pixels) -> Pixels:
        """Return by how much a line is lower (in heights of the page) at x than on average, at height y."""
        drop = sum(
            factor * ((x - 0.5) ** i - _mean_power(i)) * y**j
            for factor, (i, j) in zip(self.factors, TERMS, strict=True)
        )
        return drop if isinstance(drop, numpy.ndarray) else numpy.zeros_like(x)


def _mean_power(i: int) -> float:
    """Return the mean of (x - 0.5)**i over the width: a bend moves no line as a whole."""
    return 0.0 if i % 2 else 0.5**i / (i + 1)


def bend_of(curves: Sequence[Curve]) -> Bend | None:
    """Return the bend of the page's lines, from their course; None if there are too few, or they are straight
    and level.
    """
    long = [curve for curve in curves if curve[-1][0] - curve[0][0] > 0.15]
    if len(long) < 4:
        return None
    heights = sorted(median(point[1] for point in curve) for curve in long)
    pitch = median(next_height - height for height, next_height in itertools.pairwise(heights)) or 0.03
    xs, ys, owners = [], [], []
    for number, curve in enumerate(long):
        places = numpy.linspace(curve[0][0], curve[-1][0], 16)
        xs.append(places)
        ys.append(numpy.interp(places, [point[0] for point in curve], [point[1] for point in curve]))
        owners.append(numpy.full(16, number))
    x, y, owner = numpy.concatenate(xs), numpy.concatenate(ys), numpy.concatenate(owners)
    # The average height of a line is its own; only its bend is that of the page.
    level = numpy.array([part.mean() for part in ys])[owner]
    terms = numpy.stack([(x - 0.5) ** i * level**j for i, j in TERMS], axis=1)
    means = numpy.stack([terms[owner == number].mean(axis=0) for number in range(len(long))])
    terms, drops = terms - means[owner], y - level
    weights = numpy.ones(len(x))
    factors = numpy.zeros(len(TERMS))
    ridge = 1e-4 * numpy.eye(len(TERMS)) * len(x) / 100
    for _ in range(5):
        weighted = terms * weights[:, None]
        factors = numpy.linalg.solve(weighted.T @ terms + ridge, weighted.T @ drops)
        off = numpy.abs(drops - terms @ factors)
        # A line that is written askew does not bend the page.
        spread = max(1e-5, 1.5 * float(numpy.median(off)))
        weights = numpy.minimum(1.0, spread / numpy.maximum(off, 1e-9))
    before, after = (
        float(numpy.percentile(numpy.abs(offsets), 75)) for offsets in (drops, drops - terms @ factors)
    )
    if before < BENT * max(pitch, 0.01) or after > 0.8 * before:
        return None
    return Bend(factors)


class StraightPicture(NamedTuple):
    """A picture whose lines were straightened, and the positions of an even mesh of points on the picture it
    was made from: `MESH` rows of `MESH` points, in fractions.
    """

    pixels: Pixels
    mesh: list[list[list[float]]]


def straighten_picture(pixels: Pixels, bend: Bend) -> StraightPicture:
    """Return *pixels* with every column shifted up and down so that the lines are straight and level; the
    size stays the same.
    """
    height, width = pixels.shape[:2]
    # The bend changes slowly, so it is computed on a coarse grid.
    coarse_x, coarse_y = numpy.meshgrid(numpy.linspace(0, 1, 65), numpy.linspace(0, 1, 65))
    moved = bend.offset_at(coarse_x, coarse_y).astype(numpy.float32) * height
    across, down = numpy.meshgrid(
        numpy.linspace(0, 64, width, dtype=numpy.float32), numpy.linspace(0, 64, height, dtype=numpy.float32)
    )
    shift = cv2.remap(moved, across, down, cv2.INTER_LINEAR)
    columns, rows = numpy.meshgrid(
        numpy.arange(width, dtype=numpy.float32), numpy.arange(height, dtype=numpy.float32)
    )
    straightened = cv2.remap(pixels, columns, rows + shift, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    places = numpy.linspace(0, 1, MESH)
    mesh_x, mesh_y = numpy.meshgrid(places, places)
    source = mesh_y + bend.offset_at(mesh_x, mesh_y)
    mesh = [
        [[round(float(x), 6), round(float(y), 6)] for x, y in zip(row_x, row_y, strict=True)]
        for row_x, row_y in zip(mesh_x, source, strict=True)
    ]
    return StraightPicture(straightened, mesh)
