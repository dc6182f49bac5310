"""Segments on the ground: GeoJSON by its rules, the antimeridian, poles, horizons, and what is left out."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from map_project import NOWHERE, MapProject

from armarium_georeference import worldshapes

SQUARE = ((0.1, 0.1, 2.0, 49.0), (0.9, 0.1, 3.0, 49.0), (0.9, 0.9, 3.0, 48.5), (0.1, 0.9, 2.0, 48.5))


def signed_area(ring: list[list[float]]) -> float:
    """Return twice the signed area: positive if counter-clockwise."""
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in itertools.pairwise(ring))


def check_rfc7946(geometry: dict[str, Any]) -> None:
    """Check the rules of RFC 7946 that these geometries could break (3.1.6, 3.1.9, 4)."""
    kinds = {"Polygon": [geometry["coordinates"]], "MultiPolygon": geometry["coordinates"]}
    if geometry["type"] in ("LineString", "MultiLineString"):
        lines = (
            geometry["coordinates"] if geometry["type"] == "MultiLineString" else [geometry["coordinates"]]
        )
        assert all(len(line) >= 2 for line in lines)
        places = [place for line in lines for place in line]
    else:
        for polygon in kinds[geometry["type"]]:
            for number, ring in enumerate(polygon):
                assert len(ring) >= 4
                assert ring[0] == ring[-1]
                assert (signed_area(ring) > 0) == (number == 0)
                assert max(p[0] for p in ring) - min(p[0] for p in ring) <= 360
        places = [place for polygon in kinds[geometry["type"]] for ring in polygon for place in ring]
    assert all(-180 <= lon <= 180 and -90 <= lat <= 90 for lon, lat in places)


def extent(geometry: dict[str, Any]) -> float:
    from shapely.geometry import shape

    return float(shape(geometry).area)


def test_a_ring_is_oriented_and_closed() -> None:
    clockwise = [[0, 0], [0, 1], [1, 1], [1, 0]]
    polygon = worldshapes.polygon(clockwise)
    assert polygon is not None
    check_rfc7946(polygon)
    assert worldshapes.polygon([[0, 0], [1, 1]]) is None
    assert worldshapes.polygon([[0, 0], [1, 1], [2, 2]]) is None


def test_a_ring_across_the_antimeridian_is_cut() -> None:
    for ring in (
        [[178, -17], [-178, -17], [-178, -19], [178, -19]],
        [[-178, -19], [178, -19], [178, -17], [-178, -17]],
    ):
        polygon = worldshapes.polygon(ring)
        assert polygon is not None
        assert polygon["type"] == "MultiPolygon"
        check_rfc7946(polygon)
        assert extent(polygon) == pytest.approx(8)


def test_a_ring_about_a_pole_is_closed_over_it() -> None:
    north = [[lon, 80.0] for lon in range(-170, 190, 20)]
    for ring in (north, north[::-1]):
        polygon = worldshapes.polygon(ring, holds_north=True)
        assert polygon is not None
        check_rfc7946(polygon)
        assert extent(polygon) == pytest.approx(360 * 10)
    south = worldshapes.polygon([[lon, -70.0] for lon in range(-170, 190, 20)], holds_south=True)
    assert south is not None
    check_rfc7946(south)
    assert extent(south) == pytest.approx(360 * 20)


def test_a_line_across_the_antimeridian_is_cut() -> None:
    found = worldshapes.line([[170, 0], [-170, 10]])
    assert found is not None
    assert found["type"] == "MultiLineString"
    check_rfc7946(found)
    assert worldshapes.line([[170, 0]]) is None
    assert worldshapes.line([[1, 1], [1, 1]]) == {"type": "LineString", "coordinates": [[1, 1], [1, 1]]}


def test_a_segment_has_its_shape(project: MapProject) -> None:
    page, pass_id = project.page()
    project.points(pass_id, SQUARE)
    anchor = {"rect": [0.1, 0.1, 0.8, 0.8], "polygon": [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]]}
    line = project.do(
        "segment.create",
        document_id=page, pass_id=pass_id, kind="region", anchor=anchor, baseline=[[0.1, 0.5], [0.9, 0.5]],
    )["id"]  # fmt: skip
    path = f"/api/georeference/segments/{line}/world-shape"
    assert "no transformation" in project.get(path, 409)["detail"]
    project.choose(pass_id, "thin-plate-spline")
    answer = project.get(path)
    check_rfc7946(answer["geometry"])
    check_rfc7946(answer["baseline"])
    assert extent(answer["geometry"]) == pytest.approx(0.5, rel=0.01)
    assert (answer["type"], answer["pass_id"], answer["error_m"] > 0) == ("thin-plate-spline", pass_id, True)
    for corner in SQUARE:
        assert (
            min(
                abs(lon - corner[2]) + abs(lat - corner[3])
                for lon, lat in answer["geometry"]["coordinates"][0]
            )
            < 1e-6
        )
    (first, *_) = project.get(f"/api/georeference/passes/{pass_id}/control-points")["items"]
    project.do("georeference.point_delete", point_id=first["id"])
    project.choose(pass_id, "helmert")
    for item in project.get(f"/api/georeference/passes/{pass_id}/control-points")["items"][1:]:
        project.do("georeference.point_update", point_id=item["id"], enabled=False)
    assert "needs 2 control points" in project.get(path, 409)["detail"]


def test_what_has_no_shape_is_refused_in_words(project: MapProject) -> None:
    page, pass_id = project.page()
    project.get(f"/api/georeference/segments/{NOWHERE}/world-shape", 404)
    project.get("/api/georeference/segments/legacy:a:0/world-shape", 422)
    # Seen at such an angle that the horizon crosses the picture.
    project.points(
        pass_id, [(0.1, 0.9, 2, 48), (0.9, 0.9, 2.1, 48), (0.6, 0.6, 2.1, 48.3), (0.4, 0.6, 2.0, 48.3)]
    )
    low, high = project.segments(page, pass_id, [[0.4, 0.7, 0.2, 0.1], [0.1, 0.05, 0.8, 0.1]])
    project.choose(pass_id, "projective")
    project.get(f"/api/georeference/segments/{low}/world-shape")
    refused = project.get(f"/api/georeference/segments/{high}/world-shape", 409)
    assert (refused["code"], "horizon" in refused["detail"]) == ("no_shape", True)
    left_out = project.get(f"/api/georeference/documents/{page}/geojson")["left_out"]
    assert [item["segment_id"] for item in left_out] == [high]
    project.do("segment.delete", segment_ids=[low], expected_versions=[1])
    assert project.get(f"/api/georeference/segments/{low}/world-shape", 409)["code"] == "segment_deleted"
    project.do("segment.pass_delete", pass_id=pass_id)
    assert project.get(f"/api/georeference/passes/{pass_id}/transform", 409)["code"] == "pass_deleted"
    project.get(f"/api/georeference/passes/{NOWHERE}/transform", 404)


def test_a_page_as_geojson(project: MapProject) -> None:
    page, pass_id = project.page()
    project.points(pass_id, SQUARE)
    (line,) = project.segments(page, pass_id, [[0.3, 0.3, 0.3, 0.1]], language="fr")
    project.do("representation.create", segment_id=line, text="Paris")
    other_pass_id = project.do("segment.pass_create", document_id=page, name="Another")["id"]
    project.choose(pass_id, "polynomial1")
    answer = project.get(f"/api/georeference/documents/{page}/geojson")
    assert answer["type"] == "FeatureCollection"
    assert [(entry["pass_id"], entry["why"]) for entry in answer["left_out"]] == [
        (other_pass_id, "It has no transformation.")
    ]
    assert len(answer["features"]) == 5
    (feature,) = (f for f in answer["features"] if f["properties"]["segment_id"] == line)
    assert feature["type"] == "Feature"
    check_rfc7946(feature["geometry"])
    assert feature["properties"] | {"error_m": 0} == {
        "segment_id": line, "kind": "line", "text": "Paris", "language": "fr", "pass_id": pass_id, "error_m": 0,
    }  # fmt: skip
    project.get(f"/api/georeference/documents/{NOWHERE}/geojson", 404)
    pydantic = pytest.importorskip("geojson_pydantic", reason="geojson-pydantic is not installed")
    assert len(pydantic.FeatureCollection.model_validate(answer).features) == 5


def test_a_line_has_the_language_of_its_region_or_page(project: MapProject) -> None:
    """The line's own language, else its region's, else the page's, as `source-settings/resolve` answers."""
    page, pass_id = project.page()
    project.points(pass_id, SQUARE)
    (region,) = project.segments(page, pass_id, [[0.1, 0.1, 0.8, 0.5]], language="ar")
    inside = {"parent_segment_id": region}
    (within,) = project.segments(page, pass_id, [[0.2, 0.2, 0.3, 0.1]], **inside)
    (own,) = project.segments(page, pass_id, [[0.2, 0.4, 0.3, 0.1]], language="fr", **inside)
    (outside,) = project.segments(page, pass_id, [[0.2, 0.8, 0.3, 0.1]])
    body = {"level": "node", "target_id": page, "key": "language", "value": "la"}
    project.send("PUT", "/api/source-settings", 200, body)
    project.choose(pass_id, "polynomial1")
    answer = project.get(f"/api/georeference/documents/{page}/geojson")["features"]
    languages = {item["id"]: item["properties"]["language"] for item in answer}
    expected = {region: "ar", within: "ar", own: "fr", outside: "la"}
    assert {one: languages[one] for one in expected} == expected
    for one, language in expected.items():
        settings = project.get("/api/source-settings/resolve", segment_id=one)["settings"]
        assert next(setting["value"] for setting in settings if setting["key"] == "language") == language


def test_a_map_across_the_antimeridian_and_one_of_the_pole(project: MapProject) -> None:
    page, fiji = project.page()
    project.points(
        fiji, [(0.1, 0.1, 177, -16), (0.9, 0.1, -178, -16), (0.9, 0.9, -178, -19), (0.1, 0.9, 177, -19)]
    )
    (whole,) = project.segments(page, fiji, [[0.1, 0.1, 0.8, 0.8]])
    project.choose(fiji, "polynomial1")
    shape = project.get(f"/api/georeference/segments/{whole}/world-shape")["geometry"]
    assert shape["type"] == "MultiPolygon"
    check_rfc7946(shape)
    assert extent(shape) == pytest.approx(15, rel=0.03)
    page, polar = project.page((400, 400))
    project.points(polar, [(0.9, 0.5, 90, 80), (0.5, 0.1, 180, 80), (0.1, 0.5, -90, 80), (0.5, 0.9, 0, 80)])
    (whole,) = project.segments(page, polar, [[0.2, 0.2, 0.6, 0.6]])
    project.choose(polar, "helmert")
    shape = project.get(f"/api/georeference/segments/{whole}/world-shape")["geometry"]
    check_rfc7946(shape)
    from shapely.geometry import Point
    from shapely.geometry import shape as shaped

    area = shaped(shape)
    assert all(area.contains(Point(lon, 89)) for lon in range(-179, 180, 20))
    assert not any(area.contains(Point(lon, 79)) for lon in range(-179, 180, 20))


def test_withheld_segments_are_not_in_the_geojson(project: MapProject) -> None:
    page, pass_id = project.page()
    project.points(pass_id, SQUARE)
    secret, _ = project.segments(page, pass_id, [[0.3, 0.3, 0.3, 0.1], [0.3, 0.6, 0.3, 0.1]])
    project.choose(pass_id, "polynomial1")
    project.do("rights.set", target_kind="segment", target_id=secret, restricted=True)
    reader = project.reader()
    found = reader(f"/api/georeference/documents/{page}/geojson")
    segment_ids = [feature["properties"]["segment_id"] for feature in found.json()["features"]]
    assert (secret in segment_ids, len(segment_ids), found.json()["withheld"]) == (False, 5, 1)
    assert reader(f"/api/georeference/documents/{page}/map").status_code == 403
    assert reader(f"/api/georeference/segments/{secret}/world-shape").status_code == 403
