"""Control points over HTTP: how they are stored, what moves them, when they do not count, and every refusal."""

from __future__ import annotations

import math
from typing import Any

import pytest
from map_project import MACHINE, NOWHERE, OWNER, MapProject

from armarium.api import Conflict, Forbidden, Invalid, NotFound
from armarium_testing.digest import differences, table_digests

SQUARE = ((0.1, 0.1, 2.0, 49.0), (0.9, 0.1, 3.0, 49.0), (0.9, 0.9, 3.0, 48.5), (0.1, 0.9, 2.0, 48.5))


def test_a_point_is_stored_as_a_world_point_reading_and_a_controls_link(project: MapProject) -> None:
    page, pass_id = project.page()
    (line,) = project.segments(page, pass_id, [[0.1, 0.2, 0.2, 0.1]])
    path = f"/api/georeference/passes/{pass_id}/control-points"
    answer = project.send(
        "POST", path, 200, {"segment_id": line, "lon": 2.35, "lat": 48.85, "note": "The tower"}
    )
    assert (answer["x"], answer["y"], answer["lon"], answer["lat"]) == (0.2, 0.25, 2.35, 48.85)
    assert (answer["enabled"], answer["counts"], answer["why_not"], answer["note"]) == (
        True,
        True,
        None,
        "The tower",
    )
    assert answer["audit_id"]
    readings = project.get(f"/api/segments/{line}/readings")["items"]
    assert [(reading["kind"], reading["content"]) for reading in readings] == [
        ("world-point", "geo:48.85,2.35")
    ]
    (link,) = project.get(f"/api/links/of/{line}")["links"]
    assert (link["link_type"], link["other_kind"], link["other_id"]) == ("controls", "document", page)
    listed = project.get(path)
    assert (listed["count"], listed["items"][0]["id"]) == (1, answer["id"])


def test_a_place_in_another_reference_system_is_converted_and_preserved(project: MapProject) -> None:
    """Checked against the closed formula of Web Mercator, without pyproj."""
    _, pass_id = project.page()
    result = project.do(
        "georeference.point_create",
        pass_id=pass_id,
        x=0.5,
        y=0.5,
        original_crs="EPSG:3857",
        original_x=261_000.0,
        original_y=6_250_000.0,
    )
    radius = 6378137.0
    assert result["lon"] == pytest.approx(math.degrees(261_000 / radius), abs=1e-9)
    assert result["lat"] == pytest.approx(
        math.degrees(2 * math.atan(math.exp(6_250_000 / radius)) - math.pi / 2), abs=1e-9
    )
    assert (result["original_crs"], result["original_x"], result["original_y"]) == (
        "EPSG:3857",
        261_000.0,
        6_250_000.0,
    )
    moved = project.do("georeference.point_update", point_id=result["id"], lon=2.0, lat=48.0)
    assert (moved["original_crs"], moved["original_x"]) == (None, None)


def test_a_correction_of_the_reading_moves_the_point(project: MapProject) -> None:
    page, pass_id = project.page()
    (line,) = project.segments(page, pass_id, [[0.1, 0.2, 0.2, 0.1]])
    result = project.do(
        "georeference.point_create", pass_id=pass_id, segment_id=line,
        original_crs="EPSG:4326", original_x=2.0, original_y=48.0,
    )  # fmt: skip
    project.do("representation.create", segment_id=line, kind="world-point", text="geo:47.5,3.25")
    (point,) = project.get(f"/api/georeference/passes/{pass_id}/control-points")["items"]
    assert (point["lon"], point["lat"], point["original_crs"]) == (3.25, 47.5, None)
    project.do("representation.create", segment_id=line, kind="world-point", text="somewhere in the north")
    (point,) = project.get(f"/api/georeference/passes/{pass_id}/control-points")["items"]
    assert point["counts"] is False
    assert "names no place" in point["why_not"]
    moved = project.do("georeference.point_update", point_id=result["id"], lon=4.0, lat=46.0)
    assert (moved["lon"], moved["lat"], moved["counts"]) == (4.0, 46.0, True)


def test_reasons_why_a_point_does_not_count(project: MapProject) -> None:
    page, pass_id = project.page()
    lines = project.segments(page, pass_id, [[0.1, 0.1 * n, 0.2, 0.05] for n in range(1, 6)])
    made = [
        project.do("georeference.point_create", pass_id=pass_id, segment_id=line, lon=2.0 + n, lat=48.0)
        for n, line in enumerate(lines)
    ]
    project.do("georeference.point_update", point_id=made[0]["id"], enabled=False)
    project.do("segment.delete", segment_ids=[lines[1]], expected_versions=[1])
    project.do("reading.retract", representation_id=made[2]["representation_id"])
    project.do("link.delete", link_id=made[3]["link_id"])
    items = project.get(f"/api/georeference/passes/{pass_id}/control-points")["items"]
    assert [item["counts"] for item in items] == [False] * 4 + [True]
    for item, word in zip(items, ("switched off", "withdrawn", "retracted", "link"), strict=False):
        assert word in item["why_not"]
    assert project.transform(pass_id)["have"] == 1


def test_a_point_moves_in_the_picture_and_leaves_nothing_behind(project: MapProject) -> None:
    page, pass_id = project.page()
    point = project.do("georeference.point_create", pass_id=pass_id, x=0.0, y=1.0, lon=2.0, lat=48.0)
    assert (point["x"], point["y"]) == pytest.approx((0.0, 1.0), abs=1e-6)
    moved = project.send(
        "PATCH", f"/api/georeference/control-points/{point['id']}", 200, {"x": 0.4, "y": 0.3}
    )
    assert (moved["x"], moved["y"], moved["lon"], moved["lat"]) == pytest.approx((0.4, 0.3, 2.0, 48.0))
    (line,) = project.segments(page, pass_id, [[0.1, 0.2, 0.2, 0.1]])
    moved = project.do("georeference.point_update", point_id=point["id"], segment_id=line)
    assert (moved["segment_id"], moved["x"]) == (line, 0.2)
    assert project.rows("SELECT id FROM segment WHERE deleted_at IS NULL") == [(line,)]
    answer = project.send("DELETE", f"/api/georeference/control-points/{point['id']}", 200)
    assert (answer["status"], answer["id"]) == ("deleted", point["id"])
    assert project.rows("SELECT id FROM segment WHERE deleted_at IS NULL") == [(line,)]
    assert project.rows("SELECT count(*) FROM link WHERE deleted_at IS NULL") == [(0,)]
    assert project.rows("SELECT count(*) FROM content_representation WHERE NOT retracted") == [(0,)]


def test_every_write_is_undone(project: MapProject) -> None:
    _, pass_id = project.page()
    before = table_digests(project.library.db, project.engine.library_schema)
    outcome = project.engine.run(
        project.library,
        "georeference.point_create",
        {"pass_id": pass_id, "x": 0.5, "y": 0.5, "lon": 2, "lat": 48},
        OWNER,
    )
    project.engine.undo(project.library, [outcome.audit_id], OWNER)
    assert differences(before, table_digests(project.library.db, project.engine.library_schema)) == []


def test_an_update_with_unchanged_values_changes_nothing(project: MapProject) -> None:
    """So neither such a request nor the creation before it becomes impossible to undo."""
    _, pass_id = project.page()
    place = {"x": 0.5, "y": 0.5, "lon": 2, "lat": 48, "note": "The tower"}
    answer = project.send("POST", f"/api/georeference/passes/{pass_id}/control-points", 200, place)
    before = table_digests(project.library.db, project.engine.library_schema)
    path = f"/api/georeference/control-points/{answer['id']}"
    told = project.send("PATCH", path, 200, {"enabled": True, "note": "The tower"})
    assert told["updated_at"] == answer["updated_at"]
    assert differences(before, table_digests(project.library.db, project.engine.library_schema)) == []
    project.engine.undo(project.library, [answer["audit_id"]], OWNER)
    project.engine.undo(project.library, [told["audit_id"]], OWNER)
    assert project.rows("SELECT count(*) FROM georeference_control_point") == [(0,)]


def test_a_purge_removes_points_and_a_transfer_copies_them(project: MapProject, tmp_path: Any) -> None:
    page, pass_id = project.page()
    project.points(pass_id, SQUARE)
    project.choose(pass_id, "polynomial1")
    project.engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, OWNER)
    target = project.engine.libraries.get(tmp_path / "To.library")
    params = {"source_library": str(project.library.path), "items": [page], "mode": "copy"}
    project.engine.run(target, "document.transfer", params, OWNER)
    there = MapProject(project.engine, target, project.client)
    ((copied,),) = there.rows("SELECT id FROM segment_pass")
    from armarium_georeference.queries import read_transform

    with target.db.read() as conn:
        transform = read_transform(conn, copied)
    assert (transform["status"], transform["have"], transform["type"]) == ("ready", 4, "polynomial1")
    assert [round(control_point["lon"], 6) for control_point in transform["control_points"]] == [2, 3, 3, 2]
    project.do("document.delete", ids=[page])
    project.do("document.empty_trash")
    assert project.rows("SELECT count(*) FROM georeference_control_point") == [(0,)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"lon": 2}, "lon and lat together"),
        ({"original_crs": "EPSG:2154", "original_x": 1}, "together"),
        ({"lon": 2, "lat": 48, "original_crs": "EPSG:2154", "original_x": 1, "original_y": 1}, "not both"),
        ({}, "place on the ground"),
        ({"lon": 2, "lat": 48, "x": None}, "x and y together"),
        ({"lon": 2, "lat": 48, "x": None, "y": None}, "place in the picture"),
        ({"lon": 2, "lat": 48, "segment_id": "s"}, "not both"),
        ({"lon": math.nan, "lat": 48}, "lon"),
        ({"lon": 2, "lat": math.inf}, "lat"),
        ({"lon": 2, "lat": 90.5}, "lat"),
        ({"lon": 181, "lat": 48}, "lon"),
        ({"lon": 2, "lat": 48, "created_by": "me"}, "created_by"),
        ({"original_crs": "EPSG:2154", "original_x": math.nan, "original_y": 1}, "original_x"),
    ],
)
def test_an_invalid_point_is_refused(project: MapProject, fields: dict[str, Any], said: str) -> None:
    _, pass_id = project.page()
    with pytest.raises(Invalid, match=said):
        project.do("georeference.point_create", **{"pass_id": pass_id, "x": 0.5, "y": 0.5, **fields})


@pytest.mark.parametrize(
    ("code", "x", "said"),
    [
        ("EPSG:999999", 1.0, "is unknown"),
        ("+proj=merc +nadgrids=/etc/passwd", 1.0, "is not the code"),
        ("../../etc:1", 1.0, "is not the code"),
        ("EPSG:32631", 9e11, "is outside"),
        ("EPSG:4326", 2.0, "is outside"),
    ],
)
def test_coordinates_that_cannot_be_converted_are_refused(
    project: MapProject, code: str, x: float, said: str
) -> None:
    _, pass_id = project.page()
    with pytest.raises(Invalid, match=said) as refusal:
        project.do(
            "georeference.point_create",
            pass_id=pass_id, x=0.5, y=0.5, original_crs=code, original_x=x, original_y=2e9,
        )  # fmt: skip
    assert refusal.value.code == "bad_place"


def test_what_is_not_there_or_not_live_is_refused(project: MapProject) -> None:
    page, pass_id = project.page()
    lines = project.segments(page, pass_id, [[0.1, 0.1, 0.2, 0.1], [0.1, 0.4, 0.2, 0.1]])
    other_pass_id = str(project.do("segment.pass_create", document_id=page, name="Other")["id"])
    place = {"lon": 2, "lat": 48}
    point = project.do("georeference.point_create", pass_id=pass_id, segment_id=lines[0], **place)
    with pytest.raises(Conflict) as twice:
        project.do("georeference.point_create", pass_id=pass_id, segment_id=lines[0], **place)
    assert (twice.value.code, twice.value.fields["id"]) == ("already_exists", point["id"])
    with pytest.raises(Invalid) as elsewhere:
        project.do("georeference.point_create", pass_id=other_pass_id, segment_id=lines[1], **place)
    assert elsewhere.value.code == "other_pass"
    with pytest.raises(NotFound, match="segment"):
        project.do("georeference.point_create", pass_id=pass_id, segment_id=NOWHERE, **place)
    with pytest.raises(NotFound, match="pass"):
        project.do("georeference.point_create", pass_id=NOWHERE, x=0.5, y=0.5, **place)
    for action in ("point_update", "point_delete"):
        with pytest.raises(NotFound) as unknown:
            project.do(f"georeference.{action}", point_id=NOWHERE)
        assert unknown.value.code == "control_point_not_found"
    for nothing in ({"enabled": None}, {"lon": None, "lat": None}):
        with pytest.raises(Invalid, match="cannot be cleared"):
            project.do("georeference.point_update", point_id=NOWHERE, **nothing)
    for params in ({"pass_id": "legacy:a:0"}, {"pass_id": pass_id, "segment_id": "legacy:a:0"}):
        with pytest.raises(Invalid) as provisional:
            project.do(
                "georeference.point_create", **{"x": None, "y": None, "segment_id": "s", **params, **place}
            )
        assert provisional.value.code == "provisional_id"
    project.do("segment.delete", segment_ids=[lines[1]], expected_versions=[1])
    with pytest.raises(Conflict) as withdrawn:
        project.do("georeference.point_create", pass_id=pass_id, segment_id=lines[1], **place)
    assert withdrawn.value.code == "segment_deleted"
    project.do("segment.pass_delete", pass_id=pass_id)
    with pytest.raises(Conflict) as gone:
        project.do("georeference.point_update", point_id=point["id"], enabled=False)
    assert gone.value.code == "pass_deleted"


def test_a_machine_does_not_move_what_a_person_placed(project: MapProject) -> None:
    _, pass_id = project.page()
    point = project.point(pass_id, 0.5, 0.5, 2, 48)
    with pytest.raises(Conflict) as refusal:
        project.do("georeference.point_update", MACHINE, point_id=point, lon=3, lat=48)
    assert refusal.value.code == "persons_place"
    with pytest.raises(Forbidden):
        project.do("georeference.point_delete", MACHINE, point_id=point)
    own = project.do("georeference.point_create", MACHINE, pass_id=pass_id, x=0.1, y=0.1, lon=2, lat=48)
    moved = project.do("georeference.point_update", MACHINE, point_id=own["id"], lon=3, lat=48)
    assert (moved["lon"], moved["provenance_kind"]) == (3, "agent")
