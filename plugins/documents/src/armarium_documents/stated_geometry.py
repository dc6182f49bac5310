"""Coordinates stated for a place, read according to RFC 7946; pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Geometry = dict[str, Any]
Place = list[float]

_DEPTHS = {
    "Point": 0,
    "MultiPoint": 1,
    "LineString": 1,
    "MultiLineString": 2,
    "Polygon": 2,
    "MultiPolygon": 3,
}
"""How deep the positions of each type are nested in lists."""
_DEEPEST = 8
"""How deep nested collections are read."""
_LEAST = {"LineString": 2, "MultiLineString": 2, "Polygon": 3, "MultiPolygon": 3}
"""The least number of different positions of a line, of a ring."""


class NoGeometry(ValueError):
    """The stated value is not a geometry; the text is a sentence for a person."""


def geometry_of(value: Mapping[str, Any]) -> Geometry | None:
    """Return the geometry a place value states: its GeoJSON, else its box, else its point; None if it states
    none.

    Rings are closed and oriented. Raises NoGeometry for positions outside the globe and for what is not a
    geometry.
    """
    if value.get("geojson") is not None:
        return _read(value["geojson"], 0)
    box = value.get("geo_bbox")
    if box:
        return _box(box)
    if value.get("lat") is not None and value.get("lon") is not None:
        return {"type": "Point", "coordinates": _place([value["lon"], value["lat"]])}
    return None


def geometry_parts(geometry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the geometries a geometry consists of: itself, or those of a collection."""
    if geometry["type"] != "GeometryCollection":
        yield geometry
        return
    for part in geometry["geometries"]:
        yield from geometry_parts(part)


def geometry_places(geometry: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """Yield every position in a geometry."""
    for part in geometry_parts(geometry):
        waiting = [part["coordinates"]]
        while waiting:
            nested = waiting.pop()
            if isinstance(nested[0], int | float):
                yield float(nested[0]), float(nested[1])
            else:
                waiting.extend(nested)


def _read(geojson: Any, depth: int) -> Geometry:
    kind = geojson.get("type") if isinstance(geojson, Mapping) else None
    if depth > _DEEPEST:
        raise NoGeometry(f"Its GeoJSON contains more than {_DEEPEST} collections nested in each other.")
    if kind == "Feature":
        return _read(geojson.get("geometry"), depth + 1)
    if kind in ("FeatureCollection", "GeometryCollection"):
        inner = geojson.get("features" if kind == "FeatureCollection" else "geometries")
        if not isinstance(inner, Sequence) or isinstance(inner, str) or not inner:
            raise NoGeometry("Its GeoJSON is an empty collection.")
        return {"type": "GeometryCollection", "geometries": [_read(part, depth + 1) for part in inner]}
    if kind not in _DEPTHS:
        raise NoGeometry(f"Its GeoJSON is not a geometry: its type is {kind!r}.")
    if kind in ("Polygon", "MultiPolygon"):
        nested = _read_coordinates(geojson.get("coordinates"), _DEPTHS[kind], _LEAST[kind])
        areas = [nested] if kind == "Polygon" else nested
        turned = [[_turn(ring, outer=number == 0) for number, ring in enumerate(rings)] for rings in areas]
        return {"type": kind, "coordinates": turned[0] if kind == "Polygon" else turned}
    return {
        "type": kind,
        "coordinates": _read_coordinates(geojson.get("coordinates"), _DEPTHS[kind], _LEAST.get(kind, 1)),
    }


def _read_coordinates(coordinates: Any, depth: int, least: int) -> Any:
    """Return positions within *depth* lists, of which the innermost contains at least *least* different ones."""
    if depth == 0:
        return _place(coordinates)
    if not isinstance(coordinates, list) or not coordinates:
        raise NoGeometry("The coordinates of its GeoJSON are not nested as its type requires.")
    places = [_read_coordinates(part, depth - 1, least) for part in coordinates]
    if depth == 1 and len({tuple(place) for place in places}) < least:
        raise NoGeometry(f"Its GeoJSON has a line or a ring of fewer than {least} places.")
    return places


def _place(position: Any) -> Place:
    """Return longitude and latitude of a position; an altitude is left out."""
    if not isinstance(position, list) or not 2 <= len(position) <= 3:
        raise NoGeometry("The coordinates of its GeoJSON are not nested as its type requires.")
    if not all(
        isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
        for number in position
    ):
        raise NoGeometry("One of its coordinates is not a number.")
    lon, lat = position[:2]
    if abs(lon) > 180 or abs(lat) > 90:
        raise NoGeometry(
            f"Longitude {lon:g}, latitude {lat:g} is not a place on the globe; longitude comes first."
        )
    return [lon, lat]


def _turn(ring: list[Place], *, outer: bool) -> list[Place]:
    """Return a ring closed and counter-clockwise; a hole clockwise."""
    whole = ring if ring[0] == ring[-1] else [*ring, ring[0]]
    area = sum(
        corner[0] * following[1] - following[0] * corner[1] for corner, following in itertools.pairwise(whole)
    )
    return whole if (area > 0) == outer else whole[::-1]


def _box(box: Sequence[float]) -> Geometry:
    west, south, east, north = box
    corners = [_place([west, south]), _place([east, north])]
    if corners[0][1] > corners[1][1]:
        raise NoGeometry("The south of its box is north of its north: a box is west, south, east, north.")
    # A box whose west is east of its east extends over the antimeridian.
    if west > east:
        halves = [(west, 180.0), (-180.0, east)]
        return {
            "type": "MultiPolygon",
            "coordinates": [[_corners(west, south, east, north)] for west, east in halves],
        }
    return {"type": "Polygon", "coordinates": [_corners(west, south, east, north)]}


def _corners(west: float, south: float, east: float, north: float) -> list[Place]:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]
