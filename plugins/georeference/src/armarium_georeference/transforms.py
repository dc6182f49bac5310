"""The transformation of a pass, fitted to its present control points at each request, so that it is never out
of date.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from armarium_documents.api import renditions, require_document
from armarium_georeference.errors import no_picture, no_transform, pass_withdrawn, provisional
from armarium_georeference.fitting import (
    NEEDED,
    SPLINE,
    Degenerate,
    Fit,
    Type,
    fit,
    is_mirrored,
    leave_one_out,
)
from armarium_georeference.planes import BadCoordinates, Plane, offsets, plane_of, rms
from armarium_georeference.points import list_points, rendition_of_pass
from armarium_georeference.warping import Warp
from armarium_source_model.api import IS_PROVISIONAL, get_pass, is_provisional

if TYPE_CHECKING:
    from armarium_georeference.fitting import Points
    from armarium_georeference.records import Status

_NEAR_POLE = 89.9


@dataclass
class PassTransform:
    """The transformation that a pass's control points yield. `fit` and `plane` are set when it is ready."""

    pass_id: str
    document_id: str
    type: Type | None
    points: list[dict[str, Any]]
    rendition_id: str | None
    size: tuple[int, int] | None
    fit: Fit | None = None
    plane: Plane | None = None
    problem: str | None = None
    bad_plane: bool = False
    """Whether the problem is the plane and not the points."""
    residuals: list[dict[str, Any]] = field(default_factory=list)
    rms_m: float | None = None
    notes: list[str] = field(default_factory=list)
    proves_nothing: bool = False

    @property
    def counting(self) -> list[dict[str, Any]]:
        """Return the control points it is fitted to."""
        return [point for point in self.points if point["counts"]]

    @property
    def error_m(self) -> float | None:
        """Return the error anywhere on the map, by its control points; None if they do not tell."""
        return None if self.proves_nothing else self.rms_m

    @property
    def status(self) -> Status:
        """Return how far it is."""
        return "none" if self.type is None else "ready" if self.fit is not None else "too-few-points"

    def to_world(self, fractions: Points) -> Points:
        """Return longitudes and latitudes of places in the picture (fractions, y down); NaN beyond a horizon."""
        assert self.fit is not None
        assert self.plane is not None
        assert self.size is not None
        return self.plane.unproject(self.fit.apply(pixels_up(fractions, self.size)))

    def on_picture(self, lonlat: Points) -> Points:
        """Return where the map shows places (fractions, y down); NaN for those that it does not show."""
        import numpy as np

        assert self.fit is not None
        assert self.plane is not None
        assert self.size is not None
        ground = np.full_like(lonlat, np.nan)
        for number, place in enumerate(lonlat):
            with suppress(BadCoordinates):
                ground[number] = self.plane.project(place[None])[0]
        pixels = np.full_like(lonlat, np.nan)
        sound = np.isfinite(ground).all(axis=1)
        if sound.any():
            pixels[sound] = Warp(self.fit, self.size).invert(ground[sound])
        width, height = self.size
        return np.column_stack([pixels[:, 0] / width, 1 - pixels[:, 1] / height])


def pixels_up(fractions: Points, size: tuple[int, int]) -> Points:
    """Return places in a picture (fractions from the top left) as pixels from the bottom left, y up."""
    import numpy as np

    width, height = size
    return np.column_stack([fractions[:, 0] * width, (1 - fractions[:, 1]) * height])


def require_pass(conn: Connection, pass_id: str) -> Any:
    """Return the row of a live pass. Raises NotFound, Conflict for a withdrawn one, Invalid for a provisional id."""
    if is_provisional(pass_id):
        raise provisional(IS_PROVISIONAL, pass_id)
    row = get_pass(conn, pass_id)
    if row.deleted_at is not None:
        raise pass_withdrawn(pass_id)
    return row


def picture_size(conn: Connection, document_id: str, rendition_id: str | None) -> tuple[int, int] | None:
    """Return width and height in pixels of a rendition (else of the page's primary one); None if unknown."""
    condition = renditions.c.id == rendition_id if rendition_id else renditions.c.is_primary
    row = conn.execute(
        select(renditions.c.pixel_width, renditions.c.pixel_height).where(
            renditions.c.document_id == document_id, condition
        )
    ).first()
    return (row[0], row[1]) if row is not None and row[0] and row[1] else None


def transform_of(conn: Connection, pass_id: str) -> PassTransform:
    """Return the transformation of a pass. Raises NotFound, and Conflict for a withdrawn one."""
    row = require_pass(conn, pass_id)
    transformation = row.transformation or {}
    transform = _describe_unfitted(conn, pass_id, row.document_id, transformation.get("type"))
    if transform.type is not None:
        _fit(transform, transformation.get("crs"))
    return transform


def transform_as(conn: Connection, pass_id: str, kind: Type, crs: str | None) -> PassTransform:
    """Like `transform_of`, but of the type *kind* in the plane *crs*. Raises Conflict for a page without a picture."""
    row = require_pass(conn, pass_id)
    transform = _describe_unfitted(conn, pass_id, row.document_id, kind)
    if transform.size is None:
        raise no_picture(require_document(conn, row.document_id).name)
    _fit(transform, crs)
    return transform


def require_ready(transform: PassTransform) -> None:
    """Raise no_transform, in words, if it is not ready."""
    if transform.type is None:
        sentence = (
            f"Pass {transform.pass_id} has no transformation. Set control points, then choose its type."
        )
        raise no_transform(sentence, transform.pass_id)
    if transform.problem is not None:
        raise no_transform(transform.problem, transform.pass_id)


def _describe_unfitted(conn: Connection, pass_id: str, document_id: str, kind: Type | None) -> PassTransform:
    rendition_id = rendition_of_pass(conn, pass_id)
    size = picture_size(conn, document_id, rendition_id)
    return PassTransform(pass_id, document_id, kind, list_points(conn, pass_id), rendition_id, size)


def _fit(transform: PassTransform, crs: str | None) -> None:
    """Fit, measure and write the notes; set `problem` if it cannot be done."""
    import numpy as np

    kind, counting = transform.type, transform.counting
    assert kind is not None
    needed = NEEDED[kind]
    if len(counting) < needed:
        have = f"{len(counting)} {'counts' if len(counting) == 1 else 'count'}"
        transform.problem = (
            f"A {kind} transformation needs {needed} control points; {have}. Set more, or switch more on."
        )
        return
    if transform.size is None:
        transform.problem = "The page has no picture of known size, so its proportions are unknown."
        return
    fractions = np.array([[point["x"], point["y"]] for point in counting], dtype=np.float64)
    true = np.array([[point["lon"], point["lat"]] for point in counting], dtype=np.float64)
    picture = pixels_up(fractions, transform.size)
    try:
        plane = plane_of(true, crs)
        ground = plane.project(true)
        fitted = fit(kind, picture, ground)
        checked = leave_one_out(kind, picture, ground) if kind == SPLINE else fitted.apply(picture)
    except (BadCoordinates, Degenerate) as refusal:
        transform.problem, transform.bad_plane = str(refusal), isinstance(refusal, BadCoordinates)
        return
    transform.fit, transform.plane = fitted, plane
    transform.proves_nothing = len(counting) == needed
    _measure(transform, true, plane.unproject(checked))
    _remark(transform, picture, ground, true)


def _measure(transform: PassTransform, true: Points, fitted: Points) -> None:
    """Return residuals along the geodesic; nulls for fitted places outside the globe."""
    import numpy as np

    sound: Any = np.isfinite(fitted).all(axis=1)
    measured = iter(offsets(true[sound], fitted[sound]))
    distances = []
    for point, is_sound in zip(transform.counting, sound.tolist(), strict=True):
        east = north = error = None
        if is_sound:
            east, north, error = next(measured)
            distances.append(error)
        transform.residuals.append(
            {"control_point_id": point["id"], "dx_m": east, "dy_m": north, "error_m": error}
        )
    transform.rms_m = rms(distances)


def _remark(transform: PassTransform, picture: Points, ground: Points, true: Points) -> None:
    """Return the notes on a fit."""
    kind, count = transform.type, len(transform.counting)
    if kind == SPLINE and transform.proves_nothing:
        transform.notes.append(
            "A spline passes through its control points, so its error can only be seen by leaving one out, "
            "which takes four points that count."
        )
    elif transform.proves_nothing:
        transform.notes.append(
            f"Exactly as many points count as a {kind} needs ({count}), so it fits them whatever they are: "
            "an error of zero proves nothing. Add a point to see how good it is."
        )
    if kind == SPLINE and not transform.proves_nothing:
        transform.notes.append("Each residual is that of the spline through all the other points.")
        if any(residual["error_m"] is None for residual in transform.residuals):
            transform.notes.append(
                "If the other points are on one line, no residual can be given; spread the points over the "
                "map."
            )
    if is_mirrored(picture, ground):
        cannot = ", which a helmert cannot show; choose polynomial1" if kind == "helmert" else ""
        transform.notes.append(
            "The map is mirrored: its control points have the opposite orientation on the ground and in "
            f"the picture{cannot}. Check whether longitudes and latitudes, or x and y, were exchanged, or "
            "the picture was turned over."
        )
    if float(abs(true[:, 1]).max()) > _NEAR_POLE:
        transform.notes.append("A control point is at a pole, where every longitude is the same place.")


def transform_answer(transform: PassTransform) -> dict[str, Any]:
    """Return the answer over HTTP (Transform)."""
    fit = transform.fit
    return {
        "pass_id": transform.pass_id,
        "type": transform.type,
        "status": transform.status,
        "needed": None if transform.type is None else NEEDED[transform.type],
        "have": len(transform.counting),
        "rendition_id": transform.rendition_id,
        "pixel_width": transform.size[0] if transform.size else None,
        "pixel_height": transform.size[1] if transform.size else None,
        "control_points": transform.points,
        "plane": None if transform.plane is None else asdict(transform.plane),
        "picture_frame": None if fit is None else fit.picture._asdict(),
        "ground_frame": None if fit is None else fit.ground._asdict(),
        "coefficients": None if fit is None else list(fit.coefficients),
        "rms_m": transform.rms_m,
        "residuals": transform.residuals,
        "notes": transform.notes if transform.problem is None else [transform.problem],
    }
