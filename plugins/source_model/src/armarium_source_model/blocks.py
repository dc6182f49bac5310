"""Orders the regions of a page among each other: by pairs, or as the cells of a table; pure."""

from __future__ import annotations

from armarium_source_model.columns import order_lines
from armarium_source_model.rows import Box

CELL = 0.05
"""Regions lower than this (page heights), in full rows, are cells of a table."""
SPANS = 0.6
"""A region alone in its row and wider than this part of all regions divides what is above from what is below."""
FEW = 120
"""Up to so many regions are ordered pair by pair; more are treated as lines."""


def order_blocks(boxes: list[Box]) -> list[Box]:
    """Order regions, whose boxes are in the common frame (`rows.Box`)."""
    if len(boxes) < 2:
        return boxes
    rows: list[list[Box]] = []
    reach = float("-inf")
    for box in sorted(boxes, key=lambda box: box.v0):
        if box.v0 >= reach:
            rows.append([])
        rows[-1].append(box)
        reach = max(reach, box.v1)
    cells = {len(row) for row in rows}
    if len(rows) > 2 and len(cells) == 1 and cells != {1} and all(box.thick < CELL for box in boxes):
        return [box for row in rows for box in sorted(row, key=lambda box: box.u0)]
    wide = SPANS * (max(b.u1 for b in boxes) - min(b.u0 for b in boxes))
    out: list[Box] = []
    between: list[Box] = []
    for row in rows:
        between += row
        if len(row) == 1 and row[0].length > wide:
            # What spans the page alone divides it.
            out += [*_order_tangle(between[:-1]), row[0]]
            between = []
    return out + _order_tangle(between)


def _order_tangle(boxes: list[Box]) -> list[Box]:
    return _pairwise(boxes) if len(boxes) <= FEW else order_lines(boxes).boxes


def _are_stacked(first: Box, second: Box) -> bool:
    """Return whether two boxes share a column: they overlap along the line more than along the page."""
    along = min(first.u1, second.u1) - max(first.u0, second.u0)
    if along <= 0:
        return False
    down = min(first.v1, second.v1) - max(first.v0, second.v0)
    if down <= 0:
        return True
    shorter = min(first.u1 - first.u0, second.u1 - second.u0) or 1e-9
    lower = min(first.v1 - first.v0, second.v1 - second.v0) or 1e-9
    return along / shorter >= down / lower


def _pairwise(boxes: list[Box]) -> list[Box]:
    """Order by two rules about pairs, after their transitive closure: above goes first if two boxes share a
    column; otherwise the left one goes first, unless a box that spans both is between them.
    """
    boxes = sorted(boxes, key=lambda box: (box.middle, box.u0))
    count = len(boxes)
    later: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for i in range(count):
        box = boxes[i]
        for j in range(i + 1, count):
            other = boxes[j]
            if _are_stacked(box, other):
                first, second = i, j
            else:
                first, second = (i, j) if box.u0 + box.u1 <= other.u0 + other.u1 else (j, i)
                left, right = boxes[first], boxes[second]
                if any(_are_stacked(k, left) and _are_stacked(k, right) for k in boxes[i + 1 : j]):
                    first, second = i, j
            later[first].append(second)
            waits[second] += 1
    out: list[Box] = []
    unplaced = set(range(count))
    while unplaced:
        # If the rules form a cycle, the box that waits for the fewest goes first; the highest of those.
        chosen = min(unplaced, key=lambda number: (waits[number], number))
        unplaced.discard(chosen)
        out.append(boxes[chosen])
        for following in later[chosen]:
            waits[following] -= 1
    return out
