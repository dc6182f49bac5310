"""The ALTO reader: every unit, dialect and tolerated irregularity, and the refusals with their sentences."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.errors import Invalid, ServiceError
from armarium_formats.alto.driver import Alto
from armarium_formats.api import PageModel, ReadContext, WriteContext
from armarium_testing.formats import NOT_IT, Sample, exercise_format

DRIVER = Alto()
NOW = WriteContext(created="2026-01-02T03:04:05.678Z", creator="Armarium test")
V4 = "http://www.loc.gov/standards/alto/ns-v4#"


def alto(
    body: str,
    *,
    unit: str | None = "pixel",
    page: str = 'WIDTH="1000" HEIGHT="1400"',
    head: str = "",
    space: str = V4,
) -> bytes:
    measure = f"<MeasurementUnit>{unit}</MeasurementUnit>" if unit else ""
    name = f' xmlns="{space}"' if space else ""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><alto{name}><Description>{measure}<sourceImageInformation>'
        f"<fileName>a.jpg</fileName></sourceImageInformation></Description>{head}"
        f'<Layout><Page ID="p1" PHYSICAL_IMG_NR="1" {page}><PrintSpace>{body}</PrintSpace></Page></Layout></alto>'
    ).encode()


def block(inside: str, more: str = "") -> str:
    return f'<TextBlock ID="b1" HPOS="10" VPOS="20" WIDTH="500" HEIGHT="300" {more}>{inside}</TextBlock>'


def line(inside: str, more: str = "") -> str:
    return block(f'<TextLine ID="l1" HPOS="10" VPOS="20" WIDTH="500" HEIGHT="30" {more}>{inside}</TextLine>')


def read(data: bytes, size: tuple[int, int] | None = None) -> PageModel:
    return DRIVER.read(data, ReadContext("a.xml", size))[0]


def first_line(page: PageModel) -> Any:
    return page.of_kind("line")[0]


SAMPLE = alto(
    '<TextBlock ID="b1" HPOS="10" VPOS="20" WIDTH="500" HEIGHT="300"><Shape><Polygon POINTS="10,20 510,20 510,320"/></Shape>'
    '<TextLine ID="l1" HPOS="10" VPOS="20" WIDTH="500" HEIGHT="30" BASELINE="10,45 510,46">'
    '<String ID="s1" CONTENT="Dear" HPOS="10" VPOS="20" WIDTH="100" HEIGHT="30" WC="0.9"/><SP/>'
    '<String ID="s2" CONTENT="Sir" HPOS="130" VPOS="20" WIDTH="80" HEIGHT="30"><ALTERNATIVE>Siv</ALTERNATIVE></String>'
    '</TextLine><TextLine ID="l2"><String CONTENT="a line without words"/></TextLine></TextBlock>'
)


def test_the_driver_passes_the_suite_for_drivers() -> None:
    exercise_format(Alto, [Sample("letter.xml", SAMPLE, lines=2, words=2, text="Dear Sir")])


# ------------------------------------------------------------------------------------------- versions, units


@pytest.mark.parametrize(
    ("space", "version"),
    [
        ("http://schema.ccs-gmbh.com/ALTO", "1"),
        ("http://www.loc.gov/standards/alto/ns-v2#", "2"),
        ("http://www.loc.gov/standards/alto/ns-v3#", "3"),
        (V4, "4"),
        ("http://bibnum.bnf.fr/ns/alto_prod", None),
        ("", None),
        ("urn:elsewhere", None),
        ("http://www.loc.gov/standards/alto/ns-v5#", "5"),
    ],
)
def test_every_known_namespace_and_none_are_read(space: str, version: str | None) -> None:
    data = alto(line('<String CONTENT="x"/>'), space=space)
    assert DRIVER.sniff(data) >= 0.8
    page = read(data)
    assert page.version == version
    assert [one.text for one in page.lines()] == ["x"]
    strange = [note for note in page.notes if "namespace" in note or "newer" in note]
    assert bool(strange) == (space in ("", "urn:elsewhere") or "v5" in space)


def test_the_stated_schema_version_counts() -> None:
    data = SAMPLE.replace(b"<alto ", b'<alto SCHEMAVERSION="4.2" ')
    assert read(data).version == "4.2"


def test_namespace_prefixes_do_not_matter() -> None:
    data = (
        SAMPLE.replace(b"<", b"<a:")
        .replace(b"<a:/", b"</a:")
        .replace(b"<a:?", b"<?")
        .replace(b"xmlns=", b"xmlns:a=")
    )
    assert DRIVER.sniff(data) == 1.0
    assert [one.text for one in read(data).lines()] == ["Dear Sir", "a line without words"]


@pytest.mark.parametrize(("unit", "factor"), [("mm10", 300 / 254), ("inch1200", 0.25)])
def test_units_become_pixels_of_the_picture(unit: str, factor: float) -> None:
    page = read(alto(line('<String CONTENT="x"/>', 'BASELINE="10 45 510 45"'), unit=unit), (500, 700))
    assert (page.width, page.height) == (500, 700)
    assert first_line(page).points[0] == (5, 10)
    assert first_line(page).baseline == [(5, 22), (255, 22)]
    assert any("converted to pixels of the page's image" in note for note in page.notes)


@pytest.mark.parametrize(("unit", "factor"), [("mm10", 300 / 254), ("inch1200", 0.25)])
def test_units_without_a_picture_use_300_dots_per_inch(unit: str, factor: float) -> None:
    page = read(alto(line('<String CONTENT="x"/>'), unit=unit))
    assert (page.width, page.height) == (round(1000 * factor), round(1400 * factor))
    assert first_line(page).points[2] == (round(510 * factor), round(50 * factor))
    assert any("nothing states how many" in note for note in page.notes)


def test_the_resolution_of_a_processing_step_counts() -> None:
    step = (
        b'<OCRProcessing ID="o"><ocrProcessingStep><processingStepSettings>lang:de\nresolution: 600'
        b"</processingStepSettings></ocrProcessingStep></OCRProcessing></Description>"
    )
    page = read(alto(line('<String CONTENT="x"/>'), unit="inch1200").replace(b"</Description>", step))
    assert (page.width, page.height) == (500, 700)
    assert any("600 pixels per inch were assumed, as the file states" in note for note in page.notes)


def test_units_that_cannot_become_pixels_are_refused() -> None:
    with pytest.raises(
        Invalid, match="measures in mm10 and states neither the size of its page nor a resolution"
    ):
        read(alto(line('<String CONTENT="x"/>'), unit="mm10", page=""), (500, 700))


def test_other_proportions_than_the_picture_are_noted() -> None:
    page = read(alto(line('<String CONTENT="x"/>'), unit="mm10"), (500, 500))
    assert any("proportions" in note for note in page.notes)


@pytest.mark.parametrize("unit", [None, "furlong", ""])
def test_no_or_another_unit_is_taken_for_pixels(unit: str | None) -> None:
    page = read(alto(line('<String CONTENT="x"/>'), unit=unit))
    assert first_line(page).points[0] == (10, 20)
    assert any("measures are read as pixels" in note for note in page.notes)


@pytest.mark.parametrize(
    "size", ['WIDTH="0" HEIGHT="0"', "", 'WIDTH="bar" HEIGHT="nan"', 'WIDTH="-4" HEIGHT="1e99"']
)
def test_a_page_without_a_size_is_noted(size: str) -> None:
    page = read(alto(line('<String CONTENT="x"/>'), page=size))
    assert (page.width, page.height) == (0, 0)
    assert sum("The page" in note for note in page.notes) == 2


def test_several_pages_each_with_its_own() -> None:
    more = b'<Page ID="p2" PHYSICAL_IMG_NR="2" WIDTH="10" HEIGHT="20"><PrintSpace/></Page></Layout>'
    pages = DRIVER.read(SAMPLE.replace(b"</Layout>", more), ReadContext("a.xml"))
    assert [(page.width, len(page.of_kind("line"))) for page in pages] == [(1000, 2), (10, 0)]


# ------------------------------------------------------------------------------------------- texts


def test_strings_blanks_and_hyphens_make_the_line() -> None:
    page = read(
        alto(
            line(
                '<String ID="a" CONTENT="ver"/><SP/><String ID="b" CONTENT="lo" SUBS_TYPE="HypPart1" SUBS_CONTENT="loren"/><HYP CONTENT="-"/>'
            )
        )
    )
    assert first_line(page).text == "ver lo-"
    assert [word.text for word in page.of_kind("word")] == ["ver", "lo"]
    (mark,) = first_line(page).texts[0].marks
    assert (mark.kind, mark.start, mark.end, mark.stated) == ("divided", 4, 6, {"whole": "loren"})
    content = DRIVER.write(page, NOW).content
    assert 'SUBS_TYPE="HypPart1" SUBS_CONTENT="loren"' in content
    assert '<HYP CONTENT="-"/>' in content


def test_a_corrected_word_drops_what_was_about_its_text() -> None:
    page = read(
        alto(
            line(
                '<String ID="a" CONTENT="lo" CC="09" SUBS_TYPE="Abbreviation" SUBS_CONTENT="loco"/><SP/><String ID="b" CONTENT="x"/>'
            )
        )
    )
    word = page.of_kind("word")[0]
    # As in an export after the text was changed.
    word.texts[0].extras, first_line(page).texts[0].marks = None, []
    assert "loco" not in DRIVER.write(page, NOW).content


def test_strings_without_blanks_between_are_words_and_it_is_noted() -> None:
    page = read(alto(line('<String ID="a" CONTENT="Dear"/><String ID="b" CONTENT="Sir"/>')))
    assert first_line(page).text == "Dear Sir"
    assert any("have no SP" in note for note in page.notes)


def test_one_string_without_an_id_is_the_line_and_no_word() -> None:
    page = read(
        alto(line('<String CONTENT="7eme MANIFOLD" WC="0.5" HPOS="10" VPOS="20" WIDTH="500" HEIGHT="30"/>'))
    )
    assert page.of_kind("word") == []
    assert (first_line(page).text, first_line(page).texts[0].confidence) == ("7eme MANIFOLD", 0.5)


def test_one_string_is_a_word_where_the_words_of_the_file_have_no_ids() -> None:
    two = '<TextLine ID="l2"><String CONTENT="a"/><SP/><String CONTENT="b"/></TextLine>'
    page = read(alto(block(f'<TextLine ID="l1"><String CONTENT="lone"/></TextLine>{two}')))
    assert [word.text for word in page.of_kind("word")] == ["lone", "a", "b"]


def test_alternatives_confidences_and_glyphs() -> None:
    glyph = '<Glyph ID="g1" CONTENT="S" GC="0.9" HPOS="1" VPOS="2" WIDTH="3" HEIGHT="4"><Variant CONTENT="5" VC="0.1"/></Glyph>'
    data = alto(
        line(
            f'<String ID="a" CONTENT="Sir" WC="0.7" CC="019"><ALTERNATIVE PURPOSE="spelling">Syr</ALTERNATIVE>{glyph}</String><SP/><String ID="b" CONTENT="x" WC="7"/>'
        )
    )
    page = read(data)
    word = page.of_kind("word")[0]
    assert [(text.text, text.confidence) for text in word.texts] == [("Sir", 0.7), ("Syr", None)]
    assert page.kept["alternative readings (ALTERNATIVE)"] == 1
    assert page.kept["element String/Glyph"] == 1
    assert "A String states the confidence 7, outside 0 to 1." in page.notes
    content = DRIVER.write(page, NOW).content
    assert '<ALTERNATIVE PURPOSE="spelling">Syr</ALTERNATIVE>' in content
    assert glyph in content
    assert 'CC="019"' in content


# ------------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    "points",
    [
        "10,20 30,40 50,20",
        "10 20 30 40 50 20",
        "10,20,30,40,50,20",
        " 10, 20  30, 40\n50, 20 ",
        "10;20 30;40 50;20",
        "10.0,20.0 30.0,40.0 50.0,20.0",
    ],
)
def test_points_are_read_in_every_notation(points: str) -> None:
    page = read(
        alto(
            line(f'<Shape><Polygon POINTS="{points}"/></Shape><String CONTENT="x"/>', f'BASELINE="{points}"')
        )
    )
    assert first_line(page).points == first_line(page).baseline == [(10, 20), (30, 40), (50, 20)]


@pytest.mark.parametrize("points", ["10", "a b", "1,2 3", "nan nan", "1e400 3"])
def test_invalid_points_leave_only_the_box(points: str) -> None:
    page = read(alto(line(f'<Shape><Polygon POINTS="{points}"/></Shape><String CONTENT="x"/>')))
    assert first_line(page).points[0] == (10, 20)
    assert any("not pairs of numbers" in note for note in page.notes)


def test_an_empty_polygon_is_noted() -> None:
    page = read(alto(line('<Shape><Polygon POINTS=""/></Shape><String CONTENT="x"/>')))
    assert "The polygon of a TextLine is empty." in page.notes


def test_a_baseline_of_one_number_is_horizontal_across_the_line() -> None:
    page = read(alto(line('<String CONTENT="x"/>', 'BASELINE="45.5"')))
    assert first_line(page).baseline == [(10, 45.5), (510, 45.5)]


@pytest.mark.parametrize(("stated", "note"), [("high", "not a list of points"), ("", None)])
def test_an_invalid_baseline_is_ignored(stated: str, note: str | None) -> None:
    page = read(alto(line('<String CONTENT="x"/>', f'BASELINE="{stated}"')))
    assert first_line(page).baseline == []
    assert note is None or any(note in one for one in page.notes)


def test_a_baseline_of_one_point_stays_one() -> None:
    page = read(alto(line('<String CONTENT="x"/>', 'BASELINE="10 45"')))
    assert first_line(page).baseline == [(10, 45)]
    assert 'BASELINE="10 45"' in DRIVER.write(page, NOW).content


def test_circles_and_ellipses_are_drawn_and_come_back() -> None:
    for shape in (
        '<Circle HPOS="100" VPOS="100" RADIUS="50"/>',
        '<Ellipse HPOS="100" VPOS="100" HLENGTH="100" VLENGTH="60" ROTATION="0"/>',
    ):
        page = read(
            alto(
                f'<Illustration ID="i1" HPOS="50" VPOS="50" WIDTH="100" HEIGHT="100"><Shape>{shape}</Shape></Illustration>'
            )
        )
        segment = page.segments[0]
        assert len(segment.points) == 36
        assert min(x for x, _ in segment.points) == 50
        assert f"<Shape>{shape}</Shape>" in DRIVER.write(page, NOW).content
        segment.points = [(1, 1), (9, 1), (9, 9)]
        assert shape not in DRIVER.write(page, NOW).content


def test_a_box_that_differs_from_its_polygon_is_written_back_while_the_polygon_is_unchanged() -> None:
    page = read(alto(line('<Shape><Polygon POINTS="12,22 90,22 90,44"/></Shape><String CONTENT="x"/>')))
    assert 'HPOS="10" VPOS="20" WIDTH="500" HEIGHT="30"' in DRIVER.write(page, NOW).content
    first_line(page).points.append((95, 50))
    assert 'HPOS="12" VPOS="22" WIDTH="83" HEIGHT="28"' in DRIVER.write(page, NOW).content


def test_half_a_box_and_a_negative_one_are_noted() -> None:
    page = read(
        alto('<TextBlock ID="a" HPOS="3"/><TextBlock ID="b" HPOS="1" VPOS="1" WIDTH="-5" HEIGHT="2"/>')
    )
    assert [segment.points for segment in page.segments] == [[], []]
    assert len([note for note in page.notes if "belong together" in note or "negative" in note]) == 2


# ------------------------------------------------------------------------------------------- tags, order


TAGS = (
    '<Tags><OtherTag ID="T1" LABEL="MainZone"/><LayoutTag ID="T2" TYPE="line" LABEL="heading"/>'
    '<OtherTag ID="T3" TYPE="language" LABEL="deu"/><NamedEntityTag ID="T4" LABEL="Bach" URI="http://a/b"/></Tags>'
)


def test_tags_say_what_a_thing_is() -> None:
    body = block('<TextLine ID="l1" TAGREFS="T4 T2"><String CONTENT="x"/></TextLine>', 'TAGREFS="T3 T1"')
    page = read(alto(body, head=TAGS))
    assert [segment.kind_raw for segment in page.walk()] == ["TextBlock:MainZone", "heading"]
    content = DRIVER.write(page, NOW).content
    assert 'TAGREFS="T3 T1"' in content
    assert 'TAGREFS="T4 T2"' in content
    page.segments[0].kind_raw = "TextBlock:Margin"
    content = DRIVER.write(page, NOW).content
    assert 'TAGREFS="BT1 T3"' in content
    assert '<OtherTag ID="BT1" LABEL="Margin" DESCRIPTION="block type Margin"/>' in content


def test_references_to_missing_tags_are_noted_and_preserved() -> None:
    page = read(alto(block("", 'TAGREFS="T9"')))
    assert "TAGREFS names T9, which is not a tag of the file." in page.notes
    back = read(DRIVER.write(page, NOW).content.encode())
    assert back.segments[0].extras == page.segments[0].extras


def test_page_furniture_is_recognised_by_place_and_kind() -> None:
    data = alto("", head='<Tags><OtherTag ID="T1" LABEL="NumberingZone"/></Tags>').replace(
        b"<PrintSpace>",
        b'<TopMargin><TextBlock ID="t"/></TopMargin><LeftMargin><TextBlock ID="m"/></LeftMargin><PrintSpace><TextBlock ID="n" TAGREFS="T1"/><TextBlock ID="o"/>',
    )
    page = read(data)
    assert [(segment.id, segment.is_furniture) for segment in page.walk()] == [
        ("t", True),
        ("m", False),
        ("n", True),
        ("o", False),
    ]
    content = DRIVER.write(page, NOW).content
    assert (
        content.index("<TopMargin>")
        < content.index('ID="t"')
        < content.index("<LeftMargin>")
        < content.index("<PrintSpace>")
    )


ORDER = (
    '<ReadingOrder><UnorderedGroup ID="g"><OrderedGroup ID="g1"><ElementRef ID="e1" REF="c"/><ElementRef ID="e2" REF="a"/>'
    '<ElementRef ID="e3" REF="gone"/></OrderedGroup></UnorderedGroup></ReadingOrder>'
)


def test_the_reading_order_is_followed_and_unknown_references_are_noted() -> None:
    page = read(alto('<TextBlock ID="a"/><TextBlock ID="b"/><TextBlock ID="c"/>', head=ORDER))
    assert [segment.id for segment in page.in_order()] == ["c", "b", "a"]
    assert any("names gone, which does not exist on the page" in note for note in page.notes)
    assert (
        '<OrderedGroup ID="g1"><ElementRef ID="e1" REF="c"/><ElementRef ID="e2" REF="a"/></OrderedGroup>'
        in DRIVER.write(page, NOW).content
    )


def test_several_orders_and_refs_of_several() -> None:
    orders = '<ReadingOrder><OrderedGroup ID="x"><ElementRef ID="e" REF="b a"/></OrderedGroup><OrderedGroup ID="y"><ElementRef ID="f" REF="a"/></OrderedGroup></ReadingOrder>'
    page = read(alto('<TextBlock ID="a"/><TextBlock ID="b"/>', head=orders))
    assert [segment.id for segment in page.in_order()] == ["b", "a"]
    content = DRIVER.write(page, NOW).content
    assert DRIVER.validate(content) == []
    assert content.count("<OrderedGroup") == 3


def test_idnext_is_an_order_and_is_written_back() -> None:
    page = read(alto('<TextBlock ID="a"/><TextBlock ID="b" IDNEXT="a"/><TextBlock ID="c" IDNEXT="b"/>'))
    assert [segment.id for segment in page.in_order()] == ["c", "b", "a"]
    content = DRIVER.write(page, NOW).content
    assert '<TextBlock ID="c" IDNEXT="b"/>' in content
    assert "ReadingOrder" not in content


@pytest.mark.parametrize(
    "chain",
    ['<TextBlock ID="a" IDNEXT="b"/><TextBlock ID="b" IDNEXT="a"/>', '<TextBlock ID="a" IDNEXT="zz"/>'],
)
def test_an_idnext_to_a_missing_id_is_noted(chain: str) -> None:
    page = read(alto(chain))
    assert page.order is None
    assert any("IDNEXT" in note for note in page.notes)
    assert DRIVER.validate(DRIVER.write(page, NOW).content) == []


# ------------------------------------------------------------------------------------------- what is
# preserved


def test_languages_directions_and_rotations() -> None:
    body = '<TextBlock ID="a" language="de" ROTATION="90" CS="true"><TextLine ID="l" LANG="heb" BASEDIRECTION="rtl"><String CONTENT="x"/></TextLine></TextBlock>'
    page = read(alto(body, page='WIDTH="9" HEIGHT="9" LANG="fr" ROTATION="0.5"'))
    assert (page.language, page.segments[0].language) == ("fr", "de")
    assert (first_line(page).language, first_line(page).direction) == ("heb", "rtl")
    content = DRIVER.write(page, NOW).content
    for stated in (
        'ROTATION="90"',
        'CS="true"',
        'ROTATION="0.5"',
        'LANG="fr"',
        'LANG="de"',
        'BASEDIRECTION="rtl"',
    ):
        assert stated in content


def test_styles_processing_and_identifiers_are_written_back() -> None:
    styles = '<Styles><TextStyle ID="S1" FONTFAMILY="Times" FONTSIZE="10" FONTSTYLE="bold"/><ParagraphStyle ID="P1" ALIGN="Left"/></Styles>'
    data = alto(block("", 'STYLEREFS="S1 P1"'), head=styles).replace(
        b"</sourceImageInformation>",
        b'<fileIdentifier fileIdentifierLocation="x">f1</fileIdentifier></sourceImageInformation><Processing ID="o1"><processingStepDescription>ocr</processingStepDescription></Processing>',
    )
    content = DRIVER.write(read(data), NOW).content
    for stated in (
        'STYLEREFS="S1 P1"',
        'FONTFAMILY="Times"',
        'ALIGN="Left"',
        ">f1</fileIdentifier>",
        '<Processing ID="o1">',
    ):
        assert stated in content
    assert DRIVER.validate(content) == []
    assert DRIVER.write(read(content.encode()), NOW).content == content


def test_unknown_elements_and_attributes_come_back() -> None:
    body = '<TextBlock ID="a" SHADE="7"><Ornament kind="rose">x</Ornament><TextLine ID="l" INK="red"><String CONTENT="x" FOO="1"/></TextLine></TextBlock>'
    page = read(alto(body))
    assert page.kept["attribute TextBlock/@SHADE"] == 1
    content = DRIVER.write(page, NOW).content
    assert DRIVER.validate(content) == []
    back = read(content.encode())
    assert [segment.extras for segment in back.walk()] == [segment.extras for segment in page.walk()]


def test_misplaced_elements_are_read_and_noted() -> None:
    data = alto("").replace(
        b"<PrintSpace></PrintSpace>",
        b'<TextBlock ID="a"><TextLine ID="l"><String CONTENT="x"/></TextLine></TextBlock>',
    )
    page = read(data)
    assert [one.text for one in page.lines()] == ["x"]
    assert any("outside its PrintSpace" in note for note in page.notes)
    page = read(
        alto(
            '<TextLine ID="l"><String CONTENT="x"/></TextLine><ComposedBlockType ID="c"><TextBlock ID="b"/></ComposedBlockType>'
        )
    )
    assert [segment.id for segment in page.walk()] == ["l", "c", "b"]
    assert sum("is outside a TextBlock" in note or "not a block of ALTO" in note for note in page.notes) == 2


# ------------------------------------------------------------------------------------------- hostile


HOSTILE = {
    "external entity": b'<!DOCTYPE alto [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    + SAMPLE.split(b"?>")[1],
    "entity bomb": b'<!DOCTYPE alto [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;">]><alto>&b;</alto>',
    "depth 100,000": SAMPLE.replace(b"</PrintSpace>", b"<ComposedBlock>" * 100_000 + b"</PrintSpace>"),
    "a wrong encoding": SAMPLE.replace(b"UTF-8", b"UTF-16").replace(b"Dear", "Décembre".encode("latin-1")),
    "Latin-1 that says UTF-8": SAMPLE.replace(b"Dear", "Décembre".encode("latin-1")),
    "truncated": SAMPLE[: len(SAMPLE) // 2],
    "two roots": SAMPLE + SAMPLE.split(b"?>")[1],
    "no page": b'<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout/></alto>',
    "another root": b"<recipe><title>Soup</title></recipe>",
}


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_hostile_files_are_refused_in_words(what: str) -> None:
    with pytest.raises(ServiceError) as refusal:
        DRIVER.read(HOSTILE[what], ReadContext("bad.xml"))
    assert 400 <= refusal.value.status < 500
    assert "bad.xml" in refusal.value.detail


def test_much_white_space_is_read_or_refused_by_its_size() -> None:
    page = read(SAMPLE.replace(b"<Layout>", b"<Layout>" + b" \n" * 2_000_000))
    assert len(page.lines()) == 2
    with pytest.raises(ServiceError, match="MB"):
        read(SAMPLE.replace(b"<Layout>", b"<Layout>" + b" " * 65_000_000))


def test_duplicate_ids_and_ids_that_begin_with_a_digit() -> None:
    page = read(alto('<TextBlock ID="79"/><TextBlock ID="79"/><TextBlock/>'))
    ids = [segment.id for segment in page.segments]
    assert ids[0] == "79"
    assert len(set(ids)) == 3
    assert "The id 79 occurs twice." in page.notes
    written = DRIVER.write(page, NOW)
    assert DRIVER.validate(written.content) == []
    assert next(loss.count for loss in written.losses if loss.what == "ids") == 2
    assert [segment.id for segment in read(written.content.encode()).segments] == ids


def test_negative_fractional_and_outside_coordinates_are_read_as_stated() -> None:
    page = read(alto('<TextBlock ID="a" HPOS="-5" VPOS="1.5" WIDTH="99999" HEIGHT="3"/>'))
    assert page.segments[0].points[0] == (-5, 1.5)
    written = DRIVER.write(page, NOW)
    assert DRIVER.validate(written.content) == []
    assert {loss.what for loss in written.losses} == {
        "coordinates left of or above the page",
        "decimals of coordinates",
    }


def test_twenty_thousand_lines() -> None:
    lines = "".join(
        f'<TextLine ID="l{n}" BASELINE="1 2 3 4"><String CONTENT="x{n}"/></TextLine>' for n in range(20_000)
    )
    page = read(alto(block(lines)))
    assert len(page.of_kind("line")) == 20_000
    assert DRIVER.write(page, NOW).content.count("<TextLine") == 20_000


@pytest.mark.parametrize(
    "kept",
    [
        "no json", "[]", '{"segments":[]}', '{"segments":{"b1":7}}', '{"segments":{"b1":{"texts":{"of":null,"all":[[1,2,3,4],"x"]}}}}',
        '{"segments":{"b1":{"extras":{"pagexml":{"attributes":["x"],"elements":{"a":1},"plain":{}}}}}}',
        '{"segments":{"b1":{"cell":{"row":"x"},"position":1e999,"confidence":5,"id":7}}}', "[" * 5000,
        '{"page":{"alto":{"attributes":{"nowhere/STYLEREFS":"x","TopMargin/ID":"p1"}},"sequence":["zz",1]},"groups":{"g":{"pagexml":3}}}',
    ],
)  # fmt: skip
def test_our_own_tag_is_ignored_if_the_text_was_changed_elsewhere(kept: str) -> None:
    from armarium_formats.pagexml.driver import PageXml
    from armarium_formats.tei.driver import Tei

    tag = f'<Tags><OtherTag ID="k" TYPE="armarium:kept" LABEL="kept"><XmlData><kept xmlns="urn:armarium:kept">{kept}</kept></XmlData></OtherTag></Tags>'
    page = read(alto(line('<String CONTENT="x"/>'), head=tag))
    assert [one.text for one in page.lines()] == ["x"]
    for driver in (DRIVER, PageXml(), Tei()):
        assert driver.validate(driver.write(page, NOW).content) == []


@pytest.mark.parametrize("what", sorted(NOT_IT))
def test_files_that_are_not_alto_are_not_recognised(what: str) -> None:
    assert DRIVER.sniff(NOT_IT[what]) == 0
    assert DRIVER.sniff(b"<html><p>an &lt;alto> <alto ></p></html>") == 0
