"""The cells of ruled tables: from their lines, and where only columns are ruled from the rows of text between these.

A grid is first lines across and down; then what no line parts is made one cell that spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy

from armarium_layout.finding.ink import Box, Sheet, letter_height, pieces_of, rows_of
from armarium_layout.finding.rules import Rule, rules_of

DRAWN = 0.5
"""A side of a cell is there where this part of it is ruled."""
ROOM = 0.012
"""Rules nearer to each other than this part of the table's extent are one (a double rule)."""

ACROSS = 0.35
"""Where more than this part of the lines runs over upright rules, these part no columns."""
WIDE_COLUMN = 24
"""Upright rules without a frame are columns of one table up to this far apart, in letters, or half their own length."""
NEARBY = 0.12
"""Text belongs to a column outside the last rule where it begins nearer to it than this, in heights of the table."""
SPREAD = 0.15
"""Upright rules nearer to each other than this part of a grid's width are the edge of the sheet beside an underline."""
NARROW = 3
"""A column narrower than so many lines are tall, and all but empty, is the gap of a double rule."""
BLOTS = 4
"""In such a gap fewer pieces of ink than this are no writing."""
OPEN_BAND = 0.4
"""A band between two level rules is one row of cells; where it is this part of the whole table, it holds rows of text."""


class Cell(NamedTuple):
    """A cell: where it lies (pixels), its place counted from 0, and how many rows and columns it spans."""

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
    """The tables of a page that are ruled, in columns at least. *lines*: the lines of text, where they are known."""
    letters = letter_height(pieces_of(sheet.ink)[0])
    upright = rules_of(sheet, letters, upright=True)
    if len(upright) < 2:
        return []
    level = rules_of(sheet, letters, upright=False)
    written = list(lines) if lines is not None else rows_of(sheet.ink)
    tables = []
    for columns, rows in _grids(upright, level, letters):
        columns, rows = _without_strokes(_without_edges(columns, rows), rows, written)
        if len(columns) < 2:
            continue
        box = _extent(columns, rows)
        if columns[-1].middle - columns[0].middle < SPREAD * box.width:
            continue
        inside = [line for line in written if line.shared_area(box) > 0.5 * line.width * line.height]
        if _written_across(inside, columns, letters):
            continue
        table = _build_ruled(box, columns, rows, inside, written)
        if table is not None:
            tables.append(table)
    return tables


def _written_across(lines: Sequence[Box], columns: Sequence[Rule], letters: float) -> bool:
    """Whether lines of text run on over the upright rules: then these are no columns but ruled or squared paper."""
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
    """Groups of rules that cross, or run side by side at the same height, as far as they may be a table."""
    upright, level = _holding(upright, level, letters)
    count = len(upright)
    parts = list(range(count + len(level)))

    def root(number: int) -> int:
        while parts[number] != number:
            number = parts[number]
        return number

    for i, one in enumerate(upright):
        for j, other in enumerate(level):
            if _cross(one, other):
                parts[root(i)] = root(count + j)
        for j, beside in enumerate(upright[:i]):
            if _side_by_side(one, beside, level, letters):
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


def _holding(upright: list[Rule], level: list[Rule], letters: float) -> tuple[list[Rule], list[Rule]]:
    """The rules that hold a grid together: a level one meets two upright ones, an upright one two level ones, or it has
    a neighbour that begins and ends where it does, or amid it. Strokes and underlines do neither."""
    while True:
        columns = [
            one
            for one in upright
            if sum(_cross(one, other) for other in level) >= 2
            or any(
                _side_by_side(one, other, level, letters) or _runs_past(one, other, level)
                for other in upright
                if other is not one
            )
        ]
        rows = [one for one in level if sum(_cross(other, one) for other in columns) >= 2]
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


def _runs_past(one: Rule, other: Rule, level: list[Rule]) -> bool:
    """Whether an upright rule goes through the table whose column *other* is, and on beyond it, as beside a fold."""
    spare = 0.08 * other.length
    covers = one.along[0] <= other.along[0] + spare and other.along[1] <= one.along[1] + spare
    return covers and any(_cross(one, row) and _cross(other, row) for row in level)


def _side_by_side(a: Rule, b: Rule, level: list[Rule], letters: float) -> bool:
    """Upright rules that begin and end together: columns without a frame."""
    whole = max(a.length, b.length)
    ends = max(abs(a.along[0] - b.along[0]), abs(a.along[1] - b.along[1]))
    apart = abs(a.middle - b.middle)
    if ends >= 0.08 * whole or apart >= max(0.5 * whole, WIDE_COLUMN * letters):
        return False
    # Boxes in a figure stand side by side as well; but those are closed above and beneath.
    return apart < 0.5 * whole or not any(_cross(rule, other) for rule in (a, b) for other in level)


def _extent(columns: list[Rule], rows: list[Rule]) -> Box:
    """The rectangle of a grid. A single rule that is drawn on beyond the others (a fold, a stroke) does not widen it."""
    lefts, rights = _ends(rows)
    tops, bottoms = _ends(columns)
    xs, ys = [rule.middle for rule in columns], [rule.middle for rule in rows]
    return Box(min([*xs, *lefts]), min([*ys, *tops]), max([*xs, *rights]), max([*ys, *bottoms]))


def _ends(rules: list[Rule]) -> tuple[list[float], list[float]]:
    """Where most of *rules* begin and end: without the farthest of each where there are three or more."""
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
    ys, drawn = _with_rows_of_text(ys, rows, xs, lines)
    if len(xs) < 3 or len(ys) < 3:
        return None
    cells = _cells(xs, ys, columns, rows, drawn)
    whole = Box(xs[0], ys[0], xs[-1], ys[-1])
    middles = [line.middle for line in lines]
    # Figures and ornaments have frames too; what parts nothing that is written is no table.
    filled = sum(
        any(cell.box.left < x < cell.box.right and cell.box.top < y < cell.box.bottom for x, y in middles)
        for cell in cells
    )
    return Table(whole, cells) if len(cells) >= 4 and 4 * filled >= len(cells) else None


def _without_edges(columns: list[Rule], rows: list[Rule]) -> list[Rule]:
    """The columns' rules without those beyond all that meet a level rule: the edges of the leaves beneath."""
    met = [number for number, one in enumerate(columns) if any(_cross(one, row) for row in rows)]
    return columns[met[0] : met[-1] + 1] if len(met) >= 2 else columns


def _without_strokes(
    columns: list[Rule], rows: list[Rule], written: list[Box]
) -> tuple[list[Rule], list[Rule]]:
    """The rules of a grid without the short ones in a band of many rows of text: the frame of a signature, a flourish.

    What parts most rows is then the text; a few strokes in one column would part some of them once more.
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
        if bottom - top > OPEN_BAND * box.height and len(_starts(lines, xs, bottom - top)) > 2 * len(within):
            strokes += within
    if not strokes:
        return columns, rows
    rows = [rule for rule in rows if rule not in strokes]
    upright = [
        one for one in columns if one.length > OPEN_BAND * box.height or any(_cross(one, row) for row in rows)
    ]
    return upright, rows


def _places(found: list[float], extent: float, ends: tuple[float, float] | None) -> list[float]:
    """Where the rules stand, those that are one put together; with *ends*, from the one to the other."""
    places: list[list[float]] = []
    near = max(4.0, ROOM * extent)
    for place in sorted([*found, *(ends or ())]):
        if places and place - places[-1][-1] <= near:
            places[-1].append(place)
        else:
            places.append([place])
    return [sum(group) / len(group) for group in places]


def _without_folds(xs: list[float], lines: list[Box]) -> list[float]:
    """Columns without those as narrow as the gap between two rules beside a fold, in which nothing is written."""
    if not lines:
        return xs
    narrow = NARROW * median(line.height for line in lines)
    kept = [xs[0]]
    for at, x in enumerate(xs[1:-1], 1):
        written = sum(kept[-1] < line.middle[0] < x for line in lines)
        if at > 1 and x - kept[-1] < narrow and written < BLOTS:
            kept[-1] = (kept[-1] + x) / 2
        else:
            kept.append(x)
    return [*kept, xs[-1]]


def _with_whole_lines(box: Box, lines: list[Box]) -> Box:
    """A table with the whole of the lines through which the ends of its rules run, or which stand on them."""
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
    """Columns without a frame have text left of the first rule and right of the last: they are columns too."""
    beside = [line for line in lines if box.top <= line.middle[1] <= box.bottom]
    near = NEARBY * box.height
    left = [line.left for line in beside if line.middle[0] < xs[0] and xs[0] - line.right < near]
    right = [line.right for line in beside if line.middle[0] > xs[-1] and line.left - xs[-1] < near]
    least = 0.25 * max((sum(a < line.middle[0] < b for line in beside) for a, b in pairwise(xs)), default=0)
    if len(left) > max(2, least):
        xs = [min(left), *xs]
    if len(right) > max(2, least):
        xs = [*xs, max(right)]
    return xs


def _with_rows_of_text(
    ys: list[float], rows: list[Rule], xs: list[float], lines: list[Box]
) -> tuple[list[float], set[int]]:
    """Rows that no rule parts are parted between the lines of text; also which of the places stand for such parting.

    A row begins where the first column that has about as many lines as others begins a line: an entry of three lines
    in a wide column is one row.
    """
    places, parted = [ys[0]], set()
    for top, bottom in pairwise(ys):
        open_band = bottom - top > OPEN_BAND * (ys[-1] - ys[0])
        inside = [line for line in lines if top < line.middle[1] < bottom] if open_band else []
        for y in _starts(inside, xs, bottom - top):
            if y - places[-1] > 2:
                parted.add(len(places))
                places.append(y)
        places.append(bottom)
    return places, parted


def _starts(lines: list[Box], xs: list[float], tall: float) -> list[float]:
    """Where new rows begin within a band: between the lines of the column that tells the rows apart."""
    if not lines:
        return []
    height = median(line.height for line in lines)
    if tall < 4 * height:
        return []
    columns: list[list[Box]] = []
    for left, right in pairwise(xs):
        inside = [line for line in lines if left < line.middle[0] < right]
        columns.append(_one_a_row(inside))
    filled = [column for column in columns if len(column) >= 3]
    if not filled:
        return []
    # The columns with one line an entry agree on how many there are; a column of remarks has fewer, one of prose more.
    counts = sorted(len(column) for column in filled)
    usual = counts[(len(counts) - 1) // 2]
    key = next((column for column in filled if 0.8 * usual <= len(column) <= 1.2 * usual), filled[0])
    if median(b.top - a.top for a, b in pairwise(key)) < 1.2 * height:
        return []
    return [(a.bottom + b.top) / 2 if b.top > a.bottom else b.top for a, b in pairwise(key)]


def _one_a_row(boxes: list[Box]) -> list[Box]:
    """What stands in one row made one, and crumbs between two rows added to the nearer."""
    rows: list[Box] = []
    for box in sorted(boxes, key=lambda one: one.middle[1]):
        if rows and box.middle[1] < rows[-1].bottom:
            rows[-1] = rows[-1].union(box)
        else:
            rows.append(box)
    if len(rows) < 4:
        return rows
    usual = median(b.middle[1] - a.middle[1] for a, b in pairwise(rows))
    apart = [rows[0]]
    for row in rows[1:]:
        if row.middle[1] - apart[-1].middle[1] < 0.6 * usual:
            apart[-1] = apart[-1].union(row)
        else:
            apart.append(row)
    return apart


def _cells(
    xs: list[float], ys: list[float], columns: list[Rule], rows: list[Rule], parted: set[int]
) -> list[Cell]:
    """The grid's fields, those made one that no rule parts, as long as they make a rectangle."""
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
    taken = numpy.zeros((down, across), bool)
    cells = []
    for r in range(down):
        for c in range(across):
            if taken[r, c]:
                continue
            wide = 1
            while c + wide < across and not right[r, c + wide - 1] and not taken[r, c + wide]:
                wide += 1
            tall = 1
            while (
                r + tall < down
                and not below[r + tall - 1, c : c + wide].any()
                and not right[r + tall, c : c + wide - 1].any()
                and not taken[r + tall, c : c + wide].any()
            ):
                tall += 1
            taken[r : r + tall, c : c + wide] = True
            cells.append(Cell(Box(xs[c], ys[r], xs[c + wide], ys[r + tall]), r, c, tall, wide))
    return cells


def _measure_cover(rules: list[Rule], at: float, span: tuple[float, float], near: float) -> float:
    """Which part of *span* along *at* is ruled."""
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
