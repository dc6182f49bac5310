"""The order stated in a file becomes a reading order of the project, by which its page is read."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Conflict, NotFound
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.actions import importing
from armarium_formats.queries.exchange import export_page
from armarium_source_model.api import page_text

ORDERED = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"><Page imageFilename="a.jpg"
 imageWidth="1000" imageHeight="1000"><ReadingOrder><OrderedGroup id="g">
 <UnorderedGroupIndexed index="0" id="u"><RegionRef regionRef="b"/></UnorderedGroupIndexed>
 <RegionRefIndexed index="1" regionRef="a"/></OrderedGroup></ReadingOrder>
 <TextRegion id="a"><Coords points="0,0 900,0 900,300 0,300"/>
 <TextLine id="a1" custom="readingOrder {index:1;}"><Coords points="10,10 800,10 800,50 10,50"/>
 <Word id="w"><Coords points="10,10 80,10 80,50 10,50"/></Word><TextEquiv><Unicode>a1</Unicode></TextEquiv></TextLine>
 <TextLine id="a2" custom="readingOrder {index:0;}"><Coords points="10,60 800,60 800,90 10,90"/>
 <TextEquiv><Unicode>a2</Unicode></TextEquiv></TextLine>
 </TextRegion><TextRegion id="b"><Coords points="0,400 900,400 900,700 0,700"/>
 <TextLine id="b1"><Coords points="10,410 800,410 800,450 10,450"/><TextEquiv><Unicode>b1</Unicode></TextEquiv></TextLine>
 </TextRegion></Page></PcGts>"""


def act(engine: Engine, library: Library, name: str, /, **params: Any) -> dict[str, Any]:
    outcome = engine.run(library, name, params, LOCAL_OWNER)
    return {**(outcome.result or {}), "audit_id": outcome.audit_id}


@pytest.fixture
def pass_id(engine: Engine, library: Library, page_document: str) -> str:
    result = act(engine, library, "format.import", document_id=page_document, file=ORDERED, filename="a.xml")
    return str(result["pass_id"])


def text(library: Library, document_id: str, order_id: str | None = None) -> list[str]:
    with library.db.read() as conn:
        return page_text(conn, document_id, order_id=order_id).text.split()


def test_a_page_is_read_as_its_file_has_it(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    result = act(engine, library, "format.take_order", pass_id=pass_id)
    assert (result["name"], result["entries"]) == ("As in a.xml", 5)
    assert text(library, page_document) == ["a1", "a2", "b1"]
    assert text(library, page_document, result["order_id"]) == ["b1", "a2", "a1"]


def test_an_export_is_what_it_was_with_the_groups_of_the_file(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    before = export_page(engine, library, page_document, "pagexml")
    result = act(engine, library, "format.take_order", pass_id=pass_id, name="As the scribe wrote")
    after = export_page(engine, library, page_document, "pagexml")
    assert after["choices"]["order_name"] == "As the scribe wrote"
    assert after["choices"]["order_id"] == result["order_id"]
    assert "UnorderedGroup" in after["content"]
    ever_new = ("LastChange", "<Created", 'name="as of"')

    def lasting(exported: dict[str, Any]) -> list[str]:
        return [line for line in exported["content"].splitlines() if not any(one in line for one in ever_new)]

    assert lasting(after) == lasting(before)
    assert after["losses"] == before["losses"]


def test_a_line_moved_in_the_order_is_exported_there(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    order = act(engine, library, "format.take_order", pass_id=pass_id)["order_id"]
    with library.db.read() as conn:
        entry, version = conn.exec_driver_sql(
            "SELECT e.segment_id, e.version FROM reading_order_entry e WHERE e.parent_entry_id IS NULL"
            " ORDER BY e.position DESC LIMIT 1"
        ).one()
    act(engine, library, "reading_order.place", order_id=order, segment_id=entry, expected_version=version)
    export = export_page(engine, library, page_document, "plain-text")
    assert export["content"].split() == ["a2", "a1", "b1"]


def test_a_page_of_more_lines_than_one_call_takes_has_them_all(
    engine: Engine, library: Library, page_document: str, pass_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "AT_ONCE", 2)
    result = act(engine, library, "format.take_order", pass_id=pass_id)
    assert result["entries"] == 5
    assert text(library, page_document, result["order_id"]) == ["b1", "a2", "a1"]
    engine.undo(library, [result["audit_id"]], LOCAL_OWNER)
    assert text(library, page_document) == ["a1", "a2", "b1"]


def test_one_undo_takes_it_back(engine: Engine, library: Library, page_document: str, pass_id: str) -> None:
    result = act(engine, library, "format.take_order", pass_id=pass_id)
    engine.undo(library, [result["audit_id"]], LOCAL_OWNER)
    with library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM reading_order").scalar() == 0
        assert conn.exec_driver_sql("SELECT count(*) FROM reading_order_entry").scalar() == 0


def test_a_second_order_as_written_is_refused_while_the_first_is_live(
    engine: Engine, library: Library, page_document: str, pass_id: str
) -> None:
    result = act(engine, library, "format.take_order", pass_id=pass_id)
    with pytest.raises(Conflict, match="already has an order as written") as refusal:
        act(engine, library, "format.take_order", pass_id=pass_id)
    assert refusal.value.code == "order_exists"
    act(engine, library, "reading_order.withdraw", order_id=result["order_id"])
    assert act(engine, library, "format.take_order", pass_id=pass_id)["entries"] == 5


def test_a_pass_that_no_file_made_has_none(engine: Engine, library: Library, page_document: str) -> None:
    by_hand = act(engine, library, "segment.pass_create", document_id=page_document, name="by hand")
    with pytest.raises(NotFound, match="'by hand' was not read from a file") as refusal:
        act(engine, library, "format.take_order", pass_id=by_hand["id"])
    assert refusal.value.code == "no_original"
    with pytest.raises(NotFound):
        act(engine, library, "format.take_order", pass_id="0" * 32)
