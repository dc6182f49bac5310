"""Areas of places given relative to another: "two leagues north of Lima" is a sector of a ring, never a
point; pure.

Everything that is uncertain widens the area: the length of that league, the numbers that "two" is the
rounding of, the extent of the anchor, and half a point of the compass on either side of the bearing.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from armarium_georeference import worldshapes

UNITS: dict[str, tuple[float, float]] = {
    "m": (1, 1),
    "metre": (1, 1),
    "km": (1000, 1000),
    "kilometre": (1000, 1000),
    # The English statute mile, the Roman mile, the miles of Italian states, of German states, of Scandinavia.
    "mile": (1480, 1900),
    "mile (england)": (1609.344, 1609.344),
    "mile (rome)": (1478, 1484),
    "miglio": (1487, 2466),
    "meile": (7400, 7600),
    "mil": (10_688, 11_299),
    "nautical mile": (1852, 1855),
    "milla": (1390, 1856),
    # Leagues: of Castile 4.19 (legal) and 5.57 (common) to 6.69 km, of France 3.25 to 5.56, of Portugal 5.0 to 6.6.
    "league": (3248, 6687),
    "league (spain)": (4179, 6687),
    "legua": (4179, 6687),
    "league (france)": (3248, 5556),
    "lieue": (3248, 5556),
    "league (portugal)": (5000, 6600),
    "league (england)": (4400, 5556),
    "lega": (4400, 5950),
    "uur gaans": (5000, 5850),
    "verst": (1066.8, 1077),
    "stadion": (157, 210),
    "parasang": (4800, 6500),
    "li": (400, 576),
    "ri": (3900, 4000),
    "toise": (1.949, 1.949),
    "vara": (0.8, 0.9),
    "yard": (0.9144, 0.9144),
    "foot": (0.27, 0.33),
}
"""In metres, the shortest and the longest that went by the name."""

_ALSO = {
    "meter": "metre", "meters": "metre", "metres": "metre", "kilometer": "kilometre", "kilometers": "kilometre",
    "kilometres": "kilometre", "miles": "mile", "milia": "mile (rome)", "mille passus": "mile (rome)", "miglia": "miglio",
    "meilen": "meile", "millas": "milla", "leagues": "league", "leguas": "legua", "légua": "league (portugal)",
    "léguas": "league (portugal)", "lieues": "lieue", "leghe": "lega", "leuca": "league", "leucae": "league",
    "versts": "verst", "stadia": "stadion", "stades": "stadion", "varas": "vara", "yards": "yard", "feet": "foot",
    "toises": "toise", "parasangs": "parasang",
}  # fmt: skip
_COUNTRIES = {
    "castile": "spain",
    "es": "spain",
    "fr": "france",
    "pt": "portugal",
    "gb": "england",
    "uk": "england",
}
_OF = re.compile(r"(.+?)\s*\(\s*(.+?)\s*\)")
_FARTHEST = 9_900_000
"""In metres: nearly a quarter of the way round the globe; beyond that, an area around a place turns inside out."""
_ARC = 24
"""The number of points in an arc; one per degree would be 360 for a whole turn."""


class Anchor(NamedTuple):
    """The place another is relative to: its middle, and its extent from there in metres."""

    lon: float
    lat: float
    radius_m: float


class NoArea(ValueError):
    """No area follows from the relation; the text is a sentence for a person."""


def metres_of(unit: str) -> tuple[float, float]:
    """Return the shortest and the longest a unit may be. Raises NoArea for an unknown unit."""
    name = unicodedata.normalize("NFC", unit).strip().casefold().rstrip(".")
    parts = _OF.fullmatch(name)
    if parts is not None:
        base = _ALSO.get(parts[1], parts[1])
        name = f"{base} ({_COUNTRIES.get(parts[2], parts[2])})"
    metres = UNITS.get(_ALSO.get(name, name))
    if metres is None:
        raise NoArea(f"The length of the unit {unit!r} is not known here, so no area follows from it.")
    return metres


def reach_of(relative: Mapping[str, Any]) -> tuple[float, float]:
    """Return the least and the greatest distance that a relation means, in metres. Raises NoArea if it states none."""
    value, unit = relative.get("distance_value"), relative.get("unit")
    if value is None or not unit:
        raise NoArea("It states no distance as a number with a unit, so how far away it is is not known.")
    number = float(value)
    if not math.isfinite(number) or number < 0:
        raise NoArea(f"{value} is not a distance.")
    shortest, longest = metres_of(str(unit))
    # A written number may be the rounding of others: "2" means 1.5 to 2.5.
    digits = len(repr(number).partition(".")[2].rstrip("0")) if "e" not in repr(number) else 0
    slack = 0.5 * 10.0**-digits
    return max(0.0, number - slack) * shortest, (number + slack) * longest


def area_of(anchor: Anchor, relative: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the area that a relation to *anchor* means, as GeoJSON, and in words what its extent means.
    Raises NoArea.
    """
    from shapely.geometry import Polygon

    from armarium_georeference.planes import ellipsoid

    nearest, farthest = reach_of(relative)
    if farthest + anchor.radius_m > _FARTHEST:
        raise NoArea(
            f"It extends to {(farthest + anchor.radius_m) / 1000:.6g} km, farther than a quarter of the way "
            "round the globe, so no area follows from it. Check the distance and its unit."
        )
    bearing = relative.get("bearing_deg")
    half = relative.get("bearing_halfwidth_deg")
    half = 22.5 if half is None else min(180.0, abs(float(half)))
    if bearing is None:
        start, width = 0.0, 360.0
    else:
        start, width = float(bearing) - half, 2 * half
    # In the plane that preserves distances and bearings from the anchor.
    steps = max(_ARC, round(width / 3))
    angles = [math.radians(start + width * n / steps) for n in range(steps + 1)]
    outer = [(farthest * math.sin(angle), farthest * math.cos(angle)) for angle in angles]
    inner = [(nearest * math.sin(angle), nearest * math.cos(angle)) for angle in reversed(angles)]
    if width >= 360:
        area = Polygon(outer[:-1], [inner[:-1]] if nearest > 0 else [])
    else:
        area = Polygon([*outer, *(inner if nearest > 0 else [(0.0, 0.0)])])
    if anchor.radius_m > 0:
        area = area.buffer(anchor.radius_m)
    globe = ellipsoid()

    def move_onto(ring: Any) -> list[list[float]]:
        placed = []
        for x, y in list(ring.coords)[:-1]:
            lon, lat, _ = globe.fwd(anchor.lon, anchor.lat, math.degrees(math.atan2(x, y)), math.hypot(x, y))
            placed.append([round(lon, worldshapes.DECIMALS), round(lat, worldshapes.DECIMALS)])
        return placed

    geometry = _with_holes(move_onto(area.exterior), [move_onto(interior) for interior in area.interiors])
    towards = "in any direction" if bearing is None else f"{half:g}° to either side of {float(bearing):g}°"
    return geometry, (
        f"From {nearest / 1000:.2f} to {farthest / 1000:.2f} km, {towards}; the anchor has a radius of "
        f"{anchor.radius_m:.0f} m."
    )


def _with_holes(outer: list[list[float]], holes: list[list[list[float]]]) -> dict[str, Any]:
    from shapely.geometry import mapping, shape

    whole = worldshapes.polygon(outer)
    if whole is None:
        raise NoArea("The distance is zero, so no area follows from it.")
    if not holes:
        return whole
    remaining = shape(whole)
    for hole in holes:
        cut = worldshapes.polygon(hole)
        if cut is not None:
            remaining = remaining.difference(shape(cut))
    from shapely.geometry.polygon import orient

    if remaining.geom_type == "Polygon":
        return _make_lists(mapping(orient(remaining, 1.0)))
    parts = [orient(polygon, 1.0) for polygon in remaining.geoms if polygon.geom_type == "Polygon"]
    return {
        "type": "MultiPolygon",
        "coordinates": [_make_lists(mapping(part))["coordinates"] for part in parts],
    }


def _make_lists(geometry: Mapping[str, Any]) -> dict[str, Any]:
    rings = [[[*place] for place in ring] for ring in geometry["coordinates"]]
    return {"type": geometry["type"], "coordinates": rings}
