"""Descriptions of documents as a table: written, planned, taken in as one step, undone as one; hostile tables."""

from __future__ import annotations

import base64
import csv
import io
import zipfile
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest
from fastapi.testclient import TestClient

from armarium_documents import sheets


class Desk:
    """A folder of four letters, and what is asked of it over HTTP."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.folder = self.make("Letters", doc_type="folder")
        fields = [{"key": key, "label": key, "type": kind, **more} for key, kind, more in (
            ("pages", "number", {}), ("sent", "date", {}), ("sealed", "checkbox", {}), ("hand", "choice", {"options": ["A", "B"]}), ("link", "url", {}),
        )]  # fmt: skip
        client.post(
            "/api/classifications", json={"key": "missive", "label": "Missive", "declarations": fields}
        )
        self.ids = [
            self.make(
                name,
                self.folder,
                doc_type="group",
                prototype_key="missive",
                attributes={"shelfmark": f"AHN {at}"},
            )
            for at, name in enumerate(("0001.jpg", "0002.jpg", "0003.jpg", "0004.jpg"), 1)
        ]

    def make(self, name: str, parent: str | None = None, **fields: Any) -> str:
        response = self.client.post("/api/documents", json={"name": name, "parent_id": parent, **fields})
        return str(response.raise_for_status().json()["id"])

    def one(self, at: int) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.get(f"/api/documents/{self.ids[at]}").json()
        return answer

    def send(self, route: str, table: str | bytes, status: int = 200, **more: Any) -> dict[str, Any]:
        data = table.encode() if isinstance(table, str) else table
        body = {"table": base64.b64encode(data).decode(), "parent_id": self.folder, **more}
        answer = self.client.post(f"/api/documents/metadata{route}", json=body)
        assert answer.status_code == status, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def plan(self, table: str | bytes, **more: Any) -> dict[str, Any]:
        return self.send("/plan", table, **more)

    def take(self, table: str | bytes, status: int = 200, **more: Any) -> dict[str, Any]:
        return self.send("", table, status, **more)

    def export(self, format_name: str = "csv") -> bytes:
        query = {"parent_id": self.folder, "format": format_name}
        return self.client.get("/api/documents/metadata", params=query).raise_for_status().content


@pytest.fixture
def desk(shared_client: TestClient) -> Desk:
    return Desk(shared_client)


def book(*rows: list[Any]) -> bytes:
    made, out = openpyxl.Workbook(), io.BytesIO()
    for row in rows:
        made.active.append(row)
    made.save(out)
    return out.getvalue()


def counts_of(plan: dict[str, Any]) -> dict[str, int]:
    return {name: number for name, number in plan["counts"].items() if number}


def test_the_rows_are_in_the_order_of_the_tree(desk: Desk) -> None:
    box = desk.make("Box 1", doc_type="folder")
    in_order: list[str] = []
    for number in range(30):
        folder = desk.make(f"{number}", box, doc_type="folder")
        in_order = [folder, desk.make("inside", folder, doc_type="group"), *in_order]
        to_the_front = {"ids": [folder], "parent_id": box, "after_id": None}
        desk.client.post("/api/documents/move", json=to_the_front).raise_for_status()
    table = desk.client.get("/api/documents/metadata", params={"parent_id": box}).text
    assert [row["document.id"] for row in csv.DictReader(io.StringIO(table.lstrip("\ufeff")))] == in_order


def test_a_table_as_excel_writes_it_is_taken_as_one_step_and_undone_as_one(desk: Desk) -> None:
    table = "\ufeffdocument.name;place;pages;sent;sealed;tags\r\n" \
        '0001.jpg;"Toledo; city";12,5;21.03.1750;ja;royal | sealed\r\n0002.jpg;Lima;3;1750-04;;"one;two"\r\n'  # fmt: skip
    plan = desk.plan(table)
    assert counts_of(plan) == {"new": 2}
    assert desk.one(0)["attributes"] == {"shelfmark": "AHN 1"}, "a dry run writes nothing"
    done = desk.take(table)
    assert {**plan, "audit_id": done["audit_id"]} == done
    assert desk.one(0)["attributes"] == {
        "shelfmark": "AHN 1", "place": "Toledo; city", "pages": 12.5, "sent": "1750-03-21", "sealed": True, "tags": ["royal", "sealed"],
    }  # fmt: skip
    assert desk.one(1)["attributes"]["tags"] == ["one", "two"]
    assert counts_of(desk.plan(table)) == {"equal": 2}
    assert desk.client.post(f"/api/actions/audit/{done['audit_id']}/undo").status_code == 200
    assert [desk.one(at)["attributes"] for at in (0, 1)] == [{"shelfmark": "AHN 1"}, {"shelfmark": "AHN 2"}]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_encodings_and_separators_are_recognised(desk: Desk, encoding: str, separator: str) -> None:
    rows = (("document.name", "lugar", "autor"), ("0001.jpg", "Logroño", "Íñigo de Zúñiga"))
    text = "\r\n".join(separator.join(row) for row in rows) + "\r\n"
    values = desk.plan(text.encode(encoding))["rows"][0]["values"]
    assert [value["after"] for value in values] == ["Logroño", "Íñigo de Zúñiga"]


@pytest.mark.parametrize(
    ("match", "key"),
    [
        ("document.id", None), ("document.path", "/Letters/0001.jpg"), ("document.path", "0001.jpg"), ("document.name", "0001.jpg"),
        ("document.name", "0001.JPG"), ("document.name", "0001"), ("shelfmark", "AHN 1"),
    ],
)  # fmt: skip
def test_rows_name_documents_by_id_path_file_name_or_an_attribute(
    desk: Desk, match: str, key: str | None
) -> None:
    plan = desk.plan(
        f"Reference,place\n{key or desk.ids[0]},Toledo\n", match=match, columns={"Reference": match}
    )
    assert [(row["document_id"], row["state"]) for row in plan["rows"]] == [(desk.ids[0], "new")]


def test_a_dry_run_tells_new_changed_equal_unmatched_and_ambiguous_rows_apart(desk: Desk) -> None:
    desk.make("0004.jpg", desk.folder, doc_type="group")
    table = "name,shelfmark,place\n0001.jpg,AHN 1,Lima\n0002.jpg,AHN II,\n0003.jpg,AHN 3,\nnone.jpg,1,2\n0004.jpg,x,y\n"
    plan = desk.plan(table)
    assert counts_of(plan) == {"new": 1, "changed": 1, "equal": 1, "unmatched": 1, "ambiguous": 1}
    twice = desk.plan("name,place\n0001.jpg,Lima\n0001.jpg,Cuzco\n")
    assert counts_of(twice) == {"ambiguous": 2}
    assert "another row" in twice["rows"][0]["why"]
    refused = desk.take(table, 422)
    assert refused["code"] == "table_has_problems"
    assert "0004.jpg" in refused["detail"]
    assert counts_of(desk.take(table, skip=True))["new"] == 1
    assert desk.one(0)["attributes"]["place"] == "Lima"
    assert "place" not in desk.one(3)["attributes"]


@pytest.mark.parametrize(
    ("column", "cell", "why"),
    [
        ("pages", "many", "not a number"), ("pages", '"1,234"', "thousands"), ("sent", "03/04/1750", "month 3 or of month 4"),
        ("sent", "43831", "number of a day"), ("sent", "um 1750", "a date is written"), ("sealed", "perhaps", "neither true nor false"),
        ("hand", "C", "choices are A, B"), ("link", "nowhere", "https://"), ("document.date_iso", "1750-02-30", "28 days"),
        ("document.prototype_key", "nothing", "no prototype"), ("document.language", "two words", "BCP 47"),
        ("document.direction", "up", "ltr"),
    ],
)  # fmt: skip
def test_a_value_that_its_type_refuses_is_listed_with_the_reason(
    desk: Desk, column: str, cell: str, why: str
) -> None:
    plan = desk.plan(f"name,{column}\n0001.jpg,{cell}\n")
    assert why in plan["refused"][0]["why"]
    assert plan["refused"][0]["line"] == 2
    desk.take(f"name,{column}\n0001.jpg,{cell}\n", 422)


def test_a_column_called_like_a_secret_or_a_protected_field_is_refused_by_name(desk: Desk) -> None:
    table = "name,API key,document.is_locked,document.deleted_at,document.parent_id\n0001.jpg,s3cr3t,true,2020,x\n"
    columns_by_heading = {column["heading"]: column for column in desk.plan(table)["columns"]}
    assert [column["use"] for column in columns_by_heading.values()] == ["match", *["refused"] * 4]
    assert "like a secret" in columns_by_heading["API key"]["why"]
    assert "cannot change" in columns_by_heading["document.is_locked"]["why"]
    desk.take(table, 422)
    before = desk.one(0)
    assert counts_of(desk.take(table, skip=True)) == {"equal": 1}
    assert desk.one(0) == before


@pytest.mark.parametrize("format_name", ["csv", "xlsx"])
def test_what_was_exported_is_equal_when_it_is_imported_again(desk: Desk, format_name: str) -> None:
    odd = {"formula": "=HYPERLINK(\"http://x\")", "minus": "-1+1", "at": "@SUM(1)", "tab": "\tx", "apostrophe": "'=1", "lines": "a\nb", "tags": ["one", "a;b"],
           "object": {"a": [1]}, "number": -5, "float": 1.25, "precise": 0.1 + 0.2, "truth": False, "digits": "0042", "comma": "a, b; c",
           "@type": "heading like a formula", " blank ": "x", "Gro\u0308\u00dfe": "e\u0301", "whole": 1.0, "large": 12345678901234567890,
           "sign": "a\x01b"}  # fmt: skip
    desk.client.patch(
        f"/api/documents/{desk.ids[0]}", json={"attributes": odd, "date_iso": "1750-03", "is_starred": True}
    )
    data = desk.export(format_name)
    assert counts_of(desk.plan(data)) == counts_of(desk.plan(data, clear_empty=True)) == {"equal": 4}
    if format_name == "csv":
        cells = [cell for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))) for cell in row]
        assert not [
            cell for cell in cells if cell[:1] in ("=", "@", "+", "\t") or (cell[:1] == "-" and cell != "-5")
        ]
    else:
        workbook = openpyxl.load_workbook(io.BytesIO(data))
        assert not [cell for row in workbook.active for cell in row if cell.data_type == "f"]
        assert '"http://x"' in str([cell.value for row in workbook.active for cell in row])


def test_a_value_that_no_cell_holds_is_refused_by_its_heading(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "LONGEST_CELL", 40)
    desk.client.patch(f"/api/documents/{desk.ids[0]}", json={"attributes": {"note": "x" * 41}})
    answer = desk.client.get("/api/documents/metadata", params={"parent_id": desk.folder, "format": "xlsx"})
    assert (answer.status_code, answer.json()["code"]) == (422, "cell_too_long")
    assert (
        "A value of note has 41 characters, and a cell of a workbook holds at most 40"
        in answer.json()["detail"]
    )


def test_a_workbook_gives_dates_numbers_and_truths_and_refuses_formulas(desk: Desk) -> None:
    from datetime import date

    rows: list[list[Any]] = [
        ["name", "sent", "pages", "sealed", "box"],
        ["0001.jpg", date(1950, 3, 21), 12, True, 4],
        ["0002.jpg", "=TODAY()", 1, None, "=1+1"],
    ]
    plan = desk.plan(book(*rows))
    assert [value["after"] for value in plan["rows"][0]["values"]] == ["1950-03-21", 12, True, 4]
    assert [(entry["column"], entry["value"]) for entry in plan["refused"]] == [
        ("sent", "=TODAY()"),
        ("box", "=1+1"),
    ]
    assert "formula" in plan["refused"][0]["why"]


def test_an_empty_cell_leaves_what_is_there_unless_it_is_to_clear_it(desk: Desk) -> None:
    table = "name,shelfmark,document.prototype_key\n0001.jpg,,\n"
    assert counts_of(desk.plan(table)) == {"equal": 1}
    desk.take(table, clear_empty=True)
    assert desk.one(0)["attributes"] == {}
    assert desk.one(0)["prototype_key"] is None


def _with(member: str, data: bytes) -> Callable[[], bytes]:
    def make() -> bytes:
        out = io.BytesIO(book(["name"], ["0001.jpg"]))
        with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(member, data)
        return out.getvalue()

    return make


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (lambda: b"", "no table"), (lambda: b"place\nToledo\n", "document.id, document.path or document.name"),
        (lambda: b"\xd0\xcf\x11\xe0" + bytes(600), "old Excel"), (lambda: b"PK\x03\x04" + bytes(50), "ZIP"),
        (_with("xl/bomb.xml", bytes(30_000_000)), "decompression bomb"), (_with("../x", b"x"), "leave its folder"),
        (_with("xl/evil.xml", b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><x/>'), "DOCTYPE"),
        (lambda: b"name,\x81\x8d\x9d\n\x81,\x90\n", "encoding"),
    ],
)  # fmt: skip
def test_what_is_no_table_or_would_not_fit_is_refused_in_words(
    desk: Desk, table: Callable[[], bytes], why: str
) -> None:
    assert why in desk.send("/plan", table(), 422)["detail"]


def test_a_table_of_too_many_rows_is_refused_before_it_fills_memory(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MOST_ROWS", 3)
    rows = "".join(f"{at}.jpg,x\n" for at in range(5))
    assert "more than 3 rows" in desk.send("/plan", f"name,place\n{rows}", 422)["detail"]
    assert "more than 3 rows" in desk.send("/plan", book(["name"], *[["a"]] * 5), 422)["detail"]


def _with_rows(given: bytes, rows: bytes, cell: bytes = b"") -> bytes:
    """Return the workbook with more rows, written as no spreadsheet would, and another last cell."""
    out, made = io.BytesIO(), zipfile.ZipFile(io.BytesIO(given))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as hostile:
        for name in made.namelist():
            data = made.read(name)
            if name.endswith("sheet1.xml"):
                data = data.replace(b"<v>5</v>", cell or b"<v>5</v>").replace(
                    b"</sheetData>", rows + b"</sheetData>"
                )
            hostile.writestr(name, data)
    return out.getvalue()


def test_a_workbook_that_states_rows_and_numbers_as_none_has_is_read_at_once(desk: Desk) -> None:
    given = book(["document.id", "note"], [desk.ids[0], 5])
    plan = desk.plan(_with_rows(given, b'<row r="999999999"><c r="A999999999"/></row>', b"<v>1e999</v>"))
    assert counts_of(plan) == {"equal": 1, "refused_values": 1}
    assert (plan["refused"][0]["column"], plan["refused"][0]["value"]) == ("note", "inf")


def test_a_workbook_of_empty_cells_is_refused_before_they_are_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "_MOST_MARKS", 20_000)
    monkeypatch.setattr(sheets, "_MOST_EMPTY", 2_000)
    monkeypatch.setattr(sheets, "_MOST_IN_A_ROW", 1_000)
    given = book(["document.id", "note"], [desk.ids[0], 5])
    for rows, why in (
        (b"<row>" + b"<c/>" * 900 + b"</row>", ""),
        (b"<row>" + b"<c/>" * 1_100 + b"</row>", "more cells than a spreadsheet can have"),
        (b"<row>" + b"<c/><!--<row>-->" * 600 + b"</row>", "comment"),
        ((b"<row>" + b"<c/>" * 90 + b"</row>") * 30, "cells that are empty"),
        ((b"<row>" + b'<x:c r="A1"> </x:c>' * 90 + b"</row>") * 30, "cells that are empty"),
        ((b"<row>" + b"<c><v>1</v></c>" * 90 + b"</row>") * 60, "too many cells"),
    ):
        answer = desk.send("/plan", _with_rows(given, rows), 422 if why else 200)
        assert why in answer.get("detail", "")


def test_macros_and_other_sheets_are_left_and_said(desk: Desk) -> None:
    note = desk.plan(_with("xl/vbaProject.bin", b"x")())["note"]
    assert note == "Its macros were not read."


def test_a_locked_document_is_changed_by_an_owner_only(desk: Desk) -> None:
    client = desk.client
    client.put(f"/api/documents/{desk.folder}/lock", json={"locked": True}).raise_for_status()
    token = (
        client.post("/api/tokens", json={"name": "editor", "role": "editor"})
        .raise_for_status()
        .json()["token"]
    )
    body = {"table": base64.b64encode(b"name,place\n0001.jpg,Lima\n").decode(), "parent_id": desk.folder}
    editor = {"Authorization": f"Bearer {token}"}
    plan = client.post("/api/documents/metadata/plan", json=body, headers=editor).json()
    assert "locked" in plan["refused"][0]["why"]
    assert client.post("/api/documents/metadata", json=body, headers=editor).status_code == 422
    assert client.post("/api/documents/metadata", json=body).status_code == 200


def test_a_dataset_query_has_all_its_rows_as_csv_in_its_order(desk: Desk) -> None:
    query = {"parent_id": desk.folder, "limit": 1, "sort": {"attr": "shelfmark", "direction": "desc"}}
    answer = desk.client.post("/api/documents/dataset/table", json=query)
    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert [row["shelfmark"] for row in rows] == ["AHN 4", "AHN 3", "AHN 2", "AHN 1"]


def test_a_viewer_exports_and_plans_but_takes_nothing_in_and_unknown_folders_are_named(desk: Desk) -> None:
    client = desk.client
    token = (
        client.post("/api/tokens", json={"name": "viewer", "role": "viewer"})
        .raise_for_status()
        .json()["token"]
    )
    viewer = {"Authorization": f"Bearer {token}"}
    body = {"table": base64.b64encode(b"name,place\n0001.jpg,Lima\n").decode(), "parent_id": desk.folder}
    assert client.get("/api/documents/metadata", headers=viewer).status_code == 200
    assert client.post("/api/documents/metadata/plan", json=body, headers=viewer).status_code == 200
    assert client.post("/api/documents/metadata", json=body, headers=viewer).status_code == 403
    for path in ("/plan", ""):
        answer = client.post(f"/api/documents/metadata{path}", json={**body, "parent_id": "f" * 32})
        assert (answer.status_code, "f" * 32 in answer.text) == (404, True)
    assert client.get("/api/documents/metadata", params={"parent_id": "f" * 32}).status_code == 404
