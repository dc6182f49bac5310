"""Parses the `title` of an hOCR element: its properties, including boxes, polygons and baselines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from armarium_formats.numbers import parse_number
from armarium_formats.page_model import Point
from armarium_formats.points import Stated, as_pairs, line_of
from armarium_formats.shapes import Box

if TYPE_CHECKING:
    from lxml import etree

_PART = re.compile(r"""(?:"[^"]*"|[^;])+""")
_CLASS = re.compile(r"(?:^|\s)(ocrx?_\w+)")
LONGEST_CLASS = 300
KIND, BASELINE, ESTIMATED, UNPLACED = "x_kind", "x_baseline", "x_estimated", "x_unplaced"
"""Properties of our own: the kind of a part and the points of a baseline as the project has them; a word that nothing placed,
so that its box is its share of the line and it is read as text of it; a part without a place.
"""
SCRIPT, DIRECTION, FURNITURE = "x_script", "x_direction", "x_furniture"
"""Properties of our own for what hOCR has no place for: other programs pass over them."""
OF_TEXT, AS_OF = "armarium-text", "armarium-as-of"
"""The `meta` of ours that say who stands behind the text, and of what the file is a copy; they are never read back."""
LONGEST_TITLE = 1_000_000
"""Characters of a title that are looked at: an outline of a hundred thousand points."""
_COMMA = re.compile(r"(\bbbox(?:\s+[-+\d.eE]+){4})\s*,\s*(?=[a-zA-Z])")
_SHAPE = re.compile(r"\b(?:poly|baseline)\s([^;]*)")
_CURVE_STEPS = 8


def class_of(element: etree._Element) -> str | None:
    """Return the first hOCR class of an element; None for a comment."""
    classes = element.get("class") if isinstance(element.tag, str) else None
    return _class_in(str(classes)[:LONGEST_CLASS]) if classes else None


@lru_cache(maxsize=1000)
def _class_in(class_text: str) -> str | None:
    match = _CLASS.search(class_text)
    return match.group(1) if match else None


def semicolons(title: str) -> str:
    """Replace the comma after a bbox, as older programs write, with the standard's semicolon."""
    return _COMMA.sub(r"\1; ", title)


def properties(title: str) -> dict[str, str]:
    """Parse `bbox 1 2 3 4; image "a;b.png"` into a dictionary; the first property of a name counts."""
    by_name: dict[str, str] = {}
    for part in _PART.findall(title) if '"' in title else title.split(";"):
        name, _, value = part.strip().partition(" ")
        if name:
            by_name.setdefault(name, value.strip())
    return by_name


def shapes_of(root: etree._Element) -> Iterator[Stated]:
    """Yield the outlines and baselines that titles state."""
    for element in root.iter():
        title = element.get("title")
        for shape in _SHAPE.findall(title) if title and ("poly" in title or "baseline" in title) else ():
            yield shape, line_of(element)


def numbers(value: str) -> list[float] | None:
    """Parse numbers separated by spaces or commas, whole if possible; None if one is invalid or too large."""
    values = [parse_number(part) for part in value.replace(",", " ").split()]
    return None if None in values else [number for number in values if number is not None]


def box_of(value: str | None) -> Box | None:
    """Return a bbox with its corners in any order; None if invalid."""
    values = numbers(value) if value else None
    if values is None or len(values) != 4:
        return None
    x0, y0, x1, y1 = values
    if x0 <= x1 and y0 <= y1:
        return x0, y0, x1, y1
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def polygon_of(value: str | None) -> list[Point] | None:
    """Return the points of a `poly`; None if it is not a list of pairs."""
    points = path_of(value)
    return points if points and len(points) > 2 else None


def path_of(value: str | None) -> list[Point] | None:
    """Return the points of a baseline of ours; None if it is not a list of pairs."""
    coordinates = numbers(value) if value else None
    return as_pairs(coordinates) if coordinates and len(coordinates) % 2 == 0 else None


def baseline_of(value: str, box: Box | None) -> list[Point] | None:
    """Return a baseline in pixels, or None.

    hOCR has a polynomial, coefficients from the highest down, relative to the bottom left corner of the box:
    mostly slope and offset. Some programs write points; numbers that are pairs inside the box are taken as
    such.
    """
    values = numbers(value)
    if not values:
        return None
    if len(values) >= 4 and len(values) % 2 == 0 and ("," in value or _lie_in(values, box)):
        return as_pairs(values)
    if box is None or len(values) > 6:
        return None
    left, _, right, bottom = box
    steps = 1 if len(values) <= 2 else _CURVE_STEPS
    points: list[Point] = []
    for step in range(steps + 1):
        along = (right - left) * step / steps
        height = 0.0
        for coefficient in values:
            height = height * along + coefficient
        if not math.isfinite(height):
            return None
        points.append((left + along, round(bottom + height, 2)))
    return points


def is_near(points: Sequence[Point], box: Box) -> bool:
    """Return whether a baseline is in its box, or at most the height of the box above or below it."""
    room = max(box[3] - box[1], 8)
    return all(box[1] - room <= y <= box[3] + room for _, y in points)


def _lie_in(values: Sequence[float], box: Box | None) -> bool:
    if box is None:
        return True
    left, top, right, bottom = box
    room = max(bottom - top, 8)
    return all(left - room <= x <= right + room for x in values[::2]) and all(
        top - room <= y <= bottom + room for y in values[1::2]
    )
