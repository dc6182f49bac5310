"""The cells of tables without any rules: from the white space between their words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median, quantiles

import numpy

from armarium_layout.finding.ink import Box
from armarium_layout.finding.regions import hull_of
from armarium_layout.finding.tables import Cell, Table

FULL = 0.3
"""A row with this share of the ink of the fullest rows is a row of its own, however near the next."""
KEPT = 0.15
"""A column has words in this share of the rows."""
CRUMB = 0.1
"""Dots and dashes smaller than this share of the area of large words do not block a corridor."""
APART = 0.6
"""A row with little ink belongs to a full row closer than this share of the usual distance between full rows."""


def unruled_table(words: Sequence[Box], area: Box) -> Table | None:
    """Return the cells of a table without rules, from its *words* (or lines of cells): columns are separated
    by corridors of white.

    None if there are fewer than two columns or two rows.
    """
    inside = [word for word in words if word.shared_area(area) > 0.5 * word.width * word.height]
    if len(inside) < 4:
        return None
    height = median(word.height for word in inside)
    rows = _join_crumbs(_one_a_row_of_cells(inside))
    xs = _corridors(rows, height)
    if len(rows) < 2 or len(xs) < 1:
        return None
    left, right = min(word.left for word in inside), max(word.right for word in inside)
    columns = [min(area.left, left), *xs, max(area.right, right)]
    places = [hull_of(row) for row in rows]
    ys = [min(area.top, places[0].top)]
    for above, beneath in pairwise(places):
        ys.append((above.bottom + beneath.top) / 2 if beneath.top > above.bottom else beneath.top)
    ys.append(max(area.bottom, places[-1].bottom))
    cells = []
    for r, row in enumerate(rows):
        crossed = [
            any(word.left < x - 0.3 * height and word.right > x + 0.3 * height for word in row) for x in xs
        ]
        c = 0
        while c < len(columns) - 1:
            wide = 1
            while c + wide < len(columns) - 1 and crossed[c + wide - 1]:
                wide += 1
            cells.append(Cell(Box(columns[c], ys[r], columns[c + wide], ys[r + 1]), r, c, 1, wide))
            c += wide
    return Table(Box(columns[0], ys[0], columns[-1], ys[-1]), cells)


def _one_a_row_of_cells(words: Sequence[Box]) -> list[list[Box]]:
    rows: list[list[Box]] = []
    for word in sorted(words, key=lambda word: word.middle[1]):
        if rows:
            hull = hull_of(rows[-1])
            shared = min(hull.bottom, word.bottom) - max(hull.top, word.top)
            if shared > 0.5 * min(word.height, median(cell.height for cell in rows[-1])):
                rows[-1].append(word)
                continue
        rows.append([word])
    return rows


def _join_crumbs(rows: list[list[Box]]) -> list[list[Box]]:
    """Return the rows with dots and strokes just above or below a row counted as part of it: little ink,
    closer than a row can be.
    """
    inks = [sum(word.width for word in row) for row in rows]
    full = [number for number, ink in enumerate(inks) if ink >= FULL * quantiles(inks, n=5)[-1]]
    middles = [hull_of(row).middle[1] for row in rows]
    if len(full) < 2:
        return rows
    pitch = median(middles[next_column] - middles[column] for column, next_column in pairwise(full))
    joined = {number: list(rows[number]) for number in full}
    for crumb in sorted(set(range(len(rows))) - set(full), key=lambda number: -inks[number]):
        nearest = min(joined, key=lambda other: abs(middles[other] - middles[crumb]))
        if abs(middles[nearest] - middles[crumb]) < APART * pitch:
            joined[nearest].extend(rows[crumb])
        else:
            joined[crumb] = list(rows[crumb])
    return [joined[number] for number in sorted(joined)]


def _corridors(rows: list[list[Box]], height: float) -> list[float]:
    """Return the middles of the white corridors between columns: at most a tenth of the rows crosses one."""
    left_edge = int(min(word.left for row in rows for word in row))
    right = int(max(word.right for row in rows for word in row)) + 1
    crossing = numpy.zeros(right - left_edge, int)
    least = CRUMB * quantiles([word.width * word.height for row in rows for word in row], n=5)[-1]
    for row in rows:
        filled = numpy.zeros(right - left_edge, bool)
        for word in (word for word in row if word.width * word.height >= least):
            filled[max(0, int(word.left) - left_edge) : int(numpy.ceil(word.right)) - left_edge] = True
        crossing += filled
    free = crossing <= max(0, int(0.1 * len(rows)))
    edges: list[float] = []
    begin: int | None = None
    for place, is_free in enumerate([*free.tolist(), False]):
        if is_free and begin is None:
            begin = place
        elif not is_free and begin is not None:
            if begin > 0 and place < len(free) and place - begin >= 0.9 * height:
                edges.append(left_edge + (begin + place) / 2)
            begin = None
    ends = [*edges[1:], right]
    return [x for x, end in zip(edges, ends, strict=True) if _count_within(rows, x, end) >= KEPT * len(rows)]


def _count_within(rows: list[list[Box]], left: float, right: float) -> int:
    """Return how many rows have a word between two corridors: the ends of a few long lines are not a column."""
    return sum(any(left < word.left < right for word in row) for row in rows)
