"""Several ALTO files pasted into one: every Layout is read, with the Description before it."""

from __future__ import annotations

from batch_files import list_pairs, picture, send

from armarium.engine import Engine
from armarium.projects.libraries import Library
from armarium_formats.alto.driver import Alto
from armarium_formats.api import PageModel, ReadContext

SPACE = 'xmlns="http://www.loc.gov/standards/alto/ns-v4#"'


def description(image: str, unit: str = "pixel") -> str:
    return (
        f"<Description><MeasurementUnit>{unit}</MeasurementUnit><sourceImageInformation><fileName>{image}</fileName>"
        "</sourceImageInformation></Description>"
    )


def layout(text: str, size: str = 'WIDTH="120" HEIGHT="90"', refs: str = "") -> str:
    return (
        f'<Layout><Page ID="p" PHYSICAL_IMG_NR="1" {size}><PrintSpace><TextBlock ID="b" {refs}>'
        f'<TextLine ID="l" HPOS="1" VPOS="2" WIDTH="30" HEIGHT="10"><String CONTENT="{text}"/></TextLine>'
        "</TextBlock></PrintSpace></Page></Layout>"
    )


def read(inside: str) -> list[PageModel]:
    return Alto().read(f"<alto {SPACE}>{inside}</alto>".encode(), ReadContext("book.xml"))


def test_thirty_pages_pasted_into_one_file_are_thirty_pages() -> None:
    pages = read("".join(description(f"{n}.png") + layout(f"page {n}") for n in range(30)))
    assert [page.image for page in pages] == [f"{n}.png" for n in range(30)]
    assert [[line.text for line in page.lines()] for page in pages] == [[f"page {n}"] for n in range(30)]
    assert {line.id for page in pages for line in page.lines()} == {"l"}
    assert "The file has 30 Layouts; the pages of all of them are read" in pages[0].notes[0]


def test_each_layout_has_the_unit_tags_and_styles_before_it() -> None:
    tags = '<Tags><LayoutTag ID="T" TYPE="block" LABEL="{}"/></Tags>'
    pages = read(
        description("1.png") + tags.format("heading") + layout("one", refs='TAGREFS="T"')
        + description("2.png", "inch1200") + tags.format("caption")
        + layout("two", 'WIDTH="1200" HEIGHT="1200"', refs='TAGREFS="T"')
        + layout("three", refs='TAGREFS="T"')
    )  # fmt: skip
    assert [page.segments[0].kind_raw for page in pages] == [
        "TextBlock:heading", "TextBlock:caption", "TextBlock:caption",
    ]  # fmt: skip
    assert [page.image for page in pages] == ["1.png", "2.png", "2.png"]
    assert (pages[1].width, pages[1].lines()[0].points[2]) == (300, (8, 3))


def test_repeated_elements_before_a_layout_are_preserved_and_noted() -> None:
    (page,) = read(description("1.png") + description("2.png") + layout("one"))
    assert page.image == "1.png"
    assert page.kept["element alto/Description"] == 1
    (page,) = read(layout("one") + description("1.png"))
    assert page.image == "1.png"


def test_its_pages_find_their_pictures(engine: Engine, library: Library) -> None:
    one = description("1.png") + layout("one") + description("2.png") + layout("two")
    file = f"<alto {SPACE}>{one}{layout('three')}</alto>".encode()
    answer = send(
        engine, library, {"1.png": picture(grey=1), "2.png": picture(grey=2), "alto/book.xml": file}
    )
    assert sorted(page_pass["file"] for page_pass in answer["passes"]) == ["alto/book.xml", "alto/book.xml"]
    assert set(list_pairs(answer).values()) <= {"1.png", "2.png"}
    assert len({page_pass["document_id"] for page_pass in answer["passes"]}) == 2
    ((unpaired),) = answer["unpaired"]
    assert unpaired == {
        "file": "alto/book.xml, page 3",
        "why": "Page 2 of the file belongs to 2.png, which it also names for this one.",
    }
