"""Control points in their present state: the middle of a segment, its counting world-point reading, and
whether the point counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, select

from armarium.api import Rows, by_name, is_among
from armarium_documents.api import documents, representations
from armarium_georeference.errors import segment_withdrawn, unknown_segment
from armarium_georeference.records import ControlPoint, points
from armarium_source_model.api import counting_readings, links, passes, reading_rule, segments

WORLD_POINT = "world-point"
"""The kind of the reading that states the place of a segment on the ground, as a geo URI (RFC 5870): `geo:LAT,LON`."""

SEGMENTS = Rows(segments, missing=unknown_segment)
_GEO = re.compile(
    r"geo:(-?\d{1,3}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)(?:,-?\d+(?:\.\d+)?)?(?:;.*)?", re.IGNORECASE
)


def geo_uri(lon: float, lat: float) -> str:
    """Return a place as a text that programs read too; latitude first."""
    return f"geo:{Decimal(repr(lat)):f},{Decimal(repr(lon)):f}"


def place_in(text: str) -> tuple[float, float] | None:
    """Return (lon, lat) of a world-point reading; None if it names no place on the globe."""
    match = _GEO.fullmatch(text.strip())
    if match is None:
        return None
    lat, lon = float(match[1]), float(match[2])
    return (lon, lat) if abs(lat) <= 90 and abs(lon) <= 180 else None


class _Standing(NamedTuple):
    """The rows of other tables on which a control point depends."""

    rect: tuple[float, float, float, float]
    segment_deleted: bool
    rendition_id: str | None
    link_deleted: bool
    own_place: str


def rendition_of_pass(conn: Connection, pass_id: str) -> str | None:
    """Return the picture on which most of a pass was drawn; None if no segment names one."""
    named = func.json_extract(segments.c.anchor, "$.rendition_id")
    counted = (
        select(named)
        .where(segments.c.pass_id == pass_id, segments.c.deleted_at.is_(None), named.is_not(None))
        .group_by(named)
        .order_by(func.count().desc(), named)
    )
    rendition_id: str | None = conn.execute(counted.limit(1)).scalar()
    return rendition_id


def list_points(conn: Connection, pass_id: str) -> list[dict[str, Any]]:
    """Return the control points of a pass as answers show them (ControlPoint), oldest first."""
    rows = ControlPoint.rows.all(conn, points.c.pass_id == pass_id, order=(points.c.created_at, points.c.id))
    return _standing_points(conn, pass_id, rows) if rows else []


def point_answer(conn: Connection, point_id: str) -> dict[str, Any]:
    """Return one control point as answers show it. Raises NotFound."""
    row = ControlPoint.rows.require(conn, point_id)
    return _standing_points(conn, row["pass_id"], [row])[0]


def _standing_points(conn: Connection, pass_id: str, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    standing = _load_standing(conn, [row["id"] for row in rows])
    readings = counting_readings(conn, pass_id, WORLD_POINT, reading_rule(conn))
    rendition_id = rendition_of_pass(conn, pass_id)
    answers = []
    for row in rows:
        state = standing[row["id"]]
        counting = readings.get(row["segment_id"])
        place = place_in(counting.text) if counting is not None else None
        own = counting is not None and counting.representation_id == row["representation_id"]
        why = _why_not(row, state, rendition_id, is_said=counting is not None, is_place=place is not None)
        if place is None:
            place = place_in(state.own_place)
            own = True
        lon, lat = place or (0.0, 0.0)
        x, y, w, h = state.rect
        answer = {**row, "x": x + w / 2, "y": y + h / 2, "lon": lon, "lat": lat}
        if not own:
            # The reading itself was corrected: it no longer agrees with what the source states.
            answer |= {"original_crs": None, "original_x": None, "original_y": None}
        answers.append(answer | {"counts": why is None, "why_not": why})
    return answers


def _why_not(
    row: Mapping[str, Any], state: _Standing, rendition_id: str | None, *, is_said: bool, is_place: bool
) -> str | None:
    if not row["enabled"]:
        return "It is switched off."
    if state.segment_deleted:
        return "Its segment was withdrawn, merged or split; move the point to another."
    if not is_said:
        return "Its world-point reading was retracted; state its place again."
    if not is_place:
        return "Its counting world-point reading names no place as geo:LAT,LON; state its place again."
    if state.link_deleted:
        return "Its controls link was withdrawn; restore the link, or remove the point and set it again."
    if state.rendition_id != rendition_id:
        return "Its segment was drawn on another picture than the rest of the pass."
    return None


def _load_standing(conn: Connection, ids: Sequence[str]) -> dict[str, _Standing]:
    box = (segments.c.bbox_x, segments.c.bbox_y, segments.c.bbox_w, segments.c.bbox_h)
    statement = (
        select(
            points.c.id,
            *box,
            segments.c.deleted_at,
            func.json_extract(segments.c.anchor, "$.rendition_id"),
            links.c.deleted_at,
            representations.c.content,
        )
        .join(segments, segments.c.id == points.c.segment_id)
        .join(links, links.c.id == points.c.link_id)
        .join(representations, representations.c.id == points.c.representation_id)
        .where(is_among(points.c.id, ids))
    )
    return {
        row[0]: _Standing(
            (row[1], row[2], row[3], row[4]), row[5] is not None, row[6], row[7] is not None, row[8] or ""
        )
        for row in conn.execute(statement)
    }


def live_segment(conn: Connection, segment_id: str) -> Row[Any]:
    """Return the row of a segment. Raises NotFound, and Conflict if it was withdrawn."""
    row = SEGMENTS.row(conn, segment_id)
    if row.deleted_at is not None:
        raise segment_withdrawn(segment_id)
    return row


def georeferenced_passes(conn: Connection) -> list[tuple[str, str, str, str]]:
    """Return (id, name, document_id, document_name) of the live passes with control points or a transformation."""
    has_points = select(points.c.pass_id)
    statement = (
        select(passes.c.id, passes.c.name, documents.c.id, documents.c.name)
        .join(documents, documents.c.id == passes.c.document_id)
        .where(
            passes.c.deleted_at.is_(None),
            documents.c.deleted_at.is_(None),
            passes.c.transformation.is_not(None) | passes.c.id.in_(has_points),
        )
        .order_by(by_name(documents.c.name), documents.c.id, passes.c.created_at, passes.c.id)
    )
    return [(row[0], row[1], row[2], row[3]) for row in conn.execute(statement)]


def passes_of(conn: Connection, document_id: str) -> list[tuple[str, dict[str, Any] | None]]:
    """Return (id, transformation) of the live passes of a page, oldest first."""
    statement = (
        select(passes.c.id, passes.c.transformation)
        .where(passes.c.document_id == document_id, passes.c.deleted_at.is_(None))
        .order_by(passes.c.created_at, passes.c.id)
    )
    return [(row[0], row[1]) for row in conn.execute(statement)]
