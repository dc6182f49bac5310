"""What a control point writes besides its row: a mark, a world-point reading, a controls link. Called inside
actions.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import ActionContext
from armarium_documents.api import representations
from armarium_georeference import errors
from armarium_georeference.annotations import Fractions
from armarium_georeference.planes import BadCoordinates, to_world
from armarium_georeference.points import SEGMENTS, WORLD_POINT, geo_uri, live_segment, rendition_of_pass
from armarium_georeference.records import PlaceOnGround, points
from armarium_source_model.api import IS_PROVISIONAL, is_provisional, links, segments

MARK = "control-point"
"""The name of a segment that was drawn only for a control point."""
MASK = "map-mask"
"""The name of a segment that surrounds the map in its picture."""
_HALF = 0.001
"""Half the side of a mark, in fractions of the picture; less if the point is nearer to an edge."""


def mark_rect(x: float, y: float) -> list[float]:
    """Return a small rect within the picture whose middle is the given place."""
    w, h = (max(min(_HALF, at, 1 - at), 1e-7) for at in (x, y))
    return [max(0.0, x - w), max(0.0, y - h), 2 * w, 2 * h]


def place_sent(p: PlaceOnGround) -> tuple[float, float] | None:
    """Return (lon, lat) of the request, converted if the source uses another system; None if it names no place."""
    if p.original_crs is None:
        return None if p.lon is None or p.lat is None else (p.lon, p.lat)
    assert p.original_x is not None
    assert p.original_y is not None
    try:
        return to_world(p.original_crs, p.original_x, p.original_y)
    except BadCoordinates as refusal:
        raise errors.bad_place(str(refusal)) from None


def segment_for(ctx: ActionContext, p: PlaceOnGround, pass_id: str, document_id: str) -> str:
    """Return the segment whose middle is the point: the one named, otherwise a mark that is drawn for it."""
    if p.segment_id is None:
        assert p.x is not None
        assert p.y is not None
        return _draw_mark(ctx, pass_id, document_id, p.x, p.y)
    if is_provisional(p.segment_id):
        raise errors.provisional(IS_PROVISIONAL, p.segment_id)
    if live_segment(ctx.conn, p.segment_id).pass_id != pass_id:
        raise errors.other_pass(p.segment_id, pass_id)
    standing = select(points.c.id).where(points.c.pass_id == pass_id, points.c.segment_id == p.segment_id)
    twin = ctx.conn.execute(standing).scalar()
    if twin is not None:
        raise errors.point_there(p.segment_id, twin)
    return p.segment_id


def _draw_mark(ctx: ActionContext, pass_id: str, document_id: str, x: float, y: float) -> str:
    rendition_id = rendition_of_pass(ctx.conn, pass_id)
    segment_fields = {
        "document_id": document_id,
        "pass_id": pass_id,
        "kind": "region",
        "kind_raw": MARK,
        "is_furniture": True,
        "anchor": {"rect": mark_rect(x, y)} | ({"rendition_id": rendition_id} if rendition_id else {}),
    }
    return str(ctx.run("segment.create", segment_fields)["id"])


def draw_mask(ctx: ActionContext, pass_id: str, document_id: str, mask: list[Fractions]) -> None:
    """Draw the outline of the map in its picture as a region of the pass, unless it has one."""
    if mask_of(ctx.conn, pass_id) is None:
        rendition_id = rendition_of_pass(ctx.conn, pass_id)
        segment_fields = {
            "document_id": document_id,
            "pass_id": pass_id,
            "kind": "region",
            "kind_raw": MASK,
            "is_furniture": True,
            "anchor": {"rect": _measure_bounds(mask), "polygon": [list(point) for point in mask]}
            | ({"rendition_id": rendition_id} if rendition_id else {}),
        }
        ctx.run("segment.create", segment_fields)


def mask_of(conn: Connection, pass_id: str) -> list[Fractions] | None:
    """Return the outline of the map in its picture; None where all of the picture is the map."""
    live = select(segments.c.anchor).where(
        segments.c.pass_id == pass_id, segments.c.kind_raw == MASK, segments.c.deleted_at.is_(None)
    )
    anchor = conn.execute(live.order_by(segments.c.id).limit(1)).scalar()
    return (
        None
        if anchor is None
        else [(x, y) for x, y in anchor.get("polygon") or _rect_corners(anchor["rect"])]
    )


def _measure_bounds(corners: list[Fractions]) -> list[float]:
    (left, right), (top, bottom) = ((min(side), max(side)) for side in zip(*corners, strict=True))
    return [left, top, right - left, bottom - top]


def _rect_corners(rect: list[float]) -> list[Fractions]:
    """Return the corners of a rect, clockwise from the top left."""
    x, y, w, h = rect
    return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]


def write_place(ctx: ActionContext, segment_id: str, place: tuple[float, float]) -> str:
    """Write the place of a segment on the ground as a reading of it; return the reading's id."""
    reading = {"segment_id": segment_id, "kind": WORLD_POINT, "text": geo_uri(*place)}
    return str(ctx.run("representation.create", reading)["id"])


def link_page(ctx: ActionContext, segment_id: str, document_id: str) -> str:
    """Link a segment to the page it helps to place on the ground; return the link's id."""
    link = {"from_id": segment_id, "to_id": document_id, "to_kind": "document", "link_type": "controls"}
    return str(ctx.run("link.create", link)["result"]["link_id"])


def take_away(ctx: ActionContext, point: Any) -> None:
    """Remove what a control point wrote on the segment it leaves: retract its readings, withdraw its link and
    its mark.
    """
    table = representations
    statement = select(table.c.id).where(
        table.c.segment_id == point.segment_id, table.c.kind == WORLD_POINT, table.c.retracted.is_(False)
    )
    for representation_id in ctx.conn.execute(statement.order_by(table.c.id)).scalars().all():
        ctx.run("reading.retract", {"representation_id": representation_id})
    stands = select(links.c.id).where(links.c.id == point.link_id, links.c.deleted_at.is_(None))
    if ctx.conn.execute(stands).first() is not None:
        ctx.run("link.delete", {"link_id": point.link_id})
    segment = SEGMENTS.row(ctx.conn, point.segment_id)
    if point.is_mark and segment.deleted_at is None:
        ctx.run("segment.delete", {"segment_ids": [segment.id], "expected_versions": [segment.version]})


def is_linked(conn: Connection, from_id: str, to_id: str, link_type: str, *, or_was: bool = False) -> bool:
    """Return whether there is a live link of the type from one thing to another (*or_was*: or one that was deleted)."""
    standing = select(links.c.id).where(
        links.c.from_id == from_id,
        links.c.to_id == to_id,
        links.c.link_type == link_type,
    )
    if not or_was:
        standing = standing.where(links.c.deleted_at.is_(None))
    return conn.execute(standing.limit(1)).first() is not None
