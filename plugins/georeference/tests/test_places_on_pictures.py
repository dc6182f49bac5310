"""Which maps a project has, and where they show places of the ground."""

from __future__ import annotations

import pytest
from map_project import MapProject

CORNERS = ((0.1, 0.1, 2.0, 49.0), (0.9, 0.1, 3.0, 49.0), (0.9, 0.9, 3.0, 48.5), (0.1, 0.9, 2.0, 48.5))
"""x, y in fractions of the picture; longitude, latitude."""


def test_a_place_is_shown_where_the_transformation_leads_from_it(project: MapProject) -> None:
    page, pass_id = project.page()
    project.points(pass_id, CORNERS)
    project.choose(pass_id, "projective")
    path = f"/api/georeference/passes/{pass_id}/on-picture"
    asked = [f"{lon},{lat}" for *_, lon, lat in CORNERS]
    answer = project.get(path, place=[*asked, "178,-49"])["items"]
    for (x, y, lon, lat), one in zip(CORNERS, answer, strict=False):
        assert (one["lon"], one["lat"]) == (lon, lat)
        assert (one["x"], one["y"]) == pytest.approx((x, y), abs=1e-4)
    # The way back: a segment drawn there lies on the ground where the place is.
    middle = project.get(path, place="2.5,48.75")["items"][0]
    rect = [middle["x"] - 0.01, middle["y"] - 0.01, 0.02, 0.02]
    (line,) = project.segments(page, pass_id, [rect])
    shape = project.get(f"/api/georeference/segments/{line}/world-shape")["geometry"]["coordinates"][0]
    assert min(x for x, _ in shape) < 2.5 < max(x for x, _ in shape)
    assert min(y for _, y in shape) < 48.75 < max(y for _, y in shape)
    # The other side of the globe is on no part of this picture.
    far = answer[-1]
    assert far["x"] is None or not (0 <= far["x"] <= 1 and 0 <= far["y"] <= 1)


def test_the_maps_of_a_project_are_those_with_points_or_a_transformation(project: MapProject) -> None:
    page, pass_id = project.page()
    project.page()
    assert project.get("/api/georeference/maps")["items"] == []
    project.points(pass_id, CORNERS[:1])
    (item,) = project.get("/api/georeference/maps")["items"]
    assert (item["document_id"], item["pass_id"], item["status"], item["have"]) == (page, pass_id, "none", 1)
    project.points(pass_id, CORNERS[1:])
    project.choose(pass_id, "polynomial1")
    (item,) = project.get("/api/georeference/maps")["items"]
    assert (item["status"], item["type"], item["have"]) == ("ready", "polynomial1", 4)
    assert item["rms_m"] > 0
    project.do("document.delete", ids=[page])
    assert project.get("/api/georeference/maps")["items"] == []


def test_what_is_no_place_and_a_map_that_is_not_ready_are_refused(project: MapProject) -> None:
    _, pass_id = project.page()
    path = f"/api/georeference/passes/{pass_id}/on-picture"
    assert project.get(path, 409, place="2,48")["code"] == "no_transform"
    project.points(pass_id, CORNERS)
    project.choose(pass_id, "projective")
    for text in ("here", "2", "2,48,3", "200,48", "nan,48"):
        assert project.get(path, 422, place=text)["code"] == "not_lon_lat"
