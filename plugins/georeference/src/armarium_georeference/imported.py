"""Control points of an imported file (a `.points` file of QGIS): set on its pass within the step of the import.

They are the file's, not a person's: a page that somebody has read is still read by that pass.
"""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, new_id
from armarium_formats.api import TakenPage, count_noun
from armarium_georeference.placing import MARK, link_page, mark_rect
from armarium_georeference.planes import BadCoordinates, to_world
from armarium_georeference.points import WORLD_POINT, geo_uri
from armarium_georeference.records import points
from armarium_source_model.api import NewReading, NewSegment, add_readings, add_segments

IMPORTED = "external_import"
FORMAT = "qgis-points"


def take_points(ctx: ActionContext, format_name: str, page: TakenPage) -> list[str]:
    """Turn what the reader of `qgis-points` kept into control points; what cannot be set is a sentence of the import's notes."""
    if format_name != FORMAT:
        return []
    extras: dict[str, Any] = page.model.extras.get(FORMAT) or {}
    points: list[dict[str, Any]] = extras.get("points") or []
    if not points:
        return []
    code = f"EPSG:{extras['epsg']}" if extras.get("epsg") else None
    if code is None:
        return [
            f"{count_noun(len(points), 'control point')} kept with the pass and not set: no EPSG code of their coordinate "
            "reference system is stated. Add a first line such as #CRS: EPSG:25830 and import the file again."
        ]
    placed: list[tuple[dict[str, Any], tuple[float, float], tuple[float, float]]] = []
    beyond = 0
    for point in points:
        at = page.fraction(point["x"], point["y"])
        if at is None:
            beyond += 1
            continue
        try:
            placed.append((point, at, to_world(code, point["map_x"], point["map_y"])))
        except BadCoordinates as refusal:
            return [f"{count_noun(len(points), 'control point')} kept with the pass and not set. {refusal}"]
    _write(ctx, page, code, placed)
    off = sum(1 for point, _, _ in placed if not point["enabled"])
    notes = [
        f"{count_noun(len(placed), 'control point')} set{f', {off} of them switched off' if off else ''}; now choose the type of "
        "transformation of this pass."
    ]
    if beyond:
        notes.append(
            f"{count_noun(beyond, 'control point')} outside the picture, kept with the pass and not set."
        )
    return notes


def _write(
    ctx: ActionContext,
    page: TakenPage,
    code: str,
    placed: list[tuple[dict[str, Any], tuple[float, float], tuple[float, float]]],
) -> None:
    marks = [
        NewSegment(str(number), "region", tuple(mark_rect(*at)), kind_raw=MARK, is_furniture=True)
        for number, (_, at, _) in enumerate(placed)
    ]
    segment_ids = add_segments(ctx, page.pass_id, page.document_id, page.rendition_id, marks)
    readings = [
        NewReading(segment_id, geo_uri(*place), WORLD_POINT, producer_tool=FORMAT)
        for segment_id, (_, _, place) in zip(segment_ids, placed, strict=True)
    ]
    reading_ids = add_readings(ctx, readings, provenance_kind=IMPORTED)
    provenance = {**ctx.provenance(), "provenance_kind": IMPORTED}
    rows = [
        {
            "id": new_id(),
            "document_id": page.document_id,
            "pass_id": page.pass_id,
            "segment_id": segment_id,
            "representation_id": reading_id,
            "link_id": link_page(ctx, segment_id, page.document_id),
            "original_crs": code,
            "original_x": point["map_x"],
            "original_y": point["map_y"],
            "enabled": point["enabled"],
            "note": None,
            "is_mark": True,
            **provenance,
            "updated_at": ctx.now,
        }
        for segment_id, reading_id, (point, _, _) in zip(segment_ids, reading_ids, placed, strict=True)
    ]
    if rows:
        ctx.conn.execute(points.insert(), rows)
        ctx.target(*(row["id"] for row in rows))
