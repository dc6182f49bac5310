"""The outline of each line from the ink along its baseline: with ascenders, descenders and accents, without
neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import cv2
import numpy

from armarium_layout.finding.ink import Box, Pixels, letter_height, pieces_of

Point = tuple[float, float]

UP = 0.8
"""How far above its baseline a line may reach, in distances to the line above."""
DOWN = 0.45
"""How far below, in distances to the line below."""
BODY = 0.3
"""The height of the letters' bodies, as a share of the distance to the line above."""


SAME_ROW = 0.8
"""Baselines no further apart than this, in letter heights, are in one row: the same line found twice, or a
note beside it.
"""

OVER = 0.2
"""Lines are above one another if they share this part of the shorter one."""

LEAST_PITCH = 0.5
"""No line is lower than this share of the usual height on its page."""

TALLEST = 3.2
"""Lines are no taller than this, in letter heights, however far apart they are (in a table, for example)."""


class Track(NamedTuple):
    """A baseline, one pixel column after the other."""

    left: int
    ys: Pixels
    """The height of the baseline in each column, from `left`."""
    pitch: float
    """The distance to the next line, in pixels."""

    @property
    def right(self) -> int:
        return self.left + len(self.ys)


def outlines_of(ink: Pixels, baselines: Sequence[Sequence[Point]]) -> list[list[Point] | None]:
    """Return, for each baseline (pixels, written left to right or right to left), the outline of its line;
    None if there is no ink.

    A piece of ink belongs to the line whose letters' bodies it touches. If it touches those of several lines,
    it is cut between them; if it touches none (a dot, an accent), it belongs to the nearest, with a
    preference for the line below it. Baselines that run up or down the page rather than along it get None.
    """
    pieces, labels = pieces_of(ink)
    letters = letter_height(pieces)
    tracks = _tracks(baselines, ink.shape, letters)
    ruled = numpy.array([False, *(_is_rule(piece, letters) for piece in pieces)])
    owner = _owners(ink, numpy.where(ruled[labels], 0, labels), tracks)
    return [
        None if track is None else _outline(owner, number + 1, track) for number, track in enumerate(tracks)
    ]


def _is_rule(piece: Box, letters: float) -> bool:
    """Return whether a piece is part of a vertical rule between columns: no letter is so tall and thin."""
    return piece.height > 2.5 * letters and piece.height > 8 * piece.width


def _tracks(
    baselines: Sequence[Sequence[Point]], shape: tuple[int, int], letters: float
) -> list[Track | None]:
    height, width = shape
    plain: list[tuple[int, Pixels] | None] = []
    for points in baselines:
        xs, ys = numpy.array([point[0] for point in points]), numpy.array([point[1] for point in points])
        if len(points) < 2 or abs(xs[-1] - xs[0]) <= abs(ys[-1] - ys[0]):
            plain.append(None)
            continue
        order = numpy.argsort(xs, kind="stable")
        left, right = max(0, int(xs.min())), min(width, int(numpy.ceil(xs.max())) + 1)
        if right - left < 2:
            plain.append(None)
            continue
        columns = numpy.arange(left, right)
        plain.append((left, numpy.clip(numpy.interp(columns, xs[order], ys[order]), 0, height - 1)))
    tallest = TALLEST * letters
    pitches = [_pitch(number, plain, SAME_ROW * letters) for number in range(len(plain))]
    known_pitches = [pitch for pitch in pitches if pitch is not None]
    usual = min(median(known_pitches) if known_pitches else height / 30, tallest or height)
    tracks: list[Track | None] = []
    for line, pitch in zip(plain, pitches, strict=True):
        # A line far from the others is as tall as they are.
        given_pitch = (
            usual if pitch is None else min(max(pitch, LEAST_PITCH * usual), 1.6 * usual, max(tallest, usual))
        )
        tracks.append(None if line is None else Track(line[0], line[1], given_pitch))
    return tracks


def _pitch(number: int, lines: Sequence[tuple[int, Pixels] | None], same_row: float) -> float | None:
    """Return the distance to the nearest line above or below that overlaps this one and is further away than
    *same_row*.
    """
    line = lines[number]
    if line is None:
        return None
    distances = []
    for at, other in enumerate(lines):
        if other is None or at == number:
            continue
        left, right = max(line[0], other[0]), min(line[0] + len(line[1]), other[0] + len(other[1]))
        if right - left < max(2, OVER * min(len(line[1]), len(other[1]))):
            continue
        gap = abs(
            float(
                numpy.median(
                    line[1][left - line[0] : right - line[0]] - other[1][left - other[0] : right - other[0]]
                )
            )
        )
        if gap > max(3.0, same_row):
            distances.append(gap)
    return min(distances) if distances else None


def _owners(ink: Pixels, labels: Pixels, tracks: Sequence[Track | None]) -> Pixels:
    """Return for every pixel of ink the number of its line, counted from 1; 0 for none."""
    height, width = ink.shape
    body = numpy.zeros(ink.shape, numpy.int32)
    reach = numpy.zeros(ink.shape, bool)
    nearest = numpy.zeros(ink.shape, numpy.int32)
    distance = numpy.full(ink.shape, numpy.inf, numpy.float32)
    rows = numpy.arange(height, dtype=numpy.float32)[:, None]
    for number, track in enumerate(tracks, 1):
        if track is None:
            continue
        # Letters may begin a little before the baseline and end after it.
        spare = round(0.4 * track.pitch)
        left, right = max(0, track.left - spare), min(width, track.right + spare)
        ys = numpy.interp(numpy.arange(left, right), numpy.arange(track.left, track.right), track.ys).astype(
            numpy.float32
        )
        low, high = int(max(0, ys.min() - track.pitch)), int(min(height, ys.max() + track.pitch + 1))
        up = ys[None, :] - rows[low:high]
        part = (slice(low, high), slice(left, right))
        within = (up <= UP * track.pitch) & (up >= -DOWN * track.pitch)
        reach[part] |= within
        # Measured from the middle of the letters' bodies; distances above it count half, because accents are
        # there.
        away = numpy.where(up > 0, numpy.maximum(0, up - BODY * track.pitch) * 0.6, -up)
        closer = within & (away < distance[part])
        distance[part][closer] = away[closer]
        nearest[part][closer] = number
        body[part][(up >= 0) & (up <= BODY * track.pitch) & (body[part] == 0)] = number
    return _assign_pieces(ink & reach, labels, body, nearest)


def _assign_pieces(ink: Pixels, labels: Pixels, body: Pixels, nearest: Pixels) -> Pixels:
    """Assign pieces that touch the body of only one line to that line as a whole; of other pieces, each pixel
    goes to the nearest line.
    """
    count = int(labels.max()) + 1
    touching = ink & (body > 0) & (labels > 0)
    pairs = numpy.unique(numpy.stack([labels[touching], body[touching]], axis=1), axis=0)
    owners = numpy.zeros(count, numpy.int32)
    several = numpy.zeros(count, bool)
    for label, line in pairs.tolist():
        several[label] |= owners[label] not in (0, line)
        owners[label] = line
    whole = (owners > 0) & ~several
    owner = numpy.where(ink & (labels > 0), nearest, 0)
    return numpy.where(ink & whole[labels], owners[labels], owner)


def _outline(owner: Pixels, number: int, track: Track) -> list[Point] | None:
    spare = round(0.4 * track.pitch)
    left, right = max(0, track.left - spare), min(owner.shape[1], track.right + spare)
    low = int(max(0, track.ys.min() - track.pitch))
    high = int(min(owner.shape[0], track.ys.max() + track.pitch + 1))
    mine = owner[low:high, left:right] == number
    inked = mine.any(axis=0)
    if not inked.any():
        return None
    columns = numpy.flatnonzero(inked)
    tops = mine.argmax(axis=0)[columns] + low
    bottoms = high - mine[::-1].argmax(axis=0)[columns]
    first, last = int(columns[0]) + left, int(columns[-1]) + left + 1
    pad = max(1.0, 0.06 * track.pitch)
    step = max(2, round(0.25 * track.pitch))
    xs = numpy.unique(numpy.append(numpy.arange(first, last, step), last))
    base = numpy.interp(xs, numpy.arange(track.left, track.right), track.ys)
    # A band as wide as a letter gives each corner its height, so that the outline runs around words, not into
    # letters.
    upper, lower = [], []
    for x, y in zip(xs, base, strict=True):
        near = numpy.abs(columns + left - x) <= step
        upper.append(min(float(tops[near].min()) if near.any() else y - BODY * track.pitch, y - 1) - pad)
        lower.append(max(float(bottoms[near].max()) if near.any() else y, y + 1) + pad)
    height, width = owner.shape
    xs = xs.astype(float)
    xs[0], xs[-1] = max(0.0, xs[0] - pad), min(float(width), xs[-1] + pad)
    round_trip = [*zip(xs, upper, strict=True), *zip(xs[::-1], lower[::-1], strict=True)]
    points = numpy.array(round_trip, numpy.float32)
    points[:, 1] = numpy.clip(points[:, 1], 0, height)
    simple = cv2.approxPolyDP(points, 0.8, True)[:, 0, :]
    return [(float(x), float(y)) for x, y in simple] if len(simple) >= 3 else None
