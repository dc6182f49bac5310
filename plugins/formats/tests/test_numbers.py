"""Odd numbers in files: a Unicode digit that is no number, or an endless value, costs only that number, never
the file.
"""

from __future__ import annotations

import pytest

from armarium_formats.abbyy.driver import Abbyy
from armarium_formats.driver import ReadContext
from armarium_formats.numbers import parse_signed, parse_unsigned
from armarium_formats.page_model import PageModel
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.tei.losses import losses_of

ODD = ["²", "٣", "9" * 5000, "--1", "1.5", "", " 1", "1\n"]

PAGE = """<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
<Page imageWidth="100" imageHeight="100" imageFilename="a.jpg"><ReadingOrder><OrderedGroup id="g">
<RegionRefIndexed index="{}" regionRef="a"/><RegionRefIndexed index="0" regionRef="b"/></OrderedGroup></ReadingOrder>
<TextRegion id="a"><Coords points="0,0 9,0 9,9"/>
<TextEquiv index="{}"><Unicode>one</Unicode></TextEquiv><TextEquiv index="0"><Unicode>two</Unicode></TextEquiv>
</TextRegion><TextRegion id="b"><Coords points="0,0 9,0 9,9"/></TextRegion></Page></PcGts>"""

FINE_READER = """<document xmlns="http://www.abbyy.com/FineReader_xml/FineReader10-schema-v1.xml">
<page width="100" height="100"><block blockType="Text" l="0" t="0" r="90" b="90"><text><par>
<line baseline="20" l="0" t="0" r="90" b="20"><formatting>
<charParams l="0" t="0" r="9" b="20" wordStart="true" charConfidence="{}">a</charParams>
</formatting></line></par></text></block></page></document>"""


@pytest.mark.parametrize("stated", [*ODD, None, 3])
def test_invalid_whole_numbers_are_none(stated: object) -> None:
    assert parse_unsigned(stated) is None
    assert parse_signed(stated) is None


def test_whole_numbers_are_parsed() -> None:
    assert [parse_unsigned(one) for one in ("0", "007", "999999999", "-1", "-0")] == [
        0,
        7,
        999_999_999,
        None,
        None,
    ]
    assert [parse_signed(one) for one in ("0", "-12", "999999999")] == [0, -12, 999_999_999]


@pytest.mark.parametrize("stated", ODD)
def test_an_odd_index_of_a_page_file_counts_as_none(stated: str) -> None:
    data = PAGE.format(stated.strip("\n"), stated.strip("\n")).encode()
    page = PageXml().read(data, ReadContext("a.xml"))[0]
    assert [text.text for text in page.segments[0].texts] == ["two", "one"]
    assert page.order is not None
    assert {node.segment_id for node in page.order.items} == {"a", "b"}


@pytest.mark.parametrize("stated", ["²", "9" * 5000])
def test_an_odd_place_of_a_line_or_a_cell_counts_as_none(stated: str) -> None:
    lines = [
        f'<TextLine id="a" index="{stated}">',
        f'<TextLine id="b" custom="readingOrder {{index:{stated};}}">',
    ]
    coords = '<Coords points="0,0 9,0 9,9"/>'
    table = f'<TableRegion id="t">{coords}<TableCell id="c" row="{stated}" col="1">{coords}</TableCell></TableRegion>'
    role = f'<Roles><TableCellRole rowIndex="{stated}" columnIndex="1"/></Roles>'
    inside = "".join(f"{line}{coords}</TextLine>" for line in lines)
    body = f'<TextRegion id="r">{coords}{inside}{role}</TextRegion>{table}'
    start, end = PAGE.split("<ReadingOrder>")[0], "</Page></PcGts>"
    page = PageXml().read(f"{start}{body}{end}".encode(), ReadContext("a.xml"))[0]
    assert [line.position for line in page.of_kind("line")] == [None, None]
    assert all(segment.cell is None for segment in page.walk())


def test_a_negative_index_is_first() -> None:
    page = PageXml().read(PAGE.format("-1", "0").encode(), ReadContext("a.xml"))[0]
    assert page.order is not None
    assert [node.segment_id for node in page.order.items] == ["a", "b"]


@pytest.mark.parametrize("stated", ["²", "000000" + "9" * 5000, "101"])
def test_an_odd_confidence_of_a_character_is_left_out(stated: str) -> None:
    page = Abbyy().read(FINE_READER.format(stated).encode(), ReadContext("a.xml"))[0]
    assert [text.text for line in page.of_kind("line") for text in line.texts] == ["a"]
    assert all(text.confidence is None for segment in page.walk() for text in segment.texts)


def test_an_invalid_count_in_a_loss_record_is_ignored() -> None:
    page = PageModel(10, 10, extras={"tei": {"left": {"lg": "2", "div": "²", "p": "9" * 5000}}})
    assert [(loss.what, loss.count) for loss in losses_of(page)] == [("element lg of the text", 2)]
