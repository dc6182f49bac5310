"""Clips shapes that reach beyond their page. Pixels, origin top left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from armarium_formats.page_model import Point
from armarium_formats.shapes import Box

Ring = list[Point]
"""Points in turn, the last joined to the first."""

_SIDES = ((0, -1), (1, -1), (0, 1), (1, 1))
"""Left, top, right, bottom: which coordinate a side bounds, and which way is out."""


def distance_beyond(box: Box, size: tuple[int, int]) -> float:
    """Return how many pixels a box reaches beyond the page; 0 or less if it is on it."""
    left, top, right, bottom = box
    return max(-left, -top, right - size[0], bottom - size[1])


def is_beside(box: Box, size: tuple[int, int]) -> bool:
    """Return whether a box is entirely off the page."""
    left, top, right, bottom = box
    return right < 0 or bottom < 0 or left > size[0] or top > size[1]


def clip_box(box: Box, size: tuple[int, int]) -> Box:
    """Return the part of a box that is on the page."""
    left, top, right, bottom = box
    return max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])


def clip_outline(points: Sequence[Point], size: tuple[int, int]) -> list[Ring]:
    """Return the parts of an outline on the page: usually one, several if it winds over the edge, or none."""
    rings = [list(points)]
    for axis, way in _SIDES:
        bound = size[axis] if way > 0 else 0
        rings = [part for ring in rings for part in _cut(ring, axis, way, bound)]
    return [ring for ring in rings if why_no_area(ring) is None]


def clip_path(points: Sequence[Point], size: tuple[int, int]) -> list[list[Point]]:
    """Return the runs of a baseline on the page, in its direction."""
    runs: list[list[Point]] = []
    for start, end in pairwise(points):
        piece = _piece(start, end, size)
        if piece is None:
            continue
        first, last = piece
        if runs and runs[-1][-1] == first == start:
            runs[-1].append(last)
        else:
            runs.append([first, last])
    return [run for run in runs if why_no_line(run) is None]


def why_no_area(points: Sequence[Point]) -> str | None:
    """Return why *points* are not an outline (three of them not collinear), or None."""
    if len(points) < 3:
        return f"has {len(points)} point{'' if len(points) == 1 else 's'}"
    ax, ay = points[0]
    dx = dy = 0.0
    for x, y in points:
        if dx or dy:
            if dx * (y - ay) != dy * (x - ax):
                return None
        else:
            dx, dy = x - ax, y - ay
    return "encloses no area"


def why_no_line(points: Sequence[Point]) -> str | None:
    """Return why *points* are not a baseline (two distinct ones), or None."""
    if len(points) < 2:
        return "has one point"
    return None if any(point != points[0] for point in points) else "has no length"


def _cut(ring: Ring, axis: int, way: int, bound: float) -> list[Ring]:
    """Return the parts of a ring on the inner side of one line."""
    depth = [way * (point[axis] - bound) for point in ring]
    if all(one <= 0 for one in depth):
        return [ring]
    start = next(number for number, one in enumerate(depth) if one > 0)
    chains: list[Ring] = []
    count = len(ring)
    for step in range(count):
        here, there = (start + step) % count, (start + step + 1) % count
        if (depth[here] > 0) != (depth[there] > 0):
            crossing = _crossing(ring[here], ring[there], depth[here], depth[there], axis, bound)
            if depth[here] > 0:
                chains.append([crossing])
            else:
                chains[-1].append(crossing)
        if depth[there] <= 0:
            chains[-1].append(ring[there])
    # What only touches the line encloses nothing.
    chains = [chain for chain in chains if any(point[axis] != bound for point in chain)]
    return [_without_doubles(one) for one in _join_chains(chains, 1 - axis)]


def _join_chains(chains: list[Ring], along: int) -> list[Ring]:
    """Close chains along the line on which they begin and end: the inside is between every other pair of
    ends.
    """
    ends = sorted(
        (chain[place][along], place, number) for number, chain in enumerate(chains) for place in (0, -1)
    )
    for here in range(1, len(ends) - 1, 2):
        # Two ends at the same position may come in either order.
        if ends[here - 1][1] == ends[here][1] and ends[here][0] == ends[here + 1][0]:
            ends[here], ends[here + 1] = ends[here + 1], ends[here]
    onward: dict[int, int] = {}
    for (_, place, number), (_, other_place, other) in zip(ends[::2], ends[1::2], strict=True):
        if place == other_place:
            # The outline crosses itself: each chain is closed separately.
            return chains
        from_end, to_start = (number, other) if place == -1 else (other, number)
        onward[from_end] = to_start
    rings: list[Ring] = []
    left = set(range(len(chains)))
    while left:
        number = min(left)
        ring: Ring = []
        while number in left:
            left.discard(number)
            ring += chains[number]
            number = onward[number]
        rings.append(ring)
    return rings


def _crossing(a: Point, b: Point, over: float, under: float, axis: int, bound: float) -> Point:
    """Return where the segment from *a* to *b* crosses a line."""
    other = a[1 - axis] + (b[1 - axis] - a[1 - axis]) * (over / (over - under))
    return (bound, other) if axis == 0 else (other, bound)


def _piece(a: Point, b: Point, size: tuple[int, int]) -> tuple[Point, Point] | None:
    """Return the part of a straight segment on the page."""
    for axis, way in _SIDES:
        bound = size[axis] if way > 0 else 0
        one, other = way * (a[axis] - bound), way * (b[axis] - bound)
        if one > 0 and other > 0:
            return None
        if one > 0:
            a = _crossing(a, b, one, other, axis, bound)
        elif other > 0:
            b = _crossing(a, b, one, other, axis, bound)
    return a, b


def _without_doubles(ring: Ring) -> Ring:
    return [point for number, point in enumerate(ring) if point != ring[number - 1]]
