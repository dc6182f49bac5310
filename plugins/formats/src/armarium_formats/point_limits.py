"""Limits the number of points of a shape and of a file: one rule for every format, checked before parsing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from armarium.api import Invalid

if TYPE_CHECKING:
    from lxml import etree

MOST_OF_A_SHAPE = 100_000
MOST_OF_A_FILE = 500_000
"""Points: what is more than that is no page, and would fill the memory before it is found out."""

Stated = tuple[str | int, int]
"""The points of one shape, as the text that states them or as their number, and the line that they stand in."""

_SHORTEST = 4
"""Characters that a point takes at least: two figures, and what parts them from what follows."""

# A negative exponent counts as one more number; a sign may also separate two numbers.
_NUMBER = re.compile(r"[^\s,;+-]+")


def line_of(element: etree._Element) -> int:
    """Return the line of an element in its file, 0 if the parser does not know it."""
    line: object = element.sourceline
    return line if isinstance(line, int) else 0


def require_countable(filename: str, shapes: Callable[[], Iterable[Stated]]) -> None:
    """Refuse a file with more points than any page has. Raises Invalid naming the line.

    *shapes* yields what the file states, anew on each call: for nearly all files the length shows that there
    are few points, and only the others are counted.
    """
    total = 0
    for stated, _ in shapes():
        at_most = stated if isinstance(stated, int) else len(stated) // _SHORTEST + 1
        total += at_most
        if at_most > MOST_OF_A_SHAPE or total > MOST_OF_A_FILE:
            break
    else:
        return
    total = 0
    for stated, line in shapes():
        count = stated if isinstance(stated, int) else _count_points(stated)
        total += count
        if count > MOST_OF_A_SHAPE:
            raise _refusal(filename, "a shape of more than", MOST_OF_A_SHAPE, line)
        if total > MOST_OF_A_FILE:
            raise _refusal(filename, "more than", MOST_OF_A_FILE, line)


def _count_points(stated: str) -> int:
    """Count the points of a text, up to one more than a shape may have."""
    numbers = islice(_NUMBER.finditer(stated), 2 * (MOST_OF_A_SHAPE + 1))
    return (sum(1 for _ in numbers) + 1) // 2


_refusal = Invalid.saying(
    "too_many_points",
    "{filename} contains {what} {most:,} points (line {line}); at most {most:,} are read. Simplify its "
    "shapes.",
)
