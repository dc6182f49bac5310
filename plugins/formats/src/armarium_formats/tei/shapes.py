"""The shapes and certainties of a TEI file: rectangles, polygons, probabilities, as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from armarium_formats.markup.noting import Notes
from armarium_formats.numbers import parse_number
from armarium_formats.page_model import Point
from armarium_formats.points import parse_points
from armarium_formats.shapes import Box, corners

if TYPE_CHECKING:
    from lxml import etree

COORDINATES = ("ulx", "uly", "lrx", "lry", "points")


def probability(cert: str, notes: Notes) -> float | None:
    """Return a @cert from 0 to 1; words (high, low) are not numbers and are ignored."""
    try:
        value = float(cert)
    except ValueError:
        return None
    if 0 <= value <= 1:
        return value
    notes.note(f"A @cert of {cert[:20]} is outside 0 to 1")
    return None


def outline_of(element: etree._Element, notes: Notes) -> list[Point]:
    """Return the points of a zone in its surface's units: `points`, else the rectangle, else nothing."""
    value = (element.get("points") or "").strip()
    if value:
        points = parse_points(value)
        if points is not None:
            if points and "," not in value:
                notes.note("The points of a zone have no commas; they were read as pairs")
            return points
        notes.note("The points of a zone are not x,y pairs")
    box = box_of(element)
    if box is None:
        if any(key in element.attrib for key in COORDINATES[:4]):
            notes.note("A zone states coordinates that are not a rectangle")
        return []
    left, top, right, bottom = box
    if right < left or bottom < top:
        notes.note("A zone states its lower right corner above or left of the upper left one")
        left, right = min(left, right), max(left, right)
        top, bottom = min(top, bottom), max(top, bottom)
    return corners((left, top, right, bottom))


_REGION = re.compile(
    r"(?:xywh=(?:pixel:)?|/)(\d{1,9}),(\d{1,9}),(\d{1,9}),(\d{1,9})(?:$|&|/[^/]+/[^/]+/\w+\.\w{1,5}$)"
)


def drawn_in(pointer: str) -> list[Point]:
    """Return the shape inside a @facs, as in files made from ALTO: points, or a region of a picture's
    address.
    """
    if match := _REGION.search(pointer):
        left, top, width, height = map(int, match.groups())
        return corners((left, top, left + width, top + height)) if width and height else []
    return [] if "#" in pointer else parse_points(pointer) or []


def box_of(element: etree._Element) -> Box | None:
    """Return left, top, right and bottom of an element; None if not stated as numbers."""
    left, top, right, bottom = (parse_number(element.get(key)) for key in COORDINATES[:4])
    if left is None or top is None or right is None or bottom is None:
        return None
    return left, top, right, bottom


def points_as(points: Sequence[Point]) -> str:
    """Return points as TEI writes them."""
    return " ".join(f"{figure(x)},{figure(y)}" for x, y in points)


def figure(value: float) -> str:
    """Return a coordinate, to hundredths."""
    value = round(value, 2)
    return str(int(value)) if value == int(value) else f"{value:.2f}".rstrip("0")
