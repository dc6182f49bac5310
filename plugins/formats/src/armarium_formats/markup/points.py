"""Points as PAGE and TEI state them: "x,y x,y"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

import orjson

from armarium_formats.markup.fragments import local_name
from armarium_formats.point_limits import Stated, line_of

if TYPE_CHECKING:
    from lxml import etree

# Runs are possessive so that a value of any length is read in linear time. Groups are not: Python before
# 3.11.5 does not backtrack to the beginning of a possessive group that fails half-way.
_NUMBER = r"(?:[+-]|(?<![\d.]))(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?"
_BLANKS_ONLY = re.compile(rf"\s*+{_NUMBER}\s++{_NUMBER}(?:\s++{_NUMBER}\s++{_NUMBER})*\s*+")
_PAIR = re.compile(rf"({_NUMBER})\s*+,\s*+({_NUMBER})")


def shapes_of(root: etree._Element) -> Iterator[Stated]:
    """Yield what an XML file of any format states as points."""
    for element in root.iter():
        stated = (
            element.get("points") or element.get("POINTS") or element.get("BASELINE") or element.get("facs")
        )
        if stated is not None:
            yield stated, line_of(element)
        elif len(element) and local_name(str(element[0].tag)) == "Point":  # as PAGE had them in 2010
            yield len(element), line_of(element)


def parse_points(value: str) -> list[tuple[float, float]] | None:
    """Return the points of a `points` attribute, whole numbers as int; None if a part is not an x,y pair."""
    numbers = _whole_numbers(value)
    if numbers and 2 * value.count(",") == len(numbers):
        return list(zip(numbers[::2], numbers[1::2], strict=True))
    if not value.strip():
        return []
    if "," not in value and _BLANKS_ONLY.fullmatch(value):  # as ALTO has them; some programs write PAGE so
        flat = [_number(part) for part in value.split()]
        return list(zip(flat[::2], flat[1::2], strict=True)) if all(map(isfinite, flat)) else None
    found = [(_number(x), _number(y)) for x, y in _PAIR.findall(value)]
    rest = _PAIR.sub("", value).strip(" ,;\t\r\n")
    return found if not rest and all(isfinite(number) for pair in found for number in pair) else None


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
