"""Shapes of ALTO in pixels: boxes, polygons, circles, baselines and their units."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armarium_formats.markup.fragments import keep, local_name
from armarium_formats.markup.noting import Notes
from armarium_formats.numbers import parse_number
from armarium_formats.page_model import Point
from armarium_formats.points import Stated, as_pairs, line_of
from armarium_formats.points import shapes_of as stated_points

if TYPE_CHECKING:
    from lxml import etree

UNITS = {"pixel": 0.0, "mm10": 254.0, "inch1200": 1200.0}
"""Units of an inch; none for pixels."""

STRANGE_UNITS = {"mm": 25.4, "cm": 2.54, "inch": 1.0, "point": 72.0}
"""Units of an inch that ALTO does not have and programs state all the same."""

_SPELLED = {
    **dict.fromkeys(("pixels", "px"), "pixel"),
    **dict.fromkeys(("1/10 mm", "mm/10", "0.1 mm"), "mm10"),
    **dict.fromkeys(("1/1200 inch", "inch/1200"), "inch1200"),
    **dict.fromkeys(("millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
    **dict.fromkeys(("in", "inches"), "inch"),
    **dict.fromkeys(("pt", "points"), "point"),
}

BOX = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
_LENGTHS = frozenset({*BOX, "HLENGTH", "VLENGTH", "RADIUS"})
_SIDEWAYS = frozenset({"HPOS", "WIDTH", "HLENGTH", "RADIUS"})
_CORNERS = 36
_RESOLUTION = re.compile(
    r"(?:\b[xy]?dpi|\b[xy]?[-_ ]?resolution)\W{0,3}(\d{2,4})\b|\b(\d{2,4})\s*(?:dpi|ppi)\b", re.IGNORECASE
)

Box = tuple[float, float, float, float]
"""Left, top, width, height."""


@dataclass(slots=True)
class Scale:
    """Pixels per unit of the file, across and down; results are whole pixels unless it is 1."""

    across: float = 1.0
    down: float = 1.0

    @property
    def is_plain(self) -> bool:
        return self.across == 1.0 and self.down == 1.0

    def point(self, x: float, y: float) -> Point:
        return (x, y) if self.is_plain else (round(x * self.across), round(y * self.down))

    def attribute(self, name: str, value: str) -> str:
        """A measure as an attribute states it, in pixels."""
        number = parse_number(value) if name in _LENGTHS else None
        if number is None:
            return value
        return plain(round(number * (self.across if name in _SIDEWAYS else self.down)))

    def keep(self, element: etree._Element) -> str:
        """An element as a fragment, its measures in pixels and its points with blanks between."""

        def change(part: etree._Element, attributes: dict[str, str]) -> bool:
            for name, value in attributes.items():
                if name == "POINTS":
                    points = parse_points(value)
                    if points:
                        attributes[name] = points_as(self.point(x, y) for x, y in points)
                elif not self.is_plain:
                    attributes[name] = self.attribute(name, value)
            return False

        return keep(element, change)


def unit_of(spelling: str) -> str | None:
    """Return the unit a word means, in any case; None for an unknown one."""
    word = " ".join(spelling.casefold().split())
    word = _SPELLED.get(word, word)
    return word if word in UNITS or word in STRANGE_UNITS else None


def resolution_in(settings: str) -> float | None:
    """Pixels an inch as the settings of a processing step state them."""
    match = _RESOLUTION.search(settings)
    resolution = float(match.group(1) or match.group(2)) if match else 0.0
    return resolution if 50 <= resolution <= 5000 else None


def plain(value: float) -> str:
    """Format a number as ALTO requires: no exponent, no superfluous decimals."""
    return str(value) if isinstance(value, int) else f"{value:.4f}".rstrip("0").rstrip(".")


def parse_points(value: str) -> list[Point] | None:
    """Parse points in any common notation: "x,y x,y", "x y x y", "x,y,x,y"; otherwise None."""
    parts = value.replace(",", " ").replace(";", " ").split()
    if len(parts) % 2:
        return None
    try:
        numbers: list[float] = list(map(int, parts))
    except ValueError:
        coordinates = [parse_number(part) for part in parts]
        if None in coordinates:
            return None
        numbers = [number for number in coordinates if number is not None]
    return as_pairs(numbers)


def points_as(points: Any) -> str:
    """Format points as eScriptorium and kraken expect them: separated by spaces only."""
    return " ".join([f"{plain(x)} {plain(y)}" for x, y in points])


def box_of(points: Sequence[Point]) -> Box:
    """Return the box around points, in whole pixels."""
    xs, ys = [round(x) for x, _ in points], [round(y) for _, y in points]
    left, top = min(xs), min(ys)
    return left, top, max(xs) - left, max(ys) - top


def corners(box: Box) -> list[Point]:
    """Return the four corners of a box, clockwise from top left."""
    left, top, width, height = box
    return [(left, top), (left + width, top), (left + width, top + height), (left, top + height)]


def read_shape(
    name: str, shape: etree._Element | None, attributes: dict[str, str], scale: Scale, notes: Notes
) -> tuple[list[Point], dict[str, Any]]:
    """Return the outline of an element, and what to store of its box and shape; removes these from
    *attributes*.
    """
    extras: dict[str, Any] = {}
    points: list[Point] = []
    box = _read_box(name, attributes, scale, notes)
    inner = (
        next((child for child in shape if isinstance(child.tag, str)), None) if shape is not None else None
    )
    if inner is not None:
        kind = local_name(str(inner.tag))
        if kind == "Polygon":
            polygon = parse_points(inner.get("POINTS") or "")
            if polygon is None:
                notes.note(f"The points of a {name} are not pairs of numbers")
            elif not polygon:
                notes.note(f"The polygon of a {name} is empty")
            else:
                points = polygon if scale.is_plain else [scale.point(x, y) for x, y in polygon]
        elif kind in ("Ellipse", "Circle"):
            points = _round_shape(kind, inner, scale)
            if points:
                extras["shape"] = scale.keep(shape)  # type: ignore[arg-type]
            else:
                notes.note(f"The {kind} of a {name} states no measures")
        else:
            notes.note(f"The shape {kind} is not one of ALTO's")
    if points:
        around = box_of(points)
        if box is not None and tuple(map(round, box)) != around:
            extras["box"] = list(box)
        if extras:
            extras["of"] = list(around)
    elif box is not None:
        points = corners(box)
    return points, extras


def _read_box(name: str, attributes: dict[str, str], scale: Scale, notes: Notes) -> Box | None:
    measures = [attributes.pop(key, None) for key in BOX]
    numbers = [parse_number(measure) for measure in measures]
    left, top, width, height = numbers
    if left is None or top is None or width is None or height is None:
        if any(measure is not None for measure in measures):
            notes.note(
                f"The position of a {name} is incomplete: HPOS, VPOS, WIDTH and HEIGHT belong together"
            )
        return None
    if width < 0 or height < 0:
        notes.note(f"A {name} has a negative width or height")
        return None
    if scale.is_plain:
        return left, top, width, height
    (x, y), (right, bottom) = scale.point(left, top), scale.point(left + width, top + height)
    return x, y, right - x, bottom - y


def shapes_of(root: etree._Element) -> Iterator[Stated]:
    """Yield a file's points, and the corners that its round shapes will have."""
    yield from stated_points(root)
    for element in root.iter("{*}Ellipse", "{*}Circle"):
        yield _CORNERS, line_of(element)


def _round_shape(kind: str, element: etree._Element, scale: Scale) -> list[Point]:
    """Return a circle or ellipse as a polygon of many corners."""
    x, y = parse_number(element.get("HPOS")), parse_number(element.get("VPOS"))
    if kind == "Circle":
        across = down = parse_number(element.get("RADIUS"))
    else:
        wide, high = parse_number(element.get("HLENGTH")), parse_number(element.get("VLENGTH"))
        across, down = (wide / 2 if wide else None), (high / 2 if high else None)
    if x is None or y is None or not across or not down:
        return []
    turn = -math.radians(parse_number(element.get("ROTATION")) or 0)
    points: list[Point] = []
    for step in range(_CORNERS):
        angle = 2 * math.pi * step / _CORNERS
        dx, dy = across * math.cos(angle), down * math.sin(angle)
        px = x + dx * math.cos(turn) - dy * math.sin(turn)
        py = y + dx * math.sin(turn) + dy * math.cos(turn)
        points.append((round(px * scale.across), round(py * scale.down)))
    return points


def read_baseline(value: str, box: Sequence[Point], scale: Scale, notes: Notes) -> list[Point]:
    """Return a baseline: points, or the single height of ALTO before 4.2, across the line's box."""
    points = parse_points(value)
    if points is not None:
        return points if scale.is_plain else [scale.point(x, y) for x, y in points]
    height = parse_number(value.strip())
    if height is None:
        notes.note("A baseline is not a list of points")
        return []
    if not box:
        notes.note("A baseline is one number and its line has no position")
        return []
    left = min(x for x, _ in box)
    right = max(x for x, _ in box)
    level = height if scale.is_plain else round(height * scale.down)
    return [(left, level), (right, level)]
