"""TEI through the engine: import and export, a selection of pages, PAGE to TEI and back."""

from __future__ import annotations

import re
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Invalid
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.api import PageModel, ReadContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.queries.exchange import export_page
from armarium_formats.tei.driver import Tei

TEI = """<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
<title>Two letters</title></titleStmt></fileDesc></teiHeader><facsimile>
<surface xml:id="s1" ulx="0" uly="0" lrx="1000" lry="800"><graphic url="1.jpg"/>
<zone xml:id="r1" type="paragraph" points="10,10 900,10 900,300 10,300" rotate="2"><zone xml:id="l1" points="20,20 800,20 810,60 20,60">
<path points="20,55 800,57"/></zone><zone xml:id="l2" ulx="20" uly="80" lrx="800" lry="120"/></zone></surface>
<surface xml:id="s2" ulx="0" uly="0" lrx="500" lry="700"><zone xml:id="l3" ulx="1" uly="1" lrx="90" lry="20"/></surface></facsimile>
<text><body><pb facs="#s1" n="1r"/><p facs="#r1"><lb facs="#l2" n="2"/>Dear <choice><abbr>Sr</abbr><expan>Sir</expan></choice>
<lb facs="#l1"/>I <hi rend="ul">write</hi></p><pb facs="#s2"/><ab><lb facs="#l3"/>Yours</ab></body></text></TEI>"""

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
<Page imageFilename="a.jpg" imageWidth="1000" imageHeight="800"><ReadingOrder><OrderedGroup id="g">
<RegionRefIndexed index="0" regionRef="r2"/><RegionRefIndexed index="1" regionRef="r1"/></OrderedGroup></ReadingOrder>
<TextRegion id="r1" type="heading" custom="x"><Coords points="1,1 500,1 500,90 1,90"/><TextLine id="l1" primaryLanguage="Latin">
<Coords points="5,5 400,5 410,40 5,40"/><Baseline points="5,35 400,36"/><Word id="w1"><Coords points="5,5 100,5 100,40 5,40"/>
<TextEquiv conf="0.5"><Unicode>Capitulum</Unicode></TextEquiv></Word><TextEquiv index="0" conf="0.9"><Unicode>Capitulum</Unicode></TextEquiv>
<TextEquiv index="1"><Unicode>Capitulvm</Unicode></TextEquiv></TextLine></TextRegion>
<TextRegion id="r2" type="page-number"><Coords points="600,1 900,1 900,90 600,90"/><TextLine id="l2"><Coords points="610,5 800,5 800,40"/>
<TextEquiv><Unicode>12</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"""


def document(engine: Engine, library: Library, name: str) -> str:
    result = engine.run(library, "document.create", {"name": name, "doc_type": "page"}, LOCAL_OWNER)
    return str((result.result or {})["id"])


def take(engine: Engine, library: Library, page: str, text: str, **more: Any) -> dict[str, Any]:
    params = {"document_id": page, "file": text, "filename": "a.xml", **more}
    return dict(engine.run(library, "format.import", params, LOCAL_OWNER).result or {})


def facts(page: PageModel) -> dict[str, tuple[object, ...]]:
    return {
        segment.id: (
            segment.kind,
            segment.kind_raw,
            segment.points,
            segment.baseline,
            [(text.text, text.confidence) for text in segment.texts],
            segment.is_furniture,
            segment.language,
        )
        for segment in page.walk()
    }


def test_a_tei_file_goes_through_a_project_unchanged(engine: Engine, library: Library) -> None:
    first_document, second_document = document(engine, library, "one"), document(engine, library, "two")
    made = take(engine, library, first_document, TEI)
    assert (made["format"], made["pages_in_file"], made["pages_left_out"]) == ("tei", 2, [2])
    assert made["counts"] == {"region": 1, "line": 2, "word": 0, "readings": 3}
    assert "This is s1, page 1 of 2. The file has 2 pages: s1, s2." in made["notes"]
    with library.db.read() as conn:
        rows = conn.exec_driver_sql(
            "SELECT kind, content FROM content_representation ORDER BY kind, content"
        ).all()
    assert rows == [
        ("normalized_text", "Dear Sir"),
        ("transcription", "Dear Sr"),
        ("transcription", "I write"),
    ]
    first = export_page(engine, library, first_document, "tei")
    assert first["losses"] == []
    for words in (
        'rotate="2"',
        "<title>Two letters</title>",
        '<hi rend="ul">write</hi>',
        "<expan>Sir</expan>",
        'n="1r"',
    ):
        assert words in first["content"]
    assert first["content"].index('facs="#l2"') < first["content"].index('facs="#l1"')
    take(engine, library, second_document, first["content"])
    second = export_page(engine, library, second_document, "tei")
    # What each cites is the page that it was written from.
    lasting = [re.sub(r"<!-- service:export/.*? -->", "", one["content"]) for one in (first, second)]
    assert lasting[0] == lasting[1]
    direct = Tei().read(TEI.encode(), ReadContext("a"))[0]
    assert facts(Tei().read(first["content"].encode(), ReadContext("b"))[0]) == facts(direct)


def test_another_page_is_asked_for_by_its_number(engine: Engine, library: Library) -> None:
    made = take(engine, library, document(engine, library, "two"), TEI, pages="2")
    assert made["pages_left_out"] == [1]
    assert made["counts"]["line"] == 1
    with pytest.raises(Invalid, match="2 pages; page 7"):
        take(engine, library, document(engine, library, "three"), TEI, pages="7")


def test_markup_goes_when_a_person_corrects_the_line(engine: Engine, library: Library) -> None:
    page = document(engine, library, "one")
    take(engine, library, page, TEI)
    with library.db.read() as conn:
        found = conn.exec_driver_sql(
            "SELECT segment_id FROM content_representation WHERE content = 'I write'"
        ).scalar_one()
    engine.run(library, "representation.create", {"segment_id": found, "text": "I wrote"}, LOCAL_OWNER)
    content = export_page(engine, library, page, "tei")["content"]
    assert "I wrote" in content
    assert "<hi" not in content


def test_page_xml_goes_to_tei_and_back_through_projects(engine: Engine, library: Library) -> None:
    first_document, second_document = document(engine, library, "one"), document(engine, library, "two")
    take(engine, library, first_document, PAGE)
    exported = export_page(engine, library, first_document, "tei")
    assert {loss["what"] for loss in exported["losses"]} == {"what the pagexml file says beyond the model"}
    take(engine, library, second_document, exported["content"])
    back = PageXml().read(
        export_page(engine, library, second_document, "pagexml")["content"].encode(), ReadContext("b")
    )[0]
    before = PageXml().read(PAGE.encode(), ReadContext("a"))[0]
    assert facts(back) == facts(before)
    assert [segment.id for segment in back.in_order()] == [segment.id for segment in before.in_order()]
    assert (back.width, back.height, back.image) == (before.width, before.height, before.image)


def test_a_text_without_shapes_is_exported_unchanged(engine: Engine, library: Library) -> None:
    page = document(engine, library, "one")
    bare = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><head>On</head><p>a<lb/>b</p></body></text></TEI>'
    assert take(engine, library, page, bare)["counts"]["line"] == 3
    for name in ("tei", "pagexml", "alto", "plain-text"):
        exported = export_page(engine, library, page, name)
        assert any("neither a picture nor a shape" in note for note in exported["choices"]["notes"])
    assert export_page(engine, library, page, "plain-text")["content"] == "On\n\na\nb\n"
