"""Where an entity was at a date: its place values that hold then, relative ones resolved to areas; and Linked
Places.

Entities belong to another family, which answers `armarium_georeference_entity`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine
from armarium_documents.api import NoGeometry, Span, geometry_of, geometry_places, span_asked, span_between
from armarium_georeference import errors
from armarium_georeference.hookspecs import Entity, armarium_georeference_entity
from armarium_georeference.relative_places import Anchor, NoArea, area_of

Find = Callable[[str], Entity | None]
"""The entity with an id, or None."""

_DEEPEST = 16
"""How many relations are followed, one resting on another."""


def finder(engine: Engine, conn: Connection) -> Find:
    """Return how entities are found in this project. Raises Conflict if no family has any."""
    has_places = engine.points.has_answer(armarium_georeference_entity)

    def find(entity_id: str) -> Entity | None:
        if not has_places:
            raise errors.no_places(entity_id)
        return engine.points.ask_first(armarium_georeference_entity, conn, entity_id)

    return find


def require_entity(find: Find, entity_id: str) -> Entity:
    """Return the entity. Raises NotFound, and Conflict naming the live one if it was merged."""
    entity = find(entity_id)
    if entity is None:
        raise errors.unknown_entity(entity_id)
    if entity.get("merged_into_id"):
        raise errors.merged_entity(entity_id, str(entity["merged_into_id"]))
    return entity


def place_at(find: Find, entity_id: str, date: str | None) -> dict[str, Any]:
    """Return where the entity was (EntityPlace): only what is stated for the date, never the nearest."""
    entity = require_entity(find, entity_id)
    span = _parse_span(date)
    values: Sequence[Mapping[str, Any]] = entity.get("place_values") or []
    holding, notes = _select_holding(values, span)
    candidates = [_resolve_value(find, value, span, (entity_id,)) for value in holding]
    candidates = [
        candidate for number, candidate in enumerate(candidates) if candidate not in candidates[:number]
    ]
    if not values:
        status = "no-place"
    elif not candidates:
        status = "none-for-date"
    else:
        status = "stated" if len(_drop_repeated(candidates)) == 1 else "several"
    return {
        "entity_id": entity_id,
        "date": date,
        "status": status,
        "place": candidates[0] if status == "stated" else None,
        "candidates": candidates,
        "notes": notes,
    }


def _drop_repeated(resolved: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return one value per place: the same ground from another source, or for later years, is not another place."""
    distinct: list[Mapping[str, Any]] = []
    for resolution in resolved:
        is_same_place = (
            resolution == other or resolution["geometry"] == other["geometry"] is not None
            for other in distinct
        )
        if not any(is_same_place):
            distinct.append(resolution)
    return distinct


def _parse_span(date: str | None) -> Span:
    span = span_between(None, None) if date is None else span_asked(date)
    if span is None:
        raise errors.bad_date(date or "")
    return span


def span_of_when(when: Mapping[str, Any] | None) -> Span:
    """Return the days that a place value's `when` {start?, end?} may mean; ValueError names what is not a date."""
    return span_between(*((when or {}).get(side) for side in ("start", "end")))


def _select_holding(
    values: Sequence[Mapping[str, Any]], asked_span: Span
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the place values that hold on some day of *asked*, and notes about the others."""
    holding, notes = [], []
    for value in values:
        label = str(value.get("label") or "a place")
        try:
            span = span_of_when(value.get("when"))
        except ValueError as fault:
            notes.append(f"“{label}” is left out: its dates contain {str(fault)!r}, which is not a date.")
            continue
        if span.end < span.start:
            notes.append(f"“{label}” is left out: by its dates it ends before it begins.")
        elif span.overlaps(asked_span):
            holding.append(value)
    return holding, notes


def _resolve_value(
    find: Find, value: Mapping[str, Any], span: Span, trail: tuple[str, ...]
) -> dict[str, Any]:
    """Return a place value with its geometry (ResolvedPlace)."""
    geometry: dict[str, Any] | None = None
    uncertainty = why = None
    if value.get("relative"):
        try:
            anchor = _anchor(find, str(value["relative"].get("anchor_entity_id")), span, trail)
            geometry, uncertainty = area_of(anchor, value["relative"])
        except NoArea as refusal:
            why = str(refusal)
    else:
        try:
            geometry = geometry_of(value)
            why = None if geometry is not None else "It is named, without coordinates."
        except NoGeometry as refusal:
            why = str(refusal)
        if geometry is not None and value.get("precision_m"):
            uncertainty = f"Within {float(value['precision_m']):g} m."
    return {"value": dict(value), "geometry": geometry, "uncertainty": uncertainty, "why_no_geometry": why}


def _anchor(find: Find, entity_id: str, span: Span, trail: tuple[str, ...]) -> Anchor:
    """Return the place of an anchor at the same date, relative anchors resolved in turn. Raises NoArea in words."""
    if entity_id in trail:
        raise NoArea(
            "Its anchor is, directly or through others, given relative to the place itself, so no place "
            "follows."
        )
    if len(trail) > _DEEPEST:
        raise NoArea(f"It depends on a chain of more than {_DEEPEST} relations.")
    entity = find(entity_id)
    if entity is None:
        raise NoArea(f"The entity {entity_id}, which it is relative to, is not in this project.")
    if entity.get("merged_into_id"):
        return _anchor(find, str(entity["merged_into_id"]), span, (*trail, entity_id))
    name = str(entity.get("canonical_name") or entity_id)
    holding, _ = _select_holding(entity.get("place_values") or [], span)
    resolved = [_resolve_value(find, value, span, (*trail, entity_id)) for value in holding]
    places = _drop_repeated(resolved)
    if not places:
        raise NoArea(f"“{name}”, which it is relative to, has no place at that date.")
    if len(places) > 1:
        raise NoArea(f"“{name}”, which it is relative to, has several places at that date.")
    (only,) = places
    if only["geometry"] is None:
        raise NoArea(f"“{name}”, which it is relative to, has no coordinates: {only['why_no_geometry']}")
    return _reach(only["geometry"], float(only["value"].get("precision_m") or 0))


def _reach(geometry: Mapping[str, Any], precision_m: float) -> Anchor:
    """Return the middle of a geometry, and the distance to its farthest point."""
    from armarium_georeference.planes import ellipsoid

    # A ring repeats its first place at its end.
    places = list(dict.fromkeys(geometry_places(geometry)))
    vectors = [_unit(lon, lat) for lon, lat in places]
    x, y, z = (sum(vector[axis] for vector in vectors) for axis in range(3))
    lon, lat = math.degrees(math.atan2(y, x)), math.degrees(math.atan2(z, math.hypot(x, y)))
    if len(places) == 1:
        lon, lat = places[0]
    radius = max(ellipsoid().inv(lon, lat, *place)[2] for place in places)
    return Anchor(lon, lat, float(radius) + precision_m)


def _unit(lon: float, lat: float) -> tuple[float, float, float]:
    lon_angle, lat_angle = math.radians(lon), math.radians(lat)
    return (
        math.cos(lat_angle) * math.cos(lon_angle),
        math.cos(lat_angle) * math.sin(lon_angle),
        math.sin(lat_angle),
    )
