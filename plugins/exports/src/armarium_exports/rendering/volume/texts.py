"""Plain text and Markdown of many pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from armarium_documents.api import PageImage
from armarium_exports.pages import ReadablePage
from armarium_exports.rendering.texts import escape_markdown, markdown_page, one_line, plain_page
from armarium_exports.rendering.volume.parts import NOT_READ, Heading


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
        said = "".join(f"[{number}] {one_line(note)}\n" for number, note in enumerate(notes, 1))
        self._put(f"\f[{one_line(page.title)}]\n\n{text}{said and chr(10)}{said}")

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
        said = "\n\n".join(escape_markdown(one_line(one)) for one in about)
        self._put(f"\n---\n\n{said}\n")
