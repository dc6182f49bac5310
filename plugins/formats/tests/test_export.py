"""Export: a pass as a valid file with its losses listed, which never contradicts a correction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from armarium.engine import Engine
from armarium.errors import Broken, Conflict, Invalid, NotFound
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_formats.api import Format, PageModel, ReadContext, WriteContext, WrittenPage
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.queries.exchange import export_page, list_formats
from armarium_testing.sample_files import SAMPLE_PAGE

DRIVER = PageXml()


def import_file(engine: Engine, library: Library, document_id: str, file: str | bytes) -> str:
    params = {"document_id": document_id, "file": file, "filename": "a.xml"}
    result = engine.run(library, "format.import", params, LOCAL_OWNER).result
    assert result is not None
    return str(result["pass_id"])


def act(engine: Engine, library: Library, name: str, params: dict[str, Any]) -> dict[str, Any]:
    return engine.run(library, name, params, LOCAL_OWNER).result or {}


def read(content: str) -> PageModel:
    assert DRIVER.validate(content) == []
    return DRIVER.read(content.encode(), ReadContext("a.xml"))[0]


def segment_ids(library: Library, kind: str = "line") -> list[str]:
    with library.db.read() as conn:
        return [
            row[0]
            for row in conn.exec_driver_sql("SELECT id FROM segment WHERE kind = ? ORDER BY id", (kind,))
        ]


def test_page_to_project_to_page_keeps_everything(
    engine: Engine, library: Library, real_page_files: list[Path]
) -> None:
    compared = 0
    for path in real_page_files:
        document = act(engine, library, "document.create", {"name": path.name, "doc_type": "page"})["id"]
        try:
            import_file(engine, library, document, path.read_bytes())
        except Invalid:
            continue  # test_import covers what is refused and why
        compared += 1
        export = export_page(engine, library, document, "PAGE")
        page = DRIVER.read(path.read_bytes(), ReadContext("a.xml"))[0]
        # Export from the project must equal rewriting the file directly, except for lines without any length,
        # which no segment holds.
        unheld = {segment.id for segment in page.walk() if len(set(segment.baseline)) < 2}
        direct, back = read(DRIVER.write(page, WriteContext()).content), read(export["content"])
        assert comparable(back, unheld) == comparable(direct, unheld), path.name
        assert [segment.id for segment in back.in_order()] == [segment.id for segment in direct.in_order()], (
            path.name
        )
        assert (back.width, back.height, back.language) == (direct.width, direct.height, direct.language), (
            path.name
        )
        assert back.image == (page.image or path.name), path.name
        assert set(direct.kept) - set(back.kept) <= EMPTY, path.name
    assert compared > len(real_page_files) // 2


EMPTY = {"attribute TextEquiv/@index", "alternative readings (further TextEquiv)"}
"""Stated only for empty texts, which are no readings."""


def comparable(model: PageModel, unheld: set[str]) -> list[tuple[Any, ...]]:
    return [
        (
            segment.id, segment.kind, segment.kind_raw, [(text.text, text.confidence) for text in segment.texts if text.text.strip()],
            [] if segment.id in unheld else segment.baseline, segment.position, segment.language, segment.script, segment.direction,
            segment.cell, segment.is_furniture, segment.extras,
        )
        for segment in model.walk()
    ]  # fmt: skip


def test_an_export_states_which_pass_and_order_it_used(
    engine: Engine, library: Library, page_document: str
) -> None:
    pass_id = import_file(engine, library, page_document, SAMPLE_PAGE)
    export = export_page(engine, library, page_document, "pagexml")
    assert export["format"] == "pagexml"
    assert export["filename"] == "0001.xml"
    assert export["losses"] == []
    # Of the step, `test_past_exports` tells more.
    assert export["choices"].pop("as_of").keys() == {"step", "at", "digest"}
    assert export["choices"] == {
        "document_id": page_document,
        "pass_id": pass_id,
        "pass_basis": "imported-only",
        "pass_name": "PAGE XML: a.xml",
        "order_id": None,
        "order_name": "as written",
        "reading_kind": "transcription",
        "segment_count": 2,
        "made": [{"by": "import", "name": "a.xml", "lines": 1, "words": "from the file a.xml"}],
        "notes": [],
    }
    exported = export_page(
        engine, library, page_document, "page_xml", pass_id=pass_id, reading_kind="translation"
    )
    assert exported["choices"]["pass_basis"] == "named"
    assert any("translation" in note for note in exported["choices"]["notes"])
    assert "TextEquiv" not in exported["content"]


def test_plain_text_is_the_lines_in_order(engine: Engine, library: Library, page_document: str) -> None:
    import_file(engine, library, page_document, SAMPLE_PAGE)
    export = export_page(engine, library, page_document, "TXT")
    assert (export["content"], export["filename"]) == ("Dear Sir\n", "0001.txt")
    assert {loss["what"] for loss in export["losses"]} >= {"shapes", "baselines"}


def test_a_correction_is_what_is_exported(engine: Engine, library: Library, page_document: str) -> None:
    import_file(engine, library, page_document, SAMPLE_PAGE)
    (line,) = segment_ids(library)
    act(engine, library, "representation.create", {"segment_id": line, "text": "Dear Madam"})
    page = read(export_page(engine, library, page_document, "pagexml")["content"])
    assert [(line.text, line.texts[0].confidence) for line in page.lines()] == [("Dear Madam", None)]


LEVELS = SAMPLE_PAGE.replace(
    '<TextEquiv conf="0.9"><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>',
    '<Word id="w1"><Coords points="120,120 400,120 400,180 120,180"/><TextEquiv><Unicode>Dear</Unicode></TextEquiv></Word>'
    '<TextEquiv conf="0.9"><PlainText>dear sir</PlainText><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>'
    "<TextEquiv><Unicode>Dear Sir</Unicode></TextEquiv>",
)


def test_texts_superseded_by_a_correction_are_not_exported(
    engine: Engine, library: Library, page_document: str
) -> None:
    import_file(engine, library, page_document, LEVELS)
    before = export_page(engine, library, page_document, "pagexml")
    assert before["content"].count("Dear") == 3
    assert "<PlainText>dear sir</PlainText>" in before["content"]
    assert before["losses"] == []
    (line,) = segment_ids(library)
    import time

    time.sleep(0.002)  # readings are ordered by the millisecond
    act(engine, library, "representation.create", {"segment_id": line, "text": "Dear Madam"})
    after = export_page(engine, library, page_document, "pagexml")
    assert "Sir" not in after["content"]
    assert "PlainText" not in after["content"]
    assert after["content"].count("Dear Madam") == 2
    assert {loss["what"]: loss["count"] for loss in after["losses"]} == {
        "texts of regions": 1,
        "texts of words": 1,
    }


ORDERED = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"><Page imageFilename="a.jpg"
 imageWidth="1000" imageHeight="1000"><ReadingOrder><OrderedGroup id="g"><RegionRefIndexed index="0" regionRef="b"/>
 <RegionRefIndexed index="1" regionRef="a"/></OrderedGroup></ReadingOrder>
 <TextRegion id="a"><Coords points="0,0 900,0 900,300 0,300"/>
 <TextLine id="a1" custom="readingOrder {index:1;}"><Coords points="10,10 800,10 800,50 10,50"/><TextEquiv><Unicode>a1</Unicode></TextEquiv></TextLine>
 <TextLine id="a2" custom="readingOrder {index:0;}"><Coords points="10,60 800,60 800,90 10,90"/><TextEquiv><Unicode>a2</Unicode></TextEquiv></TextLine>
 </TextRegion><TextRegion id="b"><Coords points="0,400 900,400 900,700 0,700"/>
 <TextLine id="b1"><Coords points="10,410 800,410 800,450 10,450"/><TextEquiv><Unicode>b1</Unicode></TextEquiv></TextLine>
 </TextRegion></Page></PcGts>"""


def test_the_order_of_the_file_is_the_order_as_written(
    engine: Engine, library: Library, page_document: str
) -> None:
    import_file(engine, library, page_document, ORDERED)
    assert export_page(engine, library, page_document, "plain-text")["content"] == "b1\n\na2\na1\n"


def test_lines_added_and_deleted_later_are_reflected_in_the_export(
    engine: Engine, library: Library, page_document: str
) -> None:
    pass_id = import_file(engine, library, page_document, ORDERED)
    regions, lines = segment_ids(library, "region"), segment_ids(library)
    new = act(
        engine,
        library,
        "segment.create",
        {
            "document_id": page_document,
            "pass_id": pass_id,
            "kind": "line",
            "parent_segment_id": regions[0],
            "anchor": {"rect": [0.01, 0.055, 0.79, 0.004]},
        },
    )
    act(engine, library, "representation.create", {"segment_id": new["id"], "text": "between"})
    act(
        engine,
        library,
        "segment.delete",
        {"segment_ids": [lines[2], regions[1]], "expected_versions": [1, 1]},
    )
    export = export_page(engine, library, page_document, "pagexml", pass_id=pass_id)
    page = read(export["content"])
    assert [line.text for line in page.lines()] == ["a2", "a1", "between"]
    assert [segment.id for segment in page.of_kind("line")][:2] == ["a1", f"s{new['id']}"]
    assert page.order is not None
    assert [node.segment_id for node in page.order.walk()] == [None, "a"]


def named_order(
    engine: Engine,
    library: Library,
    document_id: str,
    pass_id: str,
    segments: list[str],
    kind: str = "imposed",
) -> dict[str, Any]:
    given = {"document_id": document_id, "pass_id": pass_id, "name": f"as {kind}", "kind": kind}
    order = act(engine, library, "reading_order.create", given)
    after = None
    for segment_id in segments:
        entry = act(
            engine,
            library,
            "reading_order.place",
            {"order_id": order["id"], "segment_id": segment_id, "after_entry_id": after},
        )
        after = entry["id"]
    return order


def test_a_named_order_is_followed(engine: Engine, library: Library, page_document: str) -> None:
    pass_id = import_file(engine, library, page_document, ORDERED)
    a1, a2, b1 = segment_ids(library)
    order = named_order(engine, library, page_document, pass_id, [a1, a2, b1])
    export = export_page(engine, library, page_document, "pagexml", order_id=order["id"])
    assert (export["choices"]["order_id"], export["choices"]["order_name"]) == (order["id"], "as imposed")
    assert export["losses"] == []
    page = read(export["content"])
    assert [line.text for line in page.lines()] == ["a1", "a2", "b1"]
    assert page.order is not None
    assert [node.segment_id for node in page.order.walk()] == [None, "a", "b"]
    text = export_page(engine, library, page_document, "plain-text", order_id=order["id"])
    assert text["content"] == "a1\na2\n\nb1\n"


def test_a_persons_as_written_order_precedes_that_of_the_file(
    engine: Engine, library: Library, page_document: str
) -> None:
    pass_id = import_file(engine, library, page_document, ORDERED)
    a1, a2, b1 = segment_ids(library)

    def export_order() -> tuple[str | None, str, str]:
        export = export_page(engine, library, page_document, "plain-text")
        return export["choices"]["order_id"], export["choices"]["order_name"], export["content"]

    of_the_file = export_order()
    named_order(engine, library, page_document, pass_id, [a1, a2, b1])
    named_order(engine, library, page_document, pass_id, [], "as-written")
    assert export_order() == of_the_file
    order = named_order(engine, library, page_document, pass_id, [a1, a2, b1], "as-written")
    assert export_order() == (order["id"], "as as-written", "a1\na2\n\nb1\n")
    assert of_the_file[1:] != ("as written", "a1\na2\n\nb1\n")
    act(engine, library, "reading_order.withdraw", {"order_id": order["id"]})
    assert export_order() == of_the_file


def test_an_order_across_regions_is_a_loss(engine: Engine, library: Library, page_document: str) -> None:
    pass_id = import_file(engine, library, page_document, ORDERED)
    a1, a2, b1 = segment_ids(library)
    order = named_order(engine, library, page_document, pass_id, [a1, b1, a2])
    export = export_page(engine, library, page_document, "pagexml", order_id=order["id"])
    assert {loss["what"]: loss["count"] for loss in export["losses"]} == {"places of lines in the order": 2}


HOCR = """<html><body><div class="ocr_page" title="bbox 0 0 1000 1400">
<span class="ocr_line" title="bbox 100 100 900 160; baseline 0.015 -5.25">Dear Sir</span>
<span class="ocr_line" title="bbox 100 200 900 260; baseline 0 -5">I write</span></div></body></html>"""


def test_decimals_of_a_baseline_are_written_or_are_a_loss(
    engine: Engine, library: Library, page_document: str
) -> None:
    given = {"document_id": page_document, "file": HOCR, "filename": "a.hocr"}
    pass_id = act(engine, library, "format.import", given)["pass_id"]
    written = {
        name: export_page(engine, library, page_document, name, pass_id=pass_id)
        for name in ("pagexml", "alto", "tei", "plain-text")
    }
    told = {
        name: [loss["count"] for loss in one["losses"] if loss["what"] == "decimals of coordinates"]
        for name, one in written.items()
    }
    assert told == {"pagexml": [1], "alto": [1], "tei": [], "plain-text": []}
    assert 'points="100,154.75 900,166.75"' in written["tei"]["content"]
    assert 'points="100,155 900,167"' in written["pagexml"]["content"]
    assert 'points="100,255 900,255"' in written["pagexml"]["content"]


def test_an_order_that_is_withdrawn_or_of_another_pass_is_refused(
    engine: Engine, library: Library, page_document: str
) -> None:
    pass_id = import_file(engine, library, page_document, ORDERED)
    other_file = import_file(engine, library, page_document, SAMPLE_PAGE)
    order = named_order(engine, library, page_document, pass_id, segment_ids(library)[:1])
    with pytest.raises(Invalid, match="send pass_id") as refusal:
        export_page(engine, library, page_document, "pagexml", pass_id=other_file, order_id=order["id"])
    assert refusal.value.code == "order_other_pass"
    act(engine, library, "reading_order.withdraw", {"order_id": order["id"]})
    with pytest.raises(Conflict, match="withdrawn"):
        export_page(engine, library, page_document, "pagexml", order_id=order["id"])


def test_a_page_without_any_size_cannot_be_drawn(
    engine: Engine, library: Library, page_document: str
) -> None:
    act(engine, library, "segment.pass_create", {"document_id": page_document, "name": "by hand"})
    with pytest.raises(Invalid, match="not declare the size") as refusal:
        export_page(engine, library, page_document, "pagexml")
    assert refusal.value.code == "no_page_size"


def import_picture(engine: Engine, library: Library, folder: Path) -> str:
    """Import a photograph of 400 x 300 pixels; return its id."""
    from PIL import Image

    (folder / "in").mkdir()
    Image.effect_noise((400, 300), 50).save(folder / "in" / "Carta 7.jpg")
    act(engine, library, "document.import", {"folder": str(folder / "in")})
    engine.jobs.run_until_idle(library)
    with library.db.read() as conn:
        row = conn.exec_driver_sql("SELECT id FROM document WHERE name LIKE 'Carta 7%'").one()
    return str(row[0])


def test_a_pass_of_our_own_gets_ids_an_order_and_the_picture_s_pixels(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    document = import_picture(engine, library, tmp_path)
    pass_id = act(engine, library, "segment.pass_create", {"document_id": document, "name": "by hand"})["id"]
    for kind, y in (("region", 0.5), ("region", 0.1), ("line", 0.8)):
        act(
            engine,
            library,
            "segment.create",
            {
                "document_id": document,
                "pass_id": pass_id,
                "kind": kind,
                "anchor": {"rect": [0.1, y, 0.5, 0.05]},
            },
        )
    export = export_page(engine, library, document, "pagexml")
    page = read(export["content"])
    assert (export["filename"], page.image, page.width, page.height) == (
        "Carta 7.xml",
        "Carta 7.jpg",
        400,
        300,
    )
    assert export["choices"]["pass_basis"] == "human-touched"
    lower, upper = (f"s{segment_id}" for segment_id in segment_ids(library, "region"))
    assert [segment.id for segment in page.in_order() if segment.kind == "region"][:2] == [upper, lower]
    assert page.order is not None
    assert [node.segment_id for node in page.order.walk()] == [None, upper, lower]
    assert [line.points[0] for line in page.lines()] == [(40, 240)]
    assert {loss["what"] for loss in export["losses"]} == {"lines without a region", "a missing outline"}


def test_a_file_in_other_pixels_is_scaled_to_the_picture(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    document = import_picture(engine, library, tmp_path)
    params = {"document_id": document, "file": SAMPLE_PAGE, "filename": "a.xml"}
    notes = act(engine, library, "format.import", params)["notes"]
    assert any("400 x 300" in note and "proportions differ" in note for note in notes)
    export = export_page(engine, library, document, "pagexml")
    page = read(export["content"])
    assert (page.width, page.height, page.image) == (400, 300, "letter.jpg")
    assert page.segments[0].points[0] == (40, round(100 / 1400 * 300))
    assert any("1000 x 1400" in note for note in export["choices"]["notes"])


def test_a_file_without_a_size_takes_the_picture_s(engine: Engine, library: Library, tmp_path: Path) -> None:
    document = import_picture(engine, library, tmp_path)
    small = SAMPLE_PAGE.replace('imageWidth="1000" imageHeight="1400"', 'imageWidth="x"')
    small = small.replace("900", "390").replace("880", "380").replace("400", "290")
    params = {"document_id": document, "file": small, "filename": "a.xml"}
    notes = act(engine, library, "format.import", params)["notes"]
    assert any("does not declare the size" in note for note in notes)
    assert read(export_page(engine, library, document, "pagexml")["content"]).lines()[0].points[0] == (
        120,
        120,
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"format_name": "docx"}, "no format 'docx'"),
        ({"document_id": "0" * 32}, "0000"),
        ({"pass_id": "0" * 32}, "0000"),
        ({"order_id": "mine"}, "no reading order mine"),
    ],
)
def test_unknown_documents_and_formats_are_404(
    engine: Engine, library: Library, page_document: str, more: dict[str, str], words: str
) -> None:
    import_file(engine, library, page_document, SAMPLE_PAGE)
    asked = {"document_id": page_document, "format_name": "pagexml", **more}
    with pytest.raises(NotFound, match=words):
        export_page(engine, library, asked.pop("document_id"), asked.pop("format_name"), **asked)


def test_a_page_without_a_pass_and_a_withdrawn_pass_are_not_found(
    engine: Engine, library: Library, page_document: str
) -> None:
    with pytest.raises(NotFound, match="has no pass yet"):
        export_page(engine, library, page_document, "pagexml")
    pass_id = import_file(engine, library, page_document, SAMPLE_PAGE)
    act(engine, library, "segment.pass_delete", {"pass_id": pass_id})
    with pytest.raises(NotFound, match="withdrawn"):
        export_page(engine, library, page_document, "pagexml", pass_id=pass_id)


def test_a_pass_of_another_page_is_not_exported_as_this_ones(
    engine: Engine, library: Library, page_document: str
) -> None:
    pass_id = import_file(engine, library, page_document, SAMPLE_PAGE)
    other_document_id = act(engine, library, "document.create", {"name": "Second", "doc_type": "page"})["id"]
    with pytest.raises(NotFound, match="belongs to another page; name one of Second"):
        export_page(engine, library, other_document_id, "pagexml", pass_id=pass_id)


class OnlyReads(Format):
    name, label, extensions, reads = "only-reads", "Only read", (".x",), True


class Wrong(Format):
    name, label, extensions, writes, validated = "wrong", "Wrong", (".x",), True, True

    def write(self, page: PageModel, context: WriteContext) -> WrittenPage:
        return WrittenPage("<wrong/>")

    def validate(self, content: str) -> list[str]:
        return ["everything is wrong"]


def test_a_format_that_is_only_read_is_a_conflict(
    engine: Engine, library: Library, page_document: str
) -> None:
    engine.drivers.give("armarium.formats", "only-reads", OnlyReads)
    import_file(engine, library, page_document, SAMPLE_PAGE)
    with pytest.raises(Conflict, match=r"Formats that can be written: .*pagexml, plain-text"):
        export_page(engine, library, page_document, "only-reads")


def test_an_invalid_export_is_never_returned(engine: Engine, library: Library, page_document: str) -> None:
    engine.drivers.give("armarium.formats", "wrong", Wrong)
    import_file(engine, library, page_document, SAMPLE_PAGE)
    with pytest.raises(Broken) as refusal:
        export_page(engine, library, page_document, "wrong")
    assert refusal.value.code == "schema_invalid"
    assert refusal.value.fields == {"problems": ["everything is wrong"]}


def test_the_list_of_formats(engine: Engine) -> None:
    items_by_name = {item["name"]: item for item in list_formats(engine)["items"]}
    assert items_by_name["pagexml"]["reads"]
    assert items_by_name["pagexml"]["validated"]
    assert items_by_name["pagexml"]["versions"][-1] == "2024-07-15"
    assert (items_by_name["plain-text"]["reads"], items_by_name["plain-text"]["writes"]) == (True, True)
    assert (items_by_name["hocr"]["reads"], items_by_name["hocr"]["writes"]) == (True, True)
    for name in ("abbyy", "yolo", "tesseract-box", "qgis-points"):
        assert (items_by_name[name]["reads"], items_by_name[name]["writes"]) == (True, False)


ONE_LINE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Page imageFilename="a.png" imageWidth="100" imageHeight="100"><TextRegion id="r"><Coords points="5,5 95,5 95,50 5,50"/>
<TextLine id="l"><Coords points="10,10 90,10 90,15 10,15"/><TextEquiv><Unicode>Dear Sir</Unicode></TextEquiv></TextLine>
</TextRegion></Page></PcGts>
"""


def test_an_export_of_lines_without_text_says_that_another_pass_has_text(
    engine: Engine, library: Library, tmp_path: Path
) -> None:
    document = import_picture(engine, library, tmp_path)
    first = import_file(engine, library, document, ONE_LINE)
    before = export_page(engine, library, document, "PAGE")["choices"]["notes"]
    assert not any("has no text" in note for note in before)
    lines = [{"key": "1", "rect": [0.1, 0.1, 0.8, 0.05]}]
    params = {"document_id": document, "provider": "reader", "name": "Found", "lines": lines}
    result = act(engine, library, "segment.take_lines", params)
    notes = export_page(engine, library, document, "PAGE")["choices"]["notes"]
    (notice,) = [note for note in notes if "has no text" in note]
    assert "has 1 line read" in notice
    assert f"--use {first}" in notice
    exported = export_page(engine, library, document, "PAGE", pass_id=result["pass_id"])
    assert not any("has no text" in note for note in exported["choices"]["notes"]), (
        "that pass was asked for by name"
    )
