"""The map as an HTML page, and georeference annotations written and read."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from map_project import HEIGHT, WIDTH, MapProject
from sample_maps import sample_annotation

from armarium_georeference.annotations import BadAnnotation, read_annotation
from armarium_georeference.fitting import fit
from armarium_georeference.warping import Warp

SQUARE = ((0.1, 0.1, 2.0, 49.0), (0.9, 0.1, 3.0, 49.0), (0.9, 0.9, 3.0, 48.5), (0.1, 0.9, 2.0, 48.5))


def check_annotation(one: dict[str, Any]) -> None:
    """Check the rules of the IIIF Georeference Extension 1.0, as its text states them."""
    assert one["@context"][0] == "http://iiif.io/api/extension/georef/1/context.json"
    assert (one["type"], one["motivation"]) == ("Annotation", "georeferencing")
    target = one["target"]
    assert target["type"] == "SpecificResource"
    assert target["source"]["type"] in ("Canvas", "ImageService2", "ImageService3")
    assert re.match(r"https?://", target["source"]["id"])
    assert target["selector"]["type"] == "SvgSelector"
    assert re.match(
        r'<svg width="\d+" height="\d+"><polygon points="([\d.]+,[\d.]+ ){2,}[\d.]+,[\d.]+" /></svg>',
        target["selector"]["value"],
    )
    assert one["body"]["type"] == "FeatureCollection"
    for feature in one["body"]["features"]:
        assert feature["type"] == "Feature"
        assert len(feature["properties"]["resourceCoords"]) == 2
        assert feature["geometry"]["type"] == "Point"
    assert one["body"]["transformation"]["type"] in ("polynomial", "thinPlateSpline", "helmert", "projective")


def test_an_annotation_is_exported_and_read_back(project: MapProject) -> None:
    page, pass_id = project.page()
    project.points(pass_id, SQUARE)
    project.choose(pass_id, "polynomial1")
    out = project.get(f"/api/georeference/passes/{pass_id}/annotation")
    check_annotation(out)
    assert out["target"]["source"] | {"id": ""} == {
        "id": "",
        "type": "Canvas",
        "width": WIDTH,
        "height": HEIGHT,
    }
    other_pass_id = project.do("segment.pass_create", document_id=page, name="From outside")["id"]
    path = f"/api/georeference/passes/{other_pass_id}/annotation"
    read = project.send("POST", path, 200, {"annotation": out})
    assert (len(read["point_ids"]), read["type"], read["notes"]) == (4, "polynomial1", [])
    one, two = project.transform(pass_id), project.transform(other_pass_id)
    assert two["rms_m"] == pytest.approx(one["rms_m"], rel=1e-6)
    for control_point, b in zip(one["control_points"], two["control_points"], strict=True):
        assert (
            control_point["x"],
            control_point["y"],
            control_point["lon"],
            control_point["lat"],
        ) == pytest.approx((b["x"], b["y"], b["lon"], b["lat"]))
    project.point(other_pass_id, 0.5, 0.5, 2.5, 48.75)
    second_answer = project.send("POST", path, 200, {"annotation": out})
    assert (second_answer["point_ids"], second_answer["type"]) == ([], "polynomial1")
    assert second_answer["notes"] == ["4 of its points exist here already and are not set again."]
    assert project.transform(other_pass_id)["have"] == 5
    empty = project.do("document.create", name="Note", doc_type="page")["id"]
    without = project.do("segment.pass_create", document_id=empty, name="x")["id"]
    project.get(f"/api/georeference/passes/{without}/annotation", 409)
    project.send("POST", f"/api/georeference/passes/{without}/annotation", 409, {"annotation": out})
    assert project.send("POST", path, 422, {"annotation": {"type": "Note"}})["code"] == "bad_annotation"


def test_types_that_allmaps_writes() -> None:
    def read(transformation: Any) -> Any:
        annotation = sample_annotation()
        annotation["body"]["transformation"] = transformation
        return read_annotation(annotation, (80, 60)).type

    assert read({"type": "thinPlateSpline"}) == "thin-plate-spline"
    assert read({"type": "polynomial", "options": {"order": 3}}) == "polynomial3"
    assert read({"type": "polynomial"}) == "polynomial1"
    assert read("thin-plate-spline") == "thin-plate-spline"
    assert read({"type": "straight"}) is None
    assert read(None) is None
    old = sample_annotation()
    for feature in old["body"]["features"]:
        feature["properties"] = {"pixelCoords": feature["properties"]["resourceCoords"]}
    assert len(read_annotation({"type": "AnnotationPage", "items": [old]}, (800, 600)).points) == 4


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("type",), "AnnotationPage", "exactly one"),
        (("body",), None, "needs type Annotation"),
        (("body", "features"), [], "no features"),
        (("body", "features"), [{}] * 6000, "at most 5000"),
        (("body", "features"), [1], "no properties"),
        (("body", "features", 0, "properties", "resourceCoords"), ["a", 1], "needs resourceCoords"),
        (("body", "features", 0, "properties", "resourceCoords"), [9e9, 1], "outside the picture"),
        (("body", "features", 0, "geometry", "coordinates"), [200, 1], "not a longitude"),
        (("target", "source", "width"), 10, "another picture"),
    ],
)
def test_annotations_of_other_pictures_and_invalid_ones_are_refused(
    path: tuple[Any, ...], value: Any, said: str
) -> None:
    annotation: Any = sample_annotation()
    at = annotation
    for one in path[:-1]:
        at = at[one]
    at[path[-1]] = value
    with pytest.raises(BadAnnotation, match=said):
        read_annotation(annotation, (80, 60))


def test_a_type_with_too_few_points_is_reported(project: MapProject) -> None:
    _, pass_id = project.page((80, 60))
    annotation = sample_annotation()
    annotation["body"]["transformation"] = {"type": "polynomial", "options": {"order": 2}}
    del annotation["target"]["source"]["width"]
    read = project.send(
        "POST", f"/api/georeference/passes/{pass_id}/annotation", 200, {"annotation": annotation}
    )
    assert (read["type"], len(read["notes"])) == (None, 2)
    assert "needs 6" in read["notes"][1]


def test_the_way_back_from_the_ground_is_the_inverse() -> None:
    rng = np.random.default_rng(3)
    picture = np.column_stack([rng.uniform(0, 1000, 14), rng.uniform(0, 700, 14)])
    ground = picture @ np.array([[30.0, 4], [-6, 28]]) + rng.normal(0, 300, (14, 2))
    for kind in ("helmert", "polynomial2", "projective", "thin-plate-spline"):
        warp = Warp(fit(kind, picture, ground), (1000, 700))  # type: ignore[arg-type]
        back = warp.invert(warp.fit.apply(picture))
        assert np.abs(back - picture).max() < 0.05


def test_the_map_is_one_self_contained_page(project: MapProject, tmp_path: Path) -> None:
    page, pass_id = project.page()
    project.points(pass_id, [*SQUARE, (0.5, 0.5, 2.52, 48.76)])
    (line,) = project.segments(page, pass_id, [[0.3, 0.3, 0.3, 0.1]])
    project.do("representation.create", segment_id=line, text="Paris <script>alert(1)</script>")
    path = f"/api/georeference/passes/{pass_id}/map"
    assert "no transformation" in project.get(path, 409)["detail"]
    page_path = f"/api/georeference/documents/{page}/map"
    assert "has no place on the ground yet" in project.get(page_path, 409)["detail"]
    project.choose(pass_id, "polynomial1")
    answer = project.client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    html = answer.text
    assert project.client.get(page_path).text == html
    assert not re.search(r'(?:src|href)="(?!data:|#)', html)
    assert "http://" not in html
    assert "<script>alert" not in html
    assert html.count('class="arrow"') == 5
    assert html.count("<circle") == 5
    assert "Paris &lt;script&gt;" in html
    picture = picture_in(html)
    assert picture.getpixel((picture.width // 2, picture.height // 2))[3] == 255
    assert picture.getpixel((1, 1))[3] == 0
    project.do("rights.set", target_kind="segment", target_id=line, restricted=True)
    assert project.reader()(path).status_code in (403, 404)


def test_the_map_embeds_letters_that_a_machine_may_lack(project: MapProject) -> None:
    page, pass_id = project.page()
    project.points(pass_id, SQUARE)
    project.choose(pass_id, "polynomial1")
    path = f"/api/georeference/passes/{pass_id}/map"
    assert "@font-face" not in project.client.get(path).text
    (line,) = project.segments(page, pass_id, [[0.3, 0.3, 0.3, 0.1]])
    project.do("representation.create", segment_id=line, text="Κέρκυρα אולביה")
    answer = project.client.get(path)
    assert "font-src data:" in answer.headers["content-security-policy"]
    faces = re.findall(r'@font-face \{ font-family: "([^"]+)"; src: url\("data:font/ttf;base64,', answer.text)
    assert faces == ["Armarium letters"]
    assert f'"{faces[0]}", system-ui' in answer.text
    assert "Letters: Cardo (SIL Open Font License 1.1)" in answer.text
    assert not re.search(r'url\((?!"data:|#)', answer.text)


def picture_in(html: str) -> Any:
    """Return the picture in the page, decoded."""
    import base64
    import io

    from PIL import Image

    found = re.search(r"data:image/webp;base64,([^\"]+)", html)
    assert found is not None
    return Image.open(io.BytesIO(base64.b64decode(found[1]))).convert("RGBA")


@pytest.mark.slow
def test_allmaps_takes_our_annotations_and_we_take_theirs(project: MapProject, tmp_path: Path) -> None:
    """Checked with the validator and writer of Allmaps itself, where npm can install it."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, so the validator of Allmaps cannot be asked")
    _, pass_id = project.page()
    project.points(pass_id, SQUARE)
    project.choose(pass_id, "thin-plate-spline")
    annotation = project.get(f"/api/georeference/passes/{pass_id}/annotation")
    (tmp_path / "a.json").write_bytes(orjson.dumps(annotation))
    (tmp_path / "check.mjs").write_text(
        "import fs from 'fs'; import { generateAnnotation, parseAnnotation } from '@allmaps/annotation';"
        "const maps = parseAnnotation(JSON.parse(fs.readFileSync('a.json')));"
        "console.log(JSON.stringify([maps, generateAnnotation(maps), generateAnnotation(maps[0])]))"
    )
    installed = subprocess.run(
        ["npm", "install", "--no-audit", "--no-fund", "@allmaps/annotation"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    if installed.returncode:
        pytest.skip("npm did not bring @allmaps/annotation")
    process = subprocess.run(["node", "check.mjs"], cwd=tmp_path, capture_output=True, check=False, text=True)
    assert process.returncode == 0, process.stderr
    (parsed,), *written = orjson.loads(process.stdout)
    assert len(parsed["gcps"]) == 4
    assert parsed["transformation"]["type"] == "thinPlateSpline"
    # One annotation within an annotation page, and one alone.
    for theirs in written:
        read = read_annotation(theirs, (WIDTH, HEIGHT))
        assert read.type == "thin-plate-spline"
        for place, wanted in zip(read.points, SQUARE, strict=True):
            assert place == pytest.approx(wanted)
