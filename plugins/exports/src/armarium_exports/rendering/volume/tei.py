"""TEI of many pages: a corpus within a corpus for each folder and document."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, BinaryIO

from armarium_exports.rendering.corpus import TEI, corpus_header, corpus_page
from armarium_exports.rendering.volume.parts import Heading

if TYPE_CHECKING:
    from lxml import etree


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
