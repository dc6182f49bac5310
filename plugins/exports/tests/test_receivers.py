"""Pages as other programs open them: each profile obeys its rules, and the validator sees every breach."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from exports_desk import Desk
from lxml import etree

from armarium_exports.receivers.checking import check_written
from armarium_exports.receivers.profiles import PROFILES
from armarium_exports.receivers.writing import state_order

sys.path.insert(0, str(Path(__file__).parents[2] / "formats" / "tests"))

METS = "{http://www.loc.gov/METS/}"


def write(desk: Desk, receiver: str, scope: list[str], status: int = 200, **more: Any) -> dict[str, Any]:
    body = {"receiver": receiver, "scope_ids": scope, "output_path": str(desk.folder / receiver), **more}
    return desk.post("/api/export/receivers", status, **body)


@pytest.mark.parametrize("receiver", sorted(PROFILES))
def test_a_profile_obeys_its_own_rules(desk: Desk, receiver: str) -> None:
    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir", "I am well"])
    desk.page(box, "1.png", ["Farewell"])
    answer = write(desk, receiver, [box])
    assert answer["problems"] == []
    assert answer["pages"] == 2
    assert answer["left_out"] == []
    folder, profile = desk.folder / receiver, PROFILES[receiver]
    pictures = {entry.name for entry in (folder / profile.images).iterdir() if entry.suffix == ".png"}
    assert pictures == {"1.png", "1-2.png"}
    assert set(answer["files"]) == {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    }
    assert check_written(profile, folder) == []


def test_files_for_transkribus_state_the_place_of_each_region_line_and_word(desk: Desk) -> None:
    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir", "I am well"])
    write(desk, "transkribus", [box])
    root = etree.parse(desk.folder / "transkribus" / "page" / "1.xml").getroot()
    stated = [element.get("custom") for element in root.iter("{*}TextLine")]
    assert stated == [f"readingOrder {{index:{number};}} made {{by:person;}}" for number in (0, 1)]
    page = etree.fromstring(
        b'<Page><ReadingOrder><OrderedGroup id="o"><RegionRefIndexed index="0" regionRef="b"/><RegionRefIndexed index="1" '
        b'regionRef="a"/></OrderedGroup></ReadingOrder><TextRegion id="a" custom="structure {type:heading;}"><TextLine custom='
        b'"person {offset:0; length:3;}"><Word/><Word/></TextLine></TextRegion><TextRegion id="b"/></Page>'
    )
    state_order(page)
    first, second = page.iter("TextRegion")
    assert first.get("custom") == "readingOrder {index:1;} structure {type:heading;}"
    assert second.get("custom") == "readingOrder {index:0;}"
    assert first[0].get("custom") == "readingOrder {index:0;} person {offset:0; length:3;}"
    assert [element.get("custom") for element in page.iter("Word")] == [
        "readingOrder {index:0;}",
        "readingOrder {index:1;}",
    ]


@pytest.mark.parametrize("receiver", ["ocr-d", "mets-viewer"])
def test_mets_is_valid_by_the_published_schema_and_read_back(desk: Desk, receiver: str) -> None:
    from published_schemas import xsd

    box = desk.box("Letters <& more>")
    desk.page(box, "1.png", ["Dear Sir"])
    desk.page(box, "2.png", ["Farewell"])
    write(desk, receiver, [box])
    root = etree.parse(desk.folder / receiver / "mets.xml").getroot()
    schema = xsd("mets.xsd")
    assert schema.validate(root), schema.error_log
    pages = [element for element in root.iter(f"{METS}div") if element.get("TYPE") == "page"]
    assert [page.get("ORDERLABEL") for page in pages] == ["1.png", "2.png"]
    assert root.findtext(".//{http://www.loc.gov/mods/v3}title") == "Letters <& more>"


def test_a_workspace_is_imported_again_as_it_was(desk: Desk) -> None:
    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir", "I am well"])
    write(desk, "ocr-d", [box])
    layout = desk.folder / "ocr-d" / "OCR-D-OCR" / "1.xml"
    checked = desk.client.post("/api/formats/check", json={"path": str(layout)}).json()
    assert checked["valid"] is True
    assert checked["pages"][0]["counts"]["line"] == 2


def test_breaches_of_the_rules_are_seen(desk: Desk) -> None:
    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir"])
    write(desk, "ocr-d", [box])
    folder, profile = desk.folder / "ocr-d", PROFILES["ocr-d"]
    layout = folder / "OCR-D-OCR" / "1.xml"
    sound = layout.read_text()
    for was, now, words in (
        ('imageWidth="1200"', 'imageWidth="600"', "coordinates are for 600"),
        ("OCR-D-IMG/1.png", "OCR-D-IMG/2.png", "does not exist"),
        ('points="', 'points="99999,3 ', "is outside"),
        ("</PcGts>", "", "1.xml"),
    ):
        layout.write_text(sound.replace(was, now))
        assert any(words in one for one in check_written(profile, folder)), words
    layout.write_text(sound)
    (folder / "OCR-D-IMG" / "1.png").unlink()
    assert any("mets.xml names" in one for one in check_written(profile, folder))
    (folder / "mets.xml").unlink()
    assert any("mets.xml cannot be read" in one for one in check_written(profile, folder))


def test_losses_are_told_before_anything_is_written(desk: Desk) -> None:
    box = desk.box()
    page = desk.page(box, "1.png", ["Dear Sir"])
    pass_id = desk.rows("SELECT pass_id FROM segment WHERE document_id = ?", page)[0][0]
    bare = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": {"rect": [0.1, 0.6, 0.5, 0.1]}}
    desk.do("segment.create_many", {"segments": [bare]})
    report = desk.post("/api/export/receivers/report", receiver="kraken", scope_ids=[box])
    (lost,) = report["losses"]
    assert {k: lost["losses"][-1][k] for k in ("what", "count")} == {
        "what": "lines without a baseline",
        "count": 1,
    }
    assert not (desk.folder / "kraken").exists()


def test_pages_without_lines_or_picture_are_left_out_and_named(desk: Desk) -> None:
    box = desk.box()
    empty = desk.page(box, "1.png", [])
    desk.do("segment.pass_delete", {"pass_id": desk.rows("SELECT id FROM segment_pass")[0][0]})
    bare = desk.do("document.create", {"name": "2", "doc_type": "page", "parent_id": box})["id"]
    report = desk.post("/api/export/receivers/report", receiver="kraken", scope_ids=[box])
    assert {entry["document_id"] for entry in report["left_out"]} == {empty, bare}
    refused = write(desk, "kraken", [box], 422)
    assert refused["code"] == "nothing_to_export"


def test_what_is_restricted_is_left_out_with_its_picture(desk: Desk) -> None:
    box = desk.box()
    desk.page(box, "1.png", ["Dear Sir"])
    shut = desk.page(box, "2.png", ["A secret"])
    desk.restrict(desk.lines(shut)[0], kind="segment")
    answer = write(desk, "transkribus", [box])
    assert [entry["document_id"] for entry in answer["withheld"]] == [shut]
    assert not [file for file in answer["files"] if "2" in file]


def test_unknown_receivers_and_scopes_are_refused(desk: Desk) -> None:
    assert write(desk, "word", ["x"], 422)["code"] == "unknown_receiver"
    assert write(desk, "kraken", ["0" * 32], 404)["detail"]
    listed = desk.client.get("/api/export/receivers").json()
    assert {item["name"] for item in listed["items"]} == set(PROFILES)
    assert listed["count"] == 8
    assert all(item["source"] and item["rules"] for item in listed["items"])
