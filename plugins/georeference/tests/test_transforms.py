"""The six transformations against independent implementations: GDAL, SciPy, and closed forms written here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import orjson
import pytest
from map_project import HEIGHT, WIDTH, MapProject

from armarium_georeference.fitting import NEEDED, SPLINE, TYPES, Degenerate, fit, leave_one_out

RNG = np.random.default_rng(19)
PICTURE = np.column_stack([RNG.uniform(0, 4000, 24), RNG.uniform(0, 2500, 24)])
"""Points in pixels, y upward."""


def bend_points(points: Any, noise: float = 0.0) -> Any:
    """Map points to a plane in metres: rotated, stretched, bent, seen at an angle, and with *noise* metres of
    error.
    """
    x, y = points[:, 0] / 1000, points[:, 1] / 1000
    w = 1 + 0.03 * x - 0.02 * y
    east = (25_000 * x - 9_000 * y + 700 * x * y + 120 * x**3) / w
    north = (8_000 * x + 26_000 * y - 500 * x**2) / w
    rng = np.random.default_rng(7)
    return np.column_stack([east, north]) + rng.normal(0, noise, (len(points), 2)) + [600_000, 6_800_000]


GROUND = bend_points(PICTURE, noise=150)
GRID = np.array([[x, y] for x in np.linspace(0, 4000, 21) for y in np.linspace(0, 2500, 14)])
EXTENT = float(np.ptp(GROUND, axis=0).max())


def is_close(found: Any, wanted: Any) -> bool:
    """Return whether two results are equal to a millionth of the map's extent."""
    return float(np.abs(found - wanted).max()) < 1e-6 * EXTENT


@pytest.mark.parametrize("order", [1, 2])
def test_polynomials_agree_with_gdal(order: int) -> None:
    rasterio = pytest.importorskip("rasterio", reason="rasterio, which brings GDAL, is not installed")
    from rasterio.control import GroundControlPoint
    from rasterio.transform import GCPTransformer

    assert rasterio
    # GDAL uses the highest order for which there are enough points: 1 for fewer than six, else 2.
    count = 5 if order == 1 else 24
    gcps = [
        GroundControlPoint(row=y, col=x, x=e, y=n)
        for (x, y), (e, n) in zip(PICTURE[:count].tolist(), GROUND[:count].tolist(), strict=True)
    ]
    with GCPTransformer(gcps) as gdal:
        xs, ys = gdal.xy(GRID[:, 1].tolist(), GRID[:, 0].tolist(), offset="ul")
    made = fit(f"polynomial{order}", PICTURE[:count], GROUND[:count])  # type: ignore[arg-type]
    assert is_close(made.apply(GRID), np.column_stack([xs, ys]))


def test_splines_agree_with_scipy() -> None:
    interpolate = pytest.importorskip("scipy.interpolate", reason="SciPy is not installed")
    wanted = interpolate.RBFInterpolator(PICTURE / 1000, GROUND, kernel="thin_plate_spline", degree=1)
    assert is_close(fit(SPLINE, PICTURE, GROUND).apply(GRID), wanted(GRID / 1000))


def test_splines_agree_with_gdal() -> None:
    """Approximately: between the control points, which all pass through, the GDAL in rasterio's wheels
    deviates by some thousandths of the extent from the spline on which SciPy and this implementation agree to
    nanometres.
    """
    pytest.importorskip("rasterio", reason="rasterio, which brings GDAL, is not installed")
    from rasterio.control import GroundControlPoint
    from rasterio.transform import GCPTransformer

    ground = bend_points(PICTURE, noise=30)
    gcps = [
        GroundControlPoint(row=y, col=x, x=e, y=n)
        for (x, y), (e, n) in zip(PICTURE.tolist(), ground.tolist(), strict=True)
    ]
    with GCPTransformer(gcps, tps=True) as gdal:
        xs, ys = gdal.xy(GRID[:, 1].tolist(), GRID[:, 0].tolist(), offset="ul")
    far = np.abs(fit(SPLINE, PICTURE, ground).apply(GRID) - np.column_stack([xs, ys])).max()
    assert far < EXTENT / 200


def test_order_three_agrees_with_least_squares_in_fifty_digits() -> None:
    mpmath = pytest.importorskip("mpmath", reason="mpmath is not installed")
    mpmath.mp.dps = 50
    powers = [(i, j) for i in range(4) for j in range(4 - i)]

    def terms(x: float, y: float) -> list[Any]:
        return [mpmath.mpf(x) ** i * mpmath.mpf(y) ** j for i, j in powers]

    design = mpmath.matrix([terms(x, y) for x, y in PICTURE.tolist()])
    normal = design.T * design
    grid = GRID[::23]
    wanted = np.empty((len(grid), 2))
    for axis in (0, 1):
        solved = mpmath.lu_solve(normal, design.T * mpmath.matrix(GROUND[:, axis].tolist()))
        for number, (x, y) in enumerate(grid.tolist()):
            value = mpmath.fsum(term * b for term, b in zip(terms(x, y), solved, strict=True))
            wanted[number, axis] = float(value)
    assert is_close(fit("polynomial3", PICTURE, GROUND).apply(grid), wanted)


def test_helmert_agrees_with_the_closed_form_of_complex_numbers() -> None:
    """Least squares of w = m z + t over complex numbers: m is the covariance of z and w divided by the
    variance of z.
    """
    z = PICTURE[:, 0] + 1j * PICTURE[:, 1]
    w = GROUND[:, 0] + 1j * GROUND[:, 1]
    dz, dw = z - z.mean(), w - w.mean()
    m = (dz.conj() @ dw) / (dz.conj() @ dz)
    grid = GRID[:, 0] + 1j * GRID[:, 1]
    wanted = m * (grid - z.mean()) + w.mean()
    assert is_close(fit("helmert", PICTURE, GROUND).apply(GRID), np.column_stack([wanted.real, wanted.imag]))


def test_projective_agrees_with_levenberg_and_marquardt() -> None:
    """SciPy minimises distances on the ground, starting from the identity; four points without noise are met
    exactly.
    """
    optimize = pytest.importorskip("scipy.optimize", reason="SciPy is not installed")
    here, there = PICTURE / 1000, (GROUND - GROUND.mean(axis=0)) / 10_000

    def misses(h: Any) -> Any:
        w = 1 + here @ h[6:]
        return np.concatenate(
            [(here @ h[0:2] + h[2]) / w - there[:, 0], (here @ h[3:5] + h[5]) / w - there[:, 1]]
        )

    h = optimize.least_squares(
        misses, [1, 0, 0, 0, 1, 0, 0, 0], method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x
    grid = GRID / 1000
    w = 1 + grid @ h[6:]
    wanted = np.column_stack([(grid @ h[0:2] + h[2]) / w, (grid @ h[3:5] + h[5]) / w]) * 10_000 + GROUND.mean(
        axis=0
    )
    assert is_close(fit("projective", PICTURE, GROUND).apply(GRID), wanted)
    true = np.array([[5.0, 0.4, 100], [-0.3, 6.0, 50], [1e-5, 2e-5, 1]])
    homogeneous = np.column_stack([PICTURE, np.ones(len(PICTURE))]) @ true.T
    seen = homogeneous[:, :2] / homogeneous[:, 2:]
    assert np.abs(fit("projective", PICTURE[:4], seen[:4]).apply(PICTURE) - seen).max() < 1e-5


def test_leaving_one_out_is_fitting_the_others() -> None:
    wanted = []
    for number in range(len(PICTURE)):
        others = np.arange(len(PICTURE)) != number
        wanted.append(fit(SPLINE, PICTURE[others], GROUND[others]).apply(PICTURE[number : number + 1])[0])
    assert is_close(leave_one_out(SPLINE, PICTURE, GROUND), np.array(wanted))


@pytest.mark.parametrize("kind", TYPES)
def test_degenerate_points_are_refused_in_words(kind: Any) -> None:
    needed = NEEDED[kind]
    with pytest.raises(Degenerate, match=f"needs {needed} control points"):
        fit(kind, PICTURE[: needed - 1], GROUND[: needed - 1])
    with pytest.raises(Degenerate, match=r"of (its|their) own"):
        fit(kind, np.repeat(PICTURE[:1], 12, axis=0), GROUND[:12])
    with pytest.raises(Degenerate, match="same place on the ground"):
        fit(kind, PICTURE[:12], np.repeat(GROUND[:1], 12, axis=0))
    on_line = np.column_stack([np.linspace(0, 4000, 12), np.linspace(10, 2000, 12)])
    if kind == "helmert":
        fit(kind, on_line, GROUND[:12])
        return
    with pytest.raises(Degenerate, match="one line in the picture"):
        fit(kind, on_line, GROUND[:12])
    with pytest.raises(Degenerate, match="one line on the ground"):
        fit(kind, PICTURE[:12], on_line)


def test_points_on_a_curve_determine_no_polynomial_of_its_order() -> None:
    angle = np.linspace(0, 6, 9)
    circle = np.column_stack([np.cos(angle), np.sin(angle)]) * 1000
    with pytest.raises(Degenerate, match="on a curve"):
        fit("polynomial2", circle, GROUND[:9])
    fit("polynomial1", circle, GROUND[:9])


def test_a_horizon_among_the_points_is_refused() -> None:
    square = np.array([[0.0, 0], [1000, 0], [1000, 1000], [0, 1000]])
    folded = np.array([[0.0, 0], [1000, 0], [300, 200], [0, 1000]])
    with pytest.raises(Degenerate, match="horizon"):
        fit("projective", square, folded)


def test_a_mirrored_map_has_no_helmert_but_says_so(project: MapProject) -> None:
    _, pass_id = project.page()
    # East is on the left of this map.
    project.points(pass_id, [(0.1, 0.1, 3, 49), (0.9, 0.1, 2, 49), (0.9, 0.9, 2, 48.5), (0.1, 0.9, 3, 48.5)])
    found = project.choose(pass_id, "polynomial1")
    assert any("mirrored" in note for note in found["notes"])
    assert found["rms_m"] < 200
    found = project.choose(pass_id, "helmert")
    assert any("a helmert cannot show" in note for note in found["notes"])
    assert found["rms_m"] > 10_000


def test_an_upside_down_map_is_turned(project: MapProject) -> None:
    _, pass_id = project.page()
    project.points(pass_id, [(0.9, 0.9, 2.0, 49), (0.1, 0.9, 2.6, 49), (0.5, 0.1, 2.3, 48.75)])
    found = project.choose(pass_id, "polynomial1")
    assert not any("mirrored" in note for note in found["notes"])


def test_an_ordinary_map_fits_a_helmert(project: MapProject) -> None:
    """A map drawn to scale, far from the equator, with an aspect ratio that is not square: fitted in metres,
    not in degrees.
    """
    _, pass_id = project.page()
    pyproj = pytest.importorskip("pyproj")
    # 40 m a pixel on UTM 33N in Norway, rotated by ten degrees.
    to_world = pyproj.Transformer.from_crs("EPSG:32633", "EPSG:4326", always_xy=True)
    turn = math.radians(10)
    for x, y in ((0.1, 0.1), (0.9, 0.15), (0.85, 0.9), (0.2, 0.8), (0.5, 0.5)):
        right, up = x * WIDTH * 40, (1 - y) * HEIGHT * 40
        east = 500_000 + right * math.cos(turn) - up * math.sin(turn)
        north = 7_700_000 + right * math.sin(turn) + up * math.cos(turn)
        project.point(pass_id, x, y, *to_world.transform(east, north))
    found = project.choose(pass_id, "helmert")
    assert found["status"] == "ready"
    assert found["rms_m"] < 1
    assert max(residual["error_m"] for residual in found["residuals"]) < 1


def test_residuals_are_metres_along_the_geodesic(project: MapProject) -> None:
    """Compared with the length of a degree on WGS 84 by the series of its meridian, without pyproj."""
    _, pass_id = project.page()
    project.points(
        pass_id,
        [(0.1, 0.1, 2.0, 49.0), (0.9, 0.1, 2.1, 49.0), (0.9, 0.9, 2.1, 48.95), (0.1, 0.9, 2.0, 48.95)],
    )
    wrong = project.point(pass_id, 0.5, 0.5, 2.05, 48.976)
    found = project.choose(pass_id, "polynomial1")
    by_id = {residual["control_point_id"]: residual for residual in found["residuals"]}
    one = by_id[wrong]
    assert one["dy_m"] < 0
    assert one["error_m"] == pytest.approx(math.hypot(one["dx_m"], one["dy_m"]), rel=1e-6)
    assert found["rms_m"] == pytest.approx(
        math.sqrt(sum(one["error_m"] ** 2 for one in by_id.values()) / 5), rel=1e-9
    )
    # The middle point is 0.001 degrees too far north; the fit absorbs a fifth of that.
    degree = 111132.954 - 559.822 * math.cos(2 * math.radians(48.975))
    assert -one["dy_m"] == pytest.approx(0.8 * 0.001 * degree, rel=0.05)


def test_the_minimum_of_points_has_no_error_estimate(project: MapProject) -> None:
    _, pass_id = project.page()
    ids = project.points(pass_id, [(0.1, 0.1, 2, 49), (0.9, 0.1, 3, 49), (0.9, 0.9, 3, 48.5)])
    found = project.choose(pass_id, "polynomial1")
    assert found["rms_m"] == pytest.approx(0, abs=1e-3)
    assert "proves nothing" in found["notes"][0]
    spline = project.choose(pass_id, "thin-plate-spline")
    assert (spline["rms_m"], [residual["error_m"] for residual in spline["residuals"]]) == (None, [None] * 3)
    assert "four points" in spline["notes"][0]
    project.point(pass_id, 0.1, 0.9, 2, 48.5)
    spline = project.transform(pass_id)
    assert spline["rms_m"] > 0
    assert all(residual["error_m"] > 0 for residual in spline["residuals"])
    for identity in ids[:2]:
        project.do("georeference.point_update", point_id=identity, enabled=False)
    found = project.transform(pass_id)
    assert (found["status"], found["needed"], found["have"]) == ("too-few-points", 3, 2)
    assert (found["coefficients"], found["rms_m"], found["residuals"]) == (None, None, [])
    assert "needs 3 control points" in found["notes"][0]


def test_the_type_is_set_cleared_and_stored_on_the_pass(project: MapProject) -> None:
    page, pass_id = project.page()
    assert project.transform(pass_id)["status"] == "none"
    refused = project.choose(pass_id, "polynomial2", 422)
    assert (refused["type"], refused["needed"], refused["have"]) == ("polynomial2", 6, 0)
    project.points(pass_id, [(0.1, 0.1, 2, 49), (0.9, 0.1, 3, 49), (0.9, 0.9, 3, 48.5)])
    made = project.choose(pass_id, "helmert", crs="EPSG:3857")
    assert made["plane"] == {"definition": "EPSG:3857", "words": "WGS 84 / Pseudo-Mercator"}
    ((kept,),) = project.rows("SELECT transformation FROM segment_pass WHERE document_id = ?", page)
    assert orjson.loads(kept) == {"type": "helmert", "crs": "EPSG:3857"}
    assert project.choose(pass_id, None)["status"] == "none"
    for kind, status in (("affine", 422), ("helmert", 200)):
        project.choose(pass_id, kind, status)
    for crs, word in (("EPSG:4326", "is not a plane"), ("EPSG:1", "is unknown")):
        assert word in project.choose(pass_id, "helmert", 422, crs=crs)["detail"]


def test_a_page_without_a_picture_has_no_proportions(project: MapProject) -> None:
    page = project.do("document.create", name="Note", doc_type="page")["id"]
    pass_id = project.do("segment.pass_create", document_id=page, name="Places")["id"]
    project.points(pass_id, [(0.1, 0.1, 2, 49), (0.9, 0.1, 3, 49)])
    assert project.choose(pass_id, "helmert", 409)["code"] == "no_picture"


def test_poles_the_antimeridian_and_the_whole_globe(project: MapProject) -> None:
    _, polar = project.page()
    project.points(polar, [(0.5, 0.5, 17, 90), (0.9, 0.5, 0, 80), (0.5, 0.1, 90, 80), (0.1, 0.5, 180, 80)])
    found = project.choose(polar, "polynomial1")
    assert found["rms_m"] < 500_000
    assert any("pole" in note for note in found["notes"])
    refused = project.choose(polar, "polynomial1", 422, crs="EPSG:3395")
    assert "does not contain the point 90" in refused["detail"]
    _, fiji = project.page()
    project.points(
        fiji, [(0.1, 0.1, 177, -16), (0.9, 0.1, -178, -16), (0.9, 0.9, -178, -19), (0.1, 0.9, 177, -19)]
    )
    assert project.choose(fiji, "polynomial1")["rms_m"] < 5000
    _, globe = project.page()
    project.points(globe, [(0.0, 0.5, -170, 0), (0.3, 0.5, -60, 0), (0.6, 0.6, 60, -30), (0.9, 0.2, 170, 60)])
    assert "more than half of the globe" in project.choose(globe, "polynomial1", 422)["detail"]
    assert project.choose(globe, "polynomial1", crs="EPSG:4087")["status"] == "ready"


def test_two_points_at_one_place_of_the_picture(project: MapProject) -> None:
    _, pass_id = project.page()
    project.points(
        pass_id, [(0.1, 0.1, 2, 49), (0.9, 0.1, 3, 49), (0.9, 0.9, 3, 48.5), (0.9, 0.9, 3.1, 48.5)]
    )
    assert "same place in the picture" in project.choose(pass_id, "thin-plate-spline", 422)["detail"]
    refused = project.choose(pass_id, "projective", 422)
    assert (refused["needed"], "3 have places of their own" in refused["detail"]) == (4, True)
