"""The queries of georeferencing: control points, transformations, shapes and features on the ground."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, query
from armarium_documents.api import require_document
from armarium_georeference.errors import no_shape, not_lon_lat, provisional
from armarium_georeference.linked_places import linked_places
from armarium_georeference.onground import features, on_ground, outline_of, outlines_of
from armarium_georeference.places import finder, place_at
from armarium_georeference.points import georeferenced_passes, list_points, live_segment, passes_of
from armarium_georeference.records import (
    ControlPoints,
    EntityPlace,
    FeatureCollection,
    LinkedPlaces,
    MapSheets,
    PlacesOnPicture,
    Transform,
    WorldShape,
)
from armarium_georeference.transforms import require_pass, require_ready, transform_answer, transform_of
from armarium_source_model.api import (
    IS_PROVISIONAL,
    counting_readings,
    is_provisional,
    ladder_of_pass,
    reading_rule,
)


@query(
    "/api/georeference/passes/{pass_id}/control-points",
    summary="The control points of a pass",
    answer=ControlPoints,
    refusals=(404, 409),
)
def list_control_points(conn: Connection, pass_id: str) -> dict[str, Any]:
    """Oldest first, including those that do not count, with the reason."""
    require_pass(conn, pass_id)
    items = list_points(conn, pass_id)
    return {"items": items, "count": len(items)}


@query(
    "/api/georeference/passes/{pass_id}/transform",
    summary="The transformation of a pass, with residuals in metres",
    answer=Transform,
    refusals=(404, 409),
)
def read_transform(conn: Connection, pass_id: str) -> dict[str, Any]:
    """Fitted to the present control points."""
    return transform_answer(transform_of(conn, pass_id))


@query(
    "/api/georeference/passes/{pass_id}/on-picture",
    summary="Where a map shows places of the ground",
    answer=PlacesOnPicture,
    refusals=(404, 409),
)
def read_on_picture(
    conn: Connection,
    pass_id: str,
    place: Annotated[
        list[str], Query(description="LON,LAT in degrees of WGS 84", min_length=1, max_length=500)
    ],
) -> dict[str, Any]:
    """By the inverse of its transformation; 409 in words if the pass has no usable one."""
    import numpy as np

    transform = transform_of(conn, pass_id)
    require_ready(transform)
    lonlat = [_lonlat(corner) for corner in place]
    pixels = transform.on_picture(np.array(lonlat, dtype=np.float64)).tolist()
    items = [
        {
            "lon": lon,
            "lat": lat,
            **({"x": x, "y": y} if isfinite(x) and isfinite(y) else {"x": None, "y": None}),
        }
        for (lon, lat), (x, y) in zip(lonlat, pixels, strict=True)
    ]
    return {"items": items, "count": len(items)}


def _lonlat(text: str) -> tuple[float, float]:
    """Read "LON,LAT"."""
    try:
        lon, lat = (float(part) for part in text.split(","))
    except ValueError:
        raise not_lon_lat(given=text[:80]) from None
    if not (abs(lon) <= 180 and abs(lat) <= 90):
        raise not_lon_lat(given=text[:80])
    return lon, lat


@query("/api/georeference/maps", summary="The maps of the project", answer=MapSheets, refusals=())
def list_maps(conn: Connection) -> dict[str, Any]:
    """Passes with control points or a type of transformation, by the name of their page."""
    items = []
    for pass_id, pass_name, document_id, name in georeferenced_passes(conn):
        transform = transform_of(conn, pass_id)
        items.append(
            {
                "document_id": document_id,
                "name": name,
                "pass_id": pass_id,
                "pass_name": pass_name,
                "type": transform.type,
                "status": transform.status,
                "have": len(transform.counting),
                "rms_m": transform.rms_m,
            }
        )
    return {"items": items, "count": len(items)}


@query(
    "/api/georeference/segments/{segment_id}/world-shape",
    summary="A segment on the ground",
    answer=WorldShape,
    refusals=(404, 409),
)
def read_world_shape(conn: Connection, segment_id: str) -> dict[str, Any]:
    """Its polygon, or else its rect, and its baseline; 409 in words if its pass has no usable transformation."""
    if is_provisional(segment_id):
        raise provisional(IS_PROVISIONAL, segment_id)
    row = live_segment(conn, segment_id)
    transform = transform_of(conn, row.pass_id)
    require_ready(transform)
    (placed,) = on_ground(transform, [outline_of(conn, segment_id)])
    if placed.geometry is None:
        raise no_shape(segment_id, placed.why or "")
    return {
        "segment_id": segment_id,
        "pass_id": row.pass_id,
        "type": transform.type,
        "geometry": placed.geometry,
        "baseline": placed.baseline,
        "error_m": transform.error_m,
    }


@query(
    "/api/georeference/documents/{doc_id}/geojson",
    summary="The segments of a picture on the ground, as GeoJSON",
    answer=FeatureCollection,
)
def read_geojson(conn: Connection, doc_id: str) -> dict[str, Any]:
    """One feature per live segment of each pass with a transformation; what is left out is listed with the
    reason.
    """
    require_document(conn, doc_id)
    geometries: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = []
    for pass_id, _ in passes_of(conn, doc_id):
        transform = transform_of(conn, pass_id)
        if transform.type is None or transform.problem is not None:
            why = transform.problem or "It has no transformation."
            left_out.append({"pass_id": pass_id, "segment_id": None, "why": why})
            continue
        outlines = outlines_of(conn, pass_id)
        texts = counting_readings(conn, pass_id, rule=reading_rule(conn))
        ladder = ladder_of_pass(conn, doc_id, pass_id)
        languages = {outline.id: ladder.value("language", outline.id) for outline in outlines}
        drawn_features, others = features(
            transform, outlines, on_ground(transform, outlines), texts, languages
        )
        geometries += drawn_features
        left_out += others
    return {"type": "FeatureCollection", "features": geometries, "left_out": left_out}


@query(
    "/api/entities/{entity_id}/place",
    summary="Where an entity was at a date",
    answer=EntityPlace,
    refusals=(404, 409),
)
def read_place(
    conn: Connection,
    engine: Engine,
    entity_id: str,
    date: Annotated[
        str | None, Query(description="ISO 8601; may stop at year or month", max_length=40)
    ] = None,
) -> dict[str, Any]:
    """What is stated for the date, never the nearest; relative places are resolved to areas."""
    return place_at(finder(engine, conn), entity_id, date)


@query(
    "/api/entities/{entity_id}/linked-places",
    summary="An entity as Linked Places Format",
    answer=LinkedPlaces,
    refusals=(404, 409),
)
def read_linked_places(conn: Connection, engine: Engine, entity_id: str) -> dict[str, Any]:
    """A feature collection with the entity's names, geometries, dates and links."""
    return linked_places(finder(engine, conn), entity_id)
