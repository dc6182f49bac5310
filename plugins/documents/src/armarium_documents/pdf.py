"""Opens PDF files with PDFium, once for all their pages: the size and picture of a page, and the words of its text layer.

A page's frame is that of its picture: upright, cropped to its CropBox, in pixels from the top left.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from armarium.api import Invalid
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

MAX_CHARACTERS: Final = 200_000
"""Of one page's text layer; a folio of a newspaper has 60,000."""

_FINE: Final = 1_000_000
"""PDFium places points in whole units of a device: so many across a page make them fractions."""

_HYPHENS: Final = (0x02, 0xFFFE)
"""What PDFium makes of a hyphen at the end of a line."""

_BAND = 256
"""Rows of a page that are looked at together."""

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
        """Return the width and height of a page's picture. Raises Invalid for a page of no or an absurd size."""
        with _pdfium:
            width, height = self._document.get_page_size(index)
        scale = _scale(index, width, height)
        return math.ceil(width * scale), math.ceil(height * scale)

    def label(self, index: int) -> str | None:
        """Return the page's own number in the document (iv, 12), if it has one."""
        with _pdfium:
            return self._document.get_page_label(index) or None

    def picture(self, index: int) -> tuple[Image.Image, float]:
        """Return a page's picture and its resolution in dots per inch."""
        import pypdfium2

        with _pdfium:
            try:
                page = self._document[index]
                try:
                    scale = _scale(index, *page.get_size())
                    # Four bytes a pixel, in Pillow's own order, because Pillow uses PDFium's buffer directly
                    # only in that order: any other is copied.
                    bitmap = page.render(scale=scale, prefer_bgrx=True, rev_byteorder=True)
                    image = bitmap.to_pil()
                finally:
                    page.close()
            except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
                raise Invalid(f"Page {index + 1} cannot be rendered: {error}.", code="pdf_damaged") from None
        return _without_colour(image), scale * 72

    def text_layer(self, index: int) -> list[TextLine]:
        """Return the lines of a page's own text, visible or not, in the order of the file; empty if it has none."""
        import pypdfium2

        width, height = self.size(index)
        with _pdfium:
            try:
                page = self._document[index]
                try:
                    words = list(_words(page, width, height))
                finally:
                    page.close()
            except pypdfium2.PdfiumError:
                return []
        return lines_from(words, width, height)


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


def _words(page: Any, width: int, height: int) -> Iterator[Word | Literal["\n"]]:
    """Yield the words of a page, and a line break where PDFium sees one."""
    from ctypes import byref, c_int

    import pypdfium2.raw as pdfium

    textpage = page.get_textpage()
    text: list[int] = []
    box: list[float] = []

    def place_word() -> Word:
        """Turn the box into the page's frame: PDFium knows its rotation and CropBox."""
        x, y = c_int(), c_int()
        corners = []
        for left, top in ((box[0], box[3]), (box[2], box[1])):
            pdfium.FPDF_PageToDevice(page, 0, 0, _FINE, _FINE, 0, left, top, byref(x), byref(y))
            corners.append((x.value / _FINE * width, y.value / _FINE * height))
        (x0, x1), (y0, y1) = (sorted(side) for side in zip(*corners, strict=True))
        units = b"".join(code.to_bytes(4, "little") for code in text)
        # Half characters of UTF-16 come one by one.
        joined = units.decode("utf-32-le", "surrogatepass").encode("utf-16", "surrogatepass")
        return Word(joined.decode("utf-16", "replace"), (x0, y0, x1, y1))

    try:
        for number in range(min(textpage.count_chars(), MAX_CHARACTERS)):
            code = pdfium.FPDFText_GetUnicode(textpage, number)
            code = ord("-") if code in _HYPHENS else code
            character = chr(code)
            if character.isspace() or not code:
                if text:
                    yield place_word()
                    text.clear()
                if character in "\r\n":
                    yield "\n"
                continue
            left, bottom, right, top = textpage.get_charbox(number, loose=True)
            if text:
                box[:] = [min(box[0], left), min(box[1], bottom), max(box[2], right), max(box[3], top)]
            else:
                box[:] = [left, bottom, right, top]
            text.append(code)
        if text:
            yield place_word()
    finally:
        textpage.close()


def _without_colour(image: Image.Image) -> Image.Image:
    """Return *image* (RGBX) in grey if its three channels are equal, as in most scanned pages.

    Compared in bands: whole channels would take as much memory again.
    """
    from PIL import ImageChops

    for top in range(0, image.height, _BAND):
        red, green, blue, _ = image.crop((0, top, image.width, min(top + _BAND, image.height))).split()
        if ImageChops.difference(red, green).getbbox() or ImageChops.difference(red, blue).getbbox():
            return image
    return image.getchannel("R")
