"""A place as Linked Places Format 1.2: GeoJSON with names, dates and links, the format in which gazetteers
exchange places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote
from uuid import UUID

from armarium_documents.api import geometry_parts, span_of
from armarium_georeference.places import Find, place_at, require_entity, span_of_when

CONTEXT = (
    "https://raw.githubusercontent.com/LinkedPasts/linked-places/master/linkedplaces-context-v1.1.jsonld"
)
_ISO639 = 2
_ISO = re.compile(r"-?\d{4,6}(?:-\d{2}(?:-\d{2})?)?", re.ASCII)
_LONGEST = 10**10
"""Days of years with more than six digits, and the ends of what is open, are not written."""
_TYPES = {"location": "place"}


def linked_places(find: Find, entity_id: str) -> dict[str, Any]:
    """Return the entity as a FeatureCollection of one feature. Raises NotFound, and Conflict for a merged entity."""
    entity = require_entity(find, entity_id)
    uri = next(
        (
            str(authority_link["uri"])
            for authority_link in entity.get("authority_links") or []
            if authority_link.get("uri")
        ),
        None,
    )
    feature: dict[str, Any] = {
        "@id": uri or _urn(entity_id),
        "type": "Feature",
        "properties": {"title": str(entity.get("canonical_name") or entity_id)},
        "names": _names(entity),
        "types": [
            {"label": _TYPES.get(str(entity.get("entity_type")), str(entity.get("entity_type") or "place"))}
        ],
        "geometry": {"type": "GeometryCollection", "geometries": _geometries(find, entity_id)},
    }
    links = [
        {
            "type": "exactMatch" if _is_sure(authority_link) else "closeMatch",
            "identifier": str(authority_link["uri"]),
        }
        for authority_link in entity.get("authority_links") or []
        if authority_link.get("uri")
    ]
    if links:
        feature["links"] = links
    if entity.get("description"):
        feature["descriptions"] = [{"value": str(entity["description"])}]
    return {"type": "FeatureCollection", "@context": CONTEXT, "features": [feature]}


def _urn(entity_id: str) -> str:
    """Return the URI of an entity without an authority's URI; ids are UUIDs without their hyphens."""
    try:
        return UUID(entity_id).urn
    except ValueError:
        return f"urn:armarium:{quote(entity_id, safe='')}"


def _is_sure(link: Mapping[str, Any]) -> bool:
    certainty = link.get("certainty")
    return isinstance(certainty, int | float) and certainty >= 0.95


def _names(entity: Mapping[str, Any]) -> list[dict[str, Any]]:
    names_given = entity.get("names") or [{"text": entity.get("canonical_name")}]
    names = []
    for name_given in names_given:
        name: dict[str, Any] = {"toponym": str(name_given["text"])}
        language = str(name_given.get("language") or "").partition("-")[0]
        if len(language) == _ISO639:
            name["lang"] = language.lower()
        if name_given.get("source"):
            name["citations"] = [{"label": str(name_given["source"])}]
        when = _write_when(name_given.get("when"))
        if when is not None:
            name["when"] = when
        names.append(name)
    return names


def _limit_of(bound: Any) -> dict[str, str]:
    """Return one side of a timespan: the date as stated, or for an incomplete one the days between which it lies."""
    if not bound:
        return {}
    span = span_of(str(bound))
    if span is not None and _ISO.fullmatch(str(bound)):
        return {"in": str(bound)}
    sides = {} if span is None else {"earliest": span.start, "latest": span.end}
    return {side: _iso(day) for side, day in sides.items() if abs(day) < _LONGEST}


def _iso(day: int) -> str:
    year, month_and_day = divmod(day, 10_000)
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month_and_day // 100:02}-{month_and_day % 100:02}"


def _write_when(when: Any) -> dict[str, Any] | None:
    """Return a `when` of the format: one timespan; None if there is nothing to state.

    The format requires a start, and reads a timespan without an end as no longer than its start. So an open
    end is stated as "at the earliest when it began", an unknown start as "at the latest when it ended".
    """
    if not isinstance(when, Mapping) or not (when.get("start") or when.get("end")):
        return None
    try:
        span = span_of_when(when)
        if span.end < span.start:
            return None
    except ValueError:
        return None
    start, end = _limit_of(when.get("start")), _limit_of(when.get("end"))
    if not start and not end:
        return None
    timespan = {
        "start": start or {"latest": next(reversed(end.values()))},
        "end": end or {"earliest": next(iter(start.values()))},
    }
    return {"timespans": [timespan]}


def _geometries(find: Find, entity_id: str) -> list[dict[str, Any]]:
    geometries = []
    for candidate in place_at(find, entity_id, None)["candidates"]:
        geometry = candidate["geometry"]
        if geometry is None:
            continue
        value = candidate["value"]
        about: dict[str, Any] = {}
        when = _write_when(value.get("when"))
        if when is not None:
            about["when"] = when
        about["certainty"] = "uncertain" if value.get("relative") else _certainty(value.get("confidence"))
        if value.get("basis"):
            about["citations"] = [{"label": str(value["basis"])}]
        geometries += [{**part, **about} for part in geometry_parts(geometry)]
    return geometries


def _certainty(confidence: Any) -> str:
    if not isinstance(confidence, int | float):
        return "less-certain"
    return "certain" if confidence >= 0.9 else "less-certain" if confidence >= 0.5 else "uncertain"
