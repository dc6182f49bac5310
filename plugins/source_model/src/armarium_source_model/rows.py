"""Orders the lines of one column: rows, initials, words between lines, and then the notes beside it; pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import NamedTuple

SHORT = 3.5
"""Pieces shorter than this many times their thickness are cells, initials or crumbs: they show no column."""
FULL = 0.6
"""A full line of a column is longer than this part of its long ones."""
LEAST_FULL = 5
"""A column of fewer full lines has no edges that notes could stand beside."""
NOTES = 0.6
"""Notes beside a column are fewer than this part of its full lines; more are cells, or a column."""
NOTE_GUTTER = 0.03
"""The white between a column and a note beside it, in widths of the column; notes one below another need none."""


class Box(NamedTuple):
    """A shape in the common frame. v0 and v1 are those of the body of a line, thick is its whole thickness."""

    at: int
    u0: float
    u1: float
    v0: float
    v1: float
    thick: float
    is_piece: bool = False
    """Whether it is a word among lines."""

    @property
    def middle(self) -> float:
        return (self.v0 + self.v1) / 2

    @property
    def length(self) -> float:
        return self.u1 - self.u0

    @property
    def is_long(self) -> bool:
        return not self.is_piece and self.length >= SHORT * self.thick


def order_column(boxes: list[Box]) -> list[Box]:
    """Order one column: its rows, then the notes beside it."""
    body, notes = _notes_apart(boxes)
    return [*_order_rows(body), *_order_rows(notes)]


def _notes_apart(boxes: list[Box]) -> tuple[list[Box], list[Box]]:
    """Separate the notes in the margin from the text: (text, notes).

    A note stands beside the full lines, across a gutter or with others above or below it. An initial before its line
    is none, and as many as there are full lines are a part of them.
    """
    if not boxes:
        return boxes, []
    full_length = FULL * quantile((box.length for box in boxes), 0.9)
    full = [box for box in boxes if box.length > full_length]
    if len(full) < LEAST_FULL:
        return boxes, []
    left, right = quantile((box.u0 for box in full), 0.1), quantile((box.u1 for box in full), 0.9)
    top, bottom = min(box.v0 for box in full), max(box.v1 for box in full)
    size = median(box.thick for box in full)
    beside: list[tuple[bool, Box]] = []
    for box in boxes:
        runs_otherwise = box.thick > 5 * size and box.length < box.thick
        is_initial = box.length < 2 * size and left - 2.5 * size < box.u1 < left + size
        is_outside = box.u0 + 0.75 * box.length > right or box.u1 - 0.75 * box.length < left
        is_short = box.length <= full_length and not is_initial
        if runs_otherwise or (is_short and is_outside and top <= box.middle <= bottom):
            beside.append((box.u0 < left, box))
    notes: set[int] = set()
    white = NOTE_GUTTER * (right - left)
    for side in (True, False):
        of_side = sorted((box for at, box in beside if at is side), key=lambda box: box.middle)
        for first_box, other in pairwise(of_side):
            if other.middle - first_box.middle < 1.6 * size:
                notes |= {first_box.at, other.at}
        notes |= {box.at for box in of_side if box.u1 < left - white or box.u0 > right + white}
        notes |= {box.at for box in of_side if box.thick > 5 * size}
    if not notes or len(notes) > NOTES * len(full):
        return boxes, []
    return [box for box in boxes if box.at not in notes], [box for box in boxes if box.at in notes]


def _order_rows(boxes: list[Box]) -> list[Box]:
    """Order the pieces of one column row by row, each row along the line."""
    if len(boxes) < 2:
        return boxes
    lines = [box for box in boxes if box.is_long] or boxes
    size = quantile((box.thick for box in lines), 0.8)

    def top(box: Box) -> float:
        # An initial over several lines reaches up to its first as far as that one does.
        return min(box.v0, box.middle - box.thick / 2 + 0.28 * size)

    strips: list[list[Box]] = []
    reach = float("-inf")
    for box in sorted(boxes, key=top):
        if top(box) >= reach:
            strips.append([])
        strips[-1].append(box)
        reach = max(reach, box.v1)
    if len(strips) == len(boxes):
        return [box for strip in strips for box in strip]
    long = 0.4 * quantile((box.length for box in lines), 0.9)
    pitch = max(
        pitch_of([box for box in lines if box.thick > 0.7 * size and box.length > long], size), 0.5 * size
    )
    out: list[Box] = []
    for strip in strips:
        height = max(box.v1 for box in strip) - min(box.v0 for box in strip)
        thickest = max(strip, key=lambda box: box.thick)
        if height <= 1.3 * (thickest.v1 - thickest.v0) and thickest.thick < 1.6 * size:
            out += _order_along(strip)
        else:
            for row in _rows(strip, size, pitch):
                out += _order_along(row)
    return out


def _rows(boxes: list[Box], size: float, pitch: float) -> list[list[Box]]:
    """Group boxes that no straight cut separates: the lines first, then thin pieces and tall initials to theirs."""

    def height(box: Box) -> float:
        # An initial over several lines stands in the row of the first.
        return box.middle - box.thick / 2 + size / 2 if box.thick > 1.6 * size else box.middle

    def is_line(box: Box) -> bool:
        return 0.8 * size <= box.thick <= 1.6 * size

    def middle(row: list[Box]) -> float:
        return sum(map(height, row)) / len(row)

    rows: list[list[Box]] = []
    for box in sorted(filter(is_line, boxes), key=height):
        if rows and height(box) - middle(rows[-1]) < 0.4 * pitch and not _meets(box, rows[-1]):
            rows[-1].append(box)
        else:
            rows.append([box])
    places = [(middle(row), row) for row in rows]
    for box in sorted((box for box in boxes if not is_line(box)), key=height):
        at = bisect_left(places, height(box), key=lambda place: place[0])
        for level, row in sorted(
            places[max(0, at - 2) : at + 2], key=lambda place: abs(place[0] - height(box))
        ):
            if abs(level - height(box)) < 0.5 * min(size, pitch) and not _meets(box, filter(is_line, row)):
                row.append(box)
                break
        else:
            places.insert(at, (height(box), [box]))
    return [row for _, row in places]


def _meets(box: Box, others: Iterable[Box]) -> bool:
    """Return whether a box stands above or below one of the others rather than beside it."""
    return any(_overlap(box, other) >= 0.3 * min(box.length, other.length) for other in others)


def _order_along(row: list[Box]) -> list[Box]:
    """Order a row along the line; pieces one above another (a gloss in two half lines) from top to bottom."""
    stacks: list[list[Box]] = []
    for box in sorted(row, key=lambda box: box.u0):
        if stacks and _meets(box, stacks[-1]):
            stacks[-1].append(box)
        else:
            stacks.append([box])
    # What is level is level to a millionth of the page: turned boxes are not exactly so.
    return [box for stack in stacks for box in sorted(stack, key=lambda box: (round(box.middle, 6), box.u0))]


def _overlap(first: Box, second: Box) -> float:
    return min(first.u1, second.u1) - max(first.u0, second.u0)


def pitch_of(lines: list[Box], size: float) -> float:
    """Return the typical distance from a line to the next one in its column."""
    distances: list[float] = []
    lines = sorted(lines, key=lambda box: box.middle)
    for number, box in enumerate(lines):
        for other in lines[number + 1 : number + 12]:
            below = other.middle - box.middle
            if below > 0.4 * size and _overlap(box, other) > 0.5 * min(box.length, other.length):
                distances.append(below)
                break
    return median(distances) if distances else 1.5 * size


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]
