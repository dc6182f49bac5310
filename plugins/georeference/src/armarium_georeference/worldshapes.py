"""GeoJSON of shapes on the ground: rings oriented, cut at the antimeridian, closed over a pole; pure.

RFC 7946: longitude before latitude in degrees, outer rings counter-clockwise, nothing across the 180th
meridian.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

Ring = Sequence[Sequence[float]]
DECIMALS = 8
"""In degrees: about a millimetre."""


def polygon(ring: Ring, *, holds_north: bool = False, holds_south: bool = False) -> dict[str, Any] | None:
    """Return the area inside a ring of lon, lat (not closed), as a Polygon or MultiPolygon; None if it has no
    area.

    Neighbouring points are assumed to be less than half the globe apart. A ring that goes once around the
    globe contains a pole: the one stated to be inside, otherwise the nearer one.
    """
    if len(ring) < 3:
        return None
    lons = _unwrap(ring)
    turn = lons[-1] - lons[0] + _step(ring[-1][0], ring[0][0])
    if abs(turn) < 180 and min(lons) >= -180 and max(lons) <= 180:
        return plain_polygon(ring, _signed_area(ring))
    points = [(lon, float(point[1])) for lon, point in zip(lons, ring, strict=True)]
    if abs(turn) > 180:
        mean = sum(point[1] for point in points) / len(points)
        pole = 90.0 if holds_north or (not holds_south and mean >= 0) else -90.0
        points += [(points[0][0] + turn, points[0][1]), (points[0][0] + turn, pole), (points[0][0], pole)]
    return _cut_area(points)


def goes_round(ring: Ring) -> bool:
    """Return whether a ring of lon, lat goes once around the globe, and so contains a pole."""
    lons = _unwrap(ring)
    return abs(lons[-1] - lons[0] + _step(ring[-1][0], ring[0][0])) > 180


def line(points: Ring) -> dict[str, Any] | None:
    """Return a line through lon, lat as a LineString or MultiLineString; None for fewer than two points."""
    if len(points) < 2:
        return None
    lons = _unwrap(points)
    if min(lons) >= -180 and max(lons) <= 180:
        return {"type": "LineString", "coordinates": [[point[0], point[1]] for point in points]}
    parts = list(_cut_line([(lon, float(point[1])) for lon, point in zip(lons, points, strict=True)]))
    if not parts:
        return None
    if len(parts) == 1:
        return {"type": "LineString", "coordinates": parts[0]}
    return {"type": "MultiLineString", "coordinates": parts}


def _step(before: float, after: float) -> float:
    """Return the way from one longitude to another in the shorter direction."""
    return (after - before + 180) % 360 - 180


def _unwrap(points: Ring) -> list[float]:
    lons = [float(points[0][0])]
    for before, after in itertools.pairwise(points):
        lons.append(lons[-1] + _step(before[0], after[0]))
    return lons


def _signed_area(ring: Ring) -> float:
    return (
        sum(
            point[0] * following[1] - following[0] * point[1]
            for point, following in zip(ring, [*ring[1:], ring[0]], strict=True)
        )
        / 2
    )


def plain_polygon(ring: Ring, area: float) -> dict[str, Any] | None:
    """Return a ring of this signed *area*, which neither reaches the antimeridian nor goes round a pole, as a Polygon."""
    if len(ring) < 3 or area == 0:
        return None
    turned = ring if area > 0 else ring[::-1]
    return {"type": "Polygon", "coordinates": [[*turned, turned[0]]]}


def _cut_area(points: list[tuple[float, float]]) -> dict[str, Any] | None:
    import shapely
    from shapely.affinity import translate
    from shapely.geometry import Polygon, box
    from shapely.geometry.polygon import orient

    whole = shapely.make_valid(Polygon(points))
    west, _, east, _ = whole.bounds
    parts: list[Any] = []
    for number in range(math.floor((west + 180) / 360), math.ceil((east + 180) / 360)):
        piece = whole.intersection(box(-180 + 360 * number, -90, 180 + 360 * number, 90))
        parts.extend(
            orient(translate(part, xoff=-360.0 * number), 1.0)
            for part in getattr(piece, "geoms", [piece])
            if part.geom_type == "Polygon" and part.area > 0
        )
    rings = [
        [[[*position] for position in ring.coords] for ring in (part.exterior, *part.interiors)]
        for part in parts
    ]
    if not rings:
        return None
    if len(rings) == 1:
        return {"type": "Polygon", "coordinates": rings[0]}
    return {"type": "MultiPolygon", "coordinates": rings}


def _cut_line(points: list[tuple[float, float]]) -> Iterator[list[list[float]]]:
    from shapely.affinity import translate
    from shapely.geometry import LineString, box

    whole = LineString(points)
    west, _, east, _ = whole.bounds
    for number in range(math.floor((west + 180) / 360), math.floor((east + 180) / 360) + 1):
        piece = whole.intersection(box(-180 + 360 * number, -90, 180 + 360 * number, 90))
        for part in getattr(piece, "geoms", [piece]):
            if part.geom_type == "LineString" and part.length > 0:
                yield [[*position] for position in translate(part, xoff=-360.0 * number).coords]
