"""Estimates the height of a page's lines, for those with a baseline but no outline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from armarium_formats.page_model import PageModel, PageSegment, Point

ABOVE = 0.75
"""The part of a line's height that lies above its baseline; that of an upright line lies in its middle."""

LIKELY = 1 / 40
"""Of the page's longer side: the height of a line where the page tells nothing."""

MOST = 1 / 8
"""Of the page's longer side: no line is higher, however far lines stand apart."""

COLUMNS = 8
"""Lines that are looked at for the one that comes next: those of other columns lie between."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


def line_height(page: PageModel, size: tuple[int, int]) -> float:
    """Return the height of the page's lines in pixels: from their outlines, else from the distance of
    baselines.
    """
    lines = page.of_kind("line")
    found = [
        _distance_across(line.points, line.baseline)
        for line in lines
        if len(line.points) > 2 and line.baseline
    ]
    if not found:
        found = [*_line_distances(line for line in page.segments if line.kind == "line")]
        for region in page.walk():
            found += _line_distances(line for line in region.children if line.kind == "line")
    longest = max(size)
    return min(median(found), longest * MOST) if found else longest * LIKELY


def box_around(baseline: Sequence[Point], height: float) -> Box:
    """Return the box of a line of that height on a baseline."""
    xs, ys = [x for x, _ in baseline], [y for _, y in baseline]
    if is_upright(baseline):
        return min(xs) - height / 2, min(ys), max(xs) + height / 2, max(ys)
    return min(xs), min(ys) - ABOVE * height, max(xs), max(ys) + (1 - ABOVE) * height


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
        along = [one for one, _ in flat]
        spans.append((upright, sum(one for _, one in flat) / len(flat), min(along), max(along)))
    spans.sort()
    found: list[float] = []
    for number, (upright, place, start, end) in enumerate(spans):
        for other, further, first, last in spans[number + 1 : number + 1 + COLUMNS]:
            if other == upright and first < end and start < last:
                found.append(further - place)
                break
    return [distance for distance in found if distance > 0]
