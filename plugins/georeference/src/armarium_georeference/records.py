"""Control points, transformations and places: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator
from sqlalchemy import Boolean, Column, Index, MetaData, Text

from armarium.api import (
    HIDDEN,
    Computed,
    Message,
    Params,
    Record,
    Sent,
    SourceText,
    listed,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_documents.api import documents, representations
from armarium_georeference.errors import unknown_point
from armarium_georeference.fitting import Type
from armarium_source_model.api import links, passes, segments

Id = Annotated[str, Field(min_length=1, max_length=128)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Longitude = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
Latitude = Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
Ordinate = Annotated[float, Field(ge=-1e12, le=1e12, allow_inf_nan=False)]
Code = Annotated[str, Field(min_length=1, max_length=80, description="A code such as EPSG:27572")]
Note = Annotated[SourceText, Field(max_length=2000)]
Status = Literal["none", "too-few-points", "ready"]


class PlaceOnGround(Params):
    """The place of a point on the ground: lon and lat, or coordinates in the system that the source uses."""

    lon: Longitude | None = None
    lat: Latitude | None = None
    original_crs: Code | None = None
    original_x: Annotated[Ordinate | None, Field(description="East, or longitude, in original_crs")] = None
    original_y: Annotated[Ordinate | None, Field(description="North, or latitude, in original_crs")] = None
    segment_id: Id | None = None
    x: Annotated[Fraction | None, Field(description="With y, instead of segment_id: draws a mark there")] = (
        None
    )
    y: Fraction | None = None

    @model_validator(mode="after")
    def _check_whole(self) -> PlaceOnGround:
        degrees = [self.lon is not None, self.lat is not None]
        are_given = [value is not None for value in (self.original_crs, self.original_x, self.original_y)]
        if any(degrees) != all(degrees):
            raise ValueError("give lon and lat together")
        if any(are_given) != all(are_given):
            raise ValueError("give original_crs, original_x and original_y together")
        if any(degrees) and any(are_given):
            raise ValueError("give lon and lat, or the original coordinates to be converted; not both")
        if (self.x is None) != (self.y is None):
            raise ValueError("give x and y together")
        if self.segment_id is not None and self.x is not None:
            raise ValueError("give segment_id, whose middle is the point, or x and y; not both")
        return self


class PointCreate(PlaceOnGround):
    """A control point: a place in the picture, and its place on the ground."""

    pass_id: Id
    enabled: bool = True
    note: Note | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> PointCreate:
        if self.lon is None and self.original_crs is None:
            raise ValueError(
                "give its place on the ground: lon and lat, or original_crs, original_x, original_y"
            )
        if self.segment_id is None and self.x is None:
            raise ValueError("give its place in the picture: segment_id, or x and y")
        return self


class PointUpdate(PlaceOnGround):
    """What to change; a field left out keeps its value, null clears the note."""

    point_id: Id
    enabled: bool | None = None
    note: Note | None = None

    @model_validator(mode="after")
    def _clears_only_the_note(self) -> PointUpdate:
        nulls = sorted(name for name in self.model_fields_set - {"note"} if getattr(self, name) is None)
        if nulls:
            raise ValueError(f"{', '.join(nulls)} cannot be cleared; leave out what does not change")
        return self


metadata = MetaData()


@record(
    metadata,
    "georeference_control_point",
    tracked(
        label="control point",
        monotonic=("updated_at",),
        large=("note",),
        document="document_id",
        rivals=("segment_id", "pass_id"),
    ),
    reference("document_id", documents.c.id),
    reference("pass_id", passes.c.id, index=False),
    reference("segment_id", segments.c.id),
    # Its place on the ground is the counting reading of the kind world-point on its segment; this is the
    # point's own.
    reference("representation_id", representations.c.id),
    reference("link_id", links.c.id),
    Index("ix_georeference_control_point_pass", "pass_id", "segment_id"),
    last=(
        # Whether its segment was drawn only for it, and is removed with it.
        Column("is_mark", Boolean, nullable=False, info=HIDDEN),
        *provenance_columns(),
        Column("updated_at", Text, nullable=False),
    ),
    refusal=unknown_point,
)
class ControlPoint(Record):
    """A control point. x, y: fractions of the picture from the top left; lon, lat: degrees on WGS 84."""

    # The place as the source states it; the reading contains the conversion.
    original_crs: str | None
    original_x: float | None
    original_y: float | None
    enabled: bool
    note: str | None
    x: Computed[float]
    y: Computed[float]
    lon: Computed[float]
    lat: Computed[float]
    counts: Computed[bool]
    """Whether the transformation uses it."""
    why_not: Computed[str | None]
    """In words, why it does not count."""


points = ControlPoint.table
"""A place in a picture whose place on the ground is known: the middle of a segment, and its world-point reading."""
ControlPoints = listed(ControlPoint, "ControlPoints", "The control points of a pass, oldest first.")


class MapSheet(Message):
    """A page with control points, or whose pass has a type of transformation."""

    document_id: str
    name: str
    pass_id: str
    pass_name: str
    type: Type | None
    status: Status
    have: Annotated[int, Field(description="How many control points count")]
    rms_m: float | None


MapSheets = listed(MapSheet, "MapSheets", "The maps of the project, by name.")


class OnPicture(Message):
    """A place on the ground and where the map shows it: fractions of the picture from the top left, beyond 0 and 1
    outside of it; null where the map shows no such place.
    """

    lon: float
    lat: float
    x: float | None
    y: float | None


PlacesOnPicture = listed(
    OnPicture, "PlacesOnPicture", "Places of the ground on a picture, in the order asked."
)


class PointDeleted(Message):
    status: Literal["deleted"]
    id: str


class SetType(Params):
    """The type of transformation, and the plane on the ground to fit it in; null clears the type."""

    pass_id: Id
    type: Type | None
    crs: Annotated[
        Code | None,
        Field(
            description="A projected system to fit in, such as EPSG:3857; default: a plane laid through the points"
        ),
    ] = None


class Residual(Message):
    """How far the map puts a control point from its place, in metres: east, north, and in all.

    Null if unknown. For a spline, the residuals of the spline through the other points.
    """

    control_point_id: str
    dx_m: float | None
    dy_m: float | None
    error_m: float | None


class GroundPlane(Message):
    """The plane in which a transformation is fitted."""

    definition: str
    words: str


class FrameOut(Message):
    """Points are taken relative to `origin` and divided by `scale` before the coefficients act."""

    origin: tuple[float, float]
    scale: float


class Transform(Message):
    """The transformation of a pass, from pixels (y up, from the bottom left) to metres of `plane`."""

    pass_id: str
    type: Type | None
    status: Status
    needed: int | None
    have: int
    rendition_id: str | None
    pixel_width: int | None
    pixel_height: int | None
    control_points: list[ControlPoint]
    plane: GroundPlane | None
    picture_frame: FrameOut | None
    ground_frame: FrameOut | None
    coefficients: list[float] | None
    """helmert: a, b, c, d of X = ax - by + c, Y = bx + ay + d. polynomial: for X, then Y, the factors of 1, x, y, x²,
    xy, y², …. projective: the matrix by rows. thin-plate-spline: for X, then Y, of 1, x, y and r² ln r of each point."""
    rms_m: float | None
    residuals: list[Residual]
    notes: list[str]


class WorldShape(Message):
    """A segment on the ground; error_m is the error of the map as a whole, by its control points."""

    segment_id: str
    pass_id: str
    type: Type
    geometry: dict[str, Any]
    baseline: dict[str, Any] | None
    error_m: float | None


class LeftOut(Message):
    """A pass, or a segment of one, that is not shown, and why."""

    pass_id: str
    segment_id: str | None
    why: str


class FeatureCollection(Message):
    """GeoJSON (RFC 7946) with a feature for each segment."""

    type: Literal["FeatureCollection"]
    features: list[dict[str, Any]]
    left_out: list[LeftOut]


class ReadAnnotation(Params):
    """A IIIF georeference annotation, or an annotation page with exactly one, for this picture."""

    pass_id: Id
    annotation: Annotated[dict[str, Any], Field(description="The annotation as JSON")]


class AnnotationRead(Message):
    """The control points that were imported from an annotation."""

    pass_id: str
    point_ids: list[str]
    type: Type | None
    notes: list[str]


class ResolvedPlace(Message):
    """A place value, with the geometry it is resolved to (GeoJSON) or the reason why there is none."""

    value: dict[str, Any]
    geometry: dict[str, Any] | None
    uncertainty: str | None
    """In words, what the extent of the geometry means."""
    why_no_geometry: str | None


class EntityPlace(Message):
    """Where an entity was at a date."""

    entity_id: str
    date: str | None
    status: Literal["stated", "none-for-date", "several", "no-place"]
    place: ResolvedPlace | None
    candidates: list[ResolvedPlace]
    notes: list[str]


class LinkedPlaces(Message):
    """Linked Places Format 1.2, as JSON-LD."""

    model_config = ConfigDict(populate_by_name=True)

    type: Literal["FeatureCollection"]
    context: Annotated[str, Field(alias="@context")]
    features: list[dict[str, Any]]


class GeoreferenceAnnotation(Message):
    """A IIIF georeference annotation (IIIF Georeference Extension 1.0)."""

    model_config = ConfigDict(populate_by_name=True)

    context: Annotated[list[str], Field(alias="@context")]
    type: Literal["Annotation"]
    motivation: Literal["georeferencing"]
    target: dict[str, Any]
    body: dict[str, Any]


class Placement(Sent):
    """A segment that names a place, and the entity that it names if that is known."""

    segment_id: Id
    uri: Annotated[str, Field(min_length=3, max_length=2000)]
    entity_id: Id | None = None


class PlaceNames(Params):
    """The names of a page that are places of a gazetteer."""

    document_id: Id
    placements: Annotated[list[Placement], Field(min_length=1, max_length=10_000)]


class NamesPlaced(Message):
    """The links that were made; a name already linked is not linked again."""

    document_id: str
    link_ids: list[str]
