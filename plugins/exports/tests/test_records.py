"""Records of a project as JSON Lines and Parquet: complete, read by others, silent about what rights withhold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import orjson
import polars
import pytest
from exports_desk import Desk


def jsonl(desk: Desk, status: int = 200, **more: Any) -> dict[str, Any]:
    body = {"output_path": str(desk.folder / "records.jsonl"), **more}
    return desk.post("/api/export/jsonl", status, **body)


def test_every_record_of_the_project_is_a_line(desk: Desk) -> None:
    box = desk.box()
    page = desk.page(box, "1.png", ["Dear Sir", "I am well"])
    answer = jsonl(desk)
    records = desk.records(Path(answer["output_path"]))
    first = orjson.loads(Path(answer["output_path"]).read_bytes().split(b"\n")[0])
    assert first["record_type"] == "manifest"
    assert first["schema_version"] == 1
    assert answer["bytes_written"] == Path(answer["output_path"]).stat().st_size
    assert answer["document_count"] == len(records["document"]) == 3
    assert {one["content"] for one in records["representation"]} == {"Dear Sir", "I am well"}
    assert [one["id"] for one in records["segment"]] == desk.lines(page)
    assert records["segment"][0]["anchor"]["rect"] == [0.1, 0.05, 0.8, 0.06]
    assert records["segment"][0]["is_furniture"] is False
    assert len(records["pass"]) == 1
    assert answer["audit_id"]


def test_what_people_chose_and_stated_is_exported_and_not_of_withheld_pages(desk: Desk) -> None:
    box = desk.box()
    page, shut = desk.page(box, "1.png", ["Dear Sir"]), desk.page(box, "2.png", ["A secret"])
    for one in (page, shut):
        ((pass_id, reading),) = desk.rows(
            "SELECT s.pass_id, r.id FROM segment s JOIN content_representation r ON r.segment_id = s.id"
            " WHERE s.document_id = ?",
            one,
        )
        desk.do("segment.pass_choose", {"pass_id": pass_id, "working": True})
        desk.do("reading.choose", {"segment_id": desk.lines(one)[0], "representation_id": reading})
        desk.do("representation.revise", {"representation_id": reading, "content": f"Rather {one}"})
    desk.do("classification.create", {"key": "will", "label": "Will"})
    desk.do("source_setting.set", {"level": "project", "key": "language", "value": "es"})
    records = desk.records(Path(jsonl(desk)["output_path"]))
    for name in ("reading_choice", "pass_choice", "revision"):
        assert {one["document_id"] for one in records[name]} == {page, shut}, name
    assert "will" in {one["key"] for one in records["classification"]}
    assert {one["key"]: one["value"] for one in records["source_setting"]}["language"] == "es"
    desk.restrict(shut)
    records = desk.records(Path(jsonl(desk, overwrite=True)["output_path"]))
    for name in ("reading_choice", "pass_choice", "revision"):
        assert {one["document_id"] for one in records[name]} == {page}, name
    within = desk.records(Path(jsonl(desk, target_id=box, overwrite=True)["output_path"]))
    assert {one["document_id"] for one in within["revision"]} == {page}
    assert "classification" not in within


def test_a_target_is_exported_with_what_lies_beneath_it(desk: Desk) -> None:
    box, other_box = desk.box("Letters"), desk.box("Bills")
    page = desk.page(box, "1.png", ["Dear Sir"])
    desk.page(other_box, "2.png", ["Three shillings"])
    records = desk.records(Path(jsonl(desk, target_id=box)["output_path"]))
    assert {one["id"] for one in records["document"]} == {box, page}
    assert [one["content"] for one in records["representation"]] == ["Dear Sir"]
    alone = jsonl(desk, target_id=box, recursive=False, overwrite=True)
    assert alone["document_count"] == 1


def test_a_place_that_is_taken_is_refused_unless_overwrite_is_said(desk: Desk) -> None:
    jsonl(desk)
    before = (desk.folder / "records.jsonl").read_bytes()
    desk.box("More")
    refused = jsonl(desk, 409)
    assert refused["code"] == "destination_exists"
    assert (desk.folder / "records.jsonl").read_bytes() == before
    jsonl(desk, overwrite=True)
    assert (desk.folder / "records.jsonl").read_bytes() != before


def test_targets_that_are_not_there_or_in_the_trash_are_refused(desk: Desk) -> None:
    assert jsonl(desk, 404, target_id="0" * 32)["detail"]
    box = desk.box()
    desk.do("document.delete", {"ids": [box]})
    jsonl(desk, 409, target_id=box)
    assert not (desk.folder / "records.jsonl").exists()


def test_places_that_cannot_be_written_are_refused(desk: Desk) -> None:
    assert jsonl(desk, 422, output_path=str(desk.folder / "no" / "records.jsonl"))["code"] == "no_folder"
    (desk.folder / "taken").mkdir()
    assert jsonl(desk, 409, output_path=str(desk.folder / "taken"), overwrite=True)["code"] == "not_ours"
    inside = str(desk.library.path / "records.jsonl")
    assert jsonl(desk, 403, output_path=inside)["code"] == "path_not_allowed"
    assert jsonl(desk, 422, output_path="records.jsonl")["detail"]
    assert jsonl(desk, 422, output_path=str(desk.folder / "x.jsonl"), kind="all")["detail"]


def test_a_folder_above_the_project_is_no_bundle_and_the_project_stays(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    above = desk.library.path.parent
    marker = (desk.library.path / "library.json").read_bytes()
    for route in ("/api/export/parquet", "/api/export/eleventy-site", "/api/export/jsonl"):
        answer = desk.post(route, 409, output_path=str(above), overwrite=True)
        assert answer["code"] == "not_ours", route
    assert (desk.library.path / "library.json").read_bytes() == marker
    assert jsonl(desk, 409, output_path=str(above))["code"] == "destination_exists"


def test_an_export_onto_a_file_that_is_open_leaves_its_reader_what_it_read(desk: Desk) -> None:
    jsonl(desk)
    with (desk.folder / "records.jsonl").open("rb") as reader:
        start = reader.read(10)
        desk.page(desk.box("More"), "1.png", ["Dear Sir"])
        jsonl(desk, overwrite=True)
        rest = reader.read()
    assert all(orjson.loads(line) for line in (start + rest).splitlines())
    assert b"Dear Sir" not in rest
    assert b"Dear Sir" in (desk.folder / "records.jsonl").read_bytes()


def test_a_link_as_the_place_is_followed_only_where_the_caller_may_write(desk: Desk) -> None:
    (desk.folder / "into").symlink_to(desk.library.path / "objects")
    assert jsonl(desk, 403, output_path=str(desk.folder / "into" / "x.jsonl"))["code"] == "path_not_allowed"
    assert not (desk.library.path / "objects" / "x.jsonl").exists()
    (desk.folder / "mine.txt").write_text("mine")
    (desk.folder / "records.jsonl").symlink_to(desk.folder / "mine.txt")
    assert jsonl(desk, 409)["code"] == "destination_exists"
    assert (desk.folder / "mine.txt").read_text() == "mine"


def test_a_full_disk_leaves_what_was_there(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    jsonl(desk)
    before = (desk.folder / "records.jsonl").read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("armarium_exports.places.os.fsync", full)
    assert jsonl(desk, 503, overwrite=True)["code"] == "cannot_write"
    assert (desk.folder / "records.jsonl").read_bytes() == before
    assert not list(desk.folder.glob(".*.part"))


def test_restricted_and_barred_sources_are_left_out_for_the_owner_too(desk: Desk) -> None:
    box = desk.box()
    open_page = desk.page(box, "1.png", ["Dear Sir"])
    shut = desk.page(box, "2.png", ["A secret"])
    barred = desk.page(box, "3.png", ["Barred words"])
    part = desk.page(box, "4.png", ["A name", "Open words"])
    desk.restrict(shut)
    desk.do("rights.set", {"target_kind": "document", "target_id": barred, "model_use": "none"})
    desk.restrict(desk.lines(part)[0], kind="segment")
    answer = jsonl(desk)
    assert {entry["document_id"] for entry in answer["withheld"]} == {shut, barred, part}
    assert all(entry["why"] for entry in answer["withheld"])
    text = Path(answer["output_path"]).read_text()
    assert "Dear Sir" in text
    for words in ("A secret", "Barred words", "A name", "Open words"):
        assert words not in text
    records = desk.records(Path(answer["output_path"]))
    assert {one["document_id"] for one in records["segment"]} == {open_page}
    assert not {shut, barred, part} & {one["document_id"] for one in records["rendition"]}


def test_a_verdict_on_an_entity_stays_out_where_pages_are_withheld(desk: Desk, known: Any) -> None:
    """What it says may come from a page that is withheld, and nothing in it tells."""
    page = desk.page(desk.box(), "1.png", ["Ann"])
    shut = desk.page(desk.box("Shut"), "2.png", ["Bert"])
    known["entity"].append({"id": "e1", "canonical_name": "Ann", "source_document_ids": [page]})
    given = {"layer": "entities", "target_id": "e1", "verdict": "correct", "reasons": "As Bert says"}
    desk.do("check.verdict", given)
    assert "As Bert says" in Path(jsonl(desk)["output_path"]).read_text()
    desk.restrict(shut)
    assert "As Bert says" not in Path(jsonl(desk, overwrite=True)["output_path"]).read_text()


def test_a_restricted_folder_takes_all_beneath_it_along(desk: Desk) -> None:
    box = desk.box()
    page = desk.page(box, "1.png", ["Dear Sir"])
    desk.restrict(box)
    answer = jsonl(desk)
    assert {box, page} <= {entry["document_id"] for entry in answer["withheld"]}
    assert answer["record_counts"]["segment"] == 0


def test_records_of_other_families_are_sifted_by_the_pages_they_rest_on(desk: Desk, known: Any) -> None:
    box = desk.box()
    page, shut = desk.page(box, "1.png", ["Ann"]), desk.page(box, "2.png", ["Bert"])
    desk.restrict(shut)
    known["entity"] += [
        {"id": "e1", "canonical_name": "Ann", "source_document_ids": [page, shut]},
        {"id": "e2", "canonical_name": "Bert", "source_document_ids": [shut]},
        {"id": "e3", "canonical_name": "Nobody", "source_document_ids": []},
    ]
    known["claim"] += [
        {"id": "c1", "text": "Ann wrote", "source_document_id": page, "confidence": 1},
        {"id": "c2", "text": "Bert hid", "source_document_id": shut, "confidence": 0.5},
    ]
    answer = jsonl(desk)
    records = desk.records(Path(answer["output_path"]))
    assert [one["id"] for one in records["entity"]] == ["e1", "e3"]
    assert records["entity"][0]["source_document_ids"] == [page]
    assert (answer["entity_count"], answer["claim_count"]) == (2, 1)
    assert "claim" in records["manifest"][0]["record_types"]


def parquet(desk: Desk, status: int = 200, **more: Any) -> dict[str, Any]:
    return desk.post("/api/export/parquet", status, **{"output_path": str(desk.folder / "bundle"), **more})


def test_parquet_is_read_by_polars_and_duckdb_with_the_values_of_the_lines(desk: Desk, known: Any) -> None:
    page = desk.page(desk.box(), "1.png", ["Dear Sir", "I am well"])
    known["claim"] += [
        {"id": "c1", "text": "A", "source_document_id": page, "confidence": 1, "date_values": [{"a": 1}]},
        {"id": "c2", "text": "B", "source_document_id": page, "confidence": 0.5, "extra": True},
    ]
    answer = parquet(desk)
    lines = desk.records(Path(jsonl(desk)["output_path"]))
    assert sorted(Path(file).stem for file in answer["files"]) == sorted(lines_types(lines))
    table = polars.read_parquet(desk.folder / "bundle" / "segment.parquet").sort("id")
    assert table["id"].to_list() == [one["id"] for one in lines["segment"]]
    assert orjson.loads(table["anchor"][0]) == lines["segment"][0]["anchor"]
    assert table.schema["is_furniture"] == polars.Boolean
    assert table.schema["bbox_x"] == polars.Float64
    rows = duckdb.sql(
        f"SELECT content FROM '{desk.folder}/bundle/representation.parquet' ORDER BY id"
    ).fetchall()
    assert [item[0] for item in rows] == ["Dear Sir", "I am well"]
    claims = polars.read_parquet(desk.folder / "bundle" / "claim.parquet")
    assert claims["confidence"].to_list() == [1.0, 0.5]
    assert orjson.loads(claims["date_values"][0]) == [{"a": 1}]
    assert claims["extra"].to_list() == [None, True]
    manifest = orjson.loads(Path(answer["manifest_path"]).read_bytes())
    assert manifest["record_counts"] == answer["record_counts"]


def lines_types(records: dict[str, Any]) -> list[str]:
    (manifest,) = records["manifest"]
    return list(manifest["record_types"])


def test_a_parquet_bundle_is_written_over_only_where_one_lies(desk: Desk) -> None:
    desk.page(desk.box(), "1.png", ["Dear Sir"])
    parquet(desk, line_pictures=True)
    assert parquet(desk, 409)["code"] == "destination_exists"
    (desk.folder / "bundle" / "mine.txt").write_text("mine")
    parquet(desk, overwrite=True)
    names = {entry.name for entry in (desk.folder / "bundle").iterdir()}
    assert "mine.txt" in names
    assert "line_picture.parquet" not in names
    (desk.folder / "other").mkdir()
    (desk.folder / "other" / "mine.txt").write_text("mine")
    assert parquet(desk, 409, output_path=str(desk.folder / "other"), overwrite=True)["code"] == "not_ours"
    (desk.folder / "file").write_text("mine")
    assert parquet(desk, 409, output_path=str(desk.folder / "file"), overwrite=True)["code"] == "not_ours"


def test_a_name_that_a_bundle_would_take_from_a_stranger_is_refused(desk: Desk) -> None:
    place = desk.folder / "bundle"
    place.mkdir()
    (place / "manifest.json").write_text('{"files": []}')
    (place / "segment.parquet").write_text("mine")
    assert parquet(desk, 409, overwrite=True)["code"] == "not_ours"
    assert (place / "segment.parquet").read_text() == "mine"


def test_a_line_picture_is_of_the_language_of_what_holds_its_line(desk: Desk) -> None:
    """The line's own, else its region's, else the page's."""
    page = desk.page(desk.box(), "1.png", ["Dear Sir", "Monsieur", "سيدي"])
    own, within, outside = desk.lines(page)
    ((pass_id,),) = desk.rows("SELECT DISTINCT pass_id FROM segment")
    made = {"document_id": page, "pass_id": pass_id, "kind": "region", "language": "fr"}
    region = desk.do("segment.create_many", {"segments": [{**made, "anchor": {"rect": [0, 0, 1, 1]}}]})
    inside = {"parent_segment_id": region["items"][0]["id"]}
    for line, change in ((own, {**inside, "language": "en"}), (within, inside)):
        desk.do("segment.update", {"segment_id": line, "expected_version": 1, **change})
    desk.do("source_setting.set", {"level": "node", "target_id": page, "key": "language", "value": "ar"})
    parquet(desk, line_pictures=True)
    table = polars.read_parquet(desk.folder / "bundle" / "line_picture.parquet")
    found = dict(zip(table["segment_id"], table["language"], strict=True))
    assert found == {own: "en", within: "fr", outside: "ar"}


def test_line_pictures_stand_beside_their_readings(desk: Desk) -> None:
    import io

    from PIL import Image

    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir", "", "Farewell"])
    shut = desk.page(box, "2.png", ["A secret"])
    desk.restrict(shut)
    parquet(desk, line_pictures=True)
    table = polars.read_parquet(desk.folder / "bundle" / "line_picture.parquet")
    assert table["text"].to_list() == ["Dear Sir", "Farewell"]
    picture = Image.open(io.BytesIO(table["image"][1]["bytes"]))
    # The third bar of the page has the grey 32 on all of its box.
    assert picture.width in range(958, 964)
    assert abs(picture.getpixel((400, 20)) - 32) < 6
    metadata = polars.read_parquet_metadata(desk.folder / "bundle" / "line_picture.parquet")
    assert orjson.loads(metadata["huggingface"])["info"]["features"]["image"] == {"_type": "Image"}
