"""Geometry of segments: validates polygons and baselines, and rects by the rule of documents.

Fractions of one rendition, origin top left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import orjson

from armarium.api import Invalid
from armarium_documents.api import TOLERANCE, fault_of_rect

Point: TypeAlias = Sequence[float]
Rect: TypeAlias = Sequence[float]
Points: TypeAlias = Sequence[Point]
XY: TypeAlias = tuple[float, float]

MAX_POINTS = 10_000
"""More points than this describe noise, not a shape; a longer outline is refused in words."""
GRID = 16
"""Tiles to a side: `tile` = row x 16 + column of the box's centre, an index and no promise."""


class BadGeometry(Invalid):
    """An invalid shape: the sentence says which, and what a valid one looks like."""


def validate_rect(rect: Rect, *, what: str = "The rect") -> tuple[float, float, float, float]:
    """Return *rect* as `(x, y, w, h)`, or raise BadGeometry: four finite fractions, w and h above 0, in the
    frame.
    """
    fault = fault_of_rect(rect)
    if fault is not None:
        raise BadGeometry(f"{what} {fault}")
    x, y, w, h = rect
    return float(x), float(y), float(w), float(h)


def bounds(points: Points) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of *points*."""
    xs = [point[0] for point in points]
    ys = [point[1] for point in points]
    return min(xs), min(ys), max(xs), max(ys)


def measure_box(points: Points) -> tuple[float, float, float, float]:
    """Return the upright box around *points*: left, top, width and height."""
    left, top, right, bottom = bounds(points)
    return left, top, right - left, bottom - top


def corners_of(rect: Rect) -> tuple[XY, XY, XY, XY]:
    """Return the corners of a rect (x, y, width, height), clockwise from the top left."""
    x, y, w, h = rect
    return (x, y), (x + w, y), (x + w, y + h), (x, y + h)


def outline_of(shape: Mapping[str, Any]) -> Points:
    """Return the outline of a shape {rect, polygon?}: its polygon, else the corners of its rect."""
    outline: Points = shape.get("polygon") or corners_of(shape["rect"])
    return outline


def validate_points(
    points: Points, *, least: int, what: str, rect: Rect | None = None
) -> tuple[float, float, float, float]:
    """Check the points of a polygon (at least 3) or baseline (at least 2) and return their bounds.

    Each point is two finite fractions inside the frame and, if *rect* is given, inside that rect.
    """
    count = len(points)
    if count < least:
        raise BadGeometry(f"{what} has {count} point{'s' * (count != 1)}; it needs at least {least}.")
    if count > MAX_POINTS:
        raise BadGeometry(f"{what} has {count:,} points; simplify it to at most {MAX_POINTS:,}.")
    try:
        xs, ys = zip(*points, strict=True)  # a point of other than two numbers does not unpack
        sound = math.isfinite(sum(xs)) and math.isfinite(sum(ys))
    except (TypeError, ValueError, OverflowError):
        sound = False
    if not sound:
        raise BadGeometry(
            f"{what} contains a point that is not two finite numbers; send [[x, y], …] as fractions."
        )
    left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
    if left < -TOLERANCE or top < -TOLERANCE or right > 1 + TOLERANCE or bottom > 1 + TOLERANCE:
        raise BadGeometry(
            f"{what} reaches outside the image; every coordinate is a fraction between 0 and 1."
        )
    if rect is not None:
        refuse_outside((left, top, right, bottom), rect, what=what)
    return left, top, right, bottom


def refuse_outside(box: tuple[float, float, float, float], rect: Rect, *, what: str = "The polygon") -> None:
    """Raise BadGeometry if points of these bounds reach out of *rect*."""
    left, top, right, bottom = box
    x, y, w, h = rect
    if left < x - TOLERANCE or top < y - TOLERANCE or right > x + w + TOLERANCE or bottom > y + h + TOLERANCE:
        raise BadGeometry(
            f"{what} reaches outside its rect [{x:g}, {y:g}, {w:g}, {h:g}]; "
            "send a rect that encloses every point."
        )


class SoundPoints(NamedTuple):
    """A validated outline or baseline, as stored JSON: neither checked nor serialised again."""

    text: str
    box: tuple[float, float, float, float]
    """Left, top, right, bottom."""


def sound_polygon(polygon: Points) -> SoundPoints:
    """Validate an outline once; BadGeometry."""
    box = validate_polygon(polygon)
    return SoundPoints(orjson.dumps(polygon).decode(), box)


def sound_baseline(baseline: Points) -> SoundPoints:
    """Validate a baseline once; BadGeometry."""
    box = validate_baseline(baseline)
    return SoundPoints(orjson.dumps(baseline).decode(), box)


def pixel_bounds(points: Points) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of points in pixels; None if one is not two finite numbers."""
    try:
        xs, ys = zip(*points, strict=True)
        if not math.isfinite(sum(xs) + sum(ys)):
            return None
    except (TypeError, ValueError, OverflowError):
        return None
    return min(xs), min(ys), max(xs), max(ys)


def sound_pixels(
    points: Points, size: tuple[int, int], box: tuple[float, float, float, float] | None, *, area: bool
) -> SoundPoints:
    """Convert an outline (*area*) or baseline from pixels of a page of *size* to fractions; BadGeometry.

    *box* are its `pixel_bounds`: if they are on the page, no point is examined twice.
    """
    width, height = size
    fractions = [(x / width, y / height) for x, y in points]
    if box is not None and len(points) <= MAX_POINTS:
        left, top, right, bottom = box[0] / width, box[1] / height, box[2] / width, box[3] / height
        extends = _plainly_an_area(fractions) if area else left < right or top < bottom
        if extends and left >= 0 and top >= 0 and right <= 1 and bottom <= 1:
            return SoundPoints(orjson.dumps(fractions).decode(), (left, top, right, bottom))
    return sound_polygon(fractions) if area else sound_baseline(fractions)


def _plainly_an_area(polygon: Points) -> bool:
    """Return whether three sample points are not collinear; False proves nothing."""
    count = len(polygon)
    if count < 3:
        return False
    (ax, ay), (bx, by), (cx, cy) = polygon[:3]
    if abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) > 1e-14:
        return True  # three of its points suffice, and often the first three do
    third = count // 3
    (bx, by), (cx, cy) = polygon[third], polygon[2 * third]
    # A long outline begins along one side; these three are on different ones.
    return abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) > 1e-14


def validate_polygon(polygon: Points, rect: Rect | None = None) -> tuple[float, float, float, float]:
    """Validate three or more points, not all collinear, inside *rect*; return their bounds. A polygon may
    cross itself: real files do.
    """
    box = validate_points(polygon, least=3, what="The polygon", rect=rect)
    if _plainly_an_area(polygon):
        return box
    ax, ay = polygon[0]
    far = max(polygon, key=lambda point: abs(point[0] - ax) + abs(point[1] - ay))
    dx, dy = far[0] - ax, far[1] - ay
    if all(abs(dx * (point[1] - ay) - dy * (point[0] - ax)) <= 1e-14 for point in polygon):
        raise BadGeometry("The polygon encloses no area: its points lie on one line; send an outline.")
    return box


def validate_baseline(baseline: Points) -> tuple[float, float, float, float]:
    """Validate two or more points of some length in writing direction; return their bounds. It may leave the
    rect: descenders and noise do.
    """
    left, top, right, bottom = validate_points(baseline, least=2, what="The baseline")
    if right - left <= 0 and bottom - top <= 0:
        raise BadGeometry("The baseline has no length: its points are one point; send its two ends at least.")
    return left, top, right, bottom


def rect_around(points: Points) -> tuple[float, float, float, float]:
    """Return the smallest rect around *points*; zero width or height becomes the tolerance."""
    left, top, right, bottom = bounds(points)
    width, height = max(right - left, TOLERANCE), max(bottom - top, TOLERANCE)
    return min(left, 1 - width), min(top, 1 - height), width, height


def union_rect(rects: Sequence[Rect]) -> tuple[float, float, float, float]:
    """Return the smallest rect around *rects*, rounded to twelve decimals."""
    left, top = min(rect[0] for rect in rects), min(rect[1] for rect in rects)
    right, bottom = max(rect[0] + rect[2] for rect in rects), max(rect[1] + rect[3] for rect in rects)
    return round(left, 12), round(top, 12), round(right - left, 12), round(bottom - top, 12)


def convex_hull(points: Points) -> list[list[float]]:
    """Return the corners of the convex hull of *points*, in order; fewer than three if collinear."""
    ordered = sorted({(float(point[0]), float(point[1])) for point in points})
    if len(ordered) < 3:
        return [list(point) for point in ordered]

    def half(run: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for point in run:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return [list(point) for point in half(ordered) + half(ordered[::-1])]


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def clip_points(points: Points) -> list[list[float]]:
    """Clip every coordinate of *points* to the frame, for line finders that draw over the image's edge."""
    return [[min(1.0, max(0.0, point[0])), min(1.0, max(0.0, point[1]))] for point in points]


def rect_of(row: Any) -> tuple[float, float, float, float]:
    """Return the rect (x, y, width, height) of the row of a segment."""
    return row.bbox_x, row.bbox_y, row.bbox_w, row.bbox_h


def rect_columns(rect: Rect) -> dict[str, Any]:
    """Return the columns of a segment's row that follow from its rect."""
    x, y, w, h = rect
    return {"bbox_x": x, "bbox_y": y, "bbox_w": w, "bbox_h": h, "tile": tile_of(x, y, w, h)}


def tile_of(x: float, y: float, w: float, h: float) -> int:
    """Return the tile of the centre of a box."""
    column = min(GRID - 1, max(0, int((x + w / 2) * GRID)))
    row = min(GRID - 1, max(0, int((y + h / 2) * GRID)))
    return row * GRID + column


@dataclass(frozen=True)
class SoundGeometry:
    """The usable parts of a foreign shape, and in words why the rest is not."""

    rect: tuple[float, float, float, float] | None
    polygon: list[list[float]] | None
    baseline: list[list[float]] | None
    problem: str | None


def sound_geometry(
    polygon: Points | None, baseline: Points | None, rect: Rect | None = None
) -> SoundGeometry:
    """Return the valid parts of a foreign shape; the caller stores the raw pixels with `problem`.

    The rect is the one given, else the one around the polygon, else the one around the baseline; None only if
    nothing is usable.
    """
    problems: list[str] = []
    held_polygon: list[list[float]] | None = None
    held_baseline: list[list[float]] | None = None
    held_rect: tuple[float, float, float, float] | None = None
    if polygon is not None:
        try:
            validate_polygon(polygon)
            held_polygon = [[float(x), float(y)] for x, y in polygon]
        except BadGeometry as refusal:
            problems.append(refusal.detail)
    if baseline is not None:
        try:
            validate_baseline(baseline)
            held_baseline = [[float(x), float(y)] for x, y in baseline]
        except BadGeometry as refusal:
            problems.append(refusal.detail)
    if rect is not None:
        try:
            held_rect = validate_rect(rect)
            if held_polygon is not None:
                validate_points(held_polygon, least=3, what="The polygon", rect=held_rect)
        except BadGeometry as refusal:
            problems.append(refusal.detail)
            held_rect = None
    if held_rect is None and held_polygon is not None:
        held_rect = rect_around(held_polygon)
    if held_rect is None and held_baseline is not None:
        held_rect = rect_around(held_baseline)
    if held_rect is None:
        held_rect = _clipped_rect(polygon) or _clipped_rect(baseline)
    return SoundGeometry(held_rect, held_polygon, held_baseline, " ".join(problems) or None)


def _clipped_rect(points: Points | None) -> tuple[float, float, float, float] | None:
    """Return the rect of the finite points clipped to the frame, or None if none of it is inside."""
    if not points:
        return None
    finite: list[Any] = [
        point
        for point in points
        if len(point) == 2 and all(isinstance(value, int | float) and math.isfinite(value) for value in point)
    ]
    if not finite:
        return None
    left, top, right, bottom = bounds(finite)
    if right < 0 or bottom < 0 or left > 1 or top > 1:
        return None
    return rect_around(clip_points(finite))
