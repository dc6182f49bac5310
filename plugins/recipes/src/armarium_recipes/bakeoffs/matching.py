"""When a line that was found matches a line that a person checked.

The rule: (1) along the writing, the two share at least half of the length they cover together; (2) at more
than half of 15 places spread evenly over the shared length, the middle of each lies within the other. Each
line is matched with at most one other, those that share most first. So a line found in two pieces counts
once, as the larger piece, if that is at least half of it; a box around two rows matches neither, because its
middle lies between them; and slanted or bent lines are compared where they run, not by their bounding boxes.
Areas across the writing are not compared: a tight outline and a tall box of the same line match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SHARED = 0.5
"""The least share of the length covered by two lines together that both must cover."""
PLACES = 15
"""At how many places along the shared length the middles are compared."""
TALL = 1.5
"""A line whose height is at least this many times its width is vertical writing."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Outline:
    """A line to be compared: the points around it, in pixels or any other unit that is the same in both directions."""

    points: tuple[Point, ...]
    is_vertical: bool

    def swap_axes(self) -> Outline:
        """Return the outline with its axes swapped, so that vertical writing runs along the first."""
        return Outline(tuple((y, x) for x, y in self.points), self.is_vertical)

    @property
    def ends(self) -> tuple[float, float]:
        """Return where it begins and ends along the first axis."""
        return min(x for x, _ in self.points), max(x for x, _ in self.points)

    def extent_at(self, at: float) -> tuple[float, float] | None:
        """Return its range along the second axis at *at* on the first; None outside the outline."""
        crossed = []
        for (x0, y0), (x1, y1) in zip(self.points, (*self.points[1:], self.points[0]), strict=True):
            if min(x0, x1) <= at <= max(x0, x1):
                crossed += [y0, y1] if x0 == x1 else [y0 + (y1 - y0) * (at - x0) / (x1 - x0)]
        return (min(crossed), max(crossed)) if crossed else None


def outline(shape: Mapping[str, Any]) -> Outline:
    """Return the outline of a line {rect: [x, y, w, h], polygon?, direction?}: its polygon, otherwise its box."""
    x, y, w, h = shape["rect"]
    points = [(float(px), float(py)) for px, py in shape.get("polygon") or ()]
    if len(points) < 3:
        points = [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]
    direction = shape.get("direction")
    is_vertical = h > TALL * w if direction is None else str(direction).startswith(("ttb", "btt"))
    return Outline(tuple(points), is_vertical)


def measure_overlap(one: Outline, other: Outline) -> float:
    """Return which share of the length covered by *one* and *other* together both cover; 0 if they are not
    the same line.

    The direction of writing is that of *one*.
    """
    if one.is_vertical:
        one, other = one.swap_axes(), other.swap_axes()
    begin, end = max(one.ends[0], other.ends[0]), min(one.ends[1], other.ends[1])
    whole = max(one.ends[1], other.ends[1]) - min(one.ends[0], other.ends[0])
    if whole <= 0 or end <= begin or (end - begin) / whole < SHARED:
        return 0.0
    agreeing = 0
    for number in range(PLACES):
        at = begin + (end - begin) * (number + 0.5) / PLACES
        here, there = one.extent_at(at), other.extent_at(at)
        if here is not None and there is not None:
            middle, theirs = sum(here) / 2, sum(there) / 2
            agreeing += there[0] <= middle <= there[1] and here[0] <= theirs <= here[1]
    return (end - begin) / whole if agreeing > PLACES / 2 else 0.0


def match_lines(reference: Sequence[Outline], found: Sequence[Outline]) -> dict[int, int]:
    """Return which *reference* line matches which *found* line, by their numbers; pairs that share most are
    matched first.
    """
    pairs = sorted(
        (
            (share, ours, theirs)
            for ours, outline in enumerate(reference)
            for theirs, other in enumerate(found)
            if _are_near(outline, other) and (share := measure_overlap(outline, other))
        ),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    matched: dict[int, int] = {}
    used = set()
    for _, ours, theirs in pairs:
        if ours not in matched and theirs not in used:
            matched[ours] = theirs
            used.add(theirs)
    return matched


def _are_near(first: Outline, other: Outline) -> bool:
    """Return whether the bounding boxes of two outlines touch."""
    for axis in (0, 1):
        ours, theirs = [point[axis] for point in first.points], [point[axis] for point in other.points]
        if min(ours) > max(theirs) or min(theirs) > max(ours):
            return False
    return True


def count_lines(
    reference: Sequence[Outline], checked: Sequence[bool], found: Sequence[Outline]
) -> dict[str, int]:
    """Return counts for one page: lines_checked, lines_found among them, and extra_lines, which match no line
    of the page, checked or not.
    """
    matched = match_lines(reference, found)
    return {
        "lines_checked": sum(checked),
        "lines_found": sum(is_checked for number, is_checked in enumerate(checked) if number in matched),
        "extra_lines": len(found) - len(matched),
    }
