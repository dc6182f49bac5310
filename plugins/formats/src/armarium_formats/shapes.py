"""Shapes on a page, in pixels, origin top left: boxes, the height of lines without an outline, clipping to the page, the
order of words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from armarium_formats.page_model import PageModel, PageSegment, Point

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""

ABOVE = 0.75
"""The part of a line's height that lies above its baseline; that of an upright line lies in its middle."""

LIKELY = 1 / 40
"""Of the page's longer side: the height of a line where the page tells nothing."""

MOST = 1 / 8
"""Of the page's longer side: no line is higher, however far lines stand apart."""

COLUMNS = 8
"""Lines that are looked at for the one that comes next: those of other columns lie between."""

_EDGE = 1e-9
"""Pixels by which a page is taken larger, so that a line along its very edge lies on it."""

_FEWEST = 3
"""Words of a line that show a direction: two may be swapped for other reasons."""


def corners(box: Box) -> list[Point]:
    """A box as an outline, clockwise from its top left corner."""
    left, top, right, bottom = box
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def bounds(points: Iterable[Point]) -> Box:
    """The box around points."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def surround(boxes: Iterable[Box]) -> Box:
    """The box around boxes."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def line_height(page: PageModel, size: tuple[int, int]) -> float:
    """Return the height of the page's lines in pixels: from their outlines, else from the distance of
    baselines.
    """
    lines = page.of_kind("line")
    heights = [
        _distance_across(line.points, line.baseline)
        for line in lines
        if len(line.points) > 2 and line.baseline
    ]
    if not heights:
        heights = [*_line_distances(line for line in page.segments if line.kind == "line")]
        for region in page.walk():
            heights += _line_distances(line for line in region.children if line.kind == "line")
    longest = max(size)
    return min(median(heights), longest * MOST) if heights else longest * LIKELY


def box_around(baseline: Sequence[Point], height: float) -> Box:
    """Return the box of a line of that height on a baseline."""
    left, top, right, bottom = bounds(baseline)
    if is_upright(baseline):
        return left - height / 2, top, right + height / 2, bottom
    return left, top - ABOVE * height, right, bottom + (1 - ABOVE) * height


def is_upright(baseline: Sequence[Point]) -> bool:
    """Return whether a line runs vertically rather than horizontally."""
    (x, y), (u, v) = baseline[0], baseline[-1]
    return abs(v - y) > abs(u - x)


def _distance_across(points: Sequence[Point], baseline: Sequence[Point]) -> float:
    along = [x if is_upright(baseline) else y for x, y in points]
    return max(along) - min(along)


def _line_distances(lines: Iterable[PageSegment]) -> list[float]:
    """Return the distance of each line to the next one beside it, across the writing direction."""
    spans: list[tuple[bool, float, float, float]] = []
    for line in lines:
        if not line.baseline:
            continue
        upright = is_upright(line.baseline)
        flat = [(y, x) for x, y in line.baseline] if upright else line.baseline
        along = [x for x, _ in flat]
        spans.append((upright, sum(y for _, y in flat) / len(flat), min(along), max(along)))
    spans.sort()
    distances: list[float] = []
    for number, (upright, place, start, end) in enumerate(spans):
        for other, further, first, last in spans[number + 1 : number + 1 + COLUMNS]:
            if other == upright and first < end and start < last:
                distances.append(further - place)
                break
    return [distance for distance in distances if distance > 0]


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


def clip_outline(points: Sequence[Point], size: tuple[int, int]) -> list[list[Point]]:
    """Return the parts of an outline on the page: usually one, several if it winds over the edge, or none."""
    import shapely

    outline = shapely.Polygon(points)
    if not outline.is_valid:  # it crosses itself
        outline = shapely.make_valid(outline)
    parts = shapely.get_parts(shapely.clip_by_rect(outline, 0, 0, *size))
    return [list(part.exterior.coords[:-1]) for part in parts if part.area > 0]


def clip_path(points: Sequence[Point], size: tuple[int, int]) -> list[list[Point]]:
    """Return the runs of a baseline on the page, in its direction."""
    import shapely

    width, height = size
    frame = (-_EDGE, -_EDGE, width + _EDGE, height + _EDGE)
    runs = shapely.get_parts(shapely.clip_by_rect(shapely.LineString(points), *frame))
    return [
        [(min(max(x, 0), width), min(max(y, 0), height)) for x, y in run.coords]
        for run in runs
        if run.length > 1000 * _EDGE
    ]


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


def runs_against_its_letters(line: PageSegment) -> bool:
    """Return whether the boxes of a line's words follow each other in the direction in which its letters do not run."""
    words = [child for child in line.children if child.kind == "word" and child.points and child.text]
    if len(words) < _FEWEST:
        return False
    letters = [unicodedata.bidirectional(letter) for word in words for letter in word.text]
    to_left = sum(kind in ("R", "AL") for kind in letters)
    to_right = letters.count("L")
    at = [sum(x for x, _ in word.points) / len(word.points) for word in words]
    if all(one < other for one, other in pairwise(at)):
        return to_left > 2 * to_right
    return all(one > other for one, other in pairwise(at)) and to_right > 2 * to_left
