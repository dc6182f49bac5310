"""The PAGE reader: what it takes from the dialects of real programs, and the sentences for what it refuses."""

from __future__ import annotations

import pytest

from armarium.errors import Invalid
from armarium_formats.api import PageModel, ReadContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.placing import place

DRIVER = PageXml()
NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/"


def document(
    body: str, *, version: str = "2019-07-15", page: str = 'imageWidth="1000" imageHeight="800"'
) -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><PcGts xmlns="{NAMESPACE}{version}">'
        f'<Metadata><Creator>c</Creator></Metadata><Page imageFilename="a.jpg" {page}>{body}</Page></PcGts>'
    ).encode()


def read(body: str, **more: str) -> PageModel:
    return DRIVER.read(document(body, **more), ReadContext("a.xml"))[0]


def region(inside: str, attributes: str = "", identity: str = "r1") -> str:
    return f'<TextRegion id="{identity}" {attributes}><Coords points="0,0 900,0 900,700 0,700"/>{inside}</TextRegion>'


def line(identity: str, text: str = "x", attributes: str = "") -> str:
    return (
        f'<TextLine id="{identity}" {attributes}><Coords points="1,1 9,1 9,9 1,9"/>'
        f"<TextEquiv><Unicode>{text}</Unicode></TextEquiv></TextLine>"
    )


@pytest.mark.parametrize(
    "version",
    [
        "2009-03-16",
        "2010-01-12",
        "2010-03-19",
        "2013-07-15",
        "2016-07-15",
        "2017-07-15",
        "2018-07-15",
        "2019-07-15",
        "2024-07-15",
    ],
)
def test_every_namespace_is_read(version: str) -> None:
    page = read(region(line("l1", "Hoy")), version=version)
    assert [one.text for one in page.lines()] == ["Hoy"]
    assert page.version == version
    assert page.notes == []


def test_a_newer_namespace_is_read_and_noted() -> None:
    assert any("2031-01-01" in note for note in read(region(line("l1")), version="2031-01-01").notes)


def test_prefixes_and_missing_namespaces_do_not_matter() -> None:
    prefixed = (
        f'<p:PcGts xmlns:p="{NAMESPACE}2013-07-15"><p:Page imageFilename="a" imageWidth="9" imageHeight="9">'
        '<p:TextRegion id="r"><p:Coords points="0,0 9,9"/></p:TextRegion></p:Page></p:PcGts>'
    )
    bare = (
        prefixed.replace("p:", "")
        .replace(f'xmlns:p="{NAMESPACE}2013-07-15"', "")
        .replace(f" xmlns{NAMESPACE}", "")
    )
    bare = '<PcGts><Page imageFilename="a" imageWidth="9" imageHeight="9"><TextRegion id="r"/></Page></PcGts>'
    for text in (prefixed, bare):
        page = DRIVER.read(text.encode(), ReadContext("a.xml"))[0]
        assert [segment.id for segment in page.walk()] == ["r"]
    assert DRIVER.sniff(prefixed.encode()) == 1.0
    assert DRIVER.sniff(bare.encode()) == 0.8


def test_points_in_the_notations_of_2010_and_today_are_read() -> None:
    old = '<TextRegion id="r"><Coords><Point x="1" y="2"/><Point x="30" y="2"/><Point x="30" y="40"/></Coords></TextRegion>'
    assert read(old, version="2010-03-19").segments[0].points == [(1, 2), (30, 2), (30, 40)]


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ("1,2 3,4", [(1, 2), (3, 4)]),
        ("  1,2\n3,4  ", [(1, 2), (3, 4)]),
        ("1.5,2 3,4.25", [(1.5, 2), (3, 4.25)]),
        ("-4,2 3,4", [(-4, 2), (3, 4)]),
        ("10,20 400,200, 500,300,", [(10, 20), (400, 200), (500, 300)]),
        ("1e2,5 7,8", [(100, 5), (7, 8)]),
        ("", []),
    ],
)
def test_points_in_irregular_notations_are_read(stated: str, found: list[tuple[float, float]]) -> None:
    page = read(f'<TextRegion id="r"><Coords points="{stated}"/></TextRegion>')
    assert page.segments[0].points == found


@pytest.mark.parametrize("stated", ["1 2 3", "a,b c,d", "1,2 3", "NaN,1 2,inf", "1;2 3;4"])
def test_invalid_points_are_noted(stated: str) -> None:
    page = read(f'<TextRegion id="r"><Coords points="{stated}"/></TextRegion>')
    assert page.segments[0].points == []
    assert any("not x,y pairs" in note for note in page.notes)


def test_the_text_with_the_lowest_index_counts() -> None:
    page = read(
        region(
            '<TextLine id="l"><Coords points="1,1 2,2"/>'
            '<TextEquiv index="2"><Unicode>c</Unicode></TextEquiv>'
            '<TextEquiv index="0" conf="0.25"><PlainText>p</PlainText><Unicode>a</Unicode></TextEquiv>'
            '<TextEquiv index="1"><Unicode>b</Unicode></TextEquiv></TextLine>'
        )
    )
    assert [text.text for text in page.lines()[0].texts] == ["a", "b", "c"]
    assert page.lines()[0].texts[0].confidence == 0.25
    assert page.kept["alternative readings (further TextEquiv)"] == 2
    assert page.kept["element TextEquiv/PlainText"] == 1


def test_plain_text_replaces_a_missing_unicode_element() -> None:
    page = read(region("<TextEquiv><PlainText>p</PlainText></TextEquiv>"))
    assert page.segments[0].text == "p"


def test_nested_groups_of_the_order_are_followed() -> None:
    regions = "".join(region(line(f"l{name}", name), identity=name) for name in "abcd")
    order = (
        '<ReadingOrder><OrderedGroup id="g"><RegionRefIndexed index="1" regionRef="b"/>'
        '<UnorderedGroupIndexed id="u" index="0"><RegionRef regionRef="d"/><RegionRef regionRef="c"/></UnorderedGroupIndexed>'
        '<RegionRefIndexed index="2" regionRef="gone"/></OrderedGroup></ReadingOrder>'
    )
    page = read(order + regions)
    # Segments that the order does not name keep their positions.
    assert [one.text for one in page.lines()] == ["a", "d", "c", "b"]
    assert any("names gone" in note for note in page.notes)


def test_the_order_in_custom_of_transkribus_is_read() -> None:
    lines = line("l1", "second", 'custom="readingOrder {index:1;}"') + line(
        "l2", "first", 'custom="structure {type:heading;} readingOrder {index:0;}"'
    )
    page = read(region(lines, 'custom="readingOrder {index:0;}"'))
    assert [one.text for one in page.lines()] == ["first", "second"]
    assert page.lines()[0].kind_raw == "heading"


def notes_of_places(body: str) -> list[str]:
    return [
        note for note in place(read(body), (1000, 800), "a.xml", "pagexml").notes if "reading order" in note
    ]


def test_order_indexes_stated_by_only_some_lines_are_ignored_with_a_note() -> None:
    def lines(*places: int | None) -> str:
        return "".join(
            line(f"l{number}", "x", "" if at is None else f'custom="readingOrder {{index:{at};}}"')
            for number, at in enumerate(places)
        )

    assert notes_of_places(region(lines(1, None, 0)) + region(lines(2, 1, None), identity="r2")) == [
        "2 times some parts state their place in the reading order and their siblings do not; "
        "those keep their place in the file."
    ]
    for places in ((1, 0), (None, None), (0, None, 1), (None, 7)):
        assert notes_of_places(region(lines(*places))) == []


def test_order_indexes_of_regions_in_a_reading_order_are_ignored_without_a_note() -> None:
    regions = "".join(
        region("", "" if at is None else f'custom="readingOrder {{index:{at};}}"', f"r{number}")
        for number, at in enumerate((1, None, 0))
    )
    order = '<ReadingOrder><OrderedGroup id="g"><RegionRefIndexed index="0" regionRef="r2"/></OrderedGroup></ReadingOrder>'
    assert notes_of_places(order + regions) == []
    assert len(notes_of_places(regions)) == 1


@pytest.mark.parametrize(
    ("element", "kind_raw", "furniture"),
    [
        ('<TextRegion id="r" type="heading"', "TextRegion:heading", False),
        ('<TextRegion id="r" type="page-number"', "TextRegion:page-number", True),
        ('<TextRegion id="r" type="header"', "TextRegion:header", True),
        ('<TextRegion id="r" type="catch-word"', "TextRegion:catch-word", True),
        (
            '<TextRegion id="r" custom="structure {type:RunningTitleZone;}"',
            "TextRegion:RunningTitleZone",
            True,
        ),
        ('<TextRegion id="r" custom="structure {type:Main;}"', "TextRegion:Main", False),
        ('<TextRegion id="r"', "TextRegion", False),
        ('<ImageRegion id="r"', "ImageRegion", False),
        ('<GraphicRegion id="r" type="stamp"', "GraphicRegion:stamp", False),
        ('<FrameRegion id="r"', "FrameRegion", False),
    ],
)
def test_kinds_of_regions(element: str, kind_raw: str, furniture: bool) -> None:
    page = read(f'{element}><Coords points="1,1 2,2"/></{element[1:].split()[0]}>')
    assert page.segments[0].kind_raw == kind_raw
    assert page.segments[0].is_furniture is furniture


def test_language_script_and_direction_are_normalised() -> None:
    page = read(
        region(line("l", "x", 'primaryLanguage="other" readingDirection="top-to-bottom"'),
               'primaryLanguage="German" primaryScript="Latf - Latin (Fraktur variant)" readingDirection="right-to-left"')
    )  # fmt: skip
    segment = page.segments[0]
    assert (segment.language, segment.script, segment.direction) == ("de", "Latf", "rtl")
    assert (segment.children[0].language, segment.children[0].direction) == (None, "ttb")


def test_cells_of_tables() -> None:
    page = read(
        '<TableRegion id="t"><Coords points="0,0 9,0 9,9"/>'
        '<TextRegion id="c"><Coords points="0,0 9,0 9,9"/><Roles><TableCellRole rowIndex="1" columnIndex="2" colSpan="3"/></Roles></TextRegion>'
        '<TableCell id="d" row="4" col="5"><Coords points="0,0 9,0 9,9"/><CornerPts>0 1 2 3</CornerPts></TableCell></TableRegion>'
    )
    modern, old = page.segments[0].children
    assert modern.cell == {"row": 1, "column": 2, "row_span": 1, "column_span": 3}
    assert old.cell == {"row": 4, "column": 5, "row_span": 1, "column_span": 1}


def test_ids_that_repeat_or_lack_are_made_unique() -> None:
    page = read(region(line("l1") + line("l1") + '<TextLine><Coords points="1,1 2,2"/></TextLine>'))
    ids = [segment.id for segment in page.of_kind("line")]
    assert len(set(ids)) == 3
    assert ids[0] == "l1"
    assert any("occurs twice" in note for note in page.notes)
    assert any("no id" in note for note in page.notes)


def test_a_page_without_a_size_is_noted() -> None:
    page = read("", page='imageWidth="foo" imageHeight="0"')
    assert (page.width, page.height) == (0, 0)
    assert len(page.notes) == 2


def test_a_confidence_out_of_range_is_preserved_separately() -> None:
    page = read(region('<TextEquiv conf="87"><Unicode>x</Unicode></TextEquiv>'))
    assert page.segments[0].texts[0].confidence is None
    assert page.kept["attribute TextEquiv/@conf"] == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<html/>", "its root element is html"),
        (f'<PcGts xmlns="{NAMESPACE}2019-07-15"/>'.encode(), "without a Page element"),
        (f'<PcGts xmlns="{NAMESPACE}2019-07-15"><Page/><Page/></PcGts>'.encode(), "has 2 Page elements"),
        (f'<PcGts xmlns="{NAMESPACE}2008-07-15"><Page/></PcGts>'.encode(), "from 2009-03-16 on"),
        (document(region(line("l1")))[:-30], "not well-formed"),
        (document(region(line("l1", "é"))).replace(b"UTF-8", b"US-ASCII"), "encoding"),
        (
            b'<!DOCTYPE PcGts [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            + document(region(line("l1", "&x;")))[38:],
            "DOCTYPE",
        ),
        (
            b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + document("&b;")[38:],
            "DOCTYPE",
        ),
        (document("<TextRegion id='r'>" * 300 + "</TextRegion>" * 300), "256 deep"),
    ],
    ids=[
        "html",
        "not a page",
        "two pages",
        "2008",
        "truncated",
        "wrong encoding",
        "external entity",
        "laughs",
        "deep",
    ],
)
def test_files_that_are_not_page_xml_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(Invalid, match=words) as refusal:
        DRIVER.read(data, ReadContext("a.xml"))
    assert refusal.value.detail.startswith("a.xml ")


FIRST = b"""<?xml version="1.0"?>
<pcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2009-03-16">
  <pcMetadata><pcCreator>Ana</pcCreator><pcCreated>2009-11-06T15:57:06</pcCreated><pcLastChange/></pcMetadata>
  <page image_filename="a.tif" image_width="2280" image_height="3257">
    <text_region id="r1" txt_type="Page_Number" txt_reading_direction="Right_To_Left" txt_indented="No" txt_bgcolour="White"
      txt_primary_language="Hebrew" txt_orientation="-90.0"><text_equiv><unicode>12</unicode></text_equiv>
      <coords><point x="1" y="2"/><point x="9" y="2"/><point x="9" y="8"/></coords>
      <text_line id="l1"><coords><point x="1" y="2"/><point x="9" y="2"/><point x="9" y="8"/></coords></text_line>
    </text_region>
    <separator_region id="s1" sep_colour="Black"><coords><point x="1" y="2"/><point x="9" y="9"/></coords></separator_region>
  </page>
</pcGts>"""


def test_the_first_dialect_is_read_like_the_later_ones() -> None:
    assert DRIVER.sniff(FIRST) == 1.0
    page = DRIVER.read(FIRST, ReadContext("a.xml"))[0]
    assert (page.image, page.width, page.version) == ("a.tif", 2280, "2009-03-16")
    text, line_, rule = page.walk()
    assert (text.kind_raw, text.direction, text.language, text.text) == (
        "TextRegion:page-number",
        "rtl",
        "he",
        "12",
    )
    assert text.is_furniture
    assert (line_.kind, line_.points) == ("line", [(1, 2), (9, 2), (9, 8)])
    assert rule.kind_raw == "SeparatorRegion"
    assert (text.extras or {})["pagexml"]["attributes"] == {
        "indented": "false",
        "bgColour": "white",
        "orientation": "-90.0",
    }
    assert page.extras["pagexml"]["metadata"]["Creator"] == "Ana"
    assert "first dialect" in page.notes[0]


def test_an_endless_coordinate_is_no_coordinate() -> None:
    page = read('<TextRegion id="r"><Coords points="1e999,2 3,4 5,6"/></TextRegion>')
    assert page.segments[0].points == []
    assert "The points of a Coords are not x,y pairs." in page.notes


def test_regions_nested_deep_are_read() -> None:
    body = (
        "".join(f'<TextRegion id="r{n}"><Coords points="0,0 9,0 9,9"/>' for n in range(200))
        + "</TextRegion>" * 200
    )
    assert len(list(read(body).walk())) == 200


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_correctly_declared_encodings_are_read(encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    data = document(region(line("l1", "señor"))).decode().replace("UTF-8", name).encode(encoding)
    assert DRIVER.sniff(data) == 1.0
    assert DRIVER.read(data, ReadContext("a.xml"))[0].lines()[0].text == "señor"
