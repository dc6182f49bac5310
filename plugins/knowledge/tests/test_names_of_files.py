"""Persons, places, organisations and dates that an imported file tags become mentions: proposals, one entity a name."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest
from knowledge_desk import Desk, Page
from test_knowledge_jobs import work

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_formats.api import export_page

FAMILIES = (
    "documents", "source_model", "formats", "reading", "rights", "checking", "search", "knowledge",
)  # fmt: skip


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in FAMILIES]
    return make_engine(plugins=made)


def page_xml(*lines: tuple[str, str]) -> str:
    inside = "".join(
        f'<TextLine id="l{number}" custom="{custom}"><Coords points="60,{100 * number} 900,{100 * number} '
        f'900,{100 * number + 80}"/><TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>'
        for number, (text, custom) in enumerate(lines)
    )
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"><Metadata><Creator>t</Creator>'
        "<Created>2020-01-01T00:00:00</Created><LastChange>2020-01-01T00:00:00</LastChange></Metadata>"
        '<Page imageFilename="a.jpg" imageWidth="1000" imageHeight="1400"><TextRegion id="r">'
        f'<Coords points="50,0 950,0 950,1350"/>{inside}</TextRegion></Page></PcGts>'
    )


LETTER = page_xml(
    (
        "Here sits Elsa Lund in Tarma",
        "person {offset:10; length:9;wikiData:Q42;} place {offset:23; length:5;}",
    ),
    ("and Elsa Lund, of the Council", "person {offset:4; length:9;} organization {offset:22; length:7;}"),
    (
        "on 1 March 1712, before Juan de",
        "date {offset:3; length:12;year:1712; month:3; day:1;} person {offset:24; length:7;continued:true;}",
    ),
    ("la Cruz. Amen", "person {offset:0; length:7;continued:true;}"),
)


def read(desk: Desk, file: str, page: str | None = None) -> tuple[str, list[str]]:
    page = page or str(desk.do("document.create", {"name": "a letter", "doc_type": "page"})["id"])
    result = desk.do("format.import", {"document_id": page, "file": file, "filename": "a.xml"})
    return page, list(result["notes"])


def mentions(desk: Desk, page: str) -> list[tuple[str, str, str]]:
    response = desk.client.get(f"/api/documents/{page}/mentions").json()["items"]
    return [(item["text"], item["canonical_name"], item["entity_type"]) for item in response]


def test_tagged_names_and_dates_are_mentions_of_one_entity_a_name(desk: Desk) -> None:
    page, notes = read(desk, LETTER)
    assert mentions(desk, page) == [
        ("Elsa Lund", "Elsa Lund", "person"),
        ("Tarma", "Tarma", "location"),
        ("Elsa Lund", "Elsa Lund", "person"),
        ("Council", "Council", "organization"),
        ("1 March 1712", "1 March 1712", "event"),
        ("Juan de", "Juan de la Cruz", "person"),
        ("la Cruz", "Juan de la Cruz", "person"),
    ]
    assert "The file's tagged names and dates are now mentions (7), of 5 new entities: proposals." in notes
    entities = {item["canonical_name"]: item for item in desk.client.get("/api/entities").json()["items"]}
    assert [authority_link["uri"] for authority_link in entities["Elsa Lund"]["authority_links"]] == [
        "https://www.wikidata.org/entity/Q42"
    ]
    assert entities["1 March 1712"]["date_values"][0]["iso_start"] == "1712-03-01"
    assert {entity["curation_state"] for entity in entities.values()} == {"unreviewed"}
    assert {entity["provenance_kind"] for entity in entities.values()} == {"external_import"}


def test_an_id_of_a_file_leads_to_the_entity_that_has_it_and_parts_two_of_one_name(desk: Desk) -> None:
    link = {"authority": "wikidata", "authority_id": "Q42", "uri": "https://www.wikidata.org/entity/Q42"}
    entity = desk.entity("E. Lund", authority_links=[link])
    read(desk, page_xml(("Elsa Lund", "person {offset:0; length:9;wikiData:Q42;}")))
    read(desk, page_xml(("Elsa Lund", "person {offset:0; length:9;wikiData:Q43;}")))
    read(desk, page_xml(("Elsa Lund", "person {offset:0; length:9;wikiData:Q44;}")))
    rows = desk.rows("SELECT entity_id FROM mention ORDER BY rowid")
    assert rows[0] == (entity,)
    assert len({one for (one,) in rows}) == 3


def test_undoing_an_import_takes_its_mentions_and_entities_back(desk: Desk) -> None:
    page = str(desk.do("document.create", {"name": "a letter", "doc_type": "page"})["id"])
    params = {"document_id": page, "file": LETTER, "filename": "a.xml"}
    step = desk.engine.run(desk.library, "format.import", params, LOCAL_OWNER)
    assert desk.rows("SELECT count(*) FROM mention") == [(7,)]
    desk.undo(str(step.audit_id))
    assert desk.rows("SELECT (SELECT count(*) FROM mention), (SELECT count(*) FROM entity)") == [(0, 0)]


def test_names_of_a_pass_that_does_not_count_wait_for_the_search_of_names(desk: Desk) -> None:
    there = desk.page(["Here sits somebody"])
    _, notes = read(desk, LETTER, there.id)
    assert any("tags 7 names and dates" in note for note in notes)
    assert mentions(desk, there.id) == []
    (pass_id,) = desk.rows("SELECT id FROM segment_pass WHERE import_file IS NOT NULL")[0]
    desk.do("segment.pass_choose", {"pass_id": pass_id, "working": True})
    assert work(desk, "find-names-tag-words", there)["state"] == "done"
    assert len(mentions(desk, there.id)) == 7


def write_page(desk: Desk, page: str, form: str = "tei", **more: str) -> tuple[str, str]:
    """A page as a file, and its losses in words."""
    export = export_page(desk.engine, desk.library, page, form, **more)
    return export["content"], "; ".join(loss["what"] for loss in export["losses"])


def page_of(desk: Desk, *texts: str) -> Page:
    """A page whose lines were read from a file that tags nothing."""
    page, _ = read(desk, page_xml(*((text, "") for text in texts)))
    lines = desk.rows(
        "SELECT id, pass_id FROM segment WHERE kind = 'line' AND document_id = ? ORDER BY id", page
    )
    return Page(page, lines[0][1], [one for one, _ in lines], [], list(texts))


def test_names_found_in_the_project_are_written_to_files_with_their_authority_links(desk: Desk) -> None:
    page = page_of(desk, "Here sits Elsa Lund of the Council in Tarma", "and Elsa Lund, again")
    links = [{"authority": "viaf", "authority_id": "42", "uri": "https://viaf.org/viaf/42"}]
    elsa = desk.entity("Elsa Lund", authority_links=links)
    desk.mention(page, elsa, "Elsa Lund")
    desk.mention(page, desk.entity("Council", "organization"), "Council")
    desk.mention(page, desk.entity("Tarma", "location"), "Tarma")
    desk.mention(page, desk.entity("The sitting", "event"), "sits")
    desk.correct(page.lines[0], "Item Here sits Elsa Lund of the Council in Tarma")
    rejected = desk.entity("again")
    desk.mention(page, rejected, "again")
    desk.do("entity.update", {"entity_id": rejected, "curation_state": "rejected"})
    content, losses = write_page(desk, page.id)
    assert (
        'Item Here sits <persName ref="https://viaf.org/viaf/42">Elsa Lund</persName> of the '
        "<orgName>Council</orgName> in <placeName>Tarma</placeName>"
    ) in content
    assert "and Elsa Lund, again" in content
    assert "names" not in losses
    content, _ = write_page(desk, page.id, "pagexml")
    assert "person {offset:15; length:9;" in content
    _, losses = write_page(desk, page.id, "plain-text")
    assert "3 names: Elsa Lund, Council, Tarma" in losses


def test_two_mentions_of_one_kind_on_the_same_words_are_written_once(desk: Desk) -> None:
    page = page_of(desk, "Here sits Elsa Lund")
    for name in ("Elsa Lund", "Elsa Lund the younger"):
        desk.mention(page, desk.entity(name), "Elsa Lund")
    content, _ = write_page(desk, page.id)
    assert content.count("<persName") == 1


def test_a_name_whose_words_are_gone_is_a_loss_and_what_the_file_tags_is_written_once(desk: Desk) -> None:
    page, _ = read(desk, LETTER)
    content, _ = write_page(desk, page)
    assert content.count("<persName") == 4
    there = page_of(desk, "Here sits Elsa Lund")
    desk.mention(there, desk.entity("Elsa Lund"), "Elsa Lund")
    desk.correct(there.lines[0], "Here sits nobody")
    content, losses = write_page(desk, there.id)
    assert "persName" not in content
    assert "1 name: Elsa Lund" in losses
    read(desk, page_xml(("Here sits Elsa Lund, once more", "")), there.id)
    (other_row,) = desk.rows(
        "SELECT id FROM segment_pass WHERE document_id = ? AND id <> ?", there.id, there.pass_id
    )
    assert "names" not in write_page(desk, there.id, pass_id=str(other_row[0]))[1]
