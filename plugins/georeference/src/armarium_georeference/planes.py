"""Coordinates on the ground: reference systems by their codes, the plane of a fit, distances on the ellipsoid."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyproj import CRS, Geod, Transformer

    Points = NDArray[np.float64]
    """Rows of two: x, y of a plane in its unit, or longitude, latitude in degrees."""

WORLD = "OGC:CRS84"
"""Longitude, latitude on WGS 84: the axis order of GeoJSON."""
_CODE = re.compile(r"^[A-Za-z][A-Za-z0-9]{1,19}:[A-Za-z0-9_.-]{1,40}$")
_WIDEST = 1.5e8
"""No plane is this wide, not even in feet: the globe is 4e7 metres around."""
_HALF_ROUND = math.cos(math.radians(90))
_FAR = 0.35
"""If the mean of the unit vectors is shorter, the points are spread around the globe and have no useful centre."""


class BadCoordinates(ValueError):
    """Coordinates or a reference system that cannot be used; the text is a sentence for a person."""


@lru_cache(maxsize=128)
def crs_named(code: str) -> CRS:
    """Return the reference system of a code (`EPSG:27572`). Raises BadCoordinates if there is none.

    Only codes are accepted: a definition in words could name files or hosts from which grids would be read.
    """
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    if _CODE.match(code) is None:
        raise BadCoordinates(
            f"{code[:80]!r} is not the code of a reference system. Write authority and number, as in "
            "EPSG:27572."
        )
    try:
        return CRS.from_user_input(code.upper() if code.lower().startswith(("epsg", "esri", "ogc")) else code)
    except CRSError:
        raise BadCoordinates(
            f"The reference system {code} is unknown. Look its code up at epsg.io, or give lon and lat."
        ) from None


@lru_cache(maxsize=128)
def _transformer(source: str, target: str) -> Transformer:
    from pyproj import Transformer

    return Transformer.from_crs(
        WORLD if source == WORLD else _definition(source), _definition(target), always_xy=True
    )


def _definition(text: str) -> Any:
    # Only `plane_of` writes a definition in words; the codes of others have been looked up before.
    return text if text.startswith("+proj=stere ") else crs_named(text)


def to_world(code: str, x: float, y: float) -> tuple[float, float]:
    """Return longitude and latitude of a point that a source gives in the system *code*, x before y (east
    before north).

    Raises BadCoordinates for an unknown system, and for a point outside it.
    """
    crs_named(code)
    lon, lat = _transformer(code, WORLD).transform(x, y)
    if not (math.isfinite(lon) and math.isfinite(lat)) or abs(lat) > 90:
        raise BadCoordinates(
            f"({x:g}, {y:g}) is outside {code}: give east before north, in the units of that system."
        )
    return wrap(float(lon)), float(lat)


def wrap(lon: float) -> float:
    """Return the longitude between -180 and 180."""
    return lon if -180 <= lon <= 180 else (lon + 180) % 360 - 180


@dataclass(frozen=True)
class Plane:
    """A plane on the ground in which a transformation is fitted.

    definition: a PROJ string or a code; words: what it is, for a person.
    """

    definition: str
    words: str

    def project(self, lonlat: Points) -> Points:
        """Return longitudes and latitudes as points of the plane. Raises BadCoordinates for one that the
        plane cannot show.
        """
        import numpy as np

        x, y = _transformer(WORLD, self.definition).transform(lonlat[:, 0], lonlat[:, 1])
        projected_xy = np.column_stack([x, y])
        # For the poles of a cylindrical plane, PROJ returns a very large number instead of infinity.
        bad = ~(np.abs(projected_xy) < _WIDEST).all(axis=1)
        if bad.any():
            lon, lat = lonlat[int(np.argmax(bad))]
            raise BadCoordinates(
                f"The plane {self.definition} does not contain the point {lat:g}, {lon:g} (latitude, "
                "longitude). State another plane, or none: then one is laid through the control points."
            )
        return projected_xy

    def unproject(self, points: Points) -> Points:
        """Return points of the plane as longitudes (-180 to 180) and latitudes; infinite for points outside
        the globe.
        """
        import numpy as np

        lon, lat = _transformer(self.definition, WORLD).transform(points[:, 0], points[:, 1])
        return np.column_stack([lon, lat])


def plane_stated(code: str) -> Plane:
    """Return the plane of a projected system. Raises BadCoordinates if it is unknown or not a plane."""
    crs = crs_named(code)
    if not crs.is_projected:
        raise BadCoordinates(
            f"{code} ({crs.name}) is not a plane; state a projected system such as EPSG:3857."
        )
    return Plane(code, str(crs.name))


def plane_of(lonlat: Points, stated_crs: str | None = None) -> Plane:
    """Return the plane for control points: the one *stated_crs* by its code, otherwise a stereographic one at
    their middle.

    Stereographic planes preserve angles, which suits a Helmert fit, and are regular at the antimeridian and
    the poles. Raises BadCoordinates for a stated system that is not a plane, and for points around the whole
    globe without one.
    """
    import numpy as np

    if stated_crs is not None:
        return plane_stated(stated_crs)
    lon, lat = np.radians(lonlat[:, 0]), np.radians(lonlat[:, 1])
    unit = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    mean = unit.mean(axis=0)
    length = float(np.linalg.norm(mean))
    if length < _FAR or float((unit @ (mean / length)).min()) < _HALF_ROUND:
        raise BadCoordinates(
            "The control points cover more than half of the globe, which no single plane shows "
            "undistorted. State the plane in which the map was drawn, as crs: EPSG:3395 (Mercator) or "
            "EPSG:4087 (equidistant cylindrical), for example."
        )
    x, y, z = mean / length
    lat_0 = round(math.degrees(math.asin(max(-1.0, min(1.0, z)))), 4)
    lon_0 = round(math.degrees(math.atan2(y, x)), 4) if abs(lat_0) < 90 else 0.0
    definition = f"+proj=stere +lat_0={lat_0!r} +lon_0={lon_0!r} +ellps=WGS84 +units=m"
    return Plane(definition, f"stereographic plane about {lat_0:.2f}°, {lon_0:.2f}° (latitude, longitude)")


@lru_cache(maxsize=1)
def ellipsoid() -> Geod:
    """The ellipsoid of WGS 84, on which distances are measured."""
    from pyproj import Geod

    return Geod(ellps="WGS84")


class Offset(NamedTuple):
    """The distance of one place from another in metres: to the east, to the north, and in all."""

    east: float
    north: float
    distance: float


def offsets(true: Points, fitted: Points) -> list[Offset]:
    """Return the offset of each fitted place from the true one, along the geodesic."""
    azimuth, _, distance = ellipsoid().inv(true[:, 0], true[:, 1], fitted[:, 0], fitted[:, 1])
    return [
        Offset(length * math.sin(math.radians(angle)), length * math.cos(math.radians(angle)), float(length))
        for angle, length in zip(azimuth.tolist(), distance.tolist(), strict=True)
    ]


def rms(distances: Sequence[float]) -> float | None:
    """Return the root mean square; None if there are no numbers."""
    return (
        math.sqrt(sum(distance * distance for distance in distances) / len(distances)) if distances else None
    )
