"""Word: a heading for each page, numbered lines, tables, and notes on unclear and restored passages."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import IO, Any, Protocol

from armarium_exports.pages import Line, ReadablePage
from armarium_exports.rendering.word_fonts import new_element, qualify, set_fonts
from armarium_source_model.api import words_by_line

_EPOCH = (1980, 1, 1, 0, 0, 0)
UNCHECKED = "Unchecked reading"
"""The character style of lines that no person made or checked: changed in Word in one place."""
_UNCHECKED_COLOUR = (0x6B, 0x4A, 0x1E)
_COUNT_BY = "5"
"""Every fifth line has its number in the margin."""


def word(title: str, pages: Sequence[ReadablePage]) -> bytes:
    """Return a .docx file; the same pages give the same bytes."""
    from docx.enum.section import WD_SECTION

    document = new_document(title)
    without_number(document.add_heading(sound(title), 0))
    for number, page in enumerate(pages):
        if number:
            document.add_section(WD_SECTION.NEW_PAGE)
        number_lines(document.sections[-1])
        notes = _NotesBelow()
        write_page(document, page, None if len(pages) == 1 and page.title == title else page.title, 1, notes)
        notes.write(document)
    set_fonts(document)
    file = io.BytesIO()
    document.save(file)
    out = io.BytesIO()
    copy_steady(file, out)
    return out.getvalue()


def new_document(title: str) -> Any:
    """Return an empty document with the style of unchecked lines."""
    import docx
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import RGBColor

    document = docx.Document()
    unchecked = document.styles.add_style(UNCHECKED, WD_STYLE_TYPE.CHARACTER)
    unchecked.font.color.rgb = RGBColor(*_UNCHECKED_COLOUR)
    about = document.core_properties
    about.title, about.author = sound(title)[:255], "Armarium"
    about.created = about.modified = datetime(1980, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    return document


class Notes(Protocol):
    """Where notes on a passage are written."""

    def refer(self, paragraph: Any, note: str) -> None:
        """Put the mark of *note* at the end of *paragraph*."""


class _NotesBelow:
    """Notes under the text of their page."""

    def __init__(self) -> None:
        self._notes: list[str] = []

    def refer(self, paragraph: Any, note: str) -> None:
        self._notes.append(note)
        paragraph.add_run(str(len(self._notes))).font.superscript = True

    def write(self, document: Any) -> None:
        if self._notes:
            without_number(document.add_paragraph("Notes", style="Heading 2"))
        for number, note in enumerate(self._notes, 1):
            without_number(document.add_paragraph(f"{number}  {sound(note)}"))


def write_page(into: Any, page: ReadablePage, title: str | None, level: int, notes: Notes) -> None:
    """Write a page to a document or a cell of a table: its *title* as a heading, its text, and who stands behind it."""
    if title is not None:
        without_number(into.add_paragraph(sound(title), style=f"Heading {level}"))
    for block in page.blocks:
        if block.rows is not None:
            _table(into, block.rows)
            continue
        for place, line in enumerate(block.lines):
            paragraph = into.add_paragraph(style="Heading 2" if block.is_heading else None)
            # A line of the page is a paragraph, since Word numbers its own line breaks; only the last one has
            # space below.
            if place < len(block.lines) - 1:
                paragraph.paragraph_format.space_after = 0
            _line(paragraph, line, notes)
    if makers := words_by_line([line.maker for line in page.lines]):
        closing = into.add_paragraph()
        closing.add_run(sound(f"{makers}.")).italic = True
        without_number(closing)


def _line(paragraph: Any, line: Line, notes: Notes) -> None:
    run = paragraph.add_run(sound(line.text))
    if line.maker is not None and not line.maker.by_person:
        run.style = UNCHECKED
    if line.is_rtl:
        _add(paragraph._p.get_or_add_pPr(), "w:bidi", before=("w:spacing", "w:sectPr"))
        run.font.rtl = True
    for note in line.notes:
        notes.refer(paragraph, note)


def _table(into: Any, rows: Sequence[Sequence[str]]) -> None:
    table = into.add_table(rows=len(rows), cols=len(rows[0]))
    table.style = "Table Grid"
    for table_row, row in zip(table.rows, rows, strict=True):
        for cell, text in zip(table_row.cells, row, strict=True):
            cell.text = sound(text)


def number_lines(section: Any) -> None:
    """Have Word number every fifth line, anew on each page."""
    properties = section._sectPr
    for old in properties.findall(qualify("w:lnNumType")):
        properties.remove(old)
    numbers = _add(properties, "w:lnNumType", before=("w:pgNumType", "w:cols", "w:titlePg", "w:docGrid"))
    numbers.set(qualify("w:countBy"), _COUNT_BY)
    numbers.set(qualify("w:restart"), "newPage")


def without_number(paragraph: Any) -> None:
    """Leave *paragraph* out of the count of lines."""
    properties = paragraph._p.get_or_add_pPr()
    element = new_element("w:suppressLineNumbers")
    after = properties.find(qualify("w:pStyle"))
    if after is None:
        properties.insert(0, element)
    else:
        after.addnext(element)


def _add(parent: Any, tag: str, before: Sequence[str] = ()) -> Any:
    """Insert a new element in *parent*, before the first of *before*: the schema prescribes the order."""
    element = new_element(tag)
    follower = next((child for name in before if (child := parent.find(qualify(name))) is not None), None)
    if follower is None:
        parent.append(element)
    else:
        follower.addprevious(element)
    return element


def sound(text: str) -> str:
    """Return *text* without characters that XML cannot contain."""
    return "".join(letter if letter in "\t\n" or (letter >= " " and letter not in "\ufffe\uffff" and not "\ud800" <= letter <= "\udfff") else "\ufffd" for letter in text)  # fmt: skip


def copy_steady(
    file: IO[bytes], into: IO[bytes], replaced: Mapping[str, Iterable[bytes]] | None = None
) -> None:
    """Write the same archive without the time at which it was packed, with other contents of the members *replaced*."""
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            with target.open(info, "w", force_zip64=True) as member:
                for piece in (replaced or {}).get(name) or (source.read(name),):
                    member.write(piece)
