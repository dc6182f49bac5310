"""Plain text, Markdown and TEI of many pages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, BinaryIO

from armarium_documents.api import PageImage
from armarium_exports.pages import ReadablePage
from armarium_exports.rendering.corpus import TEI, corpus_header, corpus_page
from armarium_exports.rendering.texts import escape_markdown, markdown_page, one_line, plain_page
from armarium_exports.rendering.volume.parts import NOT_READ, Heading

if TYPE_CHECKING:
    from lxml import etree


class PlainVolume:
    """A form feed and the folio label before each page, notes with numbers under it."""

    def __init__(self, title: str, into: BinaryIO) -> None:
        self._file = into
        self._put(f"{one_line(title)}\n{'=' * len(one_line(title))}\n")

    def heading(self, heading: Heading) -> None:
        self._put(f"\n{'#' * heading.level} {one_line(heading.title)}\n")

    def page(self, page: ReadablePage, depth: int, picture: PageImage | None) -> None:
        notes: list[str] = []
        text = plain_page(page, notes) if page.has_text else f"[{NOT_READ}]\n"
        footnotes = "".join(f"[{number}] {one_line(note)}\n" for number, note in enumerate(notes, 1))
        self._put(f"\f[{one_line(page.title)}]\n\n{text}{footnotes and chr(10)}{footnotes}")

    def finish(self, about: Sequence[str]) -> None:
        self._put("\f" + "\n".join(about) + "\n")

    def _put(self, text: str) -> None:
        self._file.write(text.encode("utf-8", "replace"))


class MarkdownVolume(PlainVolume):
    """Headings for folders, documents and pages; notes are footnotes."""

    def __init__(self, title: str, into: BinaryIO) -> None:
        self._file = into
        self._notes: list[str] = []
        self._put(f"# {escape_markdown(one_line(title))}\n")

    def heading(self, heading: Heading) -> None:
        self._put(f"\n{'#' * min(heading.level + 1, 5)} {escape_markdown(one_line(heading.title))}\n")

    def page(self, page: ReadablePage, depth: int, picture: PageImage | None) -> None:
        before = len(self._notes)
        parts = markdown_page(page, page.title, min(depth + 2, 6), self._notes)
        if not page.has_text:
            parts.append(f"*{NOT_READ}*")
        if len(self._notes) > before:
            parts.append("\n".join(self._notes[before:]))
        self._put("\n---\n\n" + "\n\n".join(parts) + "\n")

    def finish(self, about: Sequence[str]) -> None:
        text = "\n\n".join(escape_markdown(one_line(sentence)) for sentence in about)
        self._put(f"\n---\n\n{text}\n")


class TeiVolume:
    """The pages of a corpus, written before its header, which says what they are."""

    def __init__(self, title: str, into: BinaryIO) -> None:
        self._title, self._into, self._open, self._pages = title, into, 0, 0
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115

    def heading(self, heading: Heading) -> None:
        self._close(heading.level - 1)
        self._file.write(b"<teiCorpus>")
        self._write(corpus_header(heading.title, "A folder or document of the project."))
        self._open += 1

    def page(self, content: str, depth: int) -> None:
        """Write the TEI of a page that lies *depth* levels below the whole."""
        self._close(depth)
        self._pages += 1
        self._write(corpus_page(content, self._pages))

    def finish(self, about: Sequence[str]) -> None:
        from lxml import etree

        self._close(0)
        into = self._into
        into.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<teiCorpus xmlns="{TEI}">'.encode())
        into.write(etree.tostring(corpus_header(self._title, " ".join(about)), encoding="UTF-8"))
        self._file.seek(0)
        shutil.copyfileobj(self._file, into)
        into.write(b"</teiCorpus>\n")
        self._file.close()

    def _close(self, depth: int) -> None:
        while self._open > depth:
            self._file.write(b"</teiCorpus>")
            self._open -= 1

    def _write(self, element: etree._Element) -> None:
        from lxml import etree

        self._file.write(etree.tostring(element, encoding="UTF-8"))
