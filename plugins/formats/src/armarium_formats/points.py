"""Points as files state them ("x,y x,y"), and how many of them a shape and a file may have: one rule for every format,
checked before parsing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING

import orjson

from armarium.api import Invalid
from armarium_formats.markup.fragments import local_name

if TYPE_CHECKING:
    from lxml import etree


MOST_OF_A_SHAPE = 100_000
MOST_OF_A_FILE = 500_000
"""Points: what is more than that is not a page, and would fill the memory before it is found out."""

Stated = tuple[str | int, int]
"""The points of one shape, as the text that states them or as their number, and the line that they stand in."""

_SHORTEST = 4
"""Characters that a point takes at least: two figures, and what parts them from what follows."""

# A negative exponent counts as one more number; a sign may also separate two numbers.
_STATED = re.compile(r"[^\s,;+-]+")


# Runs are possessive so that a value of any length is read in linear time. Groups are not: Python before
# 3.11.5 does not backtrack to the beginning of a possessive group that fails half-way.
_NUMBER = r"(?:[+-]|(?<![\d.]))(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?"
_BLANKS_ONLY = re.compile(rf"\s*+{_NUMBER}\s++{_NUMBER}(?:\s++{_NUMBER}\s++{_NUMBER})*\s*+")
_PAIR = re.compile(rf"({_NUMBER})\s*+,\s*+({_NUMBER})")

_refusal = Invalid.saying(
    "too_many_points",
    "{filename} contains {what} {most:,} points (line {line}); at most {most:,} are read. Simplify its "
    "shapes.",
)


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
    for shape, _ in shapes():
        at_most = shape if isinstance(shape, int) else len(shape) // _SHORTEST + 1
        total += at_most
        if at_most > MOST_OF_A_SHAPE or total > MOST_OF_A_FILE:
            break
    else:
        return
    total = 0
    for shape, line in shapes():
        count = shape if isinstance(shape, int) else _count_points(shape)
        total += count
        if count > MOST_OF_A_SHAPE:
            raise _refusal(filename, "a shape of more than", MOST_OF_A_SHAPE, line)
        if total > MOST_OF_A_FILE:
            raise _refusal(filename, "more than", MOST_OF_A_FILE, line)


def _count_points(text: str) -> int:
    """Count the points of a text, up to one more than a shape may have."""
    numbers = islice(_STATED.finditer(text), 2 * (MOST_OF_A_SHAPE + 1))
    return (sum(1 for _ in numbers) + 1) // 2


def shapes_of(root: etree._Element) -> Iterator[Stated]:
    """Yield what an XML file of any format states as points."""
    for element in root.iter():
        points = (
            element.get("points") or element.get("POINTS") or element.get("BASELINE") or element.get("facs")
        )
        if points is not None:
            yield points, line_of(element)
        elif len(element) and local_name(str(element[0].tag)) == "Point":  # as PAGE had them in 2010
            yield len(element), line_of(element)


def as_pairs(numbers: Sequence[float]) -> list[tuple[float, float]]:
    """Return an even number of coordinates as points."""
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def parse_points(value: str) -> list[tuple[float, float]] | None:
    """Return the points of a `points` attribute, whole numbers as int; None if a part is not an x,y pair."""
    numbers = _whole_numbers(value)
    if numbers and 2 * value.count(",") == len(numbers):
        return as_pairs(numbers)
    if not value.strip():
        return []
    if "," not in value and _BLANKS_ONLY.fullmatch(value):  # as ALTO has them; some programs write PAGE so
        flat = [_number(part) for part in value.split()]
        return as_pairs(flat) if all(map(isfinite, flat)) else None
    pairs = [(_number(x), _number(y)) for x, y in _PAIR.findall(value)]
    remainder = _PAIR.sub("", value).strip(" ,;\t\r\n")
    return pairs if not remainder and all(isfinite(number) for pair in pairs for number in pair) else None


def _whole_numbers(value: str) -> list[int]:
    """Return the numbers of "1,2 3,4"; none if one is not a whole number."""
    try:
        # Nearly all files write them so: JSON but for the brackets, which is parsed in a third of the time.
        numbers = orjson.loads(f"[{value.replace(' ', ',')}]")
        if set(map(type, numbers)) == {int}:
            return numbers  # type: ignore[no-any-return]
    except orjson.JSONDecodeError:
        pass
    try:
        return list(map(int, value.replace(",", " ").split()))
    except ValueError:
        return []


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value
