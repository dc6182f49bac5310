"""Orders the lines of a page, or of a region, by evidence: gutters, headings across columns, notes, rows; pure.

Everything is measured in the page's own terms, the thickness of a line and the pitch at which lines follow each
other, in a frame common to all directions: lines run along `u`, the page progresses along `v`. No single box decides:
a gutter is where many lines on its left stand beside many on its right and few cross it, so that a stray piece, a box
over two columns or a heading does not make one page another.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from armarium_source_model.rows import FULL, NOTES, SHORT, Box, order_column, pitch_of, quantile

CROSSED = 0.25
"""More boxes across a gutter than this part of the pairs of lines beside it: there is none."""
NARROW, WIDE = 0.9, 2.25
"""The white (in thicknesses) that a gutter needs between columns of few lines, and between two rows."""
MANY = 10
"""A column of so many lines is one however narrow its gutter is."""
CLEAR = 4
"""Fewer lines than these beside each other, or half of `CROSSED`, leave doubt."""
MOST_CELLS = 2000
GUTTERS = 24
"""The likeliest gutters that are examined."""
NEAR = 2.5
"""An initial is not further (in thicknesses) from its line."""
MERGED = 3
"""So many boxes across a gutter, one below another, are lines of their own and not two lines taken for one."""
CLOSE = 5.0
"""Notes are not further (in thicknesses) from their column; what is further is a column, or another page."""


class LineOrder(NamedTuple):
    """Boxes in order, and whether another order would have been nearly as good."""

    boxes: list[Box]
    in_doubt: bool = False


def order_lines(boxes: list[Box], columns: int | None = None) -> LineOrder:
    """Order lines column by column, each from top to bottom; *columns*: how many there are, where that is known."""
    if columns is not None:
        return LineOrder(_as_stated(boxes, columns))
    out: list[Box] = []
    doubts: list[bool] = []
    _order(boxes, out, doubts)
    return LineOrder(out, any(doubts))


def _order(boxes: list[Box], out: list[Box], doubts: list[bool]) -> None:
    band = _find_band(boxes, doubts)
    if band is None:
        out += order_column(boxes)
    else:
        for part in band:
            _order(part, out, doubts)


class _Gutter:
    """A position along `u`, with the lines on both sides of it and those across."""

    def __init__(self, lines: Sequence[Box], at: float, size: float) -> None:
        self.at, self.size = at, size
        self.left: list[Box] = []
        self.right: list[Box] = []
        self.across: list[Box] = []
        for box in lines:
            before, behind = at - box.u0, box.u1 - at
            reach = max(0.9 * size, 0.08 * box.length)
            if before > reach and behind > reach:
                self.across.append(box)
            else:
                (self.left if before > behind else self.right).append(box)

    def is_left_of(self, box: Box) -> bool:
        """Return on which side a box stands; a short piece before the gutter on that of the nearer line, for it may be
        an initial of the right column.
        """
        is_left = box.u0 + box.u1 < 2 * self.at
        if not is_left or box.length > 2 * self.size or self.at - box.u1 > NEAR * self.size:
            return is_left
        ends = [line.u1 for line in self.left if abs(line.middle - box.middle) < 0.6 * self.size]
        begins = [line.u0 for line in self.right if abs(line.middle - box.middle) < 0.2 * self.size]
        return not begins or (bool(ends) and box.u0 - max(ends) <= min(begins) - box.u1)

    def headings(self, pitch: float) -> list[Box]:
        """Return the boxes across that end the columns above them: not two lines that were taken for one."""
        middles = sorted(box.middle for box in (*self.left, *self.right))
        starts, ends = sorted(box.u0 for box in self.left), sorted(box.u1 for box in self.right)
        runs: list[list[Box]] = []
        reach = float("-inf")
        for box in sorted(self.across, key=lambda box: box.middle):
            # A run goes on from row to row, with no line of the columns between.
            if box.middle > reach or bisect_left(middles, box.middle) > bisect_right(middles, reach - pitch):
                runs.append([])
            runs[-1].append(box)
            reach = box.middle + 1.5 * pitch
        crossing: list[Box] = []
        for run in runs:
            for box in run:
                above = bisect_left(middles, box.middle - 0.5 * pitch) - 1
                below = bisect_right(middles, box.middle + 0.5 * pitch)
                over = middles[above] if above >= 0 else box.middle - pitch
                under = middles[below] if below < len(middles) else box.middle + pitch
                is_apart = under - over > (len(run) + 1.5) * pitch
                is_centred = self._count(starts, box.u0) < MERGED and self._count(ends, box.u1) < MERGED
                if len(run) >= MERGED or box.thick > 1.6 * self.size or is_centred or is_apart:
                    crossing.append(box)
        return crossing

    def _count(self, edges: list[float], at: float) -> int:
        return bisect_right(edges, at + 1.5 * self.size) - bisect_left(edges, at - 1.5 * self.size)


class _Scale(NamedTuple):
    """Divides the page along `v` into cells, half a line thick."""

    top: float
    step: float

    def cell(self, v: float) -> int:
        return int((v - self.top) / self.step)


class _Band(NamedTuple):
    """The stretch of the page along which a gutter has most evidence, from one heading across it to the next."""

    gutter: _Gutter
    evidence: float
    scale: _Scale
    start: float
    stop: float
    """The cells at its ends; without end where no heading ends it."""
    pairs: int
    """Lines that stand beside one on the other side."""
    crossing: int
    white: float
    """Between the columns, in thicknesses of a line; less than nothing if their edges interlock."""
    tallest: int
    """Lines of the column that has more."""
    begins_with_notes: bool
    """Whether the left side has few lines, short ones close to the right: notes in the margin."""


def _find_band(boxes: list[Box], doubts: list[bool]) -> tuple[list[Box], ...] | None:
    """Return what is above the columns, left and right of the clearest gutter, and below; None without a gutter."""
    lines = [box for box in boxes if box.is_long]
    if len(lines) < 4:
        return None
    size = median(box.thick for box in lines)
    bands = [_measure(gutter, lines) for gutter in _likely_gutters(lines, size)]
    best = max(bands, key=lambda band: band.evidence, default=None)
    if best is None or best.evidence <= 0 or best.pairs < 2:
        return None
    least = WIDE if best.pairs < 3 else NARROW if best.tallest < MANY else float("-inf")
    if best.crossing > CROSSED * best.pairs or best.white < least:
        doubts.append(best.pairs >= CLEAR and best.crossing <= 2 * CROSSED * best.pairs)
        return None
    across = {box.at for box in best.gutter.across}
    above: list[Box] = []
    remaining: list[Box] = []
    right: list[Box] = []
    below: list[Box] = []
    for box in boxes:
        cell = best.scale.cell(box.middle)
        if not best.start <= cell <= best.stop:
            (above if cell < best.start else below).append(box)
        else:
            # Two lines that were taken for one begin on the left.
            is_left = box.at in across or best.gutter.is_left_of(box)
            (remaining if is_left else right).append(box)
    shorter = min(_typical_length(side) for side in (remaining, right))
    if shorter < SHORT:
        # Cells of a table: they are read row by row.
        doubts.append(shorter > 0.7 * SHORT)
        return None
    doubts.append(best.pairs < CLEAR or 2 * best.crossing > CROSSED * best.pairs)
    return (above, right, remaining, below) if best.begins_with_notes else (above, remaining, right, below)


def _typical_length(boxes: list[Box]) -> float:
    return median(box.length / box.thick for box in boxes if box.thick > 0)


def _likely_gutters(lines: list[Box], size: float) -> list[_Gutter]:
    """Return the positions just before where several lines begin, the likeliest first."""
    starts, ends = sorted(box.u0 for box in lines), sorted(box.u1 for box in lines)
    scored: list[tuple[int, float]] = []
    at = bisect_left(starts, starts[0] + SHORT * size)
    while at < len(starts):
        behind = bisect_left(starts, starts[at] + 0.5 * size)
        if behind - at >= 2:
            left, right = bisect_right(ends, starts[at] + 0.9 * size), len(starts) - at
            scored.append((min(left, right) - max(0, len(lines) - left - right), starts[at] - 0.05 * size))
        at = behind
    scored.sort(reverse=True)
    gutters = [_Gutter(lines, at, size) for _, at in scored[:GUTTERS]]
    return [gutter for gutter in gutters if len(gutter.left) > 1 and len(gutter.right) > 1]


def _measure(gutter: _Gutter, lines: list[Box]) -> _Band:
    """Find the stretch in which most lines stand beside each other; one across counts against it, a heading ends it."""
    pitch = pitch_of(lines, gutter.size)
    top, bottom = min(box.middle for box in lines) - pitch, max(box.middle for box in lines) + pitch
    scale = _Scale(top, max(0.5 * gutter.size, (bottom - top) / MOST_CELLS))
    count = scale.cell(bottom) + 1

    def cells(box: Box) -> range:
        return range(scale.cell(box.middle - pitch / 2), scale.cell(box.middle + pitch / 2) + 1)

    left, right = ({cell for box in side for cell in cells(box)} for side in (gutter.left, gutter.right))
    weights = [float(cell in left and cell in right) for cell in range(count)]
    for box in gutter.across:
        for cell in cells(box):
            weights[cell] = -1.0
    ends = sorted({scale.cell(box.middle) for box in gutter.headings(pitch)})
    for cell in ends:
        weights[cell] = float("-inf")
    best = total = 0.0
    at = 0
    for cell, weight in enumerate(weights):
        total = max(0.0, total + weight)
        if total > best:
            best, at = total, cell
    next_end = bisect_left(ends, at)
    start = ends[next_end - 1] + 1 if next_end > 0 else float("-inf")
    stop = ends[next_end] - 1 if next_end < len(ends) else float("inf")
    inside = [
        [box for box in side if start <= scale.cell(box.middle) <= stop]
        for side in (gutter.left, gutter.right, gutter.across)
    ]
    beside = [
        [box for box in side if scale.cell(box.middle) in other]
        for side, other in ((inside[0], right), (inside[1], left))
    ]
    pairs = min(map(len, beside))
    white = 0.0
    if pairs:
        white = quantile((box.u0 for box in beside[1]), 0.1) - quantile((box.u1 for box in beside[0]), 0.9)
    white /= gutter.size
    few, many = len(inside[0]), len(inside[1])
    is_short = _typical(inside[0]) < FULL * _typical(inside[1])
    begins_with_notes = few < NOTES * many and is_short and white < CLOSE
    return _Band(
        gutter, best, scale, start, stop, pairs, len(inside[2]), white, max(few, many), begins_with_notes
    )


def _typical(lines: list[Box]) -> float:
    return median(box.length for box in lines) if lines else 0.0


def _as_stated(boxes: list[Box], columns: int) -> list[Box]:
    """Order *boxes* in so many columns; what spans them as a heading is read where it stands."""
    lines = [box for box in boxes if box.is_long] or boxes
    size = median(box.thick for box in lines)
    pitch = pitch_of(lines, size)
    bands = sorted(
        (_measure(gutter, lines) for gutter in _likely_gutters(lines, size)), key=lambda band: -band.evidence
    )
    left, right = min(box.u0 for box in lines), max(box.u1 for box in lines)
    likely = [band.gutter for band in bands]
    # Where too few are to be seen, the page is divided into equal parts.
    likely += [_Gutter(lines, left + (right - left) * n / columns, size) for n in range(1, columns)]
    apart = min(SHORT * size, 0.5 * (right - left) / columns)
    gutters: list[_Gutter] = []
    for candidate in likely:
        if len(gutters) < columns - 1 and all(abs(candidate.at - other.at) >= apart for other in gutters):
            gutters.append(candidate)
    gutters.sort(key=lambda gutter: gutter.at)
    headings = {box.at: box for gutter in gutters for box in gutter.headings(pitch)}
    across = {box.at for gutter in gutters for box in gutter.across}
    edges = [gutter.at for gutter in gutters]
    out: list[Box] = []
    stops = sorted(headings.values(), key=lambda box: box.middle)
    others = sorted((box for box in boxes if box.at not in headings), key=lambda box: box.middle)
    for stop in (*stops, None):
        end = len(others) if stop is None else bisect_left(others, stop.middle, key=lambda box: box.middle)
        sides: list[list[Box]] = [[] for _ in range(columns)]
        for box in others[:end]:
            sides[bisect_right(edges, box.u0 + size if box.at in across else (box.u0 + box.u1) / 2)].append(
                box
            )
        others = others[end:]
        for side in sides:
            out += order_column(side)
        if stop is not None:
            out.append(stop)
    return out
