"""FineReader XML: single characters become words, tables become cells, and what has no field is preserved."""

from __future__ import annotations

import pytest

from armarium.errors import Invalid
from armarium_formats.abbyy.driver import Abbyy
from armarium_formats.abbyy.values import language_of
from armarium_formats.api import PageModel, ReadContext
from armarium_formats.kinds import in_page_words
from armarium_testing.formats import Sample, exercise_format

TEN = "http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml"
SIX = "http://www.abbyy.com/FineReader_xml/FineReader6-schema-v1.xml"


def letters(text: str, left: int = 100, *, ten: bool = True, confidence: int = 90) -> str:
    """Return characters 10 pixels wide; words begin after a blank, marked as the schema requires."""
    true, false = ("1", "0") if ten else ("true", "false")
    out: list[str] = []
    for at, char in enumerate(text):
        start = true if char != " " and (at == 0 or text[at - 1] == " ") else false
        x = left + 10 * at
        doubt = f' suspicious="{true}"' if char == "?" else ""
        shown = {"&": "&amp;", "<": "&lt;"}.get(char, char)
        out.append(
            f'<charParams l="{x}" t="100" r="{x + 10}" b="140" wordStart="{start}" charConfidence="{confidence}"{doubt}>{shown}</charParams>'
        )
    return "".join(out)


def document(
    blocks: str, schema: str = TEN, page: str = 'width="1000" height="1400" resolution="300"'
) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<document xmlns="{schema}" version="1.0" producer="ABBYY FineReader Engine 10" '
        f'mainLanguage="Latin">\n<page {page}>{blocks}</page></document>'
    )


def block(inside: str, kind: str = "Text", box: str = 'l="90" t="90" r="900" b="300"') -> str:
    return f'<block blockType="{kind}" {box}><region><rect l="90" t="90" r="900" b="300"/></region>{inside}</block>'


def line(inside: str, baseline: str = "135") -> str:
    return f'<line baseline="{baseline}" l="100" t="100" r="600" b="140">{inside}</line>'


def formatting(inside: str, language: str = "EnglishUnitedStates") -> str:
    return f'<formatting lang="{language}" ff="Arial" fs="9." bold="1">{inside}</formatting>'


def paragraph(text: str, *, ten: bool = True) -> str:
    return f'<text><par align="Justified">{line(formatting(letters(text, ten=ten)))}</par></text>'


def read(text: str) -> list[PageModel]:
    return Abbyy().read(text.encode(), ReadContext("scan.xml"))


SAMPLE = document(block(paragraph("Dear Sir")) + block("", "Picture", ""))


def test_the_driver_passes_the_suite() -> None:
    old = document(block(paragraph("Sehr geehrter", ten=False)), SIX)
    exercise_format(
        Abbyy,
        [
            Sample("ten.xml", SAMPLE.encode(), lines=1, words=2, text="Dear Sir"),
            Sample("six.xml", old.encode(), lines=1, words=2, text="geehrter"),
        ],
    )


def test_characters_become_words() -> None:
    page = read(document(block(paragraph("Dear S?r & co"))))[0]
    assert (page.width, page.height, page.language, page.version) == (
        1000,
        1400,
        "la",
        "FineReader10-schema-v1",
    )
    first_line = page.lines()[0]
    assert (first_line.text, first_line.language) == ("Dear S?r & co", "en-US")
    assert first_line.baseline == [(100, 135), (600, 135)]
    assert [(word.text, word.texts[0].confidence) for word in first_line.children] == [
        ("Dear", 0.9),
        ("S?r", 0.9),
        ("&", 0.9),
        ("co", 0.9),
    ]
    assert first_line.children[1].points == [(150, 100), (180, 100), (180, 140), (150, 140)]
    kept = (first_line.children[1].extras or {})["abbyy"]
    assert kept["suspicious"] == [1]
    assert kept["characters"].split()[0] == "150,100,160,140,90"
    assert kept["formatting"][0]["ff"] == "Arial"
    assert page.kept["suspicious characters"] == 1
    assert page.kept["attribute par/@align"] == 1
    assert [(segment.kind_raw, segment.kind) for segment in page.of_kind("region")] == [
        ("Text", "region"),
        ("par", "region"),
    ]


def test_variants_are_alternative_readings_not_part_of_the_text() -> None:
    inside = (
        "<wordRecVariants><wordRecVariant><variantText>cot</variantText></wordRecVariant><wordRecVariant><variantText>"
        '<charParams l="1" t="1" r="2" b="2">c</charParams><charParams l="1" t="1" r="2" b="2">a</charParams></variantText></wordRecVariant></wordRecVariants>'
        '<charParams l="1" t="1" r="9" b="9" wordStart="1">\n  <charRecVariants><charRecVariant charConfidence="40">e</charRecVariant>'
        '<charRecVariant charConfidence="9">o</charRecVariant></charRecVariants>\n  c</charParams>'
        '<charParams l="9" t="1" r="19" b="9" charConfidence="255">at</charParams>'
    )
    page = read(document(block(f"<text><par>{line(formatting(inside))}</par></text>")))[0]
    word = page.of_kind("word")[0]
    assert [text.text for text in word.texts] == ["cat", "cot", "ca"]
    assert word.texts[0].confidence is None
    assert (word.extras or {})["abbyy"]["character_variants"] == [[0, [["e", "40"], ["o", "9"]]]]


def test_a_word_start_after_letters_needs_no_blank() -> None:
    def char(text: str, start: int) -> str:
        return f'<charParams l="1" t="1" r="9" b="9" wordStart="{start}">{text}</charParams>'

    inside = (
        char("(", 1)
        + char("a", 1)
        + char("b", 0)
        + char("c", 1)
        + "<charParams l='1' t='1' r='2' b='2'/>"
        + char("d", 0)
    )
    page = read(document(block(f"<text><par>{line(formatting(inside))}</par></text>")))[0]
    assert page.lines()[0].text == "(abc d"
    assert [word.text for word in page.of_kind("word")] == ["(ab", "c", "d"]


def test_text_without_character_elements_is_read() -> None:
    page = read(document(block(f"<text><par>{line(formatting('Dear Sir'))}</par><par/></text>")))[0]
    assert (page.lines()[0].text, page.of_kind("word")) == ("Dear Sir", [])
    assert page.kept["empty paragraphs"] == 1
    encoded = '<formatting lang="English" base64encoded="true">RGVhcg==</formatting>'
    assert read(document(block(f"<text><par>{line(encoded)}</par></text>")))[0].lines()[0].text == "Dear"
    broken = encoded.replace("RGVhcg==", "R")
    assert read(document(block(f"<text><par>{line(broken)}</par></text>")))[0].lines()[0].text == "R"


def test_tables_become_cells_in_their_places() -> None:
    cell = '<cell width="10" height="20"{0}><text><par>{1}</par></text></cell>'
    one, two = (line(formatting(letters(text))) for text in "ab")
    rows = "".join(
        f"<row>{''.join(cells)}</row>"
        for cells in (
            [cell.format(" rowSpan='2'", one), cell.format(" colSpan='2'", two)],
            [cell.format("", ""), cell.format(" rowSpan='nine' picture='true'", "")],
            [cell.format("", "")],
        )
    )
    page = read(document(block(rows, "Table")))[0]
    cells = page.segments[0].children
    assert [(cell.kind_raw, cell.cell) for cell in cells] == [
        ("cell", {"row": 0, "column": 0, "row_span": 2, "column_span": 1}),
        ("cell", {"row": 0, "column": 1, "row_span": 1, "column_span": 2}),
        ("cell", {"row": 1, "column": 1, "row_span": 1, "column_span": 1}),
        ("cell", {"row": 1, "column": 2, "row_span": 1, "column_span": 1}),
        ("cell", {"row": 2, "column": 0, "row_span": 1, "column_span": 1}),
    ]
    assert [one.text for one in page.lines()] == ["a", "b"]
    assert "A cell states the rowSpan 'nine'; 1 was used instead." in page.notes


def test_pictures_and_separators_are_regions() -> None:
    ruled = '<separator thickness="4" type="Black"><start x="100" y="500"/><end x="900" y="500"/></separator>'
    upright = ruled.replace("900", "100").replace('y="500"/></sep', 'y="800"/></sep')
    boxed = f"<separatorsBox>{ruled}{upright}</separatorsBox>"
    page = read(
        document(
            '<block blockType="Picture" l="9" t="8" r="1" b="2"/>'
            f'<block blockType="Separator">{ruled}</block><block blockType="SeparatorsBox" l="1" t="2" r="3" b="4">{boxed}</block>'
            '<block blockType="Barcode"><barcodeInfo type="x"/></block>'
        )
    )[0]
    picture, rule, box, code = page.segments
    assert picture.points == [(1, 2), (9, 2), (9, 8), (1, 8)]
    assert rule.points == [(100, 498), (900, 498), (900, 502), (100, 502)]
    assert [child.points[0] for child in box.children] == [(100, 498), (98, 500)]
    assert (code.extras or {})["abbyy"]["elements"] == ['<barcodeInfo type="x"/>']
    assert page.notes == ["A Barcode block has no bounding box."]


def test_a_block_of_several_rectangles_has_their_outline() -> None:
    regions = '<region><rect l="10" t="10" r="50" b="20"/><rect l="10" t="20" r="90" b="40"/></region>'
    page = read(document(f'<block blockType="Text" l="10" t="10" r="90" b="40">{regions}</block>'))[0]
    assert page.segments[0].points == [
        (50, 10),
        (50, 20),
        (90, 20),
        (90, 40),
        (10, 40),
        (10, 20),
        (10, 20),
        (10, 10),
    ]
    apart = regions.replace('t="20" r="90"', 't="30" r="90"')
    page = read(document(f'<block blockType="Text">{apart}</block>'))[0]
    assert page.segments[0].points == [(10, 10), (90, 10), (90, 40), (10, 40)]


def test_the_baseline_of_a_rotated_or_odd_line_is_preserved() -> None:
    turned = f'<text orientation="RotatedClockwise"><par>{line(formatting("x"))}</par></text>'
    page = read(
        document(block(turned) + block("<text><line baseline='-1' l='1' t='1' r='9' b='9'/></text>"))
    )[0]
    assert [one.baseline for one in page.lines()] == [[], []]
    assert (page.lines()[0].extras or {})["abbyy"]["attributes"] == {"baseline": "135"}
    assert page.notes == [
        "The baseline of a rotated line is kept as stated.",
        "A line's baseline is outside the line and is kept as stated.",
    ]


def test_pages_are_read_and_other_elements_preserved() -> None:
    text = document(block(paragraph("a"))).replace(
        "<page ",
        '<documentData><paragraphStyles/></documentData><page width="0" height="x"><pageStream streamType="header"/></page><page ',
    )
    empty, full = read(text)
    assert (empty.width, empty.height, len(full.lines())) == (0, 0, 1)
    assert empty.notes == ["The page states no width in pixels.", "The page states no height in pixels."]
    assert empty.extras["abbyy"]["elements"] == ["<documentData><paragraphStyles/></documentData>"]
    assert empty.extras["abbyy"]["page_elements"] == ['<pageStream streamType="header"/>']
    assert full.extras["abbyy"]["document"]["producer"] == "ABBYY FineReader Engine 10"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<recipe/>", "its root element is recipe"),
        (f'<document xmlns="{TEN}"/>', "without a page element"),
        (SAMPLE[:-30], "not well-formed"),
        (
            SAMPLE.replace("<document", "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/hostname'>]><document"),
            "DOCTYPE",
        ),
        (document(block("<row>" + "<cell colSpan='1000'/>" * 201 + "</row>", "Table")), "200,000 cells"),
        (
            document(
                block(
                    "<row>" + "<cell colSpan='1000' rowSpan='1000'/>" * 199 + "</row>" + "<row/>" * 9, "Table"
                )
            ),
            "200,000 cells",
        ),
        ("", "is empty"),
    ],
)
def test_what_is_no_finereader_file_is_refused(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read(text)


@pytest.mark.parametrize("value", ["nan", "inf", "-1e999", "", "9" * 5000, "9" * 400, "-5", "1.5"])
def test_invalid_numbers_are_ignored(value: str) -> None:
    page = read(SAMPLE.replace('l="100"', f'l="{value}"').replace('"90"', f'"{value}"'))[0]
    assert page.lines()[0].text == "Dear Sir"


def test_it_is_recognised_by_its_namespace() -> None:
    sniff = Abbyy().sniff
    assert sniff(SAMPLE.encode()) == 1.0
    assert sniff(SAMPLE.encode("utf-16")) == 1.0
    assert sniff(SAMPLE.replace("<document", "<x:document").encode()) == 1.0
    assert sniff(b'<document producer="ABBYY FineReader 8">') == 0.8
    assert sniff(b"<document>") == 0.0
    assert (
        sniff(f'<xs:schema targetNamespace="{TEN}"><xs:element name="document"/></xs:schema>'.encode()) == 0.0
    )


def test_languages_become_tags() -> None:
    for name, tag in (
        ("GermanNewSpelling", "de"),
        ("OldFrench", "fr"),
        ("(EnglishUnitedStates)", "en-US"),
        ("Latin", "la"),
        ("English,German", None),
        ("Klingon", None),
    ):
        assert language_of(name) == tag


def test_words_begin_where_finereader_11_says_so() -> None:
    chars = "".join(
        f'<charParams l="{10 * at}" t="1" r="{10 * at + 9}" b="9" wordFirst="{int(char in "aB")}">{char}</charParams>'
        for at, char in enumerate("abBc")
    )
    (page,) = read(document(block(f"<text><par>{line(formatting(chars))}</par></text>")))
    assert [segment.text for segment in page.of_kind("word")] == ["ab", "Bc"]


def test_pictures_and_marks_are_no_text_in_page() -> None:
    kinds = ("RasterPicture", "VectorPicture", "CheckmarkGroup")
    (page,) = read(document("".join(block("", kind) for kind in kinds)))
    assert [in_page_words(segment.kind_raw) for segment in page.segments] == [
        "ImageRegion:RasterPicture",
        "LineDrawingRegion:VectorPicture",
        "GraphicRegion:CheckmarkGroup",
    ]
