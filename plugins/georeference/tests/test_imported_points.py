"""Control points of QGIS files, imported on their map; and the mask of a georeference annotation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from map_project import OWNER, MapProject
from sample_maps import sample_annotation

from armarium.api import Engine
from armarium_georeference.annotations import read_annotation

FILE = """#CRS: EPSG:4326
mapX,mapY,sourceX,sourceY,enable,dX,dY,residual
-77.1,-12.0,100,-100,1,0,0,0
-77.0,-12.0,300,-100,1,0,0,0
-77.0,-12.08,300,-200,1,0,0,0
-77.1,-12.08,100,-200,0,0,0,0
-77.2,-12.08,900,-200,1,0,0,0
"""


@pytest.fixture
def project(make_engine: Callable[..., Engine], tmp_path: Any) -> Any:
    """A project of an engine with all families."""
    from armarium_testing.fixtures import http_client

    engine = make_engine()
    engine.run(None, "library.create", {"path": str(tmp_path / "Maps.library")}, OWNER)
    library = engine.libraries.get(tmp_path / "Maps.library")
    for client in http_client(engine, library):
        yield MapProject(engine, library, client)


def take(project: MapProject, page: str, text: str, name: str = "map.points") -> dict[str, Any]:
    return project.do("format.import", document_id=page, file=text, filename=name)


def test_points_of_qgis_become_control_points_with_which_a_transformation_is_chosen(
    project: MapProject,
) -> None:
    page, _ = project.page()
    made = take(project, page, FILE)
    points = project.get(f"/api/georeference/passes/{made['pass_id']}/control-points")["items"]
    assert [(point["x"], point["y"], point["lon"], point["lat"], point["enabled"]) for point in points] == [
        (pytest.approx(x / 400), pytest.approx(y / 250), lon, lat, on)
        for x, y, lon, lat, on in (
            (100, 100, -77.1, -12.0, True),
            (300, 100, -77.0, -12.0, True),
            (300, 200, -77.0, -12.08, True),
            (100, 200, -77.1, -12.08, False),
        )
    ]
    assert points[0]["provenance_kind"] == "external_import"
    assert any(note.startswith("4 control points set, 1 of them switched off") for note in made["notes"])
    assert any(note.startswith("1 control point outside") for note in made["notes"])
    chosen = project.choose(made["pass_id"], "polynomial1")
    assert chosen["status"] == "ready"


def test_imported_points_do_not_take_the_place_of_the_pass_that_is_read(project: MapProject) -> None:
    page, pass_id = project.page()
    project.segments(page, pass_id, [[0.1, 0.2, 0.2, 0.1]])
    take(project, page, FILE)
    assert project.get(f"/api/segments/document/{page}/text")["pass_id"] == pass_id


@pytest.mark.parametrize(
    ("first", "words"),
    [("", "no EPSG code"), ("#CRS: EPSG:999999\n", "EPSG:999999 is unknown")],
)
def test_points_without_a_known_reference_system_are_kept_and_noted(
    first: str, words: str, project: MapProject
) -> None:
    page, _ = project.page()
    made = take(project, page, first + FILE.partition("\n")[2])
    assert project.get(f"/api/georeference/passes/{made['pass_id']}/control-points")["items"] == []
    assert any("kept with the pass and not set" in note and words in note for note in made["notes"])
    assert made["kept"] == [{"what": "control points", "count": 5}]


def test_importing_points_is_undone_as_one_step(project: MapProject) -> None:
    page, _ = project.page()
    step = project.engine.run(
        project.library, "format.import", {"document_id": page, "file": FILE, "filename": "map.points"}, OWNER
    )
    project.engine.undo(project.library, [step.audit_id], OWNER)
    assert project.rows("SELECT count(*) FROM georeference_control_point") == [(0,)]


@pytest.mark.parametrize(
    "selector",
    [
        {"type": "SvgSelector", "value": "<svg><polygon points='10,10 90,10 90,70 10,70' /></svg>"},
        {
            "type": "SvgSelector",
            "value": "<svg xmlns='http://www.w3.org/2000/svg'><path d='M10,10 L90,10 L90,70 L10,70 z'/></svg>",
        },
        {"type": "FragmentSelector", "value": "xywh=10,10,80,60"},
    ],
    ids=["a polygon", "a path", "a rectangle"],
)
def test_the_mask_of_an_annotation_comes_in_and_is_written_back(
    selector: dict[str, str], project: MapProject
) -> None:
    _, pass_id = project.page((800, 600))
    annotation: Any = sample_annotation()
    annotation["target"]["source"] |= {"width": 100, "height": 75}
    annotation["target"]["selector"] = selector
    for feature in annotation["body"]["features"]:
        x, y = feature["properties"]["resourceCoords"]
        feature["properties"]["resourceCoords"] = [1.25 * x, 1.25 * y]
    path = f"/api/georeference/passes/{pass_id}/annotation"
    for _ in range(2):
        project.send("POST", path, 200, {"annotation": annotation})
    value = project.get(path)["target"]["selector"]["value"]
    assert 'points="80,80 720,80 720,560 80,560"' in value
    assert len(project.rows("SELECT 1 FROM segment WHERE kind_raw = 'map-mask'")) == 1


def test_points_of_an_older_draft_on_a_smaller_picture_are_in_fractions() -> None:
    annotation: Any = sample_annotation()
    annotation["target"]["source"] |= {"width": 1000, "height": 750}
    for feature in annotation["body"]["features"]:
        feature["properties"] = {"pixelCoords": [50.0, 50.0]}
    assert read_annotation(annotation, (2000, 1500)).points[0][:2] == pytest.approx((0.05, 0.0667), abs=1e-4)


def test_a_mask_that_cannot_be_read_is_noted(project: MapProject) -> None:
    _, pass_id = project.page((800, 600))
    annotation: Any = sample_annotation()
    annotation["target"]["selector"] = {"type": "SvgSelector", "value": "<svg><circle r='4'/></svg>"}
    read = project.send(
        "POST", f"/api/georeference/passes/{pass_id}/annotation", 200, {"annotation": annotation}
    )
    assert any("outline of the map" in note for note in read["notes"])


def test_points_in_a_folder_are_noted_too(project: MapProject, tmp_path: Any) -> None:
    import io

    import orjson
    from PIL import Image

    (tmp_path / "box").mkdir()
    file = io.BytesIO()
    Image.new("L", (400, 250), 200).save(file, "PNG")
    (tmp_path / "box" / "map.png").write_bytes(file.getvalue())
    (tmp_path / "box" / "map.points").write_text(FILE)
    project.do("document.import", folder=str(tmp_path / "box"))
    project.engine.jobs.run_until_idle(project.library)
    ((result,),) = project.rows("SELECT result FROM job WHERE kind = 'ingest-layouts'")
    notes = [note["note"] for note in orjson.loads(result)["notes"]]
    assert sum(note.startswith("4 control points set") for note in notes) == 1
