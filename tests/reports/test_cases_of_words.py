"""The reported cases of dates, names, authority files and search, met as a user meets them."""

from __future__ import annotations

import pytest
from case_project import CASES, CaseProject

from armarium_documents.api import read_date

pytestmark = pytest.mark.skipif(
    not CASES.is_dir(), reason="the reported cases of ../shared/cases are not here"
)


def written_lines(name: str, file: str = "dates.txt") -> list[str]:
    return [line for line in (CASES / name / file).read_text().split("\n") if line]


def dates_read(case: CaseProject, name: str) -> dict[str, list[str | None]]:
    """Return begin and end of each date that the engine reads of the lines of a page."""
    page = case.ask("POST", "/api/documents", json={"name": "Dates", "doc_type": "page"})["id"]
    upload = {"file": ("dates.txt", (CASES / name / "dates.txt").read_bytes())}
    case.ask("POST", f"/api/documents/{page}/import", files=upload)
    start, ids = 0, {}
    for line in written_lines(name):
        ids[line] = case.entity(line, "event")
        span = {"char_start": start, "char_end": start + len(line)}
        case.ask("POST", "/api/mentions", json={"document_id": page, "entity_id": ids[line], **span})
        start += len(line) + 1
    case.run_step("work-out-dates", page)
    told = {
        line: case.ask("GET", f"/api/entities/{identity}")["date_values"] for line, identity in ids.items()
    }
    return {line: [one[0]["iso_start"], one[0]["iso_end"]] if one else [] for line, one in told.items()}


@pytest.mark.parametrize("name", ["authority-csv-of-excel-1252", "authority-csv-with-bom"])
def test_an_authority_list_of_excel_links_every_name(case: CaseProject, name: str) -> None:
    case.bring_case(name)
    page = case.page()
    for known in ("Elsa Lund", "José Ñuflo", "Tarma"):
        case.entity(known)
    case.run_step("find-names-tag-words", page)
    step = case.run_step("link-to-authorities", page, file=str(CASES / name / "a.csv"))
    assert step["outputs"]["result"]["authority_links"] == 3
    listed = case.ask("GET", "/api/entities")["items"]
    linked = {item["canonical_name"]: [link["uri"] for link in item["authority_links"]] for item in listed}
    assert linked == {
        "Elsa Lund": ["https://example.org/1"],
        "Tarma": ["https://example.org/2"],
        "José Ñuflo": ["https://example.org/3"],
    }


def test_dates_that_are_read_can_be_stored(case: CaseProject) -> None:
    found = dates_read(case, "date-reader-and-date-field-agree")
    assert found == {
        "primavera de 1742": ["1742-21", None],
        "12 de marzo": ["XXXX-03-12", None],
        "before 1750": [None, "1750"],
        "1750s": ["175X", None],
        "12 Vendémiaire an III": ["1794-10-03", None],
    }
    document = case.ask("POST", "/api/documents", json={"name": "Dated"})["id"]
    for written, (begin, end) in found.items():
        read = read_date(written)
        assert read is not None
        assert read.edtf == (begin if end is None else f"../{end}")
        case.ask("PATCH", f"/api/documents/{document}", json={"date_iso": read.edtf})
        assert case.ask("GET", f"/api/documents/{document}")["date_iso"] == read.edtf


def test_dual_and_regnal_dates(case: CaseProject) -> None:
    read = [read_date(written) for written in written_lines("dual-dates")]
    right = ["1732-02-11", "1744-01-15", "1700", "1794-10-03", "1511-04-22/1512-04-21"]
    assert [item and item.edtf for item in read] == right
    # What is recorded is the same day in the Gregorian calendar.
    recorded = [[one] for one in right[:-1]] + [["1511-05-02", "1512-05-01"]]
    assert [[one for one in pair if one] for pair in dates_read(case, "dual-dates").values()] == recorded


def test_edtf_of_levels_0_and_1_is_taken(case: CaseProject) -> None:
    for written in written_lines("edtf-level-1"):
        answer = case.ask("POST", "/api/documents", json={"name": "Dated", "date_iso": written})
        assert case.ask("GET", f"/api/documents/{answer['id']}")["date_iso"] == written


def test_a_name_with_another_apostrophe_is_the_same(case: CaseProject) -> None:
    case.bring_case("known-names-apostrophe")
    case.entity("Nora O'Hare")
    page = case.page()
    case.run_step("find-names-tag-words", page)
    answer = case.ask("GET", f"/api/documents/{page}/mentions")["items"]
    assert sorted(item["text"] for item in answer) == ["Nora O'Hare", "Nora O’Hare"]


def test_the_comma_of_a_heading_is_no_part_of_a_name(case: CaseProject) -> None:
    one, other = (case.entity(name) for name in written_lines("same-names-inverted", "names.txt"))
    case.act("entity.find_matches")
    (pair,) = case.ask("GET", "/api/entity-matches")["items"]
    assert {pair["survivor_entity_id"], pair["candidate_entity_id"]} == {one, other}


def test_letters_are_found_however_they_are_written(case: CaseProject) -> None:
    case.bring_case("search-of-letters")
    asked = [
        "café",
        "cafe\u0301",
        "Aeolus",
        "oeuf",
        "Strasze",
        "Gasse",
        "filum",
        "οδος",
        "محمد",
        "XII",
        "カメラ",
        "dns",
    ]
    assert [word for word in asked if not case.finds(word)] == []
