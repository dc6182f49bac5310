"""Where the rows of a table without level rules begin: between the lines of the column that distinguishes them."""

from __future__ import annotations

from itertools import pairwise
from statistics import median

from armarium_layout.finding.ink import Box


def starts_of_rows(lines: list[Box], xs: list[float], tall: float) -> list[float]:
    """Return where new rows begin within a band: between the lines of the column that distinguishes the rows."""
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
    # Columns with one line per entry agree on their number; a column of remarks has fewer lines, one of prose
    # more.
    counts = sorted(len(column) for column in filled)
    usual = counts[(len(counts) - 1) // 2]
    key = next((column for column in filled if 0.8 * usual <= len(column) <= 1.2 * usual), filled[0])
    if median(next_row.top - row.top for row, next_row in pairwise(key)) < 1.2 * height:
        return []
    return [
        (row.bottom + next_row.top) / 2 if next_row.top > row.bottom else next_row.top
        for row, next_row in pairwise(key)
    ]


def _one_a_row(boxes: list[Box]) -> list[Box]:
    """Merge the lines in one row, and add small pieces between two rows to the nearer one."""
    rows: list[Box] = []
    for box in sorted(boxes, key=lambda line: line.middle[1]):
        if rows and box.middle[1] < rows[-1].bottom:
            rows[-1] = rows[-1].union(box)
        else:
            rows.append(box)
    if len(rows) < 4:
        return rows
    usual = median(next_row.middle[1] - row.middle[1] for row, next_row in pairwise(rows))
    apart = [rows[0]]
    for row in rows[1:]:
        if row.middle[1] - apart[-1].middle[1] < 0.6 * usual:
            apart[-1] = apart[-1].union(row)
        else:
            apart.append(row)
    return apart
