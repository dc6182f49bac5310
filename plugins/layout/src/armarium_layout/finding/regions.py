"""Blocks of lines from the white space between them: columns, headings, margins, separate paragraphs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from armarium_layout.finding.ink import Box

BREAK = 0.35
"""White between two lines, in heights of the lines, that never separates blocks, however close the lines of
the page are.
"""
SPACING = 1.7
"""Lines further apart than this many times the usual distance on the page are in two blocks."""
SHORT = 0.25
"""A line shorter than this share of the one below, and not starting where that starts, is separate: a page number."""
OVERLAP = 0.4
"""Lines of one block overlap horizontally by at least this share of the narrower one."""
TALLER = 2.2
"""Lines whose heights differ by more than this factor are in two blocks: a heading and its text."""
GUTTER = 1.5
"""Pieces of a row closer to each other than this, in heights, are one line."""
WIDE_GAP = 8.0
"""Pieces up to this far apart are one line if nearby lines continue across the gap: it is not a gutter
between columns.
"""
AROUND = 3.5
"""How far up and down, in heights, lines are checked for crossing a gap."""


def regions_of(lines: Sequence[Box]) -> list[list[int]]:
    """Return which of *lines* form a block together, each block from the top; the blocks by their first line.

    A line belongs to the block of the line below if the two overlap horizontally, are close, have letters of
    similar size, and have no other line beside either of them: so a heading over two columns joins neither.
    """
    parts = list(range(len(lines)))

    def root(number: int) -> int:
        while parts[number] != number:
            parts[number] = parts[parts[number]]
            number = parts[number]
        return number

    for line, other in _pieces_of_a_row(lines):
        parts[root(line)] = root(other)
    merged: dict[int, list[int]] = {}
    for number in range(len(lines)):
        merged.setdefault(root(number), []).append(number)
    rows = [(_hull([lines[number] for number in group]), group) for group in merged.values()]
    for above, below in _neighbours([box for box, _ in rows]):
        parts[root(rows[above][1][0])] = root(rows[below][1][0])
    blocks: dict[int, list[int]] = {}
    for number in sorted(range(len(lines)), key=lambda n: (lines[n].top, lines[n].left)):
        blocks.setdefault(root(number), []).append(number)
    return list(blocks.values())


def _hull(boxes: Sequence[Box]) -> Box:
    whole = boxes[0]
    for box in boxes[1:]:
        whole = whole.union(box)
    return whole


def _pieces_of_a_row(lines: Sequence[Box]) -> list[tuple[int, int]]:
    """Return pairs of lines that are side by side in one row and are pieces of one line."""
    joined = []
    order = sorted(range(len(lines)), key=lambda n: lines[n].left)
    widest = WIDE_GAP * max((box.height for box in lines), default=0.0)
    for place, line_number in enumerate(order):
        line = lines[line_number]
        for other in order[place + 1 :]:
            below = lines[other]
            if below.left - line.left > line.width + widest:
                break
            height = min(line.height, below.height)
            down = min(line.bottom, below.bottom) - max(line.top, below.top)
            if down <= 0.5 * height or max(line.height, below.height) >= TALLER * height:
                continue
            gap = below.left - line.right
            if gap <= GUTTER * height or (gap <= WIDE_GAP * height and _runs_on(lines, line, below)):
                joined.append((line_number, other))
    return joined


def _runs_on(lines: Sequence[Box], upper: Box, lower: Box) -> bool:
    """Return whether more of the lines above and below continue across the gap between two pieces of a row
    than break there.
    """
    middle, height = (upper.right + lower.left) / 2, max(upper.height, lower.height)
    top, bottom = (
        min(upper.top, lower.top) - AROUND * height,
        max(upper.bottom, lower.bottom) + AROUND * height,
    )
    across = beside = 0
    for line in lines:
        if line is upper or line is lower or not top < line.middle[1] < bottom:
            continue
        if line.left < middle - 0.3 * height and line.right > middle + 0.3 * height:
            across += 1
        elif line.right <= middle and middle - line.right < WIDE_GAP * height:
            beside += 1
    return across >= 2 and across >= beside


def _overlap_share(first: Box, second: Box) -> float:
    """Return the horizontal overlap of two boxes as a share of the narrower one."""
    narrower = min(first.width, second.width)
    return (min(first.right, second.right) - max(first.left, second.left)) / narrower if narrower > 0 else 0.0


def _neighbours(rows: Sequence[Box]) -> list[tuple[int, int]]:
    """Return pairs (above, below) of rows in one block."""
    order = sorted(range(len(rows)), key=lambda n: rows[n].middle[1])
    below: dict[int, list[int]] = {}
    above: dict[int, list[int]] = {}
    for place, row_number in enumerate(order):
        row = rows[row_number]
        nearest: float | None = None
        for other in order[place + 1 :]:
            other_row = rows[other]
            if other_row.middle[1] - row.middle[1] < 0.5 * min(row.height, other_row.height):
                continue
            if nearest is not None and other_row.top > nearest:
                break
            if _overlap_share(row, other_row) > 0:
                # All lines in the first row below, not only one of them.
                nearest = other_row.middle[1] if nearest is None else nearest
                below.setdefault(row_number, []).append(other)
                above.setdefault(other, []).append(row_number)
    pairs = [
        (upper, others[0])
        for upper, others in below.items()
        if len(others) == 1 and len(above[others[0]]) == 1 and _are_alike(rows[upper], rows[others[0]])
    ]
    if not pairs:
        return []
    distances = {pair: rows[pair[1]].middle[1] - rows[pair[0]].middle[1] for pair in pairs}
    usual = median(distances.values())
    return [pair for pair in pairs if _are_near(rows[pair[0]], rows[pair[1]], distances[pair], usual)]


def _are_alike(first: Box, second: Box) -> bool:
    if first.width < SHORT * second.width and first.left - second.left > SHORT * second.width:
        return False
    return _overlap_share(first, second) >= OVERLAP and max(first.height, second.height) <= TALLER * min(
        first.height, second.height
    )


def _are_near(first: Box, second: Box, distance: float, usual: float) -> bool:
    white = second.top - first.bottom
    return distance <= SPACING * usual or white <= BREAK * min(first.height, second.height)


def hull_of(lines: Sequence[Box], pad: float = 0.0) -> Box:
    """Return the box around *lines*, enlarged by *pad* in each direction."""
    whole = _hull(list(lines))
    return Box(whole.left - pad, whole.top - pad, whole.right + pad, whole.bottom + pad)
