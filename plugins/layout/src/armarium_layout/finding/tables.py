"""The cells of ruled tables: from their rules, and, if only columns are ruled, from the rows of text between
them.

A grid first consists of all lines across and down; then fields that no line separates become one cell that
spans them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy

from armarium_layout.finding.ink import Box, Sheet, letter_height, pieces_of, rows_of
from armarium_layout.finding.rules import Rule, rules_of
from armarium_layout.finding.text_rows import starts_of_rows

DRAWN = 0.5
"""A side of a cell exists if this share of it is ruled."""
ROOM = 0.012
"""Rules closer to each other than this share of the table's extent are one (a double rule)."""

ACROSS = 0.35
"""If more than this share of the lines of text crosses vertical rules, these separate no columns."""
WIDE_COLUMN = 24
"""Vertical rules without a frame are columns of one table up to this far apart, in letters, or half their own
length.
"""
NEARBY = 0.12
"""Text belongs to a column outside the last rule if it begins closer to it than this, in table heights."""
SPREAD = 0.15
"""Vertical rules closer to each other than this share of a grid's width are the edge of the sheet beside an
underline.
"""
NARROW = 3
"""A column narrower than so many line heights, and almost empty, is the gap of a double rule."""
BLOTS = 4
"""Fewer pieces of ink than this in such a gap are not writing."""
OPEN_BAND = 0.4
"""A band between two level rules is one row of cells; if it is this share of the whole table, it contains
rows of text.
"""


class Cell(NamedTuple):
    """A cell: where it is (pixels), its row and column counted from 0, and how many rows and columns it spans."""

    box: Box
    row: int
    column: int
    row_span: int = 1
    column_span: int = 1


class Table(NamedTuple):
    """A table with its cells, row by row."""

    box: Box
    cells: list[Cell]


def tables_of(sheet: Sheet, lines: Sequence[Box] | None = None) -> list[Table]:
    """Return the tables of a page in which at least columns are ruled. *lines*: the lines of text, if known."""
    letters = letter_height(pieces_of(sheet.ink)[0])
    upright = rules_of(sheet, letters, upright=True)
    if len(upright) < 2:
        return []
    level = rules_of(sheet, letters, upright=False)
    text_rows = list(lines) if lines is not None else rows_of(sheet.ink)
    tables = []
    for columns, rows in _grids(upright, level, letters):
        columns, rows = _without_strokes(_without_edges(columns, rows), rows, text_rows)
        if len(columns) < 2:
            continue
        box = _extent(columns, rows)
        if columns[-1].middle - columns[0].middle < SPREAD * box.width:
            continue
        inside = [line for line in text_rows if line.shared_area(box) > 0.5 * line.width * line.height]
        if _written_across(inside, columns, letters):
            continue
        table = _build_ruled(box, columns, rows, inside, text_rows)
        if table is not None:
            tables.append(table)
    return tables


def _written_across(lines: Sequence[Box], columns: Sequence[Rule], letters: float) -> bool:
    """Return whether lines of text cross the vertical rules: then it is ruled or squared paper."""
    wide = [line for line in lines if line.width > 6 * letters]
    across = sum(
        any(
            line.left + letters < rule.position_at(line.middle[1]) < line.right - letters
            and rule.along[0] < line.middle[1] < rule.along[1]
            for rule in columns
        )
        for line in wide
    )
    return across > ACROSS * len(wide)


def _grids(upright: list[Rule], level: list[Rule], letters: float) -> list[tuple[list[Rule], list[Rule]]]:
    """Return groups of rules that cross, or run side by side at the same height, if they may be a table."""
    upright, level = _select_grid(upright, level, letters)
    count = len(upright)
    parts = list(range(count + len(level)))

    def root(number: int) -> int:
        while parts[number] != number:
            number = parts[number]
        return number

    for i, upright_rule in enumerate(upright):
        for j, other in enumerate(level):
            if _cross(upright_rule, other):
                parts[root(i)] = root(count + j)
        for j, beside in enumerate(upright[:i]):
            if _side_by_side(upright_rule, beside, level, letters):
                parts[root(i)] = root(j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for number in range(len(parts)):
        rules = groups.setdefault(root(number), ([], []))
        rules[0 if number < count else 1].append(upright[number] if number < count else level[number - count])
    return [
        (columns, rows)
        for columns, rows in groups.values()
        if len(columns) >= 2 and len(columns) + len(rows) >= 3
    ]


def _select_grid(upright: list[Rule], level: list[Rule], letters: float) -> tuple[list[Rule], list[Rule]]:
    """Return the rules that hold a grid together: a level one meets two vertical ones; a vertical one meets
    two level ones, or has a neighbour that begins and ends where it does, or within it. Strokes and
    underlines do neither.
    """
    while True:
        columns = [
            rule
            for rule in upright
            if sum(_cross(rule, other) for other in level) >= 2
            or any(
                _side_by_side(rule, other, level, letters) or _runs_past(rule, other, level)
                for other in upright
                if other is not rule
            )
        ]
        rows = [rule for rule in level if sum(_cross(other, rule) for other in columns) >= 2]
        if len(columns) == len(upright) and len(rows) == len(level):
            return columns, rows
        upright, level = columns, rows


def _cross(upright: Rule, level: Rule) -> bool:
    x, y = upright.position_at(level.middle), level.position_at(upright.middle)
    spare = 6 + 0.004 * max(upright.length, level.length)
    return (
        level.along[0] - spare <= x <= level.along[1] + spare
        and upright.along[0] - spare <= y <= upright.along[1] + spare
    )


def _runs_past(rule: Rule, other: Rule, level: list[Rule]) -> bool:
    """Return whether a vertical rule passes through the table whose column is *other* and continues beyond
    it, as beside a fold.
    """
    spare = 0.08 * other.length
    covers = rule.along[0] <= other.along[0] + spare and other.along[1] <= rule.along[1] + spare
    return covers and any(_cross(rule, row) and _cross(other, row) for row in level)


def _side_by_side(first: Rule, second: Rule, level: list[Rule], letters: float) -> bool:
    """Return vertical rules that begin and end together: columns without a frame."""
    whole = max(first.length, second.length)
    ends = max(abs(first.along[0] - second.along[0]), abs(first.along[1] - second.along[1]))
    apart = abs(first.middle - second.middle)
    if ends >= 0.08 * whole or apart >= max(0.5 * whole, WIDE_COLUMN * letters):
        return False
    # Boxes in a figure are side by side as well, but those are closed above and below.
    return apart < 0.5 * whole or not any(_cross(rule, other) for rule in (first, second) for other in level)


def _extent(columns: list[Rule], rows: list[Rule]) -> Box:
    """Return the rectangle of a grid. A single rule that extends beyond the others (a fold, a stroke) does
    not widen it.
    """
    lefts, rights = _ends(rows)
    tops, bottoms = _ends(columns)
    xs, ys = [rule.middle for rule in columns], [rule.middle for rule in rows]
    return Box(min([*xs, *lefts]), min([*ys, *tops]), max([*xs, *rights]), max([*ys, *bottoms]))


def _ends(rules: list[Rule]) -> tuple[list[float], list[float]]:
    """Return where most of *rules* begin and end: of three or more, without the farthest at each end."""
    begins, ends = sorted(rule.along[0] for rule in rules), sorted(rule.along[1] for rule in rules)
    return (begins[1:], ends[:-1]) if len(rules) >= 3 else (begins, ends)


def _build_ruled(
    box: Box, columns: list[Rule], rows: list[Rule], lines: list[Box], written: list[Box]
) -> Table | None:
    xs = _places([rule.middle for rule in columns], box.width, ends=(box.left, box.right) if rows else None)
    ys = _places([rule.middle for rule in rows], box.height, ends=(box.top, box.bottom))
    if len(xs) < 2:
        return None
    if not rows:
        xs = _with_outer_columns(xs, written, box)
        box = _with_whole_lines(Box(xs[0], box.top, xs[-1], box.bottom), written)
        ys = [box.top, box.bottom]
        lines = [line for line in written if line.shared_area(Box(xs[0], box.top, xs[-1], box.bottom)) > 0]
    xs = _without_folds(xs, lines)
    ys, are_drawn = _with_rows_of_text(ys, rows, xs, lines)
    if len(xs) < 3 or len(ys) < 3:
        return None
    cells = _cells(xs, ys, columns, rows, are_drawn)
    whole = Box(xs[0], ys[0], xs[-1], ys[-1])
    middles = [line.middle for line in lines]
    # Figures and ornaments have frames too; rules that separate no writing are not a table.
    filled = sum(
        any(cell.box.left < x < cell.box.right and cell.box.top < y < cell.box.bottom for x, y in middles)
        for cell in cells
    )
    return Table(whole, cells) if len(cells) >= 4 and 4 * filled >= len(cells) else None


def _without_edges(columns: list[Rule], rows: list[Rule]) -> list[Rule]:
    """Return the rules of the columns without those beyond every one that meets a level rule: the edges of
    the leaves beneath.
    """
    met = [number for number, column in enumerate(columns) if any(_cross(column, row) for row in rows)]
    return columns[met[0] : met[-1] + 1] if len(met) >= 2 else columns


def _without_strokes(
    columns: list[Rule], rows: list[Rule], written: list[Box]
) -> tuple[list[Rule], list[Rule]]:
    """Return the rules of a grid without short ones in a band of many rows of text: the frame of a signature,
    a flourish.

    Most rows are then separated by the text; a few strokes in one column would divide some of them again.
    """
    box = _extent(columns, rows)
    xs = _places([rule.middle for rule in columns], box.width, ends=(box.left, box.right))
    near = max(4.0, ROOM * box.height)
    short = [rule for rule in rows if _measure_cover(rows, rule.middle, (box.left, box.right), near) < DRAWN]
    whole = [rule.middle for rule in rows if rule not in short]
    strokes: list[Rule] = []
    for top, bottom in pairwise(_places(whole, box.height, ends=(box.top, box.bottom))):
        within = [rule for rule in short if top + near < rule.middle < bottom - near]
        lines = [line for line in written if top < line.middle[1] < bottom and line.shared_area(box)]
        if bottom - top > OPEN_BAND * box.height and len(starts_of_rows(lines, xs, bottom - top)) > 2 * len(
            within
        ):
            strokes += within
    if not strokes:
        return columns, rows
    rows = [rule for rule in rows if rule not in strokes]
    upright = [
        column
        for column in columns
        if column.length > OPEN_BAND * box.height or any(_cross(column, row) for row in rows)
    ]
    return upright, rows


def _places(edges: list[float], extent: float, ends: tuple[float, float] | None) -> list[float]:
    """Return the positions of the rules, with double rules merged; with *ends*, from one end to the other."""
    places: list[list[float]] = []
    near = max(4.0, ROOM * extent)
    for place in sorted([*edges, *(ends or ())]):
        if places and place - places[-1][-1] <= near:
            places[-1].append(place)
        else:
            places.append([place])
    return [sum(group) / len(group) for group in places]


def _without_folds(xs: list[float], lines: list[Box]) -> list[float]:
    """Return columns without those as narrow as the gap between two rules beside a fold and without writing."""
    if not lines:
        return xs
    narrow = NARROW * median(line.height for line in lines)
    separate = [xs[0]]
    for at, x in enumerate(xs[1:-1], 1):
        line_count = sum(separate[-1] < line.middle[0] < x for line in lines)
        if at > 1 and x - separate[-1] < narrow and line_count < BLOTS:
            separate[-1] = (separate[-1] + x) / 2
        else:
            separate.append(x)
    return [*separate, xs[-1]]


def _with_whole_lines(box: Box, lines: list[Box]) -> Box:
    """Return a table that includes the whole of any line that the ends of its rules run through or touch."""
    inside = [line for line in lines if box.left < line.middle[0] < box.right]
    tops = [line.top for line in inside if line.top < box.top < line.bottom + 0.5 * line.height]
    bottoms = [line.bottom for line in inside if line.top - 0.5 * line.height < box.bottom < line.bottom]
    return Box(
        box.left,
        min(tops) if len(tops) > 1 else box.top,
        box.right,
        max(bottoms) if len(bottoms) > 1 else box.bottom,
    )


def _with_outer_columns(xs: list[float], lines: list[Box], box: Box) -> list[float]:
    """Return columns with those outside the first and last rule, if there is no frame and they contain text."""
    beside = [line for line in lines if box.top <= line.middle[1] <= box.bottom]
    near = NEARBY * box.height
    left = [line.left for line in beside if line.middle[0] < xs[0] and xs[0] - line.right < near]
    right = [line.right for line in beside if line.middle[0] > xs[-1] and line.left - xs[-1] < near]
    least = 0.25 * max(
        (sum(start < line.middle[0] < end for line in beside) for start, end in pairwise(xs)), default=0
    )
    if len(left) > max(2, least):
        xs = [min(left), *xs]
    if len(right) > max(2, least):
        xs = [*xs, max(right)]
    return xs


def _with_rows_of_text(
    ys: list[float], rows: list[Rule], xs: list[float], lines: list[Box]
) -> tuple[list[float], set[int]]:
    """Return rows divided between the lines of text where no rule separates them; also which positions are
    such divisions.

    A row begins where a line begins in the first column that has about as many lines as others: an entry of
    three lines in a wide column is one row.
    """
    places, parted = [ys[0]], set()
    for top, bottom in pairwise(ys):
        open_band = bottom - top > OPEN_BAND * (ys[-1] - ys[0])
        inside = [line for line in lines if top < line.middle[1] < bottom] if open_band else []
        for y in starts_of_rows(inside, xs, bottom - top):
            if y - places[-1] > 2:
                parted.add(len(places))
                places.append(y)
        places.append(bottom)
    return places, parted


def _cells(
    xs: list[float], ys: list[float], columns: list[Rule], rows: list[Rule], parted: set[int]
) -> list[Cell]:
    """Return the fields of the grid, merged where no rule separates them, as long as they form a rectangle."""
    down, across = len(ys) - 1, len(xs) - 1
    near_x, near_y = max(4.0, ROOM * (xs[-1] - xs[0])), max(4.0, ROOM * (ys[-1] - ys[0]))
    right = numpy.ones((down, across), bool)
    below = numpy.ones((down, across), bool)
    if columns and rows:
        for r, (top, bottom) in enumerate(pairwise(ys)):
            for c, x in enumerate(xs[1:-1]):
                right[r, c] = _measure_cover(columns, x, (top, bottom), near_x) >= DRAWN
        for r, y in enumerate(ys[1:-1]):
            if r + 1 in parted:
                continue
            for c, (left, end) in enumerate(pairwise(xs)):
                below[r, c] = _measure_cover(rows, y, (left, end), near_y) >= DRAWN
    is_taken = numpy.zeros((down, across), bool)
    cells = []
    for r in range(down):
        for c in range(across):
            if is_taken[r, c]:
                continue
            wide = 1
            while c + wide < across and not right[r, c + wide - 1] and not is_taken[r, c + wide]:
                wide += 1
            tall = 1
            while (
                r + tall < down
                and not below[r + tall - 1, c : c + wide].any()
                and not right[r + tall, c : c + wide - 1].any()
                and not is_taken[r + tall, c : c + wide].any()
            ):
                tall += 1
            is_taken[r : r + tall, c : c + wide] = True
            cells.append(Cell(Box(xs[c], ys[r], xs[c + wide], ys[r + tall]), r, c, tall, wide))
    return cells


def _measure_cover(rules: list[Rule], at: float, span: tuple[float, float], near: float) -> float:
    """Return which share of *span* along *at* is ruled."""
    begin, end = span
    pieces = sorted(
        (max(begin, rule.along[0]), min(end, rule.along[1]))
        for rule in rules
        if abs(rule.position_at((begin + end) / 2) - at) <= near or abs(rule.middle - at) <= near
    )
    covered, reached = 0.0, begin
    for low, high in pieces:
        if high > max(low, reached):
            covered += high - max(low, reached)
            reached = high
    return covered / max(end - begin, 1e-9)
