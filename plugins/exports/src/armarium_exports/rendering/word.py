"""Word: a heading for each page, numbered lines, tables, and notes on unclear and restored passages."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from armarium_exports.pages import Line, ReadablePage
from armarium_exports.rendering.word_fonts import set_fonts
from armarium_source_model.api import words_by_line

_EPOCH = (1980, 1, 1, 0, 0, 0)
UNCHECKED = "Unchecked reading"
"""The character style of lines that no person made or checked: changed in Word in one place."""
_UNCHECKED_COLOUR = (0x6B, 0x4A, 0x1E)
_COUNT_BY = "5"
"""Every fifth line has its number in the margin."""


def word(title: str, pages: Sequence[ReadablePage]) -> bytes:
    """Return a .docx file; the same pages give the same bytes."""
    import docx
    from docx.enum.section import WD_SECTION
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import RGBColor

    document = docx.Document()
    unchecked = document.styles.add_style(UNCHECKED, WD_STYLE_TYPE.CHARACTER)
    unchecked.font.color.rgb = RGBColor(*_UNCHECKED_COLOUR)
    about = document.core_properties
    about.title, about.author = _sound(title)[:255], "Armarium"
    about.created = about.modified = datetime(1980, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    _without_number(document.add_heading(_sound(title), 0))
    for number, page in enumerate(pages):
        if number:
            document.add_section(WD_SECTION.NEW_PAGE)
        _number_lines(document.sections[-1])
        _page(document, page, alone=len(pages) == 1 and page.title == title)
    set_fonts(document)
    file = io.BytesIO()
    document.save(file)
    return _steady(file.getvalue())


def _page(document: Any, page: ReadablePage, *, alone: bool) -> None:
    if not alone:
        _without_number(document.add_heading(_sound(page.title), 1))
    notes: list[str] = []
    for block in page.blocks:
        if block.rows is not None:
            _table(document, block.rows)
            continue
        for place, line in enumerate(block.lines):
            paragraph = document.add_paragraph(style="Heading 2" if block.is_heading else None)
            # A line of the page is a paragraph, since Word numbers its own line breaks; only the last one has
            # space below.
            if place < len(block.lines) - 1:
                paragraph.paragraph_format.space_after = 0
            _line(paragraph, line, notes)
    if made := words_by_line([line.maker for line in page.lines]):
        said = document.add_paragraph()
        said.add_run(_sound(f"{made}.")).italic = True
        _without_number(said)
    if notes:
        _without_number(document.add_heading("Notes", 2))
        for number, note in enumerate(notes, 1):
            _without_number(document.add_paragraph(f"{number}  {_sound(note)}"))


def _line(paragraph: Any, line: Line, notes: list[str]) -> None:
    run = paragraph.add_run(_sound(line.text))
    if line.maker is not None and not line.maker.by_person:
        run.style = UNCHECKED
    if line.is_rtl:
        _add(paragraph._p.get_or_add_pPr(), "w:bidi")
        run.font.rtl = True
    for note in line.notes:
        notes.append(note)
        paragraph.add_run(str(len(notes))).font.superscript = True


def _table(document: Any, rows: Sequence[Sequence[str]]) -> None:
    table = document.add_table(rows=len(rows), cols=len(rows[0]), style="Table Grid")
    for shown, row in zip(table.rows, rows, strict=True):
        for cell, text in zip(shown.cells, row, strict=True):
            cell.text = _sound(text)


def _number_lines(section: Any) -> None:
    properties = section._sectPr
    for old in properties.findall(_name("w:lnNumType")):
        properties.remove(old)
    numbers = _add(properties, "w:lnNumType", before=("w:pgNumType", "w:cols", "w:titlePg", "w:docGrid"))
    numbers.set(_name("w:countBy"), _COUNT_BY)
    numbers.set(_name("w:restart"), "newPage")


def _without_number(paragraph: Any) -> None:
    properties = paragraph._p.get_or_add_pPr()
    element = _element("w:suppressLineNumbers")
    after = properties.find(_name("w:pStyle"))
    if after is None:
        properties.insert(0, element)
    else:
        after.addnext(element)


def _add(parent: Any, tag: str, before: Sequence[str] = ()) -> Any:
    """Insert a new element in *parent*, before the first of *before*: the schema prescribes the order."""
    element = _element(tag)
    follower = next((one for name in before if (one := parent.find(_name(name))) is not None), None)
    if follower is None:
        parent.append(element)
    else:
        follower.addprevious(element)
    return element


def _element(tag: str) -> Any:
    from docx.oxml import OxmlElement

    return OxmlElement(tag)


def _name(tag: str) -> str:
    from docx.oxml.ns import qn

    return str(qn(tag))


def _sound(text: str) -> str:
    """Return *text* without characters that XML cannot contain."""
    return "".join(one if one in "\t\n" or (one >= " " and one not in "\ufffe\uffff" and not "\ud800" <= one <= "\udfff") else "\ufffd" for one in text)  # fmt: skip


def _steady(data: bytes) -> bytes:
    """Return the same archive without the time at which it was packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(info, given.read(name))
    return out.getvalue()
