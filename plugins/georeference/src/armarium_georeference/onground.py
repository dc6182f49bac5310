"""Segments on the ground: outlines and baselines of many segments, transformed in one call of the fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, func, select

from armarium_georeference import worldshapes
from armarium_georeference.planes import BadCoordinates
from armarium_georeference.transforms import PassTransform, pixels_up
from armarium_source_model.api import corners_of, segments

if TYPE_CHECKING:
    from armarium_georeference.fitting import Points

STEP = 1 / 64
"""The longest stretch, in fractions of the picture, that is assumed to be straight on the ground too."""

BEYOND = "it extends beyond the horizon of the projective map, where it has no place on the ground."
NO_AREA = "it has no area on the ground."
OTHER_PICTURE = "it was drawn on another picture than the rest of its pass."


class Outline(NamedTuple):
    """The part of a segment that is drawn: its outline (its rect if it has no polygon) and its baseline."""

    id: str
    kind: str
    rendition_id: str | None
    ring: list[list[float]]
    baseline: list[list[float]] | None


class OnGround(NamedTuple):
    """A segment's area and baseline as GeoJSON geometries, or the reason why it has none."""

    geometry: dict[str, Any] | None
    baseline: dict[str, Any] | None
    why: str | None


_COLUMNS = (
    segments.c.id,
    segments.c.kind,
    func.json_extract(segments.c.anchor, "$.rendition_id"),
    func.json_extract(segments.c.anchor, "$.polygon"),
    segments.c.baseline,
    segments.c.bbox_x,
    segments.c.bbox_y,
    segments.c.bbox_w,
    segments.c.bbox_h,
)


def outlines_of(conn: Connection, pass_id: str) -> list[Outline]:
    """Return the live segments of a pass, in the order of their creation."""
    live = (segments.c.pass_id == pass_id, segments.c.deleted_at.is_(None))
    return [_outline(row) for row in conn.execute(select(*_COLUMNS).where(*live).order_by(segments.c.id))]


def outline_of(conn: Connection, segment_id: str) -> Outline:
    """Return one segment."""
    return _outline(conn.execute(select(*_COLUMNS).where(segments.c.id == segment_id)).one())


def _outline(row: Sequence[Any]) -> Outline:
    import orjson

    identity, kind, rendition_id, polygon, baseline, *rect = row
    ring = orjson.loads(polygon) if polygon else [list(corner) for corner in corners_of(rect)]
    return Outline(identity, kind, rendition_id, ring, baseline)


def on_ground(transform: PassTransform, outlines: Sequence[Outline]) -> list[OnGround]:
    """Return each of *outlines* on the ground, in order, by the fit of a pass that is ready."""
    import numpy as np

    rings = [np.asarray(outline.ring, dtype=np.float64) for outline in outlines]
    lines = [np.asarray(outline.baseline, dtype=np.float64) for outline in outlines if outline.baseline]
    shapes = [*rings, *lines]
    if not shapes:
        return []
    dense, counts = _densify(shapes, [True] * len(rings) + [False] * len(lines))
    world = transform.to_world(dense)
    world = world.round(worldshapes.DECIMALS)
    sound: Any = np.isfinite(world).all(axis=1)
    starts = np.concatenate([[0], np.cumsum(counts)])
    whole: Any = np.logical_and.reduceat(sound, starts[:-1]) if len(dense) else sound
    listed = world.tolist()
    bounds = starts.tolist()
    # If everything is on one half of the globe, no ring goes around a pole, and none is cut.
    is_plain = _is_plain(world[sound])
    areas = _signed_areas(world, starts[: len(rings) + 1]).tolist() if is_plain else []
    answers: list[OnGround] = []
    at_line = len(rings)
    for number, outline in enumerate(outlines):
        baseline = None
        if outline.baseline:
            if whole[at_line]:
                baseline = worldshapes.line(listed[bounds[at_line] : bounds[at_line + 1]])
            at_line += 1
        if outline.rendition_id != transform.rendition_id:
            answers.append(OnGround(None, None, OTHER_PICTURE))
        elif not whole[number]:
            answers.append(OnGround(None, None, BEYOND))
        else:
            ring = listed[bounds[number] : bounds[number + 1]]
            if is_plain:
                geometry = worldshapes.plain_polygon(ring, areas[number])
            else:
                north = south = False
                if worldshapes.goes_round(ring):
                    north, south = _poles_inside(transform, dense[bounds[number] : bounds[number + 1]])
                geometry = worldshapes.polygon(ring, holds_north=north, holds_south=south)
            answers.append(OnGround(geometry, baseline, None if geometry is not None else NO_AREA))
    return answers


def _is_plain(world: Points) -> bool:
    """Return whether all points are within the half of the globe's longitudes that does not reach the antimeridian."""
    if not len(world):
        return False
    west, east = float(world[:, 0].min()), float(world[:, 0].max())
    return east - west < 180 and west >= -180 and east <= 180


def _signed_areas(world: Points, starts: Any) -> Points:
    """Return the area of each ring, positive if it is counterclockwise; *starts*: where each begins, and the end."""
    import numpy as np

    points = world[: starts[-1]]
    following = np.roll(points, -1, axis=0)
    following[starts[1:] - 1] = points[starts[:-1]]
    cross = points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]
    areas: Points = np.add.reduceat(cross, starts[:-1]) / 2
    return areas


def _densify(shapes: Sequence[Points], closed: Sequence[bool]) -> tuple[Points, Points]:
    """Return all vertices, shape after shape, with points added between distant ones; and how many each shape has."""
    import numpy as np

    sizes = np.array([len(shape) for shape in shapes])
    flat = np.concatenate(shapes)
    ends = np.cumsum(sizes)
    following = np.roll(flat, -1, axis=0)
    following[ends - 1] = flat[ends - sizes]
    reach = np.abs(following - flat).max(axis=1)
    parts = np.maximum(1, np.ceil(reach / STEP).astype(np.int64))
    # A line ends at its last point.
    parts[(ends - 1)[~np.asarray(closed)]] = 1
    if (parts == 1).all():
        return flat, sizes
    outline_numbers = np.repeat(np.arange(len(flat)), parts)
    firsts = np.cumsum(parts) - parts
    share = (np.arange(len(outline_numbers)) - firsts[outline_numbers]) / parts[outline_numbers]
    dense = flat[outline_numbers] + (following[outline_numbers] - flat[outline_numbers]) * share[:, None]
    return dense, np.add.reduceat(parts, ends - sizes)


def _poles_inside(transform: PassTransform, ring: Points) -> tuple[bool, bool]:
    """Return whether a ring (fractions of the picture) contains the north pole, the south pole."""
    import numpy as np
    from shapely.geometry import Point, Polygon

    assert transform.fit is not None
    assert transform.plane is not None
    assert transform.size is not None
    area = Polygon(transform.fit.apply(pixels_up(ring, transform.size))).buffer(0)
    contains_pole = []
    for lat in (90.0, -90.0):
        try:
            pole = transform.plane.project(np.array([[0.0, lat]]))
        except BadCoordinates:
            contains_pole.append(False)
            continue
        contains_pole.append(bool(area.contains(Point(*pole[0]))))
    return contains_pole[0], contains_pole[1]


def features(
    transform: PassTransform,
    outlines: Sequence[Outline],
    placed: Iterable[OnGround],
    texts: Mapping[str, Any],
    languages: Mapping[str, str | None],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the GeoJSON features of a pass, and what of it is left out. *languages*: for each segment, as
    stated for it or for what contains it.
    """
    closed_features, unplaced = [], []
    error_m = transform.error_m
    for outline, shape in zip(outlines, placed, strict=True):
        if shape.geometry is None:
            unplaced.append(
                {"pass_id": transform.pass_id, "segment_id": outline.id, "why": f"The segment: {shape.why}"}
            )
            continue
        text = texts.get(outline.id)
        closed_features.append(
            {
                "type": "Feature",
                "id": outline.id,
                "geometry": shape.geometry,
                "properties": {
                    "segment_id": outline.id,
                    "kind": outline.kind,
                    "text": None if text is None else text.text,
                    "language": languages.get(outline.id),
                    "pass_id": transform.pass_id,
                    "error_m": error_m,
                },
            }
        )
    return closed_features, unplaced
