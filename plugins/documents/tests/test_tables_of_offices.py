"""Tables as people's spreadsheets hand them over: a workbook with Excel's habits, separated text with LibreOffice's."""

from __future__ import annotations

import base64
import io
import zipfile
from datetime import date
from typing import Any

import openpyxl
from fastapi.testclient import TestClient

from armarium_documents.sheets import Unreadable, read_sheet

DAY = 13_333
"""2 July 1936 as Excel counts: days since the end of 1899."""


def excel_workbook() -> bytes:
    """A workbook: dates as formatted numbers, numbers as text, merged headings, formulas with values, empty rows, two sheets."""
    book, out = openpyxl.Workbook(), io.BytesIO()
    sheet = book.active
    assert sheet is not None
    sheet.append(["document.name", "sent", "pages", "note", None, "sum"])
    sheet.merge_cells("D1:E1")
    sheet.append(["0001.jpg", DAY, "0012", 3.0, "beneath the merged heading", "=1+1"])
    sheet.append(["0002.jpg", DAY + 0.5, "12,5", None, None, None])
    sheet["B2"].number_format, sheet["B3"].number_format = "dd/mm/yyyy", "dd/mm/yyyy hh:mm"
    sheet["C2"].number_format = "@"
    for line in range(4, 60):
        sheet.cell(line, 1).number_format = "@"
        sheet.cell(line, 3).value = "" if line % 2 else "  "
    book.create_sheet("Sheet2").append(["document.name", "pages"])
    book.save(out)
    # openpyxl writes a formula without the value that Excel worked out and keeps beside it.
    again = io.BytesIO()
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(again, "w") as new:
        for one in old.namelist():
            new.writestr(one, old.read(one).replace(b"<v></v>", b"<v>2</v>").replace(b"<v/>", b"<v>2</v>").replace(b"<v />", b"<v>2</v>"))  # fmt: skip
    cached = openpyxl.load_workbook(again, data_only=True).worksheets[0]["F2"].value
    assert cached == 2, "the file is as Excel writes it"
    return again.getvalue()


LIBREOFFICE = (
    "\ufeffdocument.name;sent;pages;note\r\n"
    '0001.jpg;02.07.1936;12,5;"first line\nsecond; ""quoted"""\r\n'
    "0002.jpg;;;\r\n;;;\r\n;;;\r\n"
).encode()


def plan(client: TestClient, table: bytes) -> Any:
    folder = client.post("/api/documents", json={"name": "Letters", "doc_type": "folder"}).json()["id"]
    fields = [
        {"key": key, "label": key, "type": kind} for key, kind in (("pages", "number"), ("sent", "date"))
    ]
    kind = {"key": "office", "label": "Office", "declarations": fields}
    assert client.post("/api/classifications", json=kind).status_code in (200, 409)
    for name in ("0001.jpg", "0002.jpg"):
        node = {"name": name, "parent_id": folder, "doc_type": "group", "prototype_key": "office"}
        client.post("/api/documents", json=node).raise_for_status()
    body = {"table": base64.b64encode(table).decode(), "parent_id": folder}
    answer = client.post("/api/documents/metadata/plan", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def values_of(planned: Any) -> list[dict[str, Any]]:
    return [{value["column"]: value["after"] for value in row["values"]} for row in planned["rows"]]


def test_a_workbook_with_the_habits_of_excel_says_what_its_cells_show(shared_client: TestClient) -> None:
    sheet = read_sheet(excel_workbook())
    rows = list(sheet.rows)
    assert sheet.headings == ("document.name", "sent", "pages", "note", "", "sum")
    assert [line for line, _ in rows] == [2, 3], "rows with formats and blanks only are no rows"
    assert rows[0][1][:4] == ["0001.jpg", date(1936, 7, 2).isoformat(), "0012", 3]
    assert rows[1][1][:3] == ["0002.jpg", "1936-07-02T12:00:00", "12,5"]
    assert isinstance(rows[0][1][5], Unreadable), "no formula is believed, whatever value stands beside it"
    assert sheet.note == "Only the sheet “Sheet” was read."
    planned = plan(shared_client, excel_workbook())
    assert values_of(planned) == [
        {"sent": "1936-07-02", "pages": 12, "note": 3},
        {"sent": "1936-07-02T12:00:00", "pages": 12.5},
    ]
    assert [(entry["line"], entry["column"]) for entry in planned["refused"]] == [(2, "sum")]


def test_text_with_the_habits_of_libreoffice_is_read_cell_by_cell(shared_client: TestClient) -> None:
    planned = plan(shared_client, LIBREOFFICE)
    assert (planned["counts"]["new"], planned["counts"]["equal"], planned["refused"]) == (1, 1, [])
    assert values_of(planned) == [
        {"sent": "1936-07-02", "pages": 12.5, "note": 'first line\nsecond; "quoted"'}
    ]
