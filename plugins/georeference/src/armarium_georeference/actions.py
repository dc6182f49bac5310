"""The only writes of georeferencing: set, move and remove control points, choose the type, import an annotation."""

from __future__ import annotations

from typing import Any

from armarium.api import ActionContext, Route, RowLaw, action
from armarium_documents.api import require_live
from armarium_georeference import errors
from armarium_georeference.annotations import BadAnnotation, read_annotation
from armarium_georeference.fitting import NEEDED
from armarium_georeference.placing import (
    draw_mask,
    is_linked,
    link_page,
    place_sent,
    segment_for,
    take_away,
    write_place,
)
from armarium_georeference.planes import BadCoordinates, plane_stated
from armarium_georeference.points import list_points, live_segment, point_answer, rendition_of_pass
from armarium_georeference.records import (
    AnnotationRead,
    ControlPoint,
    Id,
    NamesPlaced,
    PlaceNames,
    PointCreate,
    PointDeleted,
    PointUpdate,
    ReadAnnotation,
    SetType,
    Transform,
    points,
)
from armarium_georeference.transforms import (
    picture_size,
    require_pass,
    transform_answer,
    transform_as,
    transform_of,
)
from armarium_source_model.api import set_transformation

ONE_A_SEGMENT = RowLaw.one(
    points.name,
    ("segment_id", "pass_id"),
    lambda row, other: errors.point_there(row["segment_id"], other),
)

ORIGINAL = {"original_crs", "original_x", "original_y"}
"""The place as the source states it."""
STATED = {*ORIGINAL, "pass_id", "enabled", "note"}
"""What is sent of a control point and stored as it is."""


@action(
    "georeference.point_create",
    result=ControlPoint,
    summary="Set a control point: a place in the picture whose place on the ground is known.",
    route=Route("POST", "/api/georeference/passes/{pass_id}/control-points"),
    words="Set a control point on {pass_id|a map}",
    laws=(ONE_A_SEGMENT,),
)
def point_create(ctx: ActionContext, p: PointCreate) -> dict[str, Any]:
    """Raises NotFound, Conflict for what is withdrawn or already a control point, Invalid for an impossible
    place.
    """
    row = require_pass(ctx.conn, p.pass_id)
    require_live(ctx.conn, row.document_id)
    segment_id = segment_for(ctx, p, p.pass_id, row.document_id)
    place = place_sent(p)
    assert place is not None
    point = ControlPoint.rows.insert(
        ctx.conn,
        {
            **p.model_dump(include=STATED),
            "document_id": row.document_id,
            "segment_id": segment_id,
            "representation_id": write_place(ctx, segment_id, place),
            "link_id": link_page(ctx, segment_id, row.document_id),
            "is_mark": p.segment_id is None,
            **ctx.provenance(),
            "updated_at": ctx.now,
        },
    )
    return _note_point(ctx, point["id"], row.document_id, p.pass_id)


def _note_point(ctx: ActionContext, point_id: str, document_id: str, pass_id: str) -> dict[str, Any]:
    ctx.target(point_id, pass_id)
    ctx.note_changes(document_ids=[document_id], pass_ids=[pass_id])
    return point_answer(ctx.conn, point_id)


@action(
    "georeference.point_update",
    result=ControlPoint,
    summary="Move a control point in the picture or on the ground, or switch it on or off.",
    route=Route("PATCH", "/api/georeference/control-points/{point_id}"),
    words="Changed a control point of {point_id|a map}",
    laws=(ONE_A_SEGMENT,),
)
def point_update(ctx: ActionContext, p: PointUpdate) -> dict[str, Any]:
    """Raises NotFound, Conflict for a withdrawn pass or segment, and if a person's place would still be the
    one that counts.
    """
    before = ControlPoint.rows.row(ctx.conn, p.point_id)
    require_pass(ctx.conn, before.pass_id)
    require_live(ctx.conn, before.document_id)
    stands = point_answer(ctx.conn, p.point_id)
    changes: dict[str, Any] = {}
    if "note" in p.model_fields_set:
        changes["note"] = p.note
    if p.enabled is not None:
        changes["enabled"] = p.enabled
    place = place_sent(p)
    if p.segment_id not in (None, before.segment_id) or p.x is not None:
        segment_id = segment_for(ctx, p, before.pass_id, before.document_id)
        if place is None:
            place = (stands["lon"], stands["lat"])
            changes |= {name: stands[name] for name in ORIGINAL}
        take_away(ctx, before)
        changes |= {
            "segment_id": segment_id,
            "is_mark": p.segment_id is None,
            "link_id": link_page(ctx, segment_id, before.document_id),
        }
    else:
        segment_id = before.segment_id
    if place is not None:
        changes["representation_id"] = write_place(ctx, segment_id, place)
        if p.lon is not None or p.original_crs is not None:
            changes |= p.model_dump(include=ORIGINAL)
    # A field sent with its present value changes nothing, not even the time of the last change.
    changes = {name: value for name, value in changes.items() if value != getattr(before, name)}
    if changes:
        ControlPoint.rows.change(ctx.conn, p.point_id, {**changes, "updated_at": ctx.now})
    answer = _note_point(ctx, p.point_id, before.document_id, before.pass_id)
    if place is not None and (answer["lon"], answer["lat"]) != place:
        raise errors.placed_by_person(p.point_id)
    return answer


@action(
    "georeference.point_delete",
    result=PointDeleted,
    summary="Remove a control point, with its world-point reading and its link.",
    route=Route("DELETE", "/api/georeference/control-points/{point_id}"),
    words="Removed a control point of {point_id|a map}",
)
def point_delete(ctx: ActionContext, point_id: Id) -> dict[str, Any]:
    """Raises NotFound; Forbidden if a machine would retract what a person stated."""
    row = ControlPoint.rows.row(ctx.conn, point_id)
    require_live(ctx.conn, row.document_id)
    take_away(ctx, row)
    ControlPoint.rows.delete(ctx.conn, point_id)
    ctx.target(point_id, row.pass_id)
    ctx.note_changes(document_ids=[row.document_id], pass_ids=[row.pass_id])
    return {"status": "deleted", "id": point_id}


@action(
    "georeference.set_type",
    result=Transform,
    summary="Choose the type of a pass's transformation, or clear it.",
    route=Route("PUT", "/api/georeference/passes/{pass_id}/transformation"),
    words=lambda p: (
        "Chose the transformation of {pass_id|a map}"
        if p.get("type")
        else "Cleared the transformation of {pass_id|a map}"
    ),
)
def set_type(ctx: ActionContext, p: SetType) -> dict[str, Any]:
    """Raises NotFound, Conflict, TooFewPoints (also for points that coincide or lie on one line), BadPlace for a plane."""
    require_pass(ctx.conn, p.pass_id)
    if p.type is None:
        set_transformation(ctx, p.pass_id, None)
        return transform_answer(transform_of(ctx.conn, p.pass_id))
    if p.crs is not None:
        try:
            plane_stated(p.crs)
        except BadCoordinates as refusal:
            raise errors.bad_place(str(refusal)) from None
    tried = transform_as(ctx.conn, p.pass_id, p.type, p.crs)
    if tried.problem is not None:
        if tried.bad_plane:
            raise errors.bad_place(tried.problem)
        raise errors.too_few_points(tried.problem, p.type, NEEDED[p.type], len(tried.counting))
    set_transformation(ctx, p.pass_id, {"type": p.type} | ({"crs": p.crs} if p.crs else {}))
    return transform_answer(transform_of(ctx.conn, p.pass_id))


@action(
    "georeference.read_annotation",
    result=AnnotationRead,
    summary="Import the control points of a IIIF georeference annotation, and its type if they suffice for it.",
    route=Route("POST", "/api/georeference/passes/{pass_id}/annotation"),
    words="Imported control points from an annotation on {pass_id|a map}",
    laws=(ONE_A_SEGMENT,),
)
def take_annotation(ctx: ActionContext, p: ReadAnnotation) -> dict[str, Any]:
    """Raises NotFound, Conflict for a page without a picture, Invalid for anything that is not such an
    annotation.
    """
    row = require_pass(ctx.conn, p.pass_id)
    node = require_live(ctx.conn, row.document_id)
    size = picture_size(ctx.conn, row.document_id, rendition_of_pass(ctx.conn, p.pass_id))
    if size is None:
        raise errors.no_picture(node.name)
    try:
        read = read_annotation(p.annotation, size)
    except BadAnnotation as refusal:
        raise errors.bad_annotation(str(refusal)) from None
    standing = [point for point in list_points(ctx.conn, p.pass_id) if point["counts"]]
    point_ids = []
    for x, y, lon, lat in read.points:
        if any(_is_same(point, (x, y, lon, lat), size) for point in standing):
            continue
        params = PointCreate(pass_id=p.pass_id, x=x, y=y, lon=lon, lat=lat)
        point_ids.append(ctx.run("georeference.point_create", params)["id"])
    if read.mask is not None:
        draw_mask(ctx, p.pass_id, row.document_id, read.mask)
    notes, kind = list(read.notes), read.type
    if placed_already := len(read.points) - len(point_ids):
        notes.append(f"{placed_already} of its points exist here already and are not set again.")
    if kind is not None:
        tried = transform_as(ctx.conn, p.pass_id, kind, None)
        if tried.problem is None:
            set_transformation(ctx, p.pass_id, {"type": kind})
        else:
            notes.append(tried.problem)
            kind = None
    ctx.target(p.pass_id)
    return {"pass_id": p.pass_id, "point_ids": point_ids, "type": kind, "notes": notes}


def _is_same(point: dict[str, Any], place: tuple[float, float, float, float], size: tuple[int, int]) -> bool:
    """Return whether there is a control point at *place* (x, y, lon, lat), within half a pixel and a tenth of
    a metre.
    """
    x, y, lon, lat = place
    in_picture = max(abs(point["x"] - x) * size[0], abs(point["y"] - y) * size[1])
    on_ground = max(abs(point["lon"] - lon), abs(point["lat"] - lat))
    return bool(in_picture < 0.5 and on_ground < 1e-6)


@action(
    "georeference.place_names",
    result=NamesPlaced,
    summary="Link segments, and the entities they name, to places of a gazetteer.",
    words="Linked names of {document_id|a page} to places",
)
def place_names(ctx: ActionContext, p: PlaceNames) -> dict[str, Any]:
    """Raises NotFound, Conflict for what is withdrawn, Invalid for a segment of another page or a string that
    is not a URI.
    """
    require_live(ctx.conn, p.document_id)
    link_ids: list[str] = []
    for placement in p.placements:
        if live_segment(ctx.conn, placement.segment_id).document_id != p.document_id:
            raise errors.other_page(placement.segment_id)
        ends = [({"from_id": placement.segment_id}, "names")]
        if placement.entity_id is not None:
            ends.append(({"from_id": placement.entity_id, "from_kind": "entity"}, "same_as"))
        for end, link_type in ends:
            # A run does not link again what somebody has unlinked.
            if not is_linked(
                ctx.conn, end["from_id"], placement.uri, link_type, or_was=ctx.run_id is not None
            ):
                link = {**end, "to_id": placement.uri, "to_kind": "uri", "link_type": link_type}
                link_ids.append(str(ctx.run("link.create", link)["result"]["link_id"]))
    ctx.target(p.document_id)
    ctx.note_changes(document_ids=[p.document_id])
    return {"document_id": p.document_id, "link_ids": link_ids}
