"""Hostile input to georeference over HTTP, case by case: the status, code and sentence of each answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from map_project import OWNER, MapProject

from armarium.api import Engine
from armarium_testing.fixtures import http_client

KINDS = {
    "helmert": 2, "polynomial1": 3, "thin-plate-spline": 3, "projective": 4, "polynomial2": 6, "polynomial3": 10,
}  # fmt: skip


def refuse(
    project: MapProject, method: str, path: str, body: Any, status: int, code: str, *words: str
) -> dict[str, Any]:
    """Send a request that must be refused with this status, code and all these words; return the refusal."""
    refused: dict[str, Any] = project.send(method, f"/api/georeference/{path}", status, body)
    assert refused["code"] == code, refused
    assert all(word in refused["detail"] for word in words), refused["detail"]
    return refused


def post_points(project: MapProject, pass_id: str, places: Sequence[Sequence[float]]) -> None:
    for x, y, lon, lat in places:
        body = {"x": x, "y": y, "lon": lon, "lat": lat}
        project.send("POST", f"/api/georeference/passes/{pass_id}/control-points", 200, body)


def test_points_at_the_same_place(project: MapProject) -> None:
    _, in_picture = project.page()
    post_points(project, in_picture, [(0.5, 0.5, 2 + n / 10, 49 - n / 10) for n in range(10)])
    _, on_ground = project.page()
    post_points(project, on_ground, [(0.1 + n / 20, 0.1 + n * n / 200, 2, 49) for n in range(10)])
    for kind in KINDS:
        chosen = {"type": kind}
        path = f"passes/{in_picture}/transformation"
        refuse(project, "PUT", path, chosen, 422, "too_few_points", "1 has a place of its own")
        path = f"passes/{on_ground}/transformation"
        refuse(project, "PUT", path, chosen, 422, "too_few_points", "same place on the ground")
    assert project.transform(in_picture)["status"] == project.transform(on_ground)["status"] == "none"


def test_points_on_one_line(project: MapProject) -> None:
    """A Helmert transformation needs only a line; the refusals of the others say whether it is in the picture
    or on the ground.
    """
    _, in_picture = project.page()
    line = [(0.1 + n / 20, 0.1 + n / 20, 2 + n / 10, 49 - n * n / 100) for n in range(10)]
    post_points(project, in_picture, line)
    _, on_ground = project.page()
    post_points(project, on_ground, [(0.1 + n / 20, 0.1 + n * n / 200, 2, 48 + n / 100) for n in range(10)])
    for pass_id, where in ((in_picture, "in the picture"), (on_ground, "on the ground")):
        for kind in [kind for kind in KINDS if kind != "helmert"]:
            path, sentence = f"passes/{pass_id}/transformation", f"one line {where}"
            refuse(project, "PUT", path, {"type": kind}, 422, "too_few_points", sentence)
        assert project.choose(pass_id, "helmert")["status"] == "ready"


def test_points_at_ninety_degrees_of_latitude(project: MapProject) -> None:
    """A pole is a valid place, fitted in a plane around it; one degree further is not."""
    for pole in (90, -90):
        _, pass_id = project.page()
        post_points(project, pass_id, [(0.5, 0.5, 17, pole)])
        ground = [(0, pole * 8 / 9), (90, pole * 8 / 9), (180, pole * 8 / 9)]
        turned = ground if pole > 0 else ground[::-1]
        places = [(0.5, 0.9), (0.9, 0.5), (0.5, 0.1)]
        post_points(project, pass_id, [(*at, *there) for at, there in zip(places, turned, strict=True)])
        found = project.choose(pass_id, "polynomial1")
        assert found["status"] == "ready"
        assert any("pole" in note for note in found["notes"])
        path = f"passes/{pass_id}/transformation"
        refuse(
            project,
            "PUT",
            path,
            {"type": "polynomial1", "crs": "EPSG:3395"},
            422,
            "bad_place",
            "does not contain",
            "90",
        )
    body = {"x": 0.5, "y": 0.5, "lon": 17, "lat": 90.000001}
    refuse(project, "POST", f"passes/{pass_id}/control-points", body, 422, "invalid_request", "lat", "90")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("EPSG:999999", ("is unknown", "EPSG:999999")),
        ("ESRI:0", ("is unknown", "ESRI:0")),
        ("Lambert", ("is not the code",)),
        ("+proj=merc +nadgrids=/etc/passwd", ("is not the code",)),
    ],
)
def test_an_unknown_reference_system(project: MapProject, code: str, words: tuple[str, ...]) -> None:
    _, pass_id = project.page()
    there = {"x": 0.5, "y": 0.5, "original_crs": code, "original_x": 1.0, "original_y": 1.0}
    path = f"passes/{pass_id}/control-points"
    refuse(project, "POST", path, there, 422, "bad_place", *words)
    point = project.point(pass_id, 0.1, 0.1, 2, 49)
    moved = {name: there[name] for name in ("original_crs", "original_x", "original_y")}
    refuse(project, "PATCH", f"control-points/{point}", moved, 422, "bad_place", *words)
    post_points(project, pass_id, [(0.9, 0.1, 3, 49)])
    refuse(
        project,
        "PUT",
        f"passes/{pass_id}/transformation",
        {"type": "helmert", "crs": code},
        422,
        "bad_place",
        *words,
    )
    (kept, _) = project.get(f"/api/{path.replace('passes', 'georeference/passes')}")["items"]
    assert (kept["lon"], kept["original_crs"]) == (2, None)


def test_invalid_numbers_are_refused(project: MapProject) -> None:
    """Sent as raw bytes, as lax clients write them: JSON has no NaN."""
    _, pass_id = project.page()
    path = f"/api/georeference/passes/{pass_id}/control-points"
    at, there = {"x": "0.5", "y": "0.5"}, {"lon": "2", "lat": "48"}
    written = {"original_crs": '"EPSG:2154"', "original_x": "1", "original_y": "1"}
    for name in ("x", "y", "lon", "lat", "original_x", "original_y"):
        for number in ("NaN", "-Infinity", "1e999", '"NaN"'):
            fields = {**at, **(written if name in written else there), name: number}
            body = "{" + ", ".join(f'"{one}": {value}' for one, value in fields.items()) + "}"
            answer = project.client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 422, answer.text
            refused = answer.json()
            assert (refused["code"], name in refused["detail"]) == ("invalid_request", True)
            assert re.search("finite number|valid number", refused["detail"])
    assert project.get(path)["count"] == 0


def test_a_transformation_with_too_few_points(project: MapProject) -> None:
    _, pass_id = project.page()
    for have in range(max(KINDS.values())):
        for kind in [one for one, needed in KINDS.items() if needed == have + 1]:
            path, words = f"passes/{pass_id}/transformation", f"needs {have + 1} control points; {have} count"
            refused = refuse(project, "PUT", path, {"type": kind}, 422, "too_few_points", words)
            assert (refused["type"], refused["needed"], refused["have"]) == (kind, have + 1, have)
            invoked = {"name": "georeference.set_type", "params": {"pass_id": pass_id, "type": kind}}
            second_answer = project.send("POST", "/api/actions/invoke", 422, invoked)
            assert (second_answer["code"], second_answer["needed"]) == ("too_few_points", have + 1)
        post_points(
            project, pass_id, [(0.1 + have / 20, 0.1 + have**2 / 200, 2 + have / 20, 49 - have**2 / 200)]
        )
    assert project.transform(pass_id)["status"] == "none"


def test_a_place_with_contradicting_dates(
    keeping_engine: Engine, entities: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    """Of two places at one date both are shown and none is chosen; one that ends before it begins is left out
    with a note.
    """
    keeping_engine.run(None, "library.create", {"path": str(tmp_path / "Test.library")}, OWNER)
    library = keeping_engine.libraries.get(tmp_path / "Test.library")
    clients = http_client(keeping_engine, library)
    client = next(clients)
    here = {"label": "Old Sarum", "geometry_type": "point", "lat": 51.093, "lon": -1.805}
    there = {"label": "Salisbury", "geometry_type": "point", "lat": 51.065, "lon": -1.797}
    values = [
        {**here, "when": {"end": "1250"}},
        {**there, "when": {"start": "1220"}},
        {**here, "label": "Sarum", "when": {"start": "1300", "end": "1200"}},
    ]
    entities["e"] = {
        "id": "e", "canonical_name": "Sarum", "entity_type": "location", "place_values": values,
    }  # fmt: skip
    wanted = {"1210": ("stated", 1), "1230": ("several", 2), "1260": ("stated", 1)}
    for date, (status, count) in wanted.items():
        answer = client.get("/api/entities/e/place", params={"date": date})
        assert answer.status_code == 200, answer.text
        found_answer = answer.json()
        assert (found_answer["status"], len(found_answer["candidates"])) == (status, count), date
        assert (found_answer["place"] is None) == (status == "several")
        (note,) = found_answer["notes"]
        assert "Sarum" in note
        assert "before it begins" in note
    entities["e"]["place_values"] = values[2:]
    found_answer = client.get("/api/entities/e/place", params={"date": "1250"}).json()
    assert (found_answer["status"], found_answer["place"], found_answer["candidates"]) == (
        "none-for-date",
        None,
        [],
    )
    (feature,) = client.get("/api/entities/e/linked-places").json()["features"]
    assert feature["geometry"]["geometries"] == []
