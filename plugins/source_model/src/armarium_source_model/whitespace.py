"""Orders boxes of a page by cutting it along white space, in a frame common to all directions; pure.

In that frame lines run along `u` and the page progresses along `v`: rows are separated by white space across
the page, columns by white space along it, and what no straight cut separates is ordered pair by pair.
"""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

SHORT = 3.5
"""Pieces shorter than this many times their thickness are cells or the halves of a verse, not lines of a column."""
CELL = 0.05
"""Regions lower than this (page heights), in full rows, are cells of a table."""
FEW = 120
"""Up to so many boxes without any straight white cut between them are ordered pair by pair."""


class Box(NamedTuple):
    """A shape in the common frame: lines run along u, the page progresses along v."""

    at: int
    u0: float
    u1: float
    v0: float
    v1: float
    thick: float

    @property
    def middle(self) -> float:
        return (self.v0 + self.v1) / 2


def cut(boxes: list[Box], least: float, lines: bool, out: list[Box]) -> None:
    """Append *boxes* to *out* in order: bands of rows that share a gutter are read column by column."""
    if len(boxes) < 2:
        out += boxes
        return
    rows = _rows(boxes)
    if len(rows) == 1:
        columns = _columns(boxes, 0.0)
        if len(columns) > 1:
            for column in columns:
                cut(column, least, lines, out)
        else:
            out += _untangle(boxes)
        return
    if len(rows) == len(boxes) and not _any_gutter(boxes, least):
        for row in rows:
            out += row
        return
    for band in _bands(rows, least):
        flat = [box for row in band for box in row]
        if len(band) == 1:
            cut(flat, least, lines, out)
            continue
        columns = _columns(flat, least)
        if lines and min(len(column) for column in columns) < 3:
            # Two rows that happen to break at the same position are columns only if the gap is wide.
            columns = _columns(flat, 2.5 * least)
        if len(columns) > 1 and not _is_table(band, columns, lines):
            for column in columns:
                cut(column, least, lines, out)
        else:
            for row in band:
                cut(row, least, lines, out)


def _rows(boxes: list[Box]) -> list[list[Box]]:
    """Group boxes by straight cuts across the page that touch none."""
    rows: list[list[Box]] = []
    reach = float("-inf")
    for box in sorted(boxes, key=lambda b: b.v0):
        if box.v0 >= reach:
            rows.append([])
            reach = box.v1
        rows[-1].append(box)
        reach = max(reach, box.v1)
    return rows


def _columns(boxes: list[Box], least: float) -> list[list[Box]]:
    """Group boxes by straight cuts along the page with white space of at least *least*."""
    columns: list[list[Box]] = []
    reach = float("-inf")
    for box in sorted(boxes, key=lambda b: b.u0):
        if not columns or box.u0 - reach >= least:
            columns.append([])
            reach = box.u1
        columns[-1].append(box)
        reach = max(reach, box.u1)
    return columns


def _any_gutter(boxes: list[Box], least: float) -> bool:
    return len(_columns(boxes, least)) > 1


def _bands(rows: list[list[Box]], least: float) -> list[list[list[Box]]]:
    """Return runs of consecutive rows that share a free gutter; rows without one stand alone."""
    bands: list[list[list[Box]]] = []
    taken: list[tuple[float, float]] = []
    open_ended = False
    for row in rows:
        spans = _merge([(box.u0, box.u1) for box in row], least)
        if len(spans) == len(taken) == 1:
            # The most common case, one box below another: they usually overlap, and no gutter is left.
            (a, b), (c, d) = taken[0], spans[0]
            together = [(min(a, c), max(b, d))] if c - b < least and a - d < least else sorted(taken + spans)
        else:
            together = _merge(taken + spans, least) if bands else spans
        if bands and len(together) > 1 and (open_ended or len(spans) > 1 or len(taken) == 1):
            bands[-1].append(row)
            taken = together
        else:
            bands.append([row])
            taken = spans
        open_ended = len(taken) > 1
    return bands


def _is_table(band: list[list[Box]], columns: list[list[Box]], lines: bool) -> bool:
    """Return whether apparent columns are a table of short cells in level rows, which is read row by row."""
    if lines:
        return any(
            median((b.u1 - b.u0) / b.thick for b in column if b.thick > 0) < SHORT for column in columns
        )
    return (
        len(band) > 2
        and all(len(row) == len(columns) for row in band)
        and all(box.thick < CELL for row in band for box in row)
    )


def _merge(spans: list[tuple[float, float]], least: float) -> list[tuple[float, float]]:
    """Join spans with less than *least* white space between them."""
    if len(spans) == 1:
        return spans
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start - merged[-1][1] < least:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _untangle(boxes: list[Box]) -> list[Box]:
    """Order boxes that no straight cut separates: pair by pair if few, else around those that span them
    all.
    """
    if len(boxes) <= FEW:
        return _pairwise(boxes)
    left, right = min(b.u0 for b in boxes), max(b.u1 for b in boxes)
    spanning = [b for b in boxes if b.u1 - b.u0 > 0.6 * (right - left)]
    if spanning and len(spanning) < len(boxes):
        spanning.sort(key=lambda b: b.middle)
        rest = sorted((b for b in boxes if b.u1 - b.u0 <= 0.6 * (right - left)), key=lambda b: b.middle)
        out: list[Box] = []
        for span in spanning:
            before = [b for b in rest if b.middle < span.middle]
            rest = rest[len(before) :]
            cut(before, 0.0, True, out)
            out.append(span)
        cut(rest, 0.0, True, out)
        return out
    return _by_rows(boxes)


def _by_rows(boxes: list[Box]) -> list[Box]:
    """Order line by line: a box whose middle is in the row begun by the one above belongs to that row."""
    out: list[Box] = []
    row: list[Box] = []
    floor = float("-inf")
    for box in sorted(boxes, key=lambda b: b.middle):
        if row and box.middle >= floor:
            out += sorted(row, key=lambda b: b.u0)
            row = []
        if not row:
            floor = max(box.v1, box.middle + 1e-9)
        row.append(box)
    return out + sorted(row, key=lambda b: b.u0)


def _are_stacked(a: Box, b: Box) -> bool:
    """Return whether two boxes share a column: they overlap along the line more than along the page."""
    along = min(a.u1, b.u1) - max(a.u0, b.u0)
    if along <= 0:
        return False
    down = min(a.v1, b.v1) - max(a.v0, b.v0)
    if down <= 0:
        return True
    shorter = min(a.u1 - a.u0, b.u1 - b.u0) or 1e-9
    lower = min(a.v1 - a.v0, b.v1 - b.v0) or 1e-9
    return along / shorter >= down / lower


def _pairwise(boxes: list[Box]) -> list[Box]:
    """Order by two rules about pairs, after their transitive closure: above goes first if two boxes share a
    column; otherwise the left one goes first, unless a box that spans both is between them.
    """
    boxes = sorted(boxes, key=lambda b: (b.middle, b.u0))
    count = len(boxes)
    later: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for i in range(count):
        a = boxes[i]
        for j in range(i + 1, count):
            b = boxes[j]
            if _are_stacked(a, b):
                first, second = i, j
            else:
                first, second = (i, j) if a.u0 + a.u1 <= b.u0 + b.u1 else (j, i)
                one, two = boxes[first], boxes[second]
                if any(_are_stacked(k, one) and _are_stacked(k, two) for k in boxes[i + 1 : j]):
                    first, second = i, j
            later[first].append(second)
            waits[second] += 1
    out: list[Box] = []
    left = set(range(count))
    while left:
        # If the rules form a cycle, the box that waits for the fewest goes first; the highest of those.
        chosen = min(left, key=lambda n: (waits[n], n))
        left.discard(chosen)
        out.append(boxes[chosen])
        for n in later[chosen]:
            waits[n] -= 1
    return out
