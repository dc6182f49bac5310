"""Language, script and direction stated in a file become facts; statements that a text format cannot carry
are losses.
"""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from armarium.api import Engine, Library, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_formats.api import ReadContext
from armarium_formats.hocr.driver import Hocr
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.queries.exchange import export_page
from armarium_formats.tei.driver import Tei
from armarium_reading.queries.reading import lines_of
from armarium_source_model.api import StatedFacts, page_text, resolve_settings

LINE = (
    '<TextLine id="{id}"><Coords points="{x},100 {right},100 {right},140 {x},140"/>'
    "<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
)


def page_xml(page: str = "", region: str = "", lines: str = "") -> str:
    lines = lines or "".join(
        LINE.format(id=f"l{n}", x=x, right=x + 300, text=str(n)) for n, x in ((1, 50), (2, 600))
    )
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Metadata><Creator>x</Creator>'
        "<Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="a.jpg" imageWidth="1000" imageHeight="800" {page}>'
        f'<TextRegion id="r" {region}><Coords points="0,0 1000,0 1000,800 0,800"/>{lines}</TextRegion></Page></PcGts>'
    )


class PageImports:
    """Imports files into one page, and reads the result."""

    def __init__(self, engine: Engine, library: Library, page: str) -> None:
        self.engine, self.library, self.page = engine, library, page

    def run(self, name: str, /, **params: Any) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def import_file(self, content: str, filename: str = "a.xml") -> str:
        result = self.run("format.import", document_id=self.page, file=content, filename=filename)
        return str(result["pass_id"])

    def facts(self, **selection: str) -> dict[str, dict[str, Any]]:
        selection = selection or {"document_id": self.page}
        with self.library.db.read() as conn:
            return {
                setting["key"]: setting
                for setting in resolve_settings(self.library, conn, **selection)["settings"]
            }  # type: ignore[arg-type]

    def text(self) -> str:
        with self.library.db.read() as conn:
            return page_text(conn, self.page).text.replace("\n", " ")

    def losses(self, name: str = "pagexml", **more: Any) -> dict[str, int]:
        export = export_page(self.engine, self.library, self.page, name, **more)
        return {loss["what"]: loss["count"] for loss in export["losses"]}

    def line(self) -> str:
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            query = "SELECT id FROM segment WHERE kind = 'line' AND deleted_at IS NULL ORDER BY id LIMIT 1"
            return str(raw.execute(query).fetchone()[0])


@pytest.fixture
def imports(engine: Engine, library: Library, page_document: str) -> PageImports:
    return PageImports(engine, library, page_document)


ARABIC = 'primaryLanguage="Arabic" primaryScript="Arab - Arabic" readingDirection="right-to-left"'


def test_what_a_file_states_of_its_page_is_a_fact_of_the_pass(imports: PageImports) -> None:
    imports.import_file(page_xml(ARABIC), "letter.xml")
    facts = imports.facts()
    assert [(fact["value"], fact["rung"], fact["source"]) for fact in list(facts.values())[:3]] == [
        ("ar", "document", "import"),
        ("Arab", "document", "import"),
        ("rtl", "document", "import"),
    ]
    assert "letter.xml" in facts["language"]["basis"]
    assert imports.text() == "2 1"
    assert imports.facts(segment_id=imports.line())["direction"]["value"] == "rtl"


def test_the_page_precedes_the_file_and_the_file_precedes_the_folder(
    imports: PageImports,
) -> None:
    folder = imports.run("document.create", name="Letters", language="it", direction="ltr")["id"]
    imports.run("document.move", ids=[imports.page], parent_id=folder)
    pass_id = imports.import_file(page_xml(ARABIC))
    assert imports.facts()["language"]["value"] == "ar"
    imports.run("source_setting.set", level="node", target_id=imports.page, key="language", value="fa")
    imports.run("source_setting.set", level="node", target_id=imports.page, key="direction", value="ltr")
    assert (imports.facts()["language"]["value"], imports.text()) == ("fa", "1 2")
    imports.import_file(page_xml('primaryLanguage="Hebrew"'), "b.xml")
    assert imports.facts()["language"]["value"] == "fa"
    content = export_page(imports.engine, imports.library, imports.page, "pagexml", pass_id=pass_id)[
        "content"
    ]
    assert 'primaryLanguage="Persian"' in content
    assert 'readingDirection="left-to-right"' in content
    for key in ("language", "direction"):
        imports.run("source_setting.clear", level="node", target_id=imports.page, key=key)
    assert imports.facts()["language"]["value"] == "he"


def test_invalid_statements_of_a_file_are_exported_again_but_are_no_facts(imports: PageImports) -> None:
    imports.import_file(page_xml().replace("<Page ", '<Page primaryLanguage="my own" '))
    assert imports.facts()["language"]["status"] == "never-determined"
    assert StatedFacts("no tag!", "Xxxx", "sideways", "up").lawful() == StatedFacts()


def test_the_line_order_of_a_page_or_region_is_heeded(imports: PageImports) -> None:
    columns = "".join(
        f'<TextLine id="l{n}"><Coords points="{x},50 {x + 60},50 {x + 60},700 {x},700"/>'
        f"<TextEquiv><Unicode>{n}</Unicode></TextEquiv></TextLine>"
        for n, x in ((1, 100), (2, 400), (3, 700))
    )
    stated = 'readingDirection="top-to-bottom" textLineOrder="left-to-right"'
    for page, region, wanted in (
        ('readingDirection="top-to-bottom"', "", "3 2 1"),
        (stated, "", "1 2 3"),
        (stated, 'textLineOrder="right-to-left"', "3 2 1"),
        ("", 'textLineOrder="left-to-right"', "1 2 3"),
    ):
        pass_id = imports.import_file(page_xml(page, region, columns))
        assert imports.text() == wanted, (page, region)
        content = export_page(imports.engine, imports.library, imports.page, "pagexml")["content"]
        assert content.count("textLineOrder") == (page + region).count("textLineOrder")
        imports.run("segment.pass_delete", pass_id=pass_id)


def test_an_alternating_page_comes_back_from_page_xml(imports: PageImports) -> None:
    imports.import_file(page_xml())
    imports.run("document.update", document_id=imports.page, direction="alternating")
    content = export_page(imports.engine, imports.library, imports.page, "pagexml")["content"]
    assert PageXml().read(content.encode(), ReadContext("a.xml"))[0].direction == "alternating"


def test_the_language_and_direction_of_an_ocr_page_are_facts(imports: PageImports) -> None:
    html = (
        "<html lang='en'><body><div class='ocr_page' lang='ara' dir='rtl' title='bbox 0 0 1000 800'>"
        "<span class='ocr_line' title='bbox 10 20 110 40'>12</span></div></body></html>"
    )
    assert Hocr().read(html.encode(), ReadContext("a.html"))[0].language == "ar"
    imports.import_file(html, "a.html")
    facts = imports.facts()
    assert (facts["language"]["value"], facts["direction"]["value"]) == ("ar", "rtl")


def test_the_language_of_an_alto_page_is_a_fact(imports: PageImports) -> None:
    alto = (
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit>'
        '</Description><Layout><Page ID="p" PHYSICAL_IMG_NR="1" WIDTH="1000" HEIGHT="800" LANG="grc"><PrintSpace>'
        '<TextBlock ID="b" HPOS="10" VPOS="10" WIDTH="500" HEIGHT="90"><TextLine ID="l" HPOS="10" VPOS="10" WIDTH="500" '
        'HEIGHT="40"><String CONTENT="12" HPOS="10" VPOS="10" WIDTH="500" HEIGHT="40"/></TextLine></TextBlock>'
        "</PrintSpace></Page></Layout></alto>"
    )
    imports.import_file(alto)
    language = imports.facts(segment_id=imports.line())["language"]
    assert (language["value"], language["rung"], language["source"]) == ("grc", "document", "import")


def test_the_language_of_a_division_of_a_tei_text_is_that_of_its_blocks() -> None:
    tei = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc/></teiHeader><text xml:lang="la"><body>'
        '<div xml:lang="grc-Grek"><p>one</p><p xml:lang="he">two</p></div><p>three</p></body></text></TEI>'
    )
    page = Tei().read(tei.encode(), ReadContext("a.xml"))[0]
    assert [(segment.language, segment.script) for segment in page.segments] == [
        ("grc", "Grek"),
        ("he", None),
        (None, None),
    ]
    assert page.language == "la"


def test_a_script_without_a_language_is_written_with_und_in_tei_and_read_back_alone(
    imports: PageImports,
) -> None:
    imports.import_file(page_xml("", 'primaryLanguage="Latin"'))
    line = imports.line()
    imports.run("segment.update", segment_id=line, expected_version=1, script="Hebr")
    content = export_page(imports.engine, imports.library, imports.page, "tei")["content"]
    assert 'xml:lang="la-Hebr-x-script"' in content
    back = Tei().read(content.encode(), ReadContext("a.xml"))[0]
    assert sorted({(segment.language, segment.script) for segment in back.walk()}, key=str) == [
        ("la", None),
        (None, "Hebr"),
        (None, None),
    ]


def test_a_reader_receives_the_direction_stated_on_the_folder(imports: PageImports) -> None:
    pass_id = imports.import_file(page_xml())
    imports.run("source_setting.set", level="project", key="direction", value="rtl")
    with imports.library.db.read() as conn:
        _, shapes = lines_of(conn, pass_id, 1000, 800)
    assert {shape["direction"] for shape in shapes} == {"rtl"}


def test_a_manifest_has_the_language_and_direction_of_its_folder(
    imports: PageImports, client: TestClient
) -> None:
    folder = imports.run("document.create", name="Letters", language="he", direction="rtl")["id"]
    inner = imports.run("document.create", name="Box", parent_id=folder)["id"]
    imports.run("document.move", ids=[imports.page], parent_id=inner)
    imports.import_file(page_xml())
    answer = client.get(f"/api/iiif/manifest/{inner}")
    assert answer.status_code == 200, answer.text
    new_answer = answer.json()
    assert new_answer["viewingDirection"] == "right-to-left"
    assert {"label": {"none": ["Language"]}, "value": {"none": ["he"]}} in new_answer["metadata"]


@pytest.mark.parametrize("name", ["pagexml", "alto", "tei", "plain-text"])
def test_texts_beside_a_transcription_are_a_loss(imports: PageImports, name: str) -> None:
    imports.import_file(page_xml())
    silent = imports.losses(name)
    line = imports.line()
    imports.run("representation.create", segment_id=line, text="uno", kind="translation")
    imports.run("representation.create", segment_id=line, text="1.", kind="normalized_text")
    imports.run("representation.create", segment_id=line, text="I", language="la")
    other_document_id = imports.run("document.create", name="The draft", doc_type="page")["id"]
    imports.run(
        "link.create", from_id=line, to_id=other_document_id, link_type="references", to_kind="document"
    )
    where = {"anchor_kind": "bbox", "anchor": {"rect": [0.1, 0.2, 0.3, 0.05]}}
    imports.run("annotation.create", document_id=imports.page, kind="note", text="here", **where)
    losses = imports.losses(name)
    beside = {key: count for key, count in losses.items() if key not in silent}
    assert beside == {
        "readings of the kind translation": 1,
        "readings of the kind normalized_text": 1,
        "languages and scripts of readings": 1,
        "annotations": 1,
        "links": 1,
    }
    assert "readings of the kind transcription" in imports.losses(name, reading_kind="translation")


def test_the_editors_text_in_the_markup_of_a_tei_line_is_not_lost_in_tei(imports: PageImports) -> None:
    tei = (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc/></teiHeader><facsimile><surface ulx="0" '
        'uly="0" lrx="1000" lry="800"><zone xml:id="z" ulx="10" uly="10" lrx="500" lry="60"/></surface></facsimile>'
        '<text><body><ab><lb facs="#z"/>a <choice><orig>vna</orig><reg>una</reg></choice></ab></body></text></TEI>'
    )
    imports.import_file(tei)
    kept = "readings of the kind normalized_text"
    assert kept not in imports.losses("tei")
    assert imports.losses("pagexml")[kept] == 1
    imports.run("representation.create", segment_id=imports.line(), text="a una!", kind="normalized_text")
    assert imports.losses("tei")[kept] == 1
