"""Every way out says of each line whether a person made or checked it, a machine read it, an agent wrote it."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import orjson
import pytest
from exports_desk import MACHINE, Desk
from lxml import etree


@pytest.fixture
def page(desk: Desk) -> str:
    """A page of four lines: a person's, an agent's, an agent's that a person confirmed, and one without text."""
    page = desk.page(desk.box(), "0001.png", ["by a person", "", "", ""])
    by_person, by_agent, confirmed, _ = desk.lines(page)
    assert by_person
    desk.do("representation.create", {"segment_id": by_agent, "text": "by an agent"}, MACHINE)
    read = desk.do("representation.create", {"segment_id": confirmed, "text": "confirmed"}, MACHINE)
    verdict = {"layer": "readings", "target_id": read["id"], "verdict": "confirm", "reasons": "It says so."}
    desk.post("/api/check/verdicts", **verdict)
    return page


EXPECTED = [("person", None, 1), ("checked", "an agent", 1), ("agent", "an agent", 1)]


def makers_of(answer: list[dict[str, Any]]) -> list[tuple[str, str | None, int]]:
    return [(item["by"], item["name"], item["lines"]) for item in answer]


def export(desk: Desk, page: str, format_name: str) -> dict[str, Any]:
    answer = desk.client.get(f"/api/documents/{page}/export/{format_name}")
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


@pytest.mark.parametrize("format_name", ["pagexml", "alto", "tei", "plain-text"])
def test_the_answer_of_an_export_sums_up_who_made_the_lines(desk: Desk, page: str, format_name: str) -> None:
    assert makers_of(export(desk, page, format_name)["choices"]["made"]) == EXPECTED


def test_page_xml_says_of_each_line_who_made_it(desk: Desk, page: str) -> None:
    root = etree.fromstring(export(desk, page, "pagexml")["content"].encode())
    lines = {
        line.findtext("{*}TextEquiv/{*}Unicode"): line.get("custom") for line in root.iter("{*}TextLine")
    }
    assert lines["by a person"] == "made {by:person;}"
    assert lines["by an agent"] == "made {by:agent; name:an agent;}"
    assert lines["confirmed"] == "made {by:checked; name:an agent;}"
    (summed,) = [
        element.get("value") for element in root.iter("{*}MetadataItem") if element.get("name") == "readings"
    ]
    assert summed.startswith("3 lines: 1 made by a person, 1 checked by a person (from an agent), 1 written")


def test_alto_marks_corrected_lines_and_refers_to_the_step_that_made_each(desk: Desk, page: str) -> None:
    root = etree.fromstring(export(desk, page, "alto")["content"].encode())
    steps = {
        step.get("ID"): step.findtext("{*}processingStepDescription") for step in root.iter("{*}Processing")
    }
    said = {
        line.find("{*}String").get("CONTENT"): (line.get("CS"), steps.get(line.get("PROCESSINGREFS", "")))
        for line in root.iter("{*}TextLine")
    }
    assert said["by a person"] == ("true", "1 of 3 lines made by a person")
    assert said["confirmed"] == ("true", "1 of 3 lines checked by a person (from an agent)")
    assert said["by an agent"] == (None, "1 of 3 lines written by the agent an agent")


def test_tei_names_who_is_responsible_for_each_line(desk: Desk, page: str) -> None:
    root = etree.fromstring(export(desk, page, "tei")["content"].encode())
    said = {
        element.get("{http://www.w3.org/XML/1998/namespace}id"): element.findtext("{*}resp")
        for element in root.iter("{*}respStmt")
    }
    breaks = [
        (said.get((element.get("resp") or "#").removeprefix("#")), (element.tail or "").strip())
        for element in root.iter("{*}lb")
    ]
    assert ("1 of 3 lines made by a person", "by a person") in breaks
    assert ("1 of 3 lines written by the agent an agent", "by an agent") in breaks
    assert ("1 of 3 lines checked by a person (from an agent)", "confirmed") in breaks


@pytest.mark.parametrize("format_name", ["pagexml", "alto", "tei"])
def test_an_export_that_comes_back_states_its_lines_as_imported_and_nothing_twice(
    desk: Desk, page: str, format_name: str
) -> None:
    content = export(desk, page, format_name)["content"]
    other_page = desk.page(desk.box("Copies"), "0001.png", [])
    imported = {"document_id": other_page, "file": content, "filename": "again.xml"}
    read = desk.do("format.import", imported)
    again = export(desk, other_page, f"{format_name}?pass_id={read['pass_id']}")
    assert makers_of(again["choices"]["made"]) == [("import", "again.xml", 3)]
    assert "made by a person" not in again["content"]
    assert "the agent" not in again["content"]


def test_a_line_that_a_person_contradicts_later_is_no_longer_checked(desk: Desk, page: str) -> None:
    (reading,) = [
        row[0] for row in desk.rows("SELECT id FROM content_representation WHERE content = 'confirmed'")
    ]
    verdict = {"layer": "readings", "target_id": reading, "verdict": "reject", "reasons": "Looked again."}
    desk.post("/api/check/verdicts", **verdict)
    assert makers_of(export(desk, page, "plain-text")["choices"]["made"]) == [
        ("person", None, 1),
        ("agent", "an agent", 2),
    ]


def test_a_site_marks_each_line_and_sums_up_pages_and_whole(desk: Desk, page: str, tmp_path: Path) -> None:
    answer = desk.post("/api/export/eleventy-site", output_path=str(tmp_path / "site"))
    assert makers_of(answer["made"]) == EXPECTED
    data = tmp_path / "site" / "content" / "_data"
    (shown,) = orjson.loads((data / "pages.json").read_bytes())
    lines = {line["text"]: line for block in shown["blocks"] for line in block["lines"]}
    assert not lines["by a person"]["unchecked"]
    assert not lines["confirmed"]["unchecked"]
    assert lines["by an agent"]["unchecked"]
    assert lines["by an agent"]["maker"] == "written by the agent an agent"
    assert shown["made"] == orjson.loads((data / "site.json").read_bytes())["made"]
    assert shown["made"].startswith("3 lines: 1 made by a person")


def test_word_and_markdown_say_which_lines_are_whose(desk: Desk, page: str, tmp_path: Path) -> None:
    (tmp_path / "word").mkdir()
    (tmp_path / "markdown").mkdir()
    for format_name in ("word", "markdown"):
        desk.post("/api/export/kept", folder=str(tmp_path / format_name), format=format_name)
    desk.work()
    expected = "Line 1 made by a person; line 3 checked by a person (from an agent); line 2 written by the agent an agent."
    (text,) = [path.read_text() for path in (tmp_path / "markdown").rglob("*.md")]
    assert expected in text
    (document,) = (tmp_path / "word").rglob("*.docx")
    body = zipfile.ZipFile(io.BytesIO(document.read_bytes())).read("word/document.xml").decode()
    assert expected in re.sub(r"<[^>]+>", "", body)
    styled = re.findall(r'<w:rStyle w:val="Uncheckedreading"/>.*?<w:t[^>]*>([^<]+)</w:t>', body)
    assert styled == ["by an agent"]
