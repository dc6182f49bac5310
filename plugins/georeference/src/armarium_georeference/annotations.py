"""IIIF georeference annotations (the Georeference Extension, as Allmaps reads and writes it); pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeGuard

from armarium.api import ServiceError, parse_xml
from armarium_georeference.fitting import Type

CONTEXTS = [
    "http://iiif.io/api/extension/georef/1/context.json",
    "http://iiif.io/api/presentation/3/context.json",
]
MOST_POINTS = 5000
_WRITTEN: dict[Type, dict[str, Any]] = {
    "helmert": {"type": "helmert"},
    "polynomial1": {"type": "polynomial", "options": {"order": 1}},
    "polynomial2": {"type": "polynomial", "options": {"order": 2}},
    "polynomial3": {"type": "polynomial", "options": {"order": 3}},
    "projective": {"type": "projective"},
    "thin-plate-spline": {"type": "thinPlateSpline"},
}
_ORDERS: dict[int, Type] = {1: "polynomial1", 2: "polynomial2", 3: "polynomial3"}
_NAMES: dict[str, Type] = {
    "helmert": "helmert",
    "projective": "projective",
    "thinplatespline": "thin-plate-spline",
    "polynomial1": "polynomial1",
    "polynomial2": "polynomial2",
    "polynomial3": "polynomial3",
}


Fractions = tuple[float, float]
"""x and y of a place in the picture, from the top left."""

WHOLE: list[Fractions] = [(0, 0), (1, 0), (1, 1), (0, 1)]
MOST_CORNERS = 5000


class BadAnnotation(ValueError):
    """Not a georeference annotation; the text continues a sentence with the reason."""


class Read(NamedTuple):
    """The content of an annotation: x, y (fractions, y down), lon, lat of each point; its type if it names one."""

    points: list[tuple[float, float, float, float]]
    type: Type | None
    notes: list[str]
    mask: list[Fractions] | None = None
    """The outline of the map in the picture; None for all of the picture."""


def write_annotation(
    source: Mapping[str, Any],
    size: tuple[int, int],
    points: Iterable[tuple[float, float, float, float]],
    kind: Type | None,
    mask: Iterable[Fractions] | None = None,
) -> dict[str, Any]:
    """Return an annotation of the resource *source* ({id, type}), of *size* pixels, with these points (x, y,
    lon, lat), of what *mask* surrounds (None: all of the picture).
    """
    width, height = size
    corners = " ".join(f"{round(x * width, 2):g},{round(y * height, 2):g}" for x, y in mask or WHOLE)
    body: dict[str, Any] = {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "properties": {"resourceCoords": [round(x * width, 6), round(y * height, 6)]},
                "geometry": {"type": "Point", "coordinates": [lon, lat]},
            }
            for x, y, lon, lat in points
        ],
    }
    if kind is not None:
        body["transformation"] = _WRITTEN[kind]
    return {
        "@context": CONTEXTS,
        "type": "Annotation",
        "motivation": "georeferencing",
        "target": {
            "type": "SpecificResource",
            "source": {**source, "width": width, "height": height},
            "selector": {
                "type": "SvgSelector",
                "value": f'<svg width="{width}" height="{height}"><polygon points="{corners}" /></svg>',
            },
        },
        "body": body,
    }


def read_annotation(sent: Mapping[str, Any], size: tuple[int, int]) -> Read:
    """Return the points of an annotation, or of the only one in an annotation page. *size* is that of the
    page's picture.
    """
    if sent.get("type") == "AnnotationPage":
        items = sent.get("items")
        if not isinstance(items, list) or len(items) != 1 or not isinstance(items[0], dict):
            raise BadAnnotation(
                "an annotation page must contain exactly one annotation; send the one for this picture."
            )
        sent = items[0]
    body, target = sent.get("body"), sent.get("target")
    if sent.get("type") != "Annotation" or not isinstance(body, dict) or not isinstance(target, dict):
        raise BadAnnotation("it needs type Annotation, a target, and a body with features.")
    features = body.get("features")
    if not isinstance(features, list) or not features:
        raise BadAnnotation("its body has no features, which would be the control points.")
    if len(features) > MOST_POINTS:
        raise BadAnnotation(f"it has {len(features)} control points; at most {MOST_POINTS} are accepted.")
    width, height, notes = _size(target, size)
    points = [_point(number, feature, width, height) for number, feature in enumerate(features)]
    kind, more = _type(body.get("transformation"))
    mask, masked = _mask(target.get("selector"), width, height)
    return Read(points, kind, notes + more + masked, mask)


_CORNER = re.compile(r"(-?[\d.]+(?:e-?\d+)?)[\s,]+(-?[\d.]+(?:e-?\d+)?)", re.IGNORECASE)
_XYWH = re.compile(r"xywh=(?:pixel:)?([\d.]+),([\d.]+),([\d.]+),([\d.]+)")


def _mask(selector: Any, width: float, height: float) -> tuple[list[Fractions] | None, list[str]]:
    """Return the outline that a selector states, None for the whole picture; and a note on one that is not read."""
    if selector is None:
        return None, []
    value = selector.get("value") if isinstance(selector, dict) else None
    kind = selector.get("type") if isinstance(selector, dict) else None
    try:
        if kind == "SvgSelector" and isinstance(value, str) and len(value) < 1_000_000:
            shape = next(element for element in parse_xml(value.encode()).iter("{*}polygon", "{*}path"))
            outline = shape.get("points") or shape.get("d") or ""
            if set(re.findall("[A-Za-z]", outline)) - set("MLZmze"):
                raise ValueError  # curves and relative paths
            corners = [(float(x) / width, float(y) / height) for x, y in _CORNER.findall(outline)]
        elif kind == "FragmentSelector" and isinstance(value, str) and (box := _XYWH.search(value)):
            x, y, w, h = (float(group) for group in box.groups())
            corners = [((x + across * w) / width, (y + down * h) / height) for across, down in WHOLE]
        else:
            raise ValueError
        if not 3 <= len(corners) <= MOST_CORNERS:
            raise ValueError
    except (ValueError, StopIteration, ServiceError):
        return None, ["The outline of the map in the picture cannot be read; all of the picture counts."]
    corners = [(min(1.0, max(0.0, x)), min(1.0, max(0.0, y))) for x, y in corners]
    if corners[0] == corners[-1]:
        corners.pop()
    whole = len(corners) == 4 and all(
        min(abs(x), abs(1 - x)) < 0.002 and min(abs(y), abs(1 - y)) < 0.002 for x, y in corners
    )
    return (None if whole else corners), []


def _size(target: Mapping[str, Any], size: tuple[int, int]) -> tuple[float, float, list[str]]:
    """Return the frame its pixels refer to: that of the source if it is stated."""
    source = target.get("source")
    stated_source = source if isinstance(source, dict) else {}
    width, height = stated_source.get("width"), stated_source.get("height")
    if not (_is_number(width) and _is_number(height) and width > 0 and height > 0):
        return (
            size[0],
            size[1],
            ["The annotation does not state the size of its picture; that of this page is assumed."],
        )
    ours = size[0] / size[1]
    if abs(width / height - ours) > 0.02 * ours:
        raise BadAnnotation(
            f"its picture is {width:g} by {height:g} pixels and this one {size[0]} by {size[1]}; it belongs "
            "to another picture."
        )
    return float(width), float(height), []


def _point(number: int, coordinates: Any, width: float, height: float) -> tuple[float, float, float, float]:
    properties = coordinates.get("properties") if isinstance(coordinates, dict) else None
    geometry = coordinates.get("geometry") if isinstance(coordinates, dict) else None
    if not isinstance(properties, dict) or not isinstance(geometry, dict):
        raise BadAnnotation(f"feature {number} has no properties or no geometry.")
    # Early drafts of the extension called it pixelCoords.
    at = properties.get("resourceCoords", properties.get("pixelCoords"))
    place = geometry.get("coordinates")
    if not _is_pair(at) or not _is_pair(place) or geometry.get("type") != "Point":
        raise BadAnnotation(f"feature {number} needs resourceCoords [x, y] and a Point with [lon, lat].")
    x, y = at[0] / width, at[1] / height
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise BadAnnotation(f"feature {number} is at ({at[0]:g}, {at[1]:g}), outside the picture.")
    if abs(place[0]) > 180 or abs(place[1]) > 90:
        raise BadAnnotation(
            f"feature {number} is at {place[0]:g}, {place[1]:g}, which is not a longitude and latitude."
        )
    return x, y, float(place[0]), float(place[1])


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_pair(value: Any) -> TypeGuard[list[float]]:
    return isinstance(value, list) and len(value) >= 2 and all(_is_number(number) for number in value[:2])


def _type(stated_type: Any) -> tuple[Type | None, list[str]]:
    if stated_type is None:
        return None, ["The annotation names no transformation; choose one."]
    name = stated_type.get("type") if isinstance(stated_type, dict) else stated_type
    options = stated_type.get("options") if isinstance(stated_type, dict) else None
    if name == "polynomial":
        order = options.get("order", 1) if isinstance(options, dict) else 1
        kind = _ORDERS.get(order) if isinstance(order, int) else None
    else:
        kind = _NAMES.get(str(name).lower().replace("-", ""))
    if kind is None:
        return None, [f"The transformation {str(name)[:60]!r} is not known here; choose one."]
    return kind, []
