"""How many points a shape and a file may have: one rule for every format, asked before the points are read."""

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

# A negative exponent counts as a number more; a sign may also part two numbers.
_NUMBER = re.compile(r"[^\s,;+-]+")


def line_of(element: etree._Element) -> int:
    """The line that an element stands in, 0 where the parser does not tell."""
    line: object = element.sourceline
    return line if isinstance(line, int) else 0


def require_countable(filename: str, shapes: Callable[[], Iterable[Stated]]) -> None:
    """Refuse a file of more points than any page has. Raises Invalid naming the line.

    *shapes* gives what the file states, anew each time it is called: nearly all files are known by the length of it to
    have few points, and only the others are counted.
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
    """The points of a text; one more than a shape may have stands for any number of them."""
    numbers = islice(_NUMBER.finditer(stated), 2 * (MOST_OF_A_SHAPE + 1))
    return (sum(1 for _ in numbers) + 1) // 2


def _refusal(filename: str, what: str, most: int, line: int) -> Invalid:
    return Invalid(
        f"{filename} holds {what} {most:,} points (line {line}); at most {most:,} are read. Simplify its shapes.",
        code="too_many_points",
    )
