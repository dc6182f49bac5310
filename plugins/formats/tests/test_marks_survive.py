"""What files say of characters (names, dates, abbreviations, styles, markup) stays with its words, or is a loss that
names it: after corrections, splits, merges, by other readings, as another format, and typed again.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.queries.exchange import export_page

TAGGED = (
    "abbrev {offset:10; length:3;expansion:Doctor;} person {offset:14; length:9;firstname:Elsa; lastname:Lund;} "
    "place {offset:27; length:5;}"
)
TEI_BODY = (
    '<lb facs="#l1"/>der Hof <persName ref="http://viaf.org/viaf/1">Elsa <choice><expan>von</expan><abbr>v.</abbr>'
    '</choice> Lund</persName> ver<lb facs="#l2" break="no"/>schenkt zu <placeName>Tarma</placeName> am '
    '<date when="1712-03-01">1. März</date>'
)


def page_xml(*lines: tuple[str, str], words: str = "") -> str:
    """Return a PAGE file of lines, each (text, custom); *words* are put into the first."""
    inside = "".join(
        f'<TextLine id="l{number}" custom="readingOrder {{index:{number};}} {custom}">'
        f'<Coords points="60,{100 * number} 900,{100 * number} 900,{100 * number + 80} 60,{100 * number + 80}"/>'
        f"{words if number == 0 else ''}<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
        for number, (text, custom) in enumerate(lines)
    )
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"><Metadata><Creator>t</Creator>'
        "<Created>2020-01-01T00:00:00</Created><LastChange>2020-01-01T00:00:00</LastChange></Metadata>"
        '<Page imageFilename="a.jpg" imageWidth="1000" imageHeight="1400"><TextRegion id="r">'
        f'<Coords points="50,0 950,0 950,1350 50,1350"/>{inside}</TextRegion></Page></PcGts>'
    )


def tei_xml(body: str = TEI_BODY) -> str:
    """Return a TEI file of one page with two lines."""
    return (
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>x</title></titleStmt>'
        "<publicationStmt><p/></publicationStmt><sourceDesc><p/></sourceDesc></fileDesc></teiHeader>"
        '<facsimile><surface xml:id="f" ulx="0" uly="0" lrx="1000" lry="1400"><graphic url="a.jpg"/>'
        '<zone points="50,50 950,50 950,700 50,700" xml:id="r1"><zone points="60,100 900,100 900,180 60,180" xml:id="l1"/>'
        '<zone points="60,200 900,200 900,280 60,280" xml:id="l2"/></zone></surface></facsimile>'
        f'<text><body><pb facs="#f"/><p facs="#r1">{body}</p></body></text></TEI>'
    )


def alto_xml(strings: str, more: str = "") -> str:
    """Return an ALTO file of one line."""
    return (
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit>'
        '</Description><Styles><TextStyle ID="S1" FONTSIZE="9" FONTSTYLE="italics"/></Styles><Tags><NamedEntityTag ID="N1" '
        'TYPE="person" LABEL="Elsa Lund" URI="http://viaf.org/viaf/1"/></Tags><Layout><Page ID="p" WIDTH="1000" HEIGHT="1400" '
        'PHYSICAL_IMG_NR="1"><PrintSpace HPOS="0" VPOS="0" WIDTH="1000" HEIGHT="1400"><TextBlock ID="b" HPOS="50" VPOS="50" '
        'WIDTH="900" HEIGHT="600"><TextLine ID="l1" HPOS="60" VPOS="100" WIDTH="800" HEIGHT="60">'
        f"{strings}</TextLine>{more}</TextBlock></PrintSpace></Page></Layout></alto>"
    )


class Desk:
    """A project with one page, on which a test imports, edits and exports."""

    def __init__(self, engine: Engine, library: Library, page: str) -> None:
        self.engine, self.library, self.page = engine, library, page

    def act(self, action: str, **params: Any) -> dict[str, Any]:
        return self.engine.run(self.library, action, params, LOCAL_OWNER).result or {}

    def read(self, file: str, filename: str = "a.xml") -> str:
        return str(self.act("format.import", document_id=self.page, file=file, filename=filename)["pass_id"])

    def lines(self, kind: str = "line") -> list[str]:
        asked = "SELECT id FROM segment WHERE kind = ? AND deleted_at IS NULL ORDER BY id"
        with self.library.db.read() as conn:
            return [row[0] for row in conn.exec_driver_sql(asked, (kind,))]

    def correct(self, number: int, text: str) -> None:
        self.act("representation.create", segment_id=self.lines()[number], text=text)

    def export(self, driver: str, **more: Any) -> tuple[str, list[dict[str, Any]]]:
        exported = export_page(self.engine, self.library, self.page, driver, **more)
        return exported["content"], exported["losses"]

    def name_losses(self, driver: str) -> str:
        """Return the losses as one text."""
        return "\n".join(f"{one['what']} ({one['why']})" for one in self.export(driver)[1])

    def page_tags(self, **more: Any) -> dict[str, str]:
        """Return the words that each tag of an exported PAGE file is on."""
        found: dict[str, str] = {}
        for custom, text in re.findall(
            r'<TextLine[^>]*?custom="([^"]*)".*?<Unicode>(.*?)</Unicode>',
            self.export("pagexml", **more)[0],
            re.S,
        ):
            for word, start, length in re.findall(r"(\w+) \{offset:(\d+); ?length:(\d+);", custom):
                found[word] = text[int(start) : int(start) + int(length)]
        return found


@pytest.fixture
def desk(engine: Engine, library: Library, page_document: str) -> Desk:
    return Desk(engine, library, page_document)


def test_tags_of_a_page_line_stay_on_their_words_after_a_correction(desk: Desk) -> None:
    desk.read(page_xml(("Here sits Dr. Elsa Lund in Tarma", TAGGED)))
    assert TAGGED in desk.export("pagexml")[0]
    desk.correct(0, "Item Here sits Dr. Elsa Lund in Tarma")
    content, losses = desk.export("pagexml")
    assert (
        "abbrev {offset:15; length:3;expansion:Doctor;} person {offset:19; length:9;firstname:Elsa; lastname:Lund;}"
        in content
    )
    assert "place {offset:32; length:5;}" in content
    assert losses == []


def test_a_tag_whose_words_are_gone_is_a_loss_that_names_them(desk: Desk) -> None:
    desk.read(page_xml(("Here sits Dr. Elsa Lund in Tarma", TAGGED)))
    desk.correct(0, "Here sits Dr. Elsa Lundin")
    assert desk.page_tags() == {"abbrev": "Dr."}
    assert "2 names: Elsa Lund, Tarma" in desk.name_losses("pagexml")
    assert "2 names: Elsa Lund, Tarma" in desk.name_losses("tei")
    assert "2 names: Elsa Lund, Tarma" in desk.name_losses("plain-text")


def test_undoing_a_correction_brings_its_tags_back(desk: Desk) -> None:
    desk.read(page_xml(("Here sits Dr. Elsa Lund in Tarma", TAGGED)))
    step = desk.engine.run(
        desk.library, "representation.create", {"segment_id": desk.lines()[0], "text": "gone"}, LOCAL_OWNER
    )
    assert desk.page_tags() == {}
    desk.engine.undo(desk.library, [step.audit_id], LOCAL_OWNER)
    assert desk.page_tags() == {"abbrev": "Dr.", "person": "Elsa Lund", "place": "Tarma"}
    assert desk.export("pagexml")[1] == []


def test_tags_follow_their_words_through_a_merge_and_a_split(desk: Desk) -> None:
    desk.read(page_xml(("So says", ""), ("Here sits Dr. Elsa Lund in Tarma", TAGGED)))
    first, second = desk.lines()
    desk.act("segment.merge", segment_ids=[first, second], keep_id=first)
    assert desk.page_tags() == {"abbrev": "Dr.", "person": "Elsa Lund", "place": "Tarma"}
    parts = [
        {"anchor": {"rect": [0.1, 0.1, 0.3, 0.05]}, "text": "So says Here sits Dr. Elsa"},
        {"anchor": {"rect": [0.4, 0.1, 0.5, 0.05]}, "text": "Lund in Tarma"},
    ]
    desk.act("segment.split", segment_id=first, expected_version=2, parts=parts)
    assert desk.page_tags() == {"abbrev": "Dr.", "place": "Tarma"}
    assert "1 name: Elsa Lund" in desk.name_losses("pagexml")


def test_markup_of_a_tei_line_stays_around_its_words(desk: Desk) -> None:
    desk.read(tei_xml())
    desk.correct(0, "dem Hof Elsa v. Lund ver")
    desk.correct(1, "schenkt hinfort zu Tarma am 1. März")
    content, losses = desk.export("tei")
    assert (
        '<persName ref="http://viaf.org/viaf/1">Elsa <choice><expan>von</expan><abbr>v.</abbr></choice> Lund</persName>'
        in content
    )
    assert "hinfort zu <placeName>Tarma</placeName> am" in content
    assert '<date when="1712-03-01">1. März</date>' in content
    assert not [loss for loss in losses if "Tarma" in loss["what"]]
    desk.correct(1, "schenkt zu Jauja am 1. März")
    assert "1 name: Tarma" in desk.name_losses("tei")
    assert "<placeName>" not in desk.export("tei")[0]


def test_names_dates_and_expansions_of_page_reach_tei_and_back(desk: Desk) -> None:
    custom = TAGGED + " date {offset:36; length:4;year:1712;} textStyle {offset:33; length:2;bold:true;}"
    desk.read(page_xml(("Here sits Dr. Elsa Lund in Tarma am 1712", custom)))
    content, losses = desk.export("tei")
    assert (
        "Here sits <choice><abbr>Dr.</abbr><expan>Doctor</expan></choice> <persName>Elsa Lund</persName> in "
        '<placeName>Tarma</placeName> <hi rend="bold">am</hi> <date when="1712">1712</date>'
    ) in content
    named = [
        (loss["what"], loss["count"]) for loss in losses if not loss["what"].startswith("what the pagexml")
    ]
    assert named == [("details of names, dates and other marks", 2)]
    assert desk.page_tags(pass_id=desk.read(content, "b.xml")) == {
        "abbrev": "Dr.", "person": "Elsa Lund", "place": "Tarma", "textStyle": "am", "date": "1712",
    }  # fmt: skip


def test_overlapping_tags_give_well_formed_tei_and_a_loss_that_names_one(desk: Desk) -> None:
    desk.read(
        page_xml(("sold by the reeve in May", "person {offset:0; length:11;} place {offset:8; length:9;}"))
    )
    content, losses = desk.export("tei")
    assert "<persName>sold by the</persName> reeve in May" in content
    assert [loss["what"] for loss in losses if " name" in loss["what"]] == ["1 name: the reeve"]


def test_words_with_places_stand_inside_the_names_they_are(desk: Desk) -> None:
    words = "".join(
        f'<Word id="w{n}"><Coords points="{60 + 100 * n},0 {150 + 100 * n},0 {150 + 100 * n},80 {60 + 100 * n},80"/>'
        f"<TextEquiv><Unicode>{word}</Unicode></TextEquiv></Word>"
        for n, word in enumerate(("Here", "Elsa", "Lund"))
    )
    desk.read(
        page_xml(("Here Elsa Lund", "person {offset:5; length:9;} place {offset:0; length:2;}"), words=words)
    )
    content, _ = desk.export("tei")
    assert '<persName><w facs="#w1">Elsa</w> <w facs="#w2">Lund</w></persName>' in content
    assert "1 name: He (they begin or end in a word" in desk.name_losses("tei")
    alto = desk.export("alto")[0]
    assert '<NamedEntityTag ID="NE1" TYPE="person" LABEL="Elsa Lund"/>' in alto
    assert re.findall(r'CONTENT="(\w+)"[^>]*TAGREFS="NE1"|TAGREFS="NE1"[^>]*CONTENT="(\w+)"', alto) != []
    assert "1 name: He" in desk.name_losses("alto")


def test_styles_and_entities_of_alto_strings_move_with_their_words(desk: Desk) -> None:
    strings = (
        '<String ID="a" HPOS="60" VPOS="100" WIDTH="90" HEIGHT="60" CONTENT="Here" STYLEREFS="S1"/><SP/>'
        '<String ID="b" HPOS="160" VPOS="100" WIDTH="90" HEIGHT="60" CONTENT="Elsa" TAGREFS="N1"/><SP/>'
        '<String ID="c" HPOS="260" VPOS="100" WIDTH="90" HEIGHT="60" CONTENT="Lund" TAGREFS="N1"/>'
    )
    desk.read(alto_xml(strings))
    before = desk.export("alto")[0]
    assert re.search(r'<String ID="a"[^>]*STYLEREFS="S1"', before)
    assert before.count('TAGREFS="N1"') == 2
    # Three words as before, but in another sequence: the tags do not stay with the first, second and third.
    desk.correct(0, "Elsa Lund Here")
    after = desk.export("alto")[0]
    assert [re.findall(r'CONTENT="(\w+)"', one)[0] for one in re.findall(r"<String[^>]*N1[^>]*>", after)] == [
        "Elsa",
        "Lund",
    ]
    assert re.search(r'<String [^>]*CONTENT="Here"[^>]*', after)
    tei = desk.export("tei")[0]
    assert (
        '<persName ref="http://viaf.org/viaf/1"><w' in tei
        or '<persName ref="http://viaf.org/viaf/1">Elsa Lund' in tei
    )


def test_a_text_typed_again_keeps_the_tags_of_the_lines_it_matches(desk: Desk) -> None:
    desk.read(page_xml(("Here sits Dr. Elsa Lund in Tarma", TAGGED), ("and nothing else in the world", "")))
    content, _ = desk.export("plain-text")
    again = desk.read(content.replace("Here sits", "Item here sitteth"), "a.txt")
    export = export_page(desk.engine, desk.library, desk.page, "pagexml", pass_id=again)
    assert "person {offset:22; length:9;" in export["content"]
    assert [loss for loss in export["losses"] if "Lund" in loss["what"]] == []


def test_a_rival_reading_carries_the_tags_too(desk: Desk) -> None:
    desk.read(page_xml(("Here sits Dr. Elsa Lund in Tarma", TAGGED)))
    desk.correct(0, "Item Here sits Dr. Elsa Lund in Tarma")
    with desk.library.db.read() as conn:
        first = conn.exec_driver_sql("SELECT id FROM content_representation ORDER BY id LIMIT 1").scalar_one()
    desk.act("reading.choose", segment_id=desk.lines()[0], kind="transcription", representation_id=first)
    assert TAGGED in desk.export("pagexml")[0]


def test_a_table_whose_cells_stand_by_columns_has_its_rows_in_tei(desk: Desk) -> None:
    cells = "".join(
        f'<TableCell row="{row}" col="{column}" id="c{row}{column}"><Coords points="{300 * column},{200 * row} '
        f'{300 * column + 290},{200 * row} {300 * column + 290},{200 * row + 190} {300 * column},{200 * row + 190}"/>'
        f'<TextLine id="t{row}{column}"><Coords points="{300 * column},{200 * row} {300 * column + 290},{200 * row} '
        f'{300 * column + 290},{200 * row + 90}"/><TextEquiv><Unicode>{row}{column}</Unicode></TextEquiv></TextLine></TableCell>'
        for column in range(3)
        for row in range(3)
    )
    xml = page_xml()
    at = xml.index("<TextRegion")
    whole = '<TableRegion id="t"><Coords points="0,0 950,0 950,700 0,700"/>' + cells + "</TableRegion>"
    desk.read(xml[:at] + whole + "</Page></PcGts>")
    table = re.sub(r"\s+", " ", desk.export("tei")[0])
    rows = re.findall(r"<row n=\"(\d)\">(.*?)</row>", table)
    assert [number for number, _ in rows] == ["0", "1", "2"]
    assert [re.findall(r'<cell [^>]*n="(\d)".*?/>(\d\d)', row) for _, row in rows] == [
        [(str(column), f"{row}{column}") for column in range(3)] for row in range(3)
    ]


def test_a_line_of_a_file_neither_begins_nor_ends_with_a_line_break(desk: Desk) -> None:
    tidy = page_xml(("erste Zeile", "person {offset:0; length:5;}"), ("zweite Zeile", ""))
    tidy = tidy.replace("<Unicode>", "\n<Unicode>\n").replace("</Unicode>", "\n</Unicode>\n")
    desk.read(tidy)
    assert desk.export("plain-text")[0] == "erste Zeile\nzweite Zeile\n"
    assert desk.page_tags() == {"person": "erste"}
    alto = desk.read(alto_xml('<String CONTENT="&#10;dritte&#10;" TAGREFS="N1"/>'), "b.xml")
    assert desk.export("plain-text", pass_id=alto)[0] == "dritte\n"


def test_an_export_has_a_name_that_every_system_accepts(desk: Desk) -> None:
    for name, expected in (
        ("CON.jpg", "_CON.xml"),
        ("a:b.jpg", "a_b.xml"),
        ("lpt1", "_lpt1.xml"),
        ("é" * 300, "é" * 100 + ".xml"),
    ):
        page = desk.act("document.create", name=name, doc_type="page")["id"]
        desk.act("format.import", document_id=page, file=page_xml(("a", "")), filename="a.xml")
        assert export_page(desk.engine, desk.library, page, "pagexml")["filename"] == expected
