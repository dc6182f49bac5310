"""ALTO dialects: languages as tags, other units, doubled hyphens, bare Strings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from driver_case import CONTEXT

from armarium_formats.alto.driver import Alto
from armarium_formats.api import PageModel, ReadContext

BOX = 'HPOS="10" VPOS="10" WIDTH="500" HEIGHT="20"'
DRIVER = Alto()


def alto(inner: str, *, unit: str = "pixel", tags: str = "") -> str:
    return (
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description>'
        f"<MeasurementUnit>{unit}</MeasurementUnit><sourceImageInformation><fileName>a.tif</fileName>"
        f"</sourceImageInformation></Description>{tags}<Layout><Page ID='P' WIDTH='1000' HEIGHT='1000'>"
        f"<PrintSpace>{inner}</PrintSpace></Page></Layout></alto>"
    )


def block(inner: str, attributes: str = "") -> str:
    return f'<TextBlock ID="b" {BOX} {attributes}>{inner}</TextBlock>'


def line(inner: str, attributes: str = "") -> str:
    return f'<TextLine ID="l" {BOX} {attributes}>{inner}</TextLine>'


def word(text: str, identity: str, attributes: str = "") -> str:
    return f'<String ID="{identity}" CONTENT="{text}" {BOX} {attributes}/>'


def read(text: str) -> PageModel:
    return DRIVER.read(text.encode(), ReadContext("a.xml"))[0]


def rewrite(page: PageModel) -> str:
    content = DRIVER.write(page, CONTEXT).content
    assert DRIVER.validate(content) == []
    return content


LANGUAGES = (
    '<Tags><OtherTag ID="L1" TYPE="language" LABEL="lat"/><OtherTag ID="L2" TYPE="language" LABEL="German"/>'
    '<OtherTag ID="L3" TYPE="language" LABEL="und"/><OtherTag ID="T" TYPE="type" LABEL="main"/></Tags>'
)


def test_a_language_given_as_a_tag_is_read() -> None:
    strings = word("a", "s1", 'TAGREFS="L2"') + "<SP/>" + word("b", "s2", 'TAGREFS="L3"')
    page = read(alto(block(line(strings, 'TAGREFS="L1 T"'), 'TAGREFS="T"'), tags=LANGUAGES))
    assert {segment.id: segment.language for segment in page.walk()} == {
        "b": None,
        "l": "la",
        "s1": "de",
        "s2": None,
    }
    assert {segment.id: segment.kind_raw for segment in page.walk()}["l"] == "main"
    content = rewrite(page)
    assert 'TAGREFS="L1 T"' in content
    assert "LANG=" not in content
    assert rewrite(read(content)) == content


def test_a_corrected_language_drops_the_reference_to_its_tag() -> None:
    page = read(alto(block(line(word("a", "s1"), 'TAGREFS="L1 T"')), tags=LANGUAGES))
    page.segments[0].children[0].language = "de"
    content = rewrite(page)
    assert 'LANG="de"' in content
    assert 'TAGREFS="T"' in content
    assert read(content).segments[0].children[0].language == "de"
    page.segments[0].children[0].language = None
    assert read(rewrite(page)).segments[0].children[0].language is None


def test_a_language_attribute_precedes_its_tag_and_both_are_preserved() -> None:
    page = read(alto(block(line(word("a", "s1"), 'LANG="fr" TAGREFS="L1"')), tags=LANGUAGES))
    assert page.segments[0].children[0].language == "fr"
    content = rewrite(page)
    assert 'LANG="fr"' in content
    assert 'TAGREFS="L1"' in content


def test_a_layout_tag_precedes_a_structure_tag() -> None:
    tags = (
        '<Tags><LayoutTag ID="L" TYPE="Page" LABEL="heading"/><StructureTag ID="S" TYPE="Structural" LABEL="article 1"/>'
        '<NamedEntityTag ID="N" LABEL="Rome"/></Tags>'
    )
    one = read(alto(block(line(word("a", "s1")), 'TAGREFS="N S L"'), tags=tags))
    other = read(alto(block(line(word("a", "s1")), 'TAGREFS="N S"'), tags=tags))
    assert (one.segments[0].kind_raw, other.segments[0].kind_raw) == (
        "TextBlock:heading",
        "TextBlock:article 1",
    )
    content = rewrite(one)
    assert 'TAGREFS="N S L"' in content
    one.segments[0].kind_raw = "TextBlock:caption"
    assert read(rewrite(one)).segments[0].kind_raw == "TextBlock:caption"


def test_a_type_that_older_dialects_give_a_text_block_is_its_kind() -> None:
    page = read(alto(block(line(word("a", "s1")), 'TYPE="titre1"')))
    assert page.segments[0].kind_raw == "TextBlock:titre1"
    content = rewrite(page)
    back = read(content)
    assert back.segments[0].kind_raw == "TextBlock:titre1"
    assert rewrite(back) == content


@pytest.mark.parametrize(
    ("unit", "known"),
    [("Pixel", "pixel"), ("px", "pixel"), ("MM10", "mm10"), ("1/10 mm", "mm10"), ("INCH1200", "inch1200")],
)
def test_units_are_read_in_any_case(unit: str, known: str) -> None:
    found, meant = (read(alto(block(line(word("a", "s1"))), unit=one)) for one in (unit, known))
    assert (found.width, [segment.points for segment in found.walk()]) == (
        meant.width,
        [segment.points for segment in meant.walk()],
    )
    assert found.notes == [
        f"The file's MeasurementUnit is spelled {unit!r}; it was read as {known}.",
        *meant.notes,
    ]


@pytest.mark.parametrize(
    ("unit", "size", "found"),
    [("mm", (210, 297), (2480, 3508)), ("pt", (612, 792), (2550, 3300)), ("inches", (8.5, 11), (2550, 3300))],
)
def test_units_unknown_to_alto_are_converted(
    unit: str, size: tuple[float, float], found: tuple[int, int]
) -> None:
    text = alto(
        block(line(word("a", "s1"))).replace(BOX, 'HPOS="1" VPOS="1" WIDTH="5" HEIGHT="3"'), unit=unit
    )
    page = read(text.replace("WIDTH='1000' HEIGHT='1000'", f"WIDTH='{size[0]}' HEIGHT='{size[1]}'"))
    assert (page.width, page.height) == found
    assert "300 pixels per inch" in page.notes[1]
    assert f"The file's MeasurementUnit {unit!r} is not one of ALTO's" in page.notes[0]


def test_a_page_of_forty_metres_is_taken_to_be_in_pixels() -> None:
    page = read(alto(block(line(word("a", "s1"))), unit="inch"))
    assert (page.width, page.segments[0].points[0]) == (1000, (10, 10))
    assert page.notes[1] == "No page is 1000 x 1000 inch large; its measures are read as pixels."


@pytest.mark.parametrize(
    "settings",
    [
        "Lang:ja\nEngine:Abbyy8\nwidth:3303\nheight:5367\nxdpi:400\nydpi:400\n",
        "dpi 400",
        "x-resolution: 400",
        "400 dpi",
    ],
)
def test_the_resolution_that_a_step_states_is_taken(settings: str) -> None:
    step = (
        f'<OCRProcessing ID="O"><ocrProcessingStep><processingStepSettings>{settings}</processingStepSettings>'
        "</ocrProcessingStep></OCRProcessing></Description>"
    )
    page = read(alto(block(line(word("a", "s1"))), unit="inch1200").replace("</Description>", step))
    assert (page.width, page.height) == (333, 333)
    assert "400 pixels per inch were assumed, as the file states" in page.notes[0]


def test_transkribus_states_mm10_and_counts_in_pixels() -> None:
    step = (
        '<OCRProcessing ID="I"><ocrProcessingStep><processingSoftware><softwareCreator>READ COOP</softwareCreator>'
        "<softwareName>Transkribus</softwareName></processingSoftware></ocrProcessingStep></OCRProcessing></Description>"
    )
    page = read(alto(block(line(word("a", "s1"))), unit="mm10").replace("</Description>", step))
    assert (page.width, page.segments[0].points[2]) == (1000, (510, 30))
    assert page.notes == ["Transkribus states mm10 but writes pixels; its measures are read as pixels."]


@pytest.mark.parametrize(
    ("strings", "text", "said"),
    [
        (
            word("exa-", "s", 'SUBS_TYPE="HypPart1" SUBS_CONTENT="example"') + '<HYP CONTENT="-"/>',
            "exa-",
            True,
        ),
        (word("exa\u00ac", "s", 'SUBS_TYPE="HypPart1"') + '<HYP CONTENT="\u00ac"/>', "exa\u00ac", True),
        (word("exa", "s", 'SUBS_TYPE="HypPart1"') + "<HYP/>", "exa-", False),
        (word("pp. 3-", "s") + '<HYP CONTENT="-"/>', "pp. 3--", False),
    ],
)
def test_a_hyphen_stated_twice_is_read_once(strings: str, text: str, said: bool) -> None:
    page = read(alto(block(line(strings))))
    assert [one.text for one in page.lines()] == [text]
    assert (
        "The hyphen of a line is in its last String and in a HYP; it was read once." in page.notes
    ) == said
    assert [one.text for one in read(rewrite(page)).lines()] == [text]


def test_a_string_without_content_has_the_text_of_its_glyphs() -> None:
    glyphs = "".join(f'<Glyph ID="g{one}" CONTENT="{one}" {BOX}/>' for one in "Hi")
    page = read(alto(block(line(f'<String ID="s" {BOX}>{glyphs}</String><SP/>{word("you", "t")}'))))
    assert [segment.text for segment in page.walk()] == ["", "Hi you", "Hi", "you"]
    assert page.notes == ["A String has no CONTENT; that of its Glyphs was used."]


def test_strings_outside_of_lines_are_a_line() -> None:
    loose = f"{word('two', 's1')}<SP/>{word('words', 's2')}"
    page = read(alto(block(loose + line(word("third", "s3"))) + loose.replace('"s', '"r')))
    assert sorted(one.text for one in page.lines()) == ["third", "two words", "two words"]
    assert page.notes == [
        "Strings are directly in a TextBlock; one TextLine was put around them.",
        "Strings are directly in a PrintSpace; one TextLine was put around them.",
    ]
    rewrite(replace(page, segments=page.segments[:1]))
