"""Word of many pages: its content is written a page at a time, with footnotes, and the picture beside the text if wanted."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, BinaryIO

from armarium.api import open_image
from armarium_documents.api import PageImage
from armarium_exports.pages import ReadablePage
from armarium_exports.rendering.volume.parts import DEEPEST, NOT_READ, Heading
from armarium_exports.rendering.word import (
    copy_steady,
    new_document,
    number_lines,
    sound,
    without_number,
    write_page,
)
from armarium_exports.rendering.word_fonts import UsedFonts, carry_fonts, new_element, part_runs, qualify

_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_FOOTNOTES = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_WORDS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RULE = '<w:footnote w:type="{kind}" w:id="{at}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
_NOTE = (
    '<w:footnote w:id="{at}"><w:p><w:pPr><w:spacing w:after="0"/></w:pPr><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    '<w:footnoteRef/></w:r><w:r><w:rPr><w:sz w:val="18"/></w:rPr><w:t xml:space="preserve"> {text}</w:t></w:r></w:p></w:footnote>'
)
_LONGEST_SIDE = 1_500
"""Pixels of a facsimile: 180 per inch beside the text."""
_HEADING = 460_000
"""Height of a heading with the space around it, and of the line that ends a section: about half an inch (in EMU)."""


class WordVolume:
    """A section for each page, so that lines are counted anew; with *facsimile* in landscape, the picture left of the text."""

    def __init__(self, title: str, into: BinaryIO, *, facsimile: bool) -> None:
        self._into, self._facsimile, self._pages, self._used = into, facsimile, 0, UsedFonts()
        self._notes: list[str] = []
        self._folder = tempfile.TemporaryDirectory(prefix="armarium-word-")
        self._file = (Path(self._folder.name) / "body").open("w+b")
        self._document = new_document(title)
        self._body = self._document.element.body
        self._spaces = self._namespaces()
        self._pending: list[Heading] = []
        section = self._document.sections[0]
        number_lines(section)
        if facsimile:
            from docx.enum.section import WD_ORIENT

            section.orientation = WD_ORIENT.LANDSCAPE
            section.page_width, section.page_height = section.page_height, section.page_width
            half = section.top_margin // 2
            section.left_margin = section.right_margin = section.top_margin = section.bottom_margin = half
        without_number(self._document.add_heading(sound(title), 0))

    def heading(self, heading: Heading) -> None:
        self._pending.append(heading)

    def page(self, page: ReadablePage, depth: int, picture: PageImage | None) -> None:
        from docx.enum.section import WD_SECTION

        if self._pages:
            self._document.add_section(WD_SECTION.NEW_PAGE)
        self._pages += 1
        above = len(self._pending) + 1 + 2 * (self._pages == 1)
        for heading in self._pending:
            level = min(heading.level, DEEPEST)
            without_number(self._document.add_heading(sound(heading.title), level))
        self._pending = []
        level = min(depth, DEEPEST) + 1
        if picture is None or not self._facsimile:
            write_page(self._document, page, page.title, level, self)
            if not page.has_text:
                without_number(self._document.add_paragraph(NOT_READ))
        else:
            self._write_beside(page, level, picture, above)
        self._flush()

    def _write_beside(self, page: ReadablePage, level: int, picture: PageImage, above: int) -> None:
        without_number(self._document.add_paragraph(sound(page.title), style=f"Heading {level}"))
        left, right = self._document.add_table(rows=1, cols=2).rows[0].cells
        section = self._document.sections[-1]
        room = section.page_height - section.top_margin - section.bottom_margin
        tallest = max(room // 2, room - (above + 1) * _HEADING)
        self._draw(left.paragraphs[0].add_run(), picture, int(left.width * 0.97), tallest)
        write_page(right, page, None, level, self)
        if not page.has_text:
            right.add_paragraph(NOT_READ)
        right._tc.remove(right.paragraphs[0]._p)
        if right._tc[-1].tag != qualify("w:p"):
            right.add_paragraph()

    def _draw(self, run: Any, picture: PageImage, width: int, tallest: int) -> None:
        """Put a picture of the page, as small as it is shown, into *run*; at most *width* and *tallest*."""
        from docx.oxml.shape import CT_Inline
        from docx.shared import Length

        place = Path(self._folder.name) / f"{self._pages}.jpg"
        with open_image(picture.path, shrink_to=(_LONGEST_SIDE, _LONGEST_SIDE)) as image:
            rgb_image = image if image.mode in ("RGB", "L") else image.convert("RGB")
            rgb_image.thumbnail((_LONGEST_SIDE, _LONGEST_SIDE))
            rgb_image.save(place, "JPEG", quality=80)
            across, down = rgb_image.size
        related = self._document.part.relate_to(_stored_part(self._document, place), f"{_RELATED}/image")
        height = width * down // across
        if height > tallest:
            width, height = tallest * across // down, tallest
        run._r.add_drawing(
            CT_Inline.new_pic_inline(self._pages, related, place.name, Length(width), Length(height))
        )

    def refer(self, paragraph: Any, note: str) -> None:
        """Put the mark of a footnote at the end of *paragraph*."""
        self._notes.append(note)
        run = paragraph.add_run()
        run.font.superscript = True
        mark = new_element("w:footnoteReference")
        mark.set(qualify("w:id"), str(len(self._notes)))
        run._r.append(mark)

    def finish(self, about: Sequence[str]) -> None:
        from docx.enum.section import WD_SECTION

        self._document.add_section(WD_SECTION.NEW_PAGE)
        for sentence in about:
            without_number(self._document.add_paragraph(sound(sentence)))
        self._flush()
        carry_fonts(self._document, self._used)
        if self._notes:
            self._relate_notes()
        packed = Path(self._folder.name) / "packed"
        self._document.save(str(packed))
        with packed.open("rb") as file:
            copy_steady(file, self._into, {"word/document.xml": self._content()})
        self._file.close()
        self._folder.cleanup()

    def _content(self) -> Iterator[bytes]:
        from lxml import etree

        whole = etree.tostring(
            self._document.element, xml_declaration=True, encoding="UTF-8", standalone=True
        )
        before, body, after = whole.partition(b"<w:body>")
        yield before + body
        self._file.seek(0)
        while piece := self._file.read(1 << 20):
            yield piece
        yield after

    def _relate_notes(self) -> None:
        from docx.opc.packuri import PackURI
        from docx.opc.part import Part

        rules = _RULE.format(kind="separator", at=-1) + _RULE.format(kind="continuationSeparator", at=0)
        notes = "".join(
            _NOTE.format(at=at, text=escape(sound(note), quote=False))
            for at, note in enumerate(self._notes, 1)
        )
        data = f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<w:footnotes {_WORDS}>{rules}{notes}</w:footnotes>'
        part = Part(PackURI("/word/footnotes.xml"), _FOOTNOTES, data.encode(), self._document.part.package)
        self._document.part.relate_to(part, f"{_RELATED}/footnotes")

    def _namespaces(self) -> bytes:
        """Return the declarations that each element has which is written alone."""
        from lxml import etree

        probe = new_element("w:p")
        self._body.insert(0, probe)
        declared = etree.tostring(probe).removeprefix(b"<w:p").removesuffix(b"/>")
        self._body.remove(probe)
        return bytes(declared)

    def _flush(self) -> None:
        """Move what was written of the body to the file."""
        from lxml import etree

        part_runs(self._body, self._used)
        for child in list(self._body)[:-1]:
            self._file.write(etree.tostring(child).replace(self._spaces, b"", 1))
            self._body.remove(child)


def _stored_part(document: Any, place: Path) -> Any:
    """Return a picture as a part of the package that is read when the package is written."""
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    class StoredPart(Part):
        @property
        def blob(self) -> bytes:
            return place.read_bytes()

    return StoredPart(PackURI(f"/word/media/{place.name}"), "image/jpeg", None, document.part.package)
