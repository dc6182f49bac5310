"""Opens PDF files with PDFium, once for all their pages: their sizes. What they contain is looked at in a worker process.

A page's frame is that of its picture: upright, cropped to its CropBox, in pixels from the top left.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from armarium.api import Invalid, ServiceError
from armarium_documents.text_layers import TextLine, Word, lines_from

if TYPE_CHECKING:
    from PIL import Image

PDF_DPI: Final = 300
"""Resolution at which a PDF's pages are pictured; enough for an OCR engine, and print scans are rarely finer."""

MAX_PAGE_PIXELS: Final = 25_000_000
"""A page pictured from a PDF has at most so many pixels; a larger sheet is pictured coarser. A3 at 300 dpi has 17
million; with five bytes each while it is drawn, a page takes 125 MB at most, whatever size its file states."""

LONGEST_JPEG: Final = 65_500
"""Pixels on a side that the JPEG encoder takes; a longer scroll is kept as PNG."""

MAX_SHEET: Final = 144_000
"""Points of a side: 50 metres, ten times what PDF allows without a unit of its own. A drawing of what states more fills the memory."""

PAGE_SECONDS: Final = 120.0
"""Of processor time that one page may take."""

PAGE_MEMORY: Final = 2 << 30
"""Bytes that one page may take, its picture and the scans in it included."""

DRAWING: Final = "armarium_documents.pdf_drawing:PdfDrawing"

CallWorker = Callable[[str | None, str, str, Mapping[str, Any]], dict[str, Any]]
"""`JobContext.call_worker`, or `workers.call_light` of the engine: runtime, worker, method, parameters."""

_pdfium = threading.Lock()
"""PDFium may be used by one thread at a time."""


def _has_no_page(path: Path) -> bool:
    """Return whether PDFium refuses a file without saying why, as it does where it finds no page.

    Its last error is then still that of whatever it refused before: here of a file that is not there.
    """
    from pypdfium2 import raw

    raw.FPDF_LoadDocument(b"", None)
    raw.FPDF_LoadDocument(str(path).encode(), None)
    return bool(raw.FPDF_GetLastError() == raw.FPDF_ERR_FILE)


class OpenedPdf:
    """An opened PDF, for use in a `with` statement. Raises Invalid (`pdf_damaged`, `pdf_empty`)."""

    def __init__(self, path: Path) -> None:
        import pypdfium2

        self._path = str(path)
        self._labels: list[str] | None = None
        with _pdfium:
            try:
                self._document = pypdfium2.PdfDocument(path)
            except pypdfium2.PdfiumError as error:
                if _has_no_page(path):
                    raise Invalid(
                        "The file is a PDF without pages. Export it again from the program that made it.",
                        code="pdf_empty",
                    ) from None
                words = "it requires a password" if "assword" in str(error) else "it is damaged or truncated"
                raise Invalid(
                    f"The file is a PDF that cannot be opened: {words}.", code="pdf_damaged"
                ) from None
            self.pages: int = len(self._document)

    def __enter__(self) -> OpenedPdf:
        return self

    def __exit__(self, *_: object) -> None:
        with _pdfium:
            self._document.close()

    def size(self, index: int) -> tuple[int, int]:
        """Return the width and height of a page's picture. Raises Invalid for a page that is not there, and one of no or
        an absurd size.
        """
        width, height = self._points(index)
        scale = _scale(index, width, height)
        return math.ceil(width * scale), math.ceil(height * scale)

    def label(self, index: int, call: CallWorker) -> str | None:
        """Return the page's own number in the document (iv, 12), if it has one; None if the file's numbers cannot be read."""
        if self._labels is None:
            try:
                self._labels = self._call(call, "labels", 0, {})["labels"]
            except Invalid:
                self._labels = [""] * self.pages
        return self._labels[index] or None

    def picture(self, index: int, call: CallWorker) -> tuple[Image.Image, float]:
        """Return a page's picture and its resolution in dots per inch. Raises Invalid."""
        from PIL import Image

        scale = _scale(index, *self._points(index))
        drawn = self._call(call, "picture", index, {"scale": scale})
        image = Image.frombuffer(
            drawn["mode"], tuple(drawn["size"]), drawn["binary"], "raw", drawn["mode"], 0, 1
        )
        return image, scale * 72

    def text_layer(self, index: int, call: CallWorker) -> list[TextLine]:
        """Return the lines of a page's own text, visible or not, in the order of the file; empty if it has none. Raises
        Invalid.
        """
        width, height = self.size(index)
        read = self._call(call, "words", index, {"width": width, "height": height})
        # What is no word is a line break.
        words: list[Word | Literal["\n"]] = [
            "\n" if isinstance(word, str) else Word(word[0], tuple(word[1])) for word in read["words"]
        ]
        return lines_from(words, width, height)

    def _points(self, index: int) -> tuple[float, float]:
        import pypdfium2

        with _pdfium:
            try:
                width, height = self._document.get_page_size(index)
            except pypdfium2.PdfiumError:
                raise Invalid(
                    f"Page {index + 1} of {self.pages} is not in the PDF, which only lists it: it is damaged or cut short. "
                    "Copy it again from the original, or print its other pages to a new PDF.",
                    code="pdf_damaged",
                ) from None
        return width, height

    def _call(self, call: CallWorker, method: str, index: int, params: Mapping[str, Any]) -> dict[str, Any]:
        """Have a worker process look at what the file contains: PDFium may crash on it, or not come to an end."""
        limits = {"seconds": PAGE_SECONDS, "memory": PAGE_MEMORY}
        try:
            answer = call(None, DRAWING, method, {"path": self._path, "index": index, **limits, **params})
        except ServiceError as error:
            if error.code != "worker_died":
                raise
            answer = {"refused": "the process that drew it ended"}
        if "refused" in answer:
            raise Invalid(f"Page {index + 1} cannot be rendered: {answer['refused']}.", code="pdf_damaged")
        return answer


def _scale(index: int, width: float, height: float) -> float:
    """Return how many pixels a point of this page becomes."""
    if width <= 0 or height <= 0:
        raise Invalid(f"Page {index + 1} has no size.", code="pdf_damaged")
    if max(width, height) > MAX_SHEET:
        raise Invalid(
            f"Page {index + 1} states a sheet of {width:.6g} x {height:.6g} points; no sheet is longer than "
            f"{MAX_SHEET:,}. Correct its MediaBox, or save it as a picture.",
            code="pdf_page_too_large",
        )
    scale = PDF_DPI / 72
    pixels = width * height * scale * scale
    if pixels > MAX_PAGE_PIXELS:
        scale *= (MAX_PAGE_PIXELS / pixels) ** 0.5
    # Slightly less, because sizes are rounded up: 900.0001 pixels become 900.
    return min(scale, LONGEST_JPEG / max(width, height)) * (1 - 1e-6)
