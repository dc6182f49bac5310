"""The reading order of a page, computed from the positions of its segments: columns, directions, margins,
furniture.

The tree of regions, lines and words is walked from the top; siblings are ordered by cutting the page along
its white space. Every direction is first transformed into the same frame (lines run along `u`, the page
progresses along `v`), so that there is one algorithm and no special case: right to left mirrors `u`, vertical
script swaps the axes. This module knows neither database nor text; a caller who knows the text may pass the
direction of the parts of a segment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from statistics import median
from typing import NamedTuple

from armarium_source_model.facts import Holder, Ladder, PageFacts
from armarium_source_model.whitespace import Box, cut

HORIZONTAL = frozenset({"ltr", "rtl"})
VERTICAL = frozenset({"ttb", "btt"})
LEFT_TO_RIGHT_COLUMNS = frozenset({"Mong", "Phag"})
"""Scripts whose vertical lines follow each other from left to right; all others run from right to left."""
FOOT_ROLES = frozenset({"footnote", "footnote-continued", "endnote"})

REGION_INSET = 0.012
"""Regions are drawn generously: their boxes are shrunk by this (page heights) before white space is sought."""

GLOSS_FULL = 0.6
"""A full line of the block is at least this part of the page's long lines."""
GLOSS_LEAST_LINES = 5
"""Fewer full lines than these have no edges to stand beside."""
GLOSS_WIDEST = 0.4
"""A gloss is narrower than this part of the block."""
GLOSS_GUTTER = 0.03
"""The white between block and gloss, at least, in widths of the block."""
GLOSS_MOST = 0.6
"""More glosses than this part of the full lines are a column."""


class Shape(NamedTuple):
    """What the order needs to know of a segment. x, y, w, h are fractions of the image, origin top left."""

    id: str
    kind: str
    x: float
    y: float
    w: float
    h: float
    parent_id: str | None = None
    is_furniture: bool = False
    direction: str | None = None
    """ltr, rtl, ttb or btt when the segment itself states it."""
    role: str | None = None
    """What the source calls it (marginalia, TextRegion:footnote); case and punctuation do not matter."""
    script: str | None = None
    row: int | None = None
    column: int | None = None
    """Its place in a table, when it is a cell."""
    line_order: str | None = None
    """How the lines in it follow each other when its source says so: tb, bt, lr or rl."""


class Way(NamedTuple):
    """The direction of the parts of a segment, or of the page; None where nothing is known."""

    direction: str | None = None
    """ltr, rtl, ttb or btt."""
    script: str | None = None
    line_order: str | None = None


def reading_sequence(
    shapes: Sequence[Shape],
    *,
    direction: str | None = None,
    aspect: float = 1.0,
    slope: float = 0.0,
    within: Callable[[str | None], Way] | None = None,
) -> list[str]:
    """Return the ids of *shapes* in reading order: every parent before its children, every shape exactly
    once.

    direction: that of the page, if known (ltr, rtl, ttb, btt); what a segment states takes precedence for its
    parts. within: returns the direction of the parts of a segment and (given None) of the segments without a
    parent; if not given, *direction* and the statements of the shapes apply. aspect: width of the image
    divided by its height, to tell a vertical line from a short wide one. slope: the fall of the lines to the
    right (page heights per page height), from `page_slope`.

    The order depends on the shapes alone, not on how they are listed: where positions tie, the lower id goes
    first.
    """
    shapes = sorted(shapes, key=itemgetter(0))
    known = {shape.id for shape in shapes}
    children: dict[str | None, list[Shape]] = {}
    for shape in shapes:
        parent = shape.parent_id if shape.parent_id in known and shape.parent_id != shape.id else None
        children.setdefault(parent, []).append(shape)
    sequence: list[str] = []
    seen: set[str] = set()

    if within is None:
        within = _stated_ways(shapes, direction)
    stack = list(reversed(_order_brothers(children.get(None, []), within(None), aspect, slope)))
    while stack:
        shape = stack.pop()
        if shape.id in seen:
            continue
        seen.add(shape.id)
        sequence.append(shape.id)
        inside = children.get(shape.id)
        if inside:
            stack.extend(reversed(_order_brothers(inside, within(shape.id), aspect, slope)))
    for shape in shapes:
        # The database cannot contain a cycle of parents, but a caller's list may: nothing is lost.
        if shape.id not in seen:
            sequence.append(shape.id)
    return sequence


def ladder_of_shapes(shapes: Iterable[Shape], page: PageFacts) -> Ladder:
    """Return the facts that *shapes* and the page state; languages are left out."""
    return Ladder(
        page,
        ((Holder("segment", one.id, None, one.script, one.direction), one.parent_id) for one in shapes),
    )


def geometric(direction: str | None) -> str | None:
    """Return a direction that says where lines begin and where they go; None for alternating and baseline
    ones.
    """
    return direction if direction in HORIZONTAL or direction in VERTICAL else None


def _stated_ways(shapes: Sequence[Shape], direction: str | None) -> Callable[[str | None], Way]:
    page = Holder("page", "", direction=direction)
    ladder = ladder_of_shapes(shapes, PageFacts((page,)))

    def way(segment_id: str | None) -> Way:
        return Way(geometric(ladder.value("direction", segment_id)), ladder.value("script", segment_id))

    return way


def page_slope(baselines: Iterable[Sequence[Sequence[float]]], aspect: float = 1.0) -> float:
    """Return the median fall of *baselines* (fractions) to the right; 0 if too few are level."""
    slopes: list[float] = []
    for points in baselines:
        run = (points[-1][0] - points[0][0]) * aspect
        rise = points[-1][1] - points[0][1]
        if abs(run) > 0.05 and abs(rise) < 0.3 * abs(run):
            slopes.append(rise / run)
    return median(slopes) if len(slopes) >= 3 else 0.0


def line_shape_direction(shapes: Iterable[Shape], aspect: float = 1.0) -> str | None:
    """Return ttb if most lines are more than twice as tall as wide, else None: shapes alone do not decide."""
    tall = wide = 0
    for shape in shapes:
        if shape.kind == "line":
            if shape.h > 2 * shape.w * aspect:
                tall += 1
            else:
                wide += 1
    return "ttb" if tall > wide else None


def _order_brothers(shapes: list[Shape], way: Way, aspect: float, slope: float) -> list[Shape]:
    """Order the shapes of one parent: head furniture, body, footnotes, margins, foot furniture, each by
    position.
    """
    if len(shapes) < 2:
        return shapes
    if all(shape.row is not None for shape in shapes):
        return sorted(shapes, key=lambda s: (s.row or 0, s.column or 0))
    direction = _direction_of(shapes, way.direction, aspect)
    scripts = Counter(shape.script for shape in shapes if shape.script)
    script = way.script or (scripts.most_common(1)[0][0] if scripts else None)
    head: list[Shape] = []
    body: list[Shape] = []
    notes: list[Shape] = []
    margin: list[Shape] = []
    foot: list[Shape] = []
    for shape in shapes:
        if shape.is_furniture:
            (head if shape.y + shape.h / 2 < 0.5 else foot).append(shape)
        else:
            part = _part_of(shape.role) if shape.role else None
            (margin if part == "margin" else notes if part == "foot" else body).append(shape)
    if body and not margin:
        body, margin = _glosses_apart(body, direction)
    if not body:
        # A margin region's own lines all say "marginalia": among themselves they are ordinary text.
        body, notes, margin = notes + margin, [], []
    ordered: list[Shape] = []
    for group in (head, body, notes, margin, foot):
        if len(group) > 1:
            group = _place(group, Way(direction, script, way.line_order), aspect, slope)
        ordered += group
    return ordered


def _glosses_apart(shapes: list[Shape], direction: str) -> tuple[list[Shape], list[Shape]]:
    """Separate lines whose source does not distinguish body and margin: (body, glosses).

    A gloss is a narrow line entirely beside the text block, across a gutter, at the height of the block. If
    such lines are many, they are a column of the text; then, and if the block has too few full lines to have
    edges, nothing is separated.
    """
    if direction not in HORIZONTAL or any(shape.kind == "region" or shape.role for shape in shapes):
        return shapes, []
    widths = sorted(shape.w for shape in shapes)
    short = GLOSS_FULL * widths[int(0.9 * (len(widths) - 1))]
    full = [shape for shape in shapes if shape.w > short]
    if len(full) < GLOSS_LEAST_LINES:
        return shapes, []
    left = sorted(shape.x for shape in full)[len(full) // 10]
    right = sorted(shape.x + shape.w for shape in full)[-1 - len(full) // 10]
    top, bottom = min(shape.y for shape in full), max(shape.y + shape.h for shape in full)
    widest, gutter = GLOSS_WIDEST * (right - left), GLOSS_GUTTER * (right - left)
    glosses = [
        shape
        for shape in shapes
        if shape.w < widest
        # A line as long as the others is not a gloss, however far out its column is.
        and shape.w <= short
        and (shape.x + shape.w < left - gutter or shape.x > right + gutter)
        and top <= shape.y + shape.h / 2 <= bottom
    ]
    if not glosses or len(glosses) > GLOSS_MOST * len(full):
        return shapes, []
    apart = {shape.id for shape in glosses}
    return [shape for shape in shapes if shape.id not in apart], glosses


@lru_cache(maxsize=1024)
def _part_of(role: str) -> str | None:
    """Return the part of the page that one of the words of a format's kind names: `TextRegion:marginalia`,
    `MarginTextZone:note`.
    """
    words = {"".join(ch for ch in word if ch.isalpha() or ch == "-") for word in role.casefold().split(":")}
    if words & FOOT_ROLES:
        return "foot"
    return "margin" if any(word.startswith("margin") for word in words) else None


def _direction_of(shapes: list[Shape], known: str | None, aspect: float) -> str:
    """Return the direction known for the parent, else of most siblings, else by shape, else ltr."""
    if known is not None:
        return known
    stated = Counter(s.direction for s in shapes if s.direction in HORIZONTAL or s.direction in VERTICAL)
    if stated and 2 * sum(stated.values()) >= len(shapes):
        return str(stated.most_common(1)[0][0])
    return line_shape_direction(shapes, aspect) or "ltr"


def _place(shapes: list[Shape], way: Way, aspect: float, slope: float) -> list[Shape]:
    """Order *shapes* by position alone, in the common frame of their direction."""
    turn = _turn(way, aspect)
    boxes: list[Box] = []
    lines_only = all(shape.kind != "region" for shape in shapes)
    for index, shape in enumerate(shapes):
        x0, x1, y0, y1 = shape.x * aspect, (shape.x + shape.w) * aspect, shape.y, shape.y + shape.h
        if slope:
            # Rotated level about the middle: the shape keeps its centre and loses the height that the slope
            # added.
            cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
            half_h = max((y1 - y0) - abs(slope) * (x1 - x0), 0.3 * (y1 - y0)) / 2
            half_w = max((x1 - x0) - abs(slope) * (y1 - y0), 0.3 * (x1 - x0)) / 2
            tx, ty = cx + slope * cy, cy - slope * cx
            x0, x1, y0, y1 = tx - half_w, tx + half_w, ty - half_h, ty + half_h
        u0, u1, v0, v1 = turn(x0, x1, y0, y1)
        thick = v1 - v0
        if shape.kind == "region":
            du, dv = min(0.1 * (u1 - u0), REGION_INSET), min(0.1 * thick, REGION_INSET)
        else:
            # Ascenders and descenders reach into the neighbouring lines: only the body of a line determines
            # its row.
            du, dv = min(0.15 * thick, 0.2 * (u1 - u0)), 0.28 * thick
        boxes.append(Box(index, u0 + du, u1 - du, v0 + dv, v1 - dv, thick))
    least = 0.9 * median(box.thick for box in boxes) if lines_only else 0.003
    ordered: list[Box] = []
    cut(boxes, least, lines_only, ordered)
    return [shapes[box.at] for box in ordered]


_Turn = Callable[[float, float, float, float], tuple[float, float, float, float]]


def _turn(way: Way, aspect: float) -> _Turn:
    """Return the function that maps x0, x1, y0, y1 to u0, u1, v0, v1 for a direction of lines and page."""
    direction, script, line_order = way
    if direction in VERTICAL:
        up = direction == "btt"
        rightwards = line_order == "lr" or (line_order != "rl" and script in LEFT_TO_RIGHT_COLUMNS)

        def turn_box(x0: float, x1: float, y0: float, y1: float) -> tuple[float, float, float, float]:
            u0, u1 = (1 - y1, 1 - y0) if up else (y0, y1)
            v0, v1 = (x0, x1) if rightwards else (aspect - x1, aspect - x0)
            return u0, u1, v0, v1

        return turn_box
    leftwards, upwards = direction == "rtl", line_order == "bt"

    def level(x0: float, x1: float, y0: float, y1: float) -> tuple[float, float, float, float]:
        u0, u1 = (aspect - x1, aspect - x0) if leftwards else (x0, x1)
        v0, v1 = (1 - y1, 1 - y0) if upwards else (y0, y1)
        return u0, u1, v0, v1

    return level
