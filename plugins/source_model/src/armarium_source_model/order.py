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

from armarium_source_model.blocks import order_blocks
from armarium_source_model.columns import order_lines
from armarium_source_model.facts import Holder, Ladder, PageFacts
from armarium_source_model.rows import Box

HORIZONTAL = frozenset({"ltr", "rtl"})
VERTICAL = frozenset({"ttb", "btt"})
LEFT_TO_RIGHT_COLUMNS = frozenset({"Mong", "Phag"})
"""Scripts whose vertical lines follow each other from left to right; all others run from right to left."""
FOOT_ROLES = frozenset({"footnote", "footnote-continued", "endnote"})

REGION_INSET = 0.012
"""Regions are drawn generously: their boxes are shrunk by this (page heights) before white space is sought."""


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


class PageOrder(NamedTuple):
    """The ids of shapes in reading order, and whether the positions would allow another order nearly as well."""

    ids: list[str]
    in_doubt: bool = False


class Lean(NamedTuple):
    """What the baselines of a page tell of it."""

    slope: float = 0.0
    """The fall of the lines to the right (page heights per page height), or of vertical lines to the left."""
    is_vertical: bool | None = None
    """Whether most baselines run downward; None without baselines."""


UNKNOWN_LEAN = Lean()


def reading_sequence(
    shapes: Sequence[Shape],
    *,
    direction: str | None = None,
    aspect: float = 1.0,
    lean: Lean = UNKNOWN_LEAN,
    columns: int | None = None,
    within: Callable[[str | None], Way] | None = None,
) -> list[str]:
    """Return the ids of *shapes* in reading order, as `order_page` does."""
    return order_page(
        shapes, direction=direction, aspect=aspect, lean=lean, columns=columns, within=within
    ).ids


def order_page(
    shapes: Sequence[Shape],
    *,
    direction: str | None = None,
    aspect: float = 1.0,
    lean: Lean = UNKNOWN_LEAN,
    columns: int | None = None,
    within: Callable[[str | None], Way] | None = None,
) -> PageOrder:
    """Put *shapes* in reading order: every parent before its children, every shape exactly once.

    direction: that of the page, if known (ltr, rtl, ttb, btt); what a segment states takes precedence for its
    parts. within: returns the direction of the parts of a segment and (given None) of the segments without a
    parent; if not given, *direction* and the statements of the shapes apply. aspect: width of the image
    divided by its height, to tell a vertical line from a short wide one. lean: what the baselines tell. columns: the number of columns in which the page's
    lines stand (those of the region that has most), where somebody has said so.

    The order depends on the shapes alone, not on how they are listed: where positions tie, the lower id goes
    first.
    """
    shapes = sorted(shapes, key=itemgetter(0))
    children = _children_of(shapes)
    way_of = within or _stated_ways(shapes, direction)
    holder = None if columns is None else lines_holder(shapes)
    sequence: list[str] = []
    visited: set[str] = set()
    in_doubt = False

    def brothers(parent: str | None) -> list[Shape]:
        nonlocal in_doubt
        number = columns if parent == holder else None
        ordered, doubt = _order_brothers(children.get(parent, []), way_of(parent), aspect, lean, number)
        in_doubt = in_doubt or doubt
        return ordered

    stack = list(reversed(brothers(None)))
    while stack:
        shape = stack.pop()
        if shape.id in visited:
            continue
        visited.add(shape.id)
        sequence.append(shape.id)
        if shape.id in children:
            stack.extend(reversed(brothers(shape.id)))
    for shape in shapes:
        # The database cannot contain a cycle of parents, but a caller's list may: nothing is lost.
        if shape.id not in visited:
            sequence.append(shape.id)
    return PageOrder(sequence, in_doubt)


def _children_of(shapes: Iterable[Shape]) -> dict[str | None, list[Shape]]:
    shape_ids = {shape.id for shape in shapes}
    children: dict[str | None, list[Shape]] = {}
    for shape in shapes:
        parent = shape.parent_id if shape.parent_id in shape_ids and shape.parent_id != shape.id else None
        children.setdefault(parent, []).append(shape)
    return children


def lines_holder(shapes: Sequence[Shape]) -> str | None:
    """Return the id of the region that holds most lines of the page; None if most are in none."""
    counts = {
        parent: sum(shape.kind == "line" for shape in inside)
        for parent, inside in _children_of(shapes).items()
    }
    return max(counts, key=lambda parent: (counts[parent], parent is None, parent or ""), default=None)


def ladder_of_shapes(shapes: Iterable[Shape], page: PageFacts) -> Ladder:
    """Return the facts that *shapes* and the page state; languages are left out."""
    return Ladder(
        page,
        (
            (Holder("segment", shape.id, None, shape.script, shape.direction), shape.parent_id)
            for shape in shapes
        ),
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


def lean_of(baselines: Iterable[Sequence[Sequence[float]]], aspect: float = 1.0) -> Lean:
    """Return the median slope of *baselines* (fractions, in writing direction) and whether most run downward."""
    slopes: list[float] = []
    down = count = 0
    for points in baselines:
        run = (points[-1][0] - points[0][0]) * aspect
        rise = points[-1][1] - points[0][1]
        count += 1
        down += rise > 2 * abs(run)
        if max(abs(run), abs(rise)) > 0.05:
            if abs(rise) < 0.3 * abs(run):
                slopes.append(rise / run)
            elif abs(run) < 0.3 * abs(rise):
                slopes.append(-run / rise)
    return Lean(median(slopes) if len(slopes) >= 3 else 0.0, 2 * down > count if count else None)


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


def _order_brothers(
    shapes: list[Shape], way: Way, aspect: float, lean: Lean, columns: int | None
) -> tuple[list[Shape], bool]:
    """Order the shapes of one parent: head furniture, body, footnotes, margins, foot furniture, each by
    position. Return also whether that leaves doubt.
    """
    if len(shapes) < 2:
        return shapes, False
    if all(shape.row is not None for shape in shapes):
        return sorted(shapes, key=lambda shape: (shape.row or 0, shape.column or 0)), False
    direction = _direction_of(shapes, way.direction, aspect, lean)
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
    if not body:
        # A margin region's own lines all say "marginalia": among themselves they are ordinary text.
        body, notes, margin = notes + margin, [], []
    ordered: list[Shape] = []
    in_doubt = False
    for group in (head, body, notes, margin, foot):
        if len(group) > 1:
            number = columns if group is body else None
            group, doubt = _place(group, Way(direction, script, way.line_order), aspect, lean.slope, number)
            in_doubt = in_doubt or doubt
        ordered += group
    return ordered, in_doubt


@lru_cache(maxsize=1024)
def _part_of(role: str) -> str | None:
    """Return the part of the page that one of the words of a format's kind names: `TextRegion:marginalia`,
    `MarginTextZone:note`.
    """
    words = {
        "".join(letter for letter in word if letter.isalpha() or letter == "-")
        for word in role.casefold().split(":")
    }
    if words & FOOT_ROLES:
        return "foot"
    return "margin" if any(word.startswith("margin") for word in words) else None


def _direction_of(shapes: list[Shape], stated: str | None, aspect: float, lean: Lean) -> str:
    """Return the direction known for the parent, else of most siblings, else by baselines and shape, else ltr."""
    if stated is not None:
        return stated
    directions = Counter(
        shape.direction for shape in shapes if shape.direction in HORIZONTAL or shape.direction in VERTICAL
    )
    if directions and 2 * sum(directions.values()) >= len(shapes):
        return str(directions.most_common(1)[0][0])
    return "ltr" if lean.is_vertical is False else line_shape_direction(shapes, aspect) or "ltr"


def _place(
    shapes: list[Shape], way: Way, aspect: float, slope: float, columns: int | None
) -> tuple[list[Shape], bool]:
    """Order *shapes* by position alone, in the common frame of their direction."""
    turn = _turn(way, aspect)
    boxes: list[Box] = []
    kinds = {shape.kind for shape in shapes}
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
        is_piece = shape.kind == "word" and "line" in kinds
        boxes.append(Box(index, u0 + du, u1 - du, v0 + dv, v1 - dv, thick, is_piece))
    if "region" in kinds:
        ordered, in_doubt = order_blocks(boxes), False
    else:
        ordered, in_doubt = order_lines(boxes, columns)
    return [shapes[box.at] for box in ordered], in_doubt


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
