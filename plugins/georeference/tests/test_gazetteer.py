"""Gazetteer files and the names found with them, and the recipe job that links pages with places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from map_project import OWNER, MapProject

from armarium.api import Engine, Invalid, NotFound
from armarium_georeference import gazetteer
from armarium_georeference.gazetteer import BadGazetteer, gazetteer_of, places_in
from armarium_georeference.recipe_jobs import PLACE_IN_A_GAZETTEER
from armarium_testing.kills import Killed, KilledContext
from armarium_testing.recipe_jobs import exercise_recipe_job

LIMA = "https://www.geonames.org/3936456"


class KilledPlacing(KilledContext):
    """A killed job context with the owner as its principal."""

    principal = OWNER
    run_id = None


def test_the_recipe_job_conforms(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    assert exercise_recipe_job(engine, "place-in-a-gazetteer", tmp_path / "kit") == []


def names(data: bytes) -> list[tuple[str, tuple[str, ...], float | None]]:
    return [(place.uri, place.names, place.lon) for place in places_in(data, "my places")]


def test_files_of_three_kinds() -> None:
    table = "﻿geonameid;name;alternatenames;longitude;latitude\n3936456;Lima;Los Reyes|Ciudad de los Reyes;-77.04;-12.05\n"
    assert names(table.encode()) == [
        ("urn:gazetteer:my_places:3936456", ("Lima", "Los Reyes", "Ciudad de los Reyes"), -77.04)
    ]
    assert names(b"uri\ttitle\nhttp://x.org/1\tCuzco\n\t\n") == [("http://x.org/1", ("Cuzco",), None)]
    point = {"type": "Point", "coordinates": [-77, -12]}
    geojson = {
        "type": "FeatureCollection",
        "features": [{"properties": {"name": "Lima", "uri": LIMA}, "geometry": point}],
    }
    assert names(orjson.dumps(geojson)) == [(LIMA, ("Lima",), -77.0)]
    linked = {
        "type": "FeatureCollection",
        "features": [
            {"@id": LIMA, "properties": {"title": "Lima"}, "names": [{"toponym": "Los Reyes"}],
             "geometry": {"type": "GeometryCollection", "geometries": [point]}},
            {"@id": "http://x.org/nameless", "properties": {}},
            {"@id": "http://x.org/odd", "properties": 0, "names": True, "geometry": 0},
            {"@id": ["a"], "names": {"toponym": "x"}, "geometry": {"type": "GeometryCollection", "geometries": -1}},
            7,
        ],
    }  # fmt: skip
    assert names(orjson.dumps(linked)) == [(LIMA, ("Lima", "Los Reyes"), -77.0)]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "begins like JSON"),
        (b'{"type": "Topology"}', "JSON without features"),
        (b"\xff\xfe\x00", "is not in utf-16-le"),
        ("name;uri\nŁódź;u:1\n".encode("cp1250"), "its encoding is unknown"),
        (b"", "contains no table"),
        (b"a,b\n1,2\n", "no column of names"),
        (b'name\n"' + b"x" * 200_000 + b'"\n', "cannot be read"),
    ],
)
def test_invalid_gazetteers_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(BadGazetteer, match=said):
        list(places_in(data, "x"))


def test_names_are_found_in_lines() -> None:
    data = "name,uri\nLima,u:1\nSan José,u:2\nSan José de Lima,u:3\nMar,u:4\nOc,u:5\nÇankırı,u:6\nParis,u:7\nParis,u:8\n京都,u:9\n"
    places = gazetteer_of(places_in(data.encode(), "x"))
    assert places.count == 9

    def find_names(text: str) -> list[list[str]]:
        return [[place.uri for place in one] for _, one in places.find(text)]

    assert find_names("De Lima a SAN JOSE, y al mar") == [["u:1"], ["u:2"]]
    assert find_names("San Jose de Lima") == [["u:3"]]
    assert find_names("Cankırı. Oc. Limatambo") == [["u:6"]]
    assert find_names("Paris") == [["u:7", "u:8"]]
    assert find_names("京都") == [["u:9"]]


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gazetteer, "MOST_PLACES", 1)
    with pytest.raises(BadGazetteer, match="more than 1 places"):
        gazetteer_of(places_in(b"name\nLima\nCuzco\n", "x"))
    monkeypatch.setattr(gazetteer, "MOST_BYTES", 3)
    (tmp_path / "x.csv").write_bytes(b"name\n")
    with pytest.raises(BadGazetteer, match="at most 3"):
        gazetteer.read_gazetteer(tmp_path / "x.csv")


def test_pages_are_linked_with_places(project: MapProject, tmp_path: Path) -> None:
    page, pass_id = project.page()
    lima, both, none = project.segments(page, pass_id, [[0.1, 0.1 * n, 0.5, 0.05] for n in range(1, 4)])
    for line, text in ((lima, "Fecha en Lima"), (both, "de Paris"), (none, "lima y cuzco")):
        project.do("representation.create", segment_id=line, text=text)
    file = tmp_path / "places.csv"
    file.write_text(f"uri,name\n{LIMA},Lima\nu:7,Paris\nu:8,Paris\nu:9,Cuzco\n")

    def run(**settings: Any) -> Any:
        given = {"page_ids": [page], **settings}
        with project.library.db.write() as conn:
            job_id = project.engine.jobs.enqueue(
                conn, "place-in-a-gazetteer", given, title="Place", started_by=OWNER
            )
        project.engine.jobs.run_until_idle(project.library)
        ((state, reason, result),) = project.rows(
            "SELECT state, reason, result FROM job WHERE id = ?", job_id
        )
        return state, reason, result

    assert run(file=str(file))[0] == "done"
    assert len(project.get("/api/links/naming", uri=LIMA)["segments"]) == 1
    assert len(project.get("/api/links/naming", uri="u:9")["segments"]) == 0
    for link in project.get(f"/api/links/of/{lima}")["links"]:
        project.do("link.delete", link_id=link["id"])
    # What somebody unlinked, the job does not link again.
    run(file=str(file))
    assert project.get(f"/api/links/of/{lima}")["links"] == []
    for settings, said in (
        ({}, "Name the gazetteer"),
        ({"file": str(tmp_path / "none.csv")}, "No such file"),
    ):
        assert said in str(run(**settings)), settings
    (tmp_path / "bad.csv").write_bytes(b"a,b")
    assert "no column of names" in str(run(file=str(tmp_path / "bad.csv")))
    named = {"segment_id": lima, "uri": LIMA}
    outcome = project.do("georeference.place_names", document_id=page, placements=[named])
    assert len(outcome["link_ids"]) == 1
    assert project.do("georeference.place_names", document_id=page, placements=[named])["link_ids"] == []
    (segment,) = project.get("/api/links/naming", uri=LIMA)["segments"]
    assert (segment["segment_id"], segment["document_id"]) == (lima, page)
    other, other_pass = project.page()
    (elsewhere,) = project.segments(other, other_pass, [[0.1, 0.1, 0.5, 0.05]])
    with pytest.raises(Invalid) as refusal:
        project.do(
            "georeference.place_names", document_id=page, placements=[{**named, "segment_id": elsewhere}]
        )
    assert refusal.value.code == "other_page"
    with pytest.raises(NotFound):
        project.do("georeference.place_names", document_id=page, placements=[{**named, "entity_id": "e"}])


def test_the_recipe_job_is_killed_anywhere_and_links_each_name_once(
    project: MapProject, tmp_path: Path
) -> None:
    file = tmp_path / "places.csv"
    file.write_text(f"uri,name\n{LIMA},Lima\nu:9,Cuzco\n")
    kind = PLACE_IN_A_GAZETTEER.kind
    for calls in range(12):
        pages = []
        for text in ("Fecha en Lima", "Lima y Cuzco"):
            page, pass_id = project.page()
            (line,) = project.segments(page, pass_id, [[0.1, 0.1, 0.5, 0.05]])
            project.do("representation.create", segment_id=line, text=text)
            pages.append(page)
        args = kind.args.model_validate({"page_ids": pages, "file": str(file)})
        project.engine.paths.check(args, OWNER)
        kept: dict[str, Any] = {}
        allowed = calls
        while True:
            job = KilledPlacing(
                project.engine, project.library, args, allowed, checkpoint=kept, set_id=f"job {calls}"
            )
            try:
                kind.run(job)  # type: ignore[arg-type]
                break
            except Killed:
                kept, allowed = job.kept, 99
        counts = "SELECT count(*) FROM link l JOIN segment s ON s.id = l.from_id WHERE s.document_id = ?"
        assert [project.rows(counts, page) for page in pages] == [[(1,)], [(2,)]], calls
