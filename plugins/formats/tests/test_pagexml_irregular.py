"""Irregular PAGE files: odd names and namespaces, misplaced texts, other encodings; read completely, with
notes.
"""

from __future__ import annotations

import pytest
from dialects import PNS, page

from armarium_formats.api import PageModel, ReadContext
from armarium_formats.pagexml.driver import PageXml
from armarium_formats.pagexml.writer import write

COORDS = '<Coords points="10,10 400,10 400,400 10,400"/>'


def read(inner: str, **changes: str) -> PageModel:
    return PageXml().read(page(inner, **changes).encode(), ReadContext("a.xml"))[0]


def region(inner: str) -> str:
    return f'<TextRegion id="r">{COORDS}{inner}</TextRegion>'


def line(text: str, tag: str = "TextLine") -> str:
    return f'<{tag} id="l"><Coords points="20,20 300,20 300,60 20,60"/>{text}</{tag}>'


def texts(found: PageModel) -> list[str]:
    return [segment.text for segment in found.walk() if segment.kind == "line"]


def test_a_text_without_unicode_is_read_from_its_textequiv() -> None:
    found = read(region(line("<TextEquiv> bare text\n</TextEquiv>")))
    assert texts(found) == ["bare text"]
    assert found.notes == ["A text is in the TextEquiv itself, not in its Unicode."]


@pytest.mark.parametrize("name", ["Textline", "textline", "TEXTLINE"])
def test_a_name_in_other_letters_is_read_as_page_s_own(name: str) -> None:
    found = read(region(line("<textEquiv><unicode>words</unicode></textEquiv>", name)))
    assert texts(found) == ["words"]
    assert found.segments[0].children[0].points == [(20, 20), (300, 20), (300, 60), (20, 60)]
    assert found.notes == [f"The element {name} is not spelled as in PAGE; it is read as TextLine."]


def test_a_region_in_the_namespace_of_another_version_is_read() -> None:
    inner = region(line("<TextEquiv><Unicode>old</Unicode></TextEquiv>"))
    found = read(inner.replace("<TextRegion ", f'<TextRegion xmlns="{PNS}2013-07-15" ', 1))
    assert texts(found) == ["old"]
    assert "it is read as TextRegion" in found.notes[0]


def test_segments_in_unknown_elements_are_read_in_place() -> None:
    inside = f"<Paragraph>{COORDS}<!-- c --><g>{line('<TextEquiv><Unicode>deep</Unicode></TextEquiv>')}</g></Paragraph>"
    found = read(f"<Column>{region(inside)}</Column>{region('').replace('r', 'q', 0)}")
    assert [segment.id for segment in found.walk()] == ["r", "l", "r-2"]
    assert texts(found) == ["deep"]
    assert sum("as if they were in its place" in note for note in found.notes) == 3


def test_unknown_elements_without_segments_are_preserved() -> None:
    found = read(region("<Mood colour='blue'><label>calm</label></Mood>"))
    assert found.kept == {"element TextRegion/Mood": 1}
    assert found.segments[0].extras == {
        "pagexml": {"elements": ['<Mood colour="blue"><label>calm</label></Mood>']}
    }


def test_other_content_of_unknown_elements_with_segments_is_preserved() -> None:
    inside = f"<Column><Mood/><!-- c -->{line('<TextEquiv><Unicode>x</Unicode></TextEquiv>')}</Column>"
    found = read(region(inside))
    assert (texts(found), found.kept) == (["x"], {"element TextRegion/Mood": 1})
    assert found.segments[0].extras == {"pagexml": {"elements": ["<Mood/>"]}}


def test_the_indentation_of_the_file_is_no_part_of_a_text() -> None:
    inside = """
      <TextEquiv>
        <Unicode>
          a line
        </Unicode>
      </TextEquiv>"""
    found = read(region(line(inside)))
    assert texts(found) == ["a line"]
    assert found.notes == [
        "A text is indented as the elements of the file are; the line breaks and blanks around it were left out."
    ]
    kept = read(region(line("<TextEquiv>\n<Unicode> led  </Unicode></TextEquiv>")))
    assert (texts(kept), kept.notes) == ([" led  "], [])


def test_a_line_break_in_a_line_is_preserved_and_noted() -> None:
    found = read(region(line("<TextEquiv><Unicode>one\ntwo\n</Unicode></TextEquiv>")))
    assert texts(found) == ["one\ntwo\n"]
    assert found.notes == ["The text of a line or word has a line break in it."]


def test_the_text_of_a_region_keeps_its_line_breaks() -> None:
    found = read(region("<TextEquiv><Unicode>one\ntwo\n</Unicode></TextEquiv>"))
    assert (found.segments[0].text, found.notes) == ("one\ntwo\n", [])


def test_a_size_with_its_unit_is_a_size() -> None:
    found = read("", attributes='imageFilename="a.tif" imageWidth="500px" imageHeight="500.0"')
    assert (found.width, found.height, found.notes) == (500, 500, [])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_known_with_and_without_its_mark(encoding: str) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?>' + page(
        region(line("<TextEquiv><Unicode>ſœ</Unicode></TextEquiv>"))
    )
    data = text.encode(encoding)
    assert PageXml().sniff(data) == 1
    assert texts(PageXml().read(data, ReadContext("a.xml"))[0]) == ["ſœ"]


def test_repaired_names_are_written_as_in_page() -> None:
    from driver_case import CONTEXT

    found = read(f"<Column>{region(line('<TextEquiv>x</TextEquiv>', 'textline'))}</Column>")
    content = write(found, CONTEXT).content
    assert PageXml().validate(content) == []
    assert texts(PageXml().read(content.encode(), ReadContext("b.xml"))[0]) == ["x"]
