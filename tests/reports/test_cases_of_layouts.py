"""The reported cases of PAGE, ALTO and TEI: what `../shared/cases` says is right, met as a user meets it."""

from __future__ import annotations

import re

import pytest
from case_project import CASES, CaseProject
from lxml import etree

pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason="the reported cases of ../shared/cases are not here"
)
TEI = {"t": "http://www.tei-c.org/ns/1.0"}


def elements(content: str, path: str) -> list[etree._Element]:
    found = etree.fromstring(content.encode()).xpath(path, namespaces=TEI)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("name", ["alto-hyphen-soft", "alto-hyphen-twice"])
def test_a_word_divided_by_alto_stands_once_and_is_found_whole(case: CaseProject, name: str) -> None:
    (page_pass,) = case.bring_case(name)["passes"]
    hyphen = {"alto-hyphen-soft": "\xad", "alto-hyphen-twice": "-"}[name]
    assert case.text(case.page()) == f"once cam{hyphen}\npana vieja"
    assert all(map(case.finds, ("campana", "cam", "pana")))
    assert any("hyphen" in note for note in page_pass["notes"]) == (name == "alto-hyphen-twice")


def test_alto_without_file_name(case: CaseProject) -> None:
    (page_pass,) = case.bring_case("alto-without-file-name")["passes"]
    (line,) = case.lines(case.page())
    assert (page_pass["paired_by"], round(line["bbox_x"], 6)) == ("name", 0.06)
    assert any("pixel" in note for note in page_pass["notes"])


def test_a_page_in_the_stored_frame_of_a_turned_photograph(case: CaseProject) -> None:
    (page_pass,) = case.bring_case("exif-6-page-in-stored-frame")["passes"]
    (line,) = case.lines(case.page())
    assert (round(line["bbox_x"], 2), round(line["bbox_y"], 3)) == (0.82, 0.043)
    assert page_pass["notes"]


def test_reading_order_for_transkribus(case: CaseProject) -> None:
    case.bring_case("for-transkribus-with-reading-order")
    folder = case.place / "out"
    body = {"receiver": "transkribus", "scope_ids": [case.page()], "output_path": str(folder)}
    case.ask("POST", "/api/export/receivers", json=body)
    case.work()
    (path,) = folder.rglob("page/*.xml")
    for what in ("TextRegion", "TextLine", "Word"):
        (element,) = elements(path.read_text(), f"//*[local-name()='{what}']")
        assert element.get("custom", "").startswith("readingOrder {index:0;}"), what


def test_a_line_counts_where_its_words_differ(case: CaseProject) -> None:
    case.bring_case("line-and-words-differ")
    content, losses = case.export(case.page(), "alto")
    strings = elements(content, "//@CONTENT")
    assert " ".join(map(str, strings)) == "The right line"
    assert losses["words of lines"] == 2


def test_words_divided_at_line_ends_are_found_whole(case: CaseProject) -> None:
    case.bring_case("line-end-hyphens")
    whole = ("Gartenhaus", "Schulhof", "Brunnen", "Kornfeld", "Wasser", "Weinberg", "Mühle", "HauptPlatz")
    assert [word for word in whole if not case.finds(word)] == []


def test_overlapping_tags_are_well_formed_tei(case: CaseProject) -> None:
    case.bring_case("overlapping-tags-to-tei")
    content, losses = case.export(case.page(), "tei")
    (paragraph,) = elements(content, "//t:body//t:p|//t:body//t:ab")
    assert "sold by the reeve in May" in re.sub(r"\s+", " ", "".join(map(str, paragraph.itertext())))
    tags = elements(content, "//t:body//t:del|//t:body//t:unclear")
    assert ["".join(map(str, tag.itertext())) for tag in tags] == ["sold by the"]
    assert losses["1 editorial fact: the reeve"] == 1


def test_page_text_between_newlines(case: CaseProject) -> None:
    case.bring_case("page-text-between-newlines")
    page = case.page()
    assert case.text(page) == "erste Zeile\nzweite Zeile"
    assert case.export(page, "plain-text")[0] == "erste Zeile\nzweite Zeile\n"
    assert "&#10;" not in case.export(page, "alto")[0]


def test_a_word_that_goes_on_after_the_line_is_found(case: CaseProject) -> None:
    case.bring_case("tei-lb-break-no")
    assert case.finds("verschenkt")


def test_markup_of_tei_stays_after_a_correction(case: CaseProject) -> None:
    case.bring_case("tei-markup-after-correction")
    page = case.page()
    case.correct(page, "schenkt zu Tarma am 1. März", "schenckt zu Tarma am 1. März")
    content, _ = case.export(page, "tei")
    assert ["".join(map(str, element.itertext())) for element in elements(content, "//t:placeName")] == [
        "Tarma"
    ]
    (date,) = elements(content, "//t:body//t:date")
    assert ("".join(map(str, date.itertext())), date.get("when")) == ("1. März", "1712-03-01")
    (person,) = elements(content, "//t:persName")
    assert "Lund" in "".join(map(str, person.itertext()))


def test_a_table_by_columns_has_its_rows_in_tei(case: CaseProject) -> None:
    case.bring_case("tei-table-by-columns")
    rows = elements(case.export(case.page(), "tei")[0], "//t:row")
    words = [[" ".join("".join(map(str, cell.itertext())).split()) for cell in row] for row in rows]
    assert words == [["Name", "Ort", "Jahr"], ["Elsa", "Tarma", "1832"], ["Pia", "Jauja", "1833"]]


def test_the_lowest_index_counts(case: CaseProject) -> None:
    case.bring_case("textequiv-index")
    assert case.text(case.page()) == "right"


def test_tags_of_transkribus_move_with_their_words(case: CaseProject) -> None:
    case.bring_case("transkribus-tags-after-correction")
    page = case.page()
    case.correct(page, "Here sits Dr. Elsa Lund in Tarma", "Item Here sits Dr. Elsa Lund in Tarma")
    (line,) = elements(case.export(page, "pagexml")[0], "//*[local-name()='TextLine']")
    custom = line.get("custom", "")
    offsets = dict(re.findall(r"(\w+) \{offset:(\d+)", custom))
    assert offsets == {"abbrev": "15", "person": "19", "place": "32"}
    assert "firstname:Elsa" in custom
    assert "expansion:Doctor" in custom


def test_vertical_columns_are_read_from_the_right(case: CaseProject) -> None:
    case.bring_case("vertical-columns")
    answer = case.ask("GET", f"/api/segments/document/{case.page()}/text")
    assert (answer["text"], {span["direction"] for span in answer["spans"]}) == (
        "一の行\n二の行\n三の行",
        {"ttb"},
    )
