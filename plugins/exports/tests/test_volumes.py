"""Many pages as one file: headings from the tree, folio labels, footnotes, who stands behind the text, what was not read."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from exports_desk import Desk
from lxml import etree

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
TEI = "{http://www.tei-c.org/ns/1.0}"


@pytest.fixture
def chest(desk: Desk) -> str:
    """A folder with letters in two folders, one in a document of its own, a page that nobody read, and an unclear word."""
    chest = desk.box("Chest")
    first, second = desk.box("Letters", chest), desk.box("Wages", chest)
    volume = desk.box("Volume 1", first, "group")
    page = desk.page(volume, "0001.png", ["Dear Sir", "I am well"])
    desk.client.patch(f"/api/documents/{page}", json={"page_label": "f. 12r"}).raise_for_status()
    line = desk.lines(page)[0]
    place = {
        "anchor_kind": "bbox",
        "anchor": {"rect": [0.1, 0.05, 0.8, 0.06]},
        "targets": [{"segment_id": line}],
    }
    desk.do("annotation.create", {"document_id": page, "kind": "note", "text": "in another hand", **place})
    desk.page(volume, "0002.png", [])
    desk.page(second, "0003.png", ["Paid *twice*"])
    return chest


def save(desk: Desk, format_name: str, *scope: str, **more: Any) -> tuple[dict[str, Any], bytes]:
    answer = desk.post(
        "/api/export/downloads", what="volume", format=format_name, scope_ids=list(scope), **more
    )
    return answer, desk.client.get(f"/api/export/downloads/{answer['id']}").content


def test_a_word_file_has_the_tree_as_headings_footnotes_and_the_sum(desk: Desk, chest: str) -> None:
    import docx

    made, data = save(desk, "word", chest)
    assert made["filename"] == "Chest.docx"
    document = docx.Document(io.BytesIO(data))
    styled = [
        (paragraph.style.name if paragraph.style else "", paragraph.text) for paragraph in document.paragraphs
    ]
    headings = [(style, text) for style, text in styled if str(style).startswith(("Heading", "Title"))]
    assert headings == [
        ("Title", "Chest"), ("Heading 1", "Letters"), ("Heading 2", "Volume 1"), ("Heading 3", "0001.png (f. 12r)"),
        ("Heading 3", "0002.png"), ("Heading 1", "Wages"), ("Heading 2", "0003.png"),
    ]  # fmt: skip
    assert len(document.sections) == 4, "each page begins a section, and what is said of the whole does"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        notes = etree.fromstring(archive.read("word/footnotes.xml"))
        body = etree.fromstring(archive.read("word/document.xml"))
    assert [element.get(f"{W}id") for element in body.iter(f"{W}footnoteReference")] == ["1"]
    assert "in another hand" in str(etree.tostring(notes, encoding="unicode"))
    texts = [paragraph.text for paragraph in document.paragraphs][-2:]
    assert texts == ["3 pages; 3 lines: 3 made by a person.", "Not read: 0002.png."]
    assert [entry["why"] for entry in made["left_out"]] == ["0002.png has not been read."]
    assert save(desk, "word", chest)[1] == data, "the same pages give the same bytes"


def test_a_facsimile_stands_beside_the_text(desk: Desk, chest: str) -> None:
    import docx

    _, data = save(desk, "word", chest, facsimile=True)
    document = docx.Document(io.BytesIO(data))
    left, right = document.tables[0].rows[0].cells
    (height,) = left._tc.xpath(".//pic:pic/pic:spPr/a:xfrm/a:ext/@cy")
    section = document.sections[0]
    room = (section.page_height or 0) - (section.top_margin or 0) - (section.bottom_margin or 0)
    assert int(height) + docx.shared.Inches(1) <= room, (
        "the heading and what ends the section fit on the page"
    )
    assert [paragraph.text for paragraph in right.paragraphs][:2] == [
        "Dear Sir",
        "I am well",
    ] or right.paragraphs[0].text.startswith("Dear Sir")
    assert len([name for name in zipfile.ZipFile(io.BytesIO(data)).namelist() if "media/" in name]) == 3
    assert (
        desk.post("/api/export/downloads", 422, what="volume", format="markdown", facsimile=True)["code"]
        == "no_facsimile"
    )
    assert desk.post("/api/export/downloads", 422, what="volume", format="alto")["code"] == "no_volume"


def test_markdown_and_plain_text_name_folders_folios_notes_and_what_was_not_read(
    desk: Desk, chest: str
) -> None:
    made, data = save(desk, "markdown", chest)
    words = data.decode()
    assert [(loss["what"], loss["count"], loss["pages"]) for loss in made["losses"]] == [
        ("shapes of lines", 3, 2)
    ]
    assert re.findall(r"^#+ .*", words, re.MULTILINE) == [
        "# Chest", "## Letters", "### Volume 1", "#### 0001.png (f. 12r)", "#### 0002.png", "## Wages", "### 0003.png",
    ]  # fmt: skip
    assert "Dear Sir[^1]" in words
    assert "[^1]: in another hand" in words
    assert r"Paid \*twice\*" in words
    assert "Not read: 0002.png." in words
    text = save(desk, "plain-text", chest)[1].decode()
    assert text.count("\f") == 4
    assert "[0001.png (f. 12r)]\n\nDear Sir [1]\nI am well\n\n[1] in another hand" in text
    assert "3 lines: 3 made by a person" in text


def test_a_corpus_has_a_corpus_for_each_folder_and_names_what_was_not_read(desk: Desk, chest: str) -> None:
    made, data = save(desk, "tei", chest)
    root = etree.fromstring(data)
    titles = [
        element.findtext(f"{TEI}teiHeader/{TEI}fileDesc/{TEI}titleStmt/{TEI}title")
        for element in root.iter(f"{TEI}teiCorpus")
    ]
    assert titles == ["Chest", "Letters", "Volume 1", "Wages"]
    assert len(list(root.iter(f"{TEI}TEI"))) == 3
    assert "Not read: 0002.png." in str(etree.tostring(root[0], encoding="unicode"))
    ids = [element.get("{http://www.w3.org/XML/1998/namespace}id") for element in root.iter() if element.get("{http://www.w3.org/XML/1998/namespace}id")]  # fmt: skip
    assert len(ids) == len(set(ids))
    assert made["filename"] == "Chest.tei.xml"


def test_a_pdf_has_all_pages_and_names_what_was_not_read(desk: Desk, chest: str) -> None:
    import pypdfium2

    made, data = save(desk, "pdf", chest)
    assert len(pypdfium2.PdfDocument(data)) == 3
    assert [entry["why"] for entry in made["left_out"]] == ["0002.png has not been read."]
    assert [loss["pages"] for loss in made["losses"] if loss["what"] == "places of words"] == [2]


def test_what_a_search_found_is_one_file_in_the_order_of_the_tree_without_what_is_withheld(
    desk: Desk, chest: str
) -> None:
    ids = {name: one for one, name in desk.rows("SELECT id, name FROM document WHERE name LIKE '000%'")}
    made, data = save(desk, "markdown", ids["0003.png"], ids["0001.png"])
    assert [line for line in data.decode().splitlines() if line.startswith("#")][1:] == [
        "## Letters", "### Volume 1", "#### 0001.png (f. 12r)", "## Wages", "### 0003.png",
    ]  # fmt: skip
    desk.restrict(ids["0001.png"])
    made, data = save(desk, "markdown", chest)
    assert [entry["document_id"] for entry in made["withheld"]] == [ids["0001.png"]]
    assert b"Dear Sir" not in data
    assert b"f. 12r" not in data


def test_a_transcribed_picture_that_was_split_since_is_named_as_left_out_until_its_parts_are_read(
    desk: Desk, tmp_path: Path
) -> None:
    box = desk.box("Spreads")
    whole = desk.page(box, "0001.png", ["Dear Sir"])
    desk.page(box, "0002.png", ["I am well"])
    halves = [{"bbox": [0, 0, 0.5, 1]}, {"bbox": [0.5, 0, 0.5, 1]}]
    parts = desk.post(f"/api/images/{whole}/split", regions=halves)["child_ids"]
    why = "0001.png is split; the text of the whole picture is left out"
    for more in ({"what": "volume"}, {"what": "files"}, {"what": "receiver", "receiver": "tropy"}):
        answer = desk.post("/api/export/downloads", format="plain-text", scope_ids=[box], **more)
        reasons_by_document_id = {entry["document_id"]: entry["why"] for entry in answer["left_out"]}
        assert reasons_by_document_id[whole].startswith(why), more
    for number, (path, ending) in enumerate((("pdf", ".pdf"), ("eleventy-site", ""))):
        answer = desk.post(
            f"/api/export/{path}", output_path=str(tmp_path / f"{number}{ending}"), target_id=box
        )
        ((named_id, words),) = ((entry["document_id"], entry["why"]) for entry in answer["left_out"])
        assert (named_id, words.startswith(why)) == (whole, True), path
    for part in parts:
        desk.write(part, ["Dear"])
    assert save(desk, "plain-text", box)[0]["left_out"] == []
