"""The reported cases of pictures, PDF, archives, METS, IIIF, maps and recordings, met as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_project import CASES, CaseProject

pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason="the reported cases of ../shared/cases are not here"
)


def send_manifest(case: CaseProject, name: str) -> dict[str, Any]:
    upload = {"file": ("manifest.json", (CASES / name / "manifest.json").read_bytes())}
    return dict(case.ask("POST", "/api/iiif/manifests", files=upload))


def test_orientation_0_is_no_orientation(case: CaseProject) -> None:
    case.bring_case("exif-orientation-0")
    assert list(case.sizes()) == [(800, 600)]


def test_export_names_are_safe_elsewhere(case: CaseProject) -> None:
    case.bring_case("export-names-safe-elsewhere")
    (case.place / "kept").mkdir()
    body = {"folder": str(case.place / "kept"), "format": "plain-text", "per": "page"}
    case.ask("POST", "/api/export/kept", json=body)
    case.work()
    names = [path.name for path in (case.place / "kept").rglob("*.txt")]
    stems = [name.split(".")[0].casefold() for name in names]
    assert len(names) == len({name.casefold() for name in names}) == 5, names
    assert not {"con"} & set(stems)
    assert not set(':\\<>"|?*') & set("".join(names))


def test_json_of_others_is_named(case: CaseProject) -> None:
    told = case.bring_case("foreign-json-is-named", status=422)
    assert "it seems to be JSON" in told["detail"]


def test_a_georeference_annotation_of_a_smaller_picture(case: CaseProject) -> None:
    folder = CASES / "georef-annotation-other-size"
    case.bring(folder / "map.jpg")
    page = case.page("map.jpg")
    answer = case.ask("POST", "/api/segments/passes", json={"document_id": page, "name": "map"})
    url = f"/api/georeference/passes/{answer['id']}"
    case.ask("POST", f"{url}/annotation", json={"annotation": json.loads((folder / "a.json").read_text())})
    first = case.ask("GET", f"{url}/control-points")["items"][0]
    assert (round(first["x"], 4), round(first["y"], 4)) == (0.05, 0.0667)


def test_a_heic_photograph_comes_in_or_is_named(case: CaseProject) -> None:
    told = case.bring_case("heic-photograph", status=422)
    assert "HEIC" in told["detail"]
    assert "JPEG" in told["detail"]


def test_lines_on_a_canvas_larger_than_its_picture(case: CaseProject) -> None:
    name = "iiif-canvas-larger-than-picture"
    send_manifest(case, name)
    page = case.page("1r")
    upload = {"file": ("a.xml", (CASES / name / "a.xml").read_bytes())}
    case.ask("POST", f"/api/documents/{page}/import", files=upload)
    json_text = json.dumps(case.ask("GET", f"/api/iiif/iiif/lines/{page}"))
    assert "#xywh=240,400,3360,320" in json_text


def test_labels_of_all_shapes(case: CaseProject) -> None:
    send_manifest(case, "iiif-labels-of-all-shapes")
    assert case.names() == ["front cover", "1v", "p. 1 page 1"]


def test_right_to_left_manifest(case: CaseProject) -> None:
    send_manifest(case, "iiif-right-to-left")
    assert [document["direction"] for document in case.documents() if document["name"] == "Book"] == ["rtl"]


def test_a_transcription_in_the_manifest_becomes_lines(case: CaseProject) -> None:
    send_manifest(case, "iiif-transcription-in-the-manifest")
    case.work()
    assert case.text(case.page("1r")) == "In the year of the flood"


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("mets-order-and-areas", ["0002.jpg", "0001.jpg"]),
        ("mets-percent-and-backslash", ["Blätter 2.jpg", "Blätter 1.jpg"]),
    ],
)
def test_mets_orders_the_pages(case: CaseProject, name: str, names: list[str]) -> None:
    case.bring_folder(CASES / name)
    assert case.names() == names


def test_names_that_differ_in_case(case: CaseProject) -> None:
    case.bring_folder(CASES / "names-that-differ-in-case")
    assert [case.text(case.page(name)) for name in ("12a.jpg", "12A.jpg")] == [
        "small letter",
        "capital letter",
    ]


def test_rotated_pages_of_a_pdf_are_upright(case: CaseProject) -> None:
    case.bring_case("pdf-rotations")
    assert list(case.sizes()) == [(2550, 3300), (3300, 2550), (2550, 3300), (3300, 2550), (3300, 2550)]


def test_the_text_layer_of_a_pdf_is_found(case: CaseProject) -> None:
    case.bring_case("pdf-text-layer")
    (page_pass,) = case.ask("GET", f"/api/segments/document/{case.page('Page 1')}")["passes"]
    assert (case.finds("molino"), page_pass["working_basis"]) == (True, "text-layer")


def test_points_of_qgis_become_control_points(case: CaseProject) -> None:
    (page_pass,) = case.bring_case("qgis-points")["passes"]
    url = f"/api/georeference/passes/{page_pass['pass_id']}"
    points = case.ask("GET", f"{url}/control-points")["items"]
    assert [(point["enabled"], round(point["lon"], 4), round(point["lat"], 4)) for point in points] == [
        (True, -77.1, -12.0),
        (True, -77.0, -12.0),
        (True, -77.0, -12.08),
    ]
    assert case.ask("PUT", f"{url}/transformation", json={"type": "polynomial1"})


def test_subtitles_are_lines_of_a_recording(case: CaseProject) -> None:
    case.bring_case("subtitles-for-a-recording")
    lines = case.lines(case.page("t.wav"))
    assert [
        (line["text"], line["metadata"]["start_seconds"], line["metadata"]["end_seconds"]) for line in lines
    ] == [("Good morning", 0.0, 2.5), ("It was raining", 2.5, 4.0)]


def test_a_pyramid_is_one_page(case: CaseProject) -> None:
    case.bring_case("tiff-pyramid")
    assert (case.names(), list(case.sizes())) == (["leaf.tif"], [(800, 600)])


def test_a_zip_from_a_mac(case: CaseProject) -> None:
    told = case.bring_case("zip-from-a-mac")
    assert (told["refused"], told["unpaired"], case.names()) == ([], [], ["a.jpg"])
    assert len(case.lines(case.page())) == 1


def test_a_zip_from_windows(case: CaseProject) -> None:
    case.bring_case("zip-from-windows")
    there = {document["id"]: document for document in case.documents()}
    found = next(one for one in there.values() if one["name"] == "b.jpg")
    path: list[str] = []
    while found:
        path.insert(0, found["name"])
        found = there.get(found["parent_id"])  # type: ignore[assignment]
    assert path[-3:] == ["Akten", "Band 1", "b.jpg"]


def test_every_case_has_its_test() -> None:
    written = "".join(path.read_text() for path in Path(__file__).parent.glob("test_cases_of_*.py"))
    assert [entry.name for entry in CASES.iterdir() if f'"{entry.name}"' not in written] == []
