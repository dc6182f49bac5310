"""Makes lines of the network's maps: traces baselines, joins their pieces, and gives each the room of its letters."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand.lines.maps import STRIDE
from armarium_reader_hand.lines.network import Maps

LEVELS = (0.3, 0.55, 0.75)
"""What counts as baseline; the higher levels only where pieces of two lines touch at the lower ones."""
ENDING = 0.75
"""How much the end of a line takes from its baseline, so that neighbours part there."""
SURE = 0.5
"""The mean certainty of a baseline below which it is dropped."""
SHORTEST = 0.55
"""A line is at least this many times as long as it reaches above its baseline."""
LEANING = 4
"""Lines that are longer than this many times their reach have a lean of their own."""
STEEP = 0.4
"""Radians from the lean of the page from which a line runs astray,"""
SURE_ASTRAY = 0.65
"""and the certainty that it needs."""
STEP = 6
"""Places between two points of a baseline."""
GAP = 2.5
"""Pieces are joined over at most this many times their reach."""
ENDED = 0.5
"""Where an end of a line is this certain, no pieces are joined."""

Points = NDArray[np.float64]


@dataclass
class LineTrace:
    """A line in places of the maps: its baseline in the direction of the writing, reach above and below, certainty."""

    points: Points
    above: float
    below: float
    sure: float

    @property
    def length(self) -> float:
        return float(np.hypot(*np.diff(self.points, axis=0).T).sum())


def trace(maps: Maps) -> list[LineTrace]:
    """Return the lines of a page."""
    strength = maps.base * (1 - ENDING * maps.ends)
    pieces = [piece for at in _components(strength, 0) if (piece := _piece(maps, *at)) is not None]
    lines = [line for line in _join(pieces, maps) if line.length >= max(SHORTEST * line.above, 1.5)]
    lean = _lean(lines)
    for line in lines:
        if line.length < LEANING * line.above and _turn(line, lean) < STEEP:
            # A word or a number says less of the lean of its line than the page does.
            middle, along = line.points.mean(0), np.array([np.cos(lean), np.sin(lean)])
            line.points = middle + np.array([[-0.5], [0.5]]) * line.length * along
    return [
        line
        for line in lines
        if line.sure >= (SURE if _turn(line, lean) < STEEP else SURE_ASTRAY)
        and (_turn(line, lean) < STEEP or line.length >= LEANING * line.above)
    ]


def on_page(line: LineTrace, maps: Maps, size: tuple[int, int]) -> tuple[Points, Points]:
    """Return the baseline and the outline of a line in pixels of a page of *size* (width, height)."""
    ups = _normals(line.points)
    outline = np.concatenate([line.points + ups * line.above, (line.points - ups * line.below)[::-1]])
    highest = np.array(size, np.float64)
    baseline, outline = (
        (np.clip((points + 0.5) * maps.scale, 0, highest)) for points in (line.points, outline)
    )
    return baseline, outline


def _lean(lines: list[LineTrace]) -> float:
    """Return the lean of the page: that of half of its writing, as long as each line is."""
    turns = np.array([np.arctan2(*(line.points[-1] - line.points[0])[::-1]) for line in lines])
    lengths = np.array([line.length for line in lines])
    order = np.argsort(turns)
    return (
        float(turns[order][np.searchsorted(np.cumsum(lengths[order]), lengths.sum() / 2)])
        if len(lines)
        else 0.0
    )


def _turn(line: LineTrace, lean: float) -> float:
    """Return by how much a line is turned against *lean*, in radians."""
    across, down = line.points[-1] - line.points[0]
    return float(abs((np.arctan2(down, across) - lean + np.pi) % (2 * np.pi) - np.pi))


Component = tuple[NDArray[np.intp], NDArray[np.intp]]


def _components(strength: NDArray[np.float32], level: int) -> list[Component]:
    """Return the rows and columns of each connected piece of baseline."""
    count, labels, stats, _ = cv2.connectedComponentsWithStats(
        (strength > LEVELS[level]).astype(np.uint8), connectivity=8
    )
    pieces: list[Component] = []
    for number in range(1, count):
        x, y, width, height, area = stats[number]
        if area < 3:
            continue
        part = labels[y : y + height, x : x + width] == number
        rows, columns = np.nonzero(part)
        along, across = (columns, rows) if width >= height else (rows, columns)
        if level + 1 < len(LEVELS) and _is_several(along, across):
            inner = np.where(part, strength[y : y + height, x : x + width], 0)
            pieces += [
                (row + y, column + x) for row, column in _components(inner.astype(np.float32), level + 1)
            ]
        else:
            pieces.append((rows + y, columns + x))
    return pieces


def _is_several(along: NDArray[np.intp], across: NDArray[np.intp]) -> bool:
    """Return whether a piece lies at more than one height in many of its columns: lines that touch."""
    size = int(along.max()) + 1
    lowest, highest = np.full(size, 1 << 30), np.full(size, -1)
    np.minimum.at(lowest, along, across)
    np.maximum.at(highest, along, across)
    present = highest >= 0
    spread = (highest - lowest + 1)[present]
    filled = np.bincount(along, minlength=size)[present]
    return bool(((spread > filled + 1) | (spread > 7)).mean() > 0.1)


def _piece(maps: Maps, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> LineTrace | None:
    """Trace one piece of baseline along its longer side."""
    level = np.ptp(columns) >= np.ptp(rows)
    along, across = (columns, rows) if level else (rows, columns)
    weight = maps.base[rows, columns].astype(np.float64)
    start = int(along.min())
    total = np.bincount(along - start, weight)
    middle = np.bincount(along - start, weight * across) / np.maximum(total, 1e-9)
    at = np.flatnonzero(total > 0)
    middle = np.interp(np.arange(len(total)), at, middle[at])
    window = min(len(middle) // 2 * 2 - 1, 9)
    if window >= 3:
        padded = np.pad(middle, window // 2, mode="reflect", reflect_type="odd")
        middle = np.convolve(padded, np.full(window, 1 / window), mode="valid")
    count = max(2, round(len(middle) / STEP) + 1)
    picks = np.linspace(0, len(middle) - 1, count)
    heights = np.interp(picks, np.arange(len(middle)), middle)
    points = np.stack([picks + start, heights], 1) if level else np.stack([heights, picks + start], 1)
    above, below = (float(np.median(reach[rows, columns])) for reach in (maps.above, maps.below))
    # Upright writing runs so that its letters stand on the baseline.
    if not level and _share_of_letters(maps, points, above) < _share_of_letters(maps, points[::-1], above):
        points = points[::-1]
    return LineTrace(_lengthen(points, 1.5 + 0.3 * above), above, below, float(weight.mean()))


def _share_of_letters(maps: Maps, points: Points, above: float) -> float:
    """Return how much of the band above a baseline is letters."""
    places = np.round(points + _normals(points) * min(2.0, 0.3 * above)).astype(int)
    x, y = (
        places[:, axis].clip(0, size - 1) for axis, size in ((0, maps.core.shape[1]), (1, maps.core.shape[0]))
    )
    return float(maps.core[y, x].mean())


def _lengthen(points: Points, more: float) -> Points:
    """Continue a baseline at both ends."""
    first, last = (
        _unit(points[0] - points[min(2, len(points) - 1)]),
        _unit(points[-1] - points[-min(3, len(points))]),
    )
    return np.concatenate([[points[0] + first * more], points[1:-1], [points[-1] + last * more]])


def _unit(vector: Points) -> Points:
    return vector / max(float(np.hypot(*vector)), 1e-9)


def _normals(points: Points) -> Points:
    """At each point the unit vector towards the tops of the letters."""
    along = np.gradient(points, axis=0)
    along = along / np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    return np.stack([along[:, 1], -along[:, 0]], 1)


def _join(pieces: list[LineTrace], maps: Maps) -> list[LineTrace]:
    """Join pieces that continue each other and between which no line ends."""
    lines: list[LineTrace | None] = [*sorted(pieces, key=lambda piece: piece.points[0][0])]
    starts = np.array([line.points[0] for line in lines if line]).reshape(-1, 2)
    reaches = np.array([line.above for line in lines if line])
    for at in range(len(lines)):
        while (line := lines[at]) is not None:
            far = np.abs(starts - line.points[-1]).sum(1)
            near = np.flatnonzero(far <= GAP * (line.above + reaches))
            distances = [
                (_distance(line, other, maps), number)
                for number in near
                if number != at and (other := lines[number]) is not None
            ]
            least, number = min(distances, default=(np.inf, -1))
            other = lines[number]
            if least == np.inf or other is None:
                break
            share = line.length / max(line.length + other.length, 1e-9)
            joined = LineTrace(
                np.concatenate([line.points, other.points]),
                share * line.above + (1 - share) * other.above,
                share * line.below + (1 - share) * other.below,
                share * line.sure + (1 - share) * other.sure,
            )
            # What is joined goes on under the number of its first piece.
            lines[at], lines[number] = joined, None
    return [line for line in lines if line is not None]


def _distance(first: LineTrace, other: LineTrace, maps: Maps) -> float:
    """Return how far *other* begins after *one* ends, if it continues it; infinite if it does not."""
    reach = (first.above + other.above) / 2
    gap = other.points[0] - first.points[-1]
    leaving = _unit(first.points[-1] - first.points[-min(4, len(first.points))])
    coming = _unit(other.points[min(3, len(other.points) - 1)] - other.points[0])
    heading = _unit(leaving * first.length + coming * other.length)
    forward, aside = float(gap @ heading), float(abs(gap[0] * heading[1] - gap[1] * heading[0]))
    alike = 1 / 1.8 < first.above / other.above < 1.8
    if not (
        alike
        and leaving @ coming > 0.8
        and -0.5 * reach - 3 < forward < GAP * reach
        and aside < 0.3 * reach + 0.08 * abs(forward)
    ):
        return np.inf
    between = np.linspace(first.points[-1] - heading * 2, other.points[0] + heading * 2, 9)
    x, y = (
        np.round(between[:, axis]).astype(int).clip(0, size - 1)
        for axis, size in ((0, maps.ends.shape[1]), (1, maps.ends.shape[0]))
    )
    return np.inf if maps.ends[y, x].max() > ENDED else max(forward, 0.0) + aside


def letters_are_small(lines: list[LineTrace]) -> bool:
    """Return whether the lines are so low that looking closer finds more."""
    return bool(lines) and float(np.median([line.above for line in lines])) * STRIDE < 16
