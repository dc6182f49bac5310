"""What PDFium does with the content of a PDF, in a worker process: pictures of pages, words of text layers, numbers of pages.

A PDF of a few hundred bytes can make PDFium work without end and take all memory (a form that contains itself twice), or
crash it (numbers of pages that lead back to themselves). Here that costs a page and a process.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from PIL import Image

    from armarium_documents.text_layers import Word

MAX_CHARACTERS: Final = 200_000
"""Of one page's text layer; a folio of a newspaper has 60,000."""

_FINE: Final = 1_000_000
"""PDFium places points in whole units of a device: so many across a page make them fractions."""

_HYPHENS: Final = (0x02, 0xFFFE)
"""What PDFium makes of a hyphen at the end of a line."""

_BAND = 256
"""Rows of a page that are looked at together."""

_LOOK_SECONDS = 0.05
"""How often what a page takes is compared with what it may take."""

_TOO_MUCH = 71
"""The status with which the process ends when a page takes too much."""


class PdfDrawing:
    """The code that runs in the worker process. It keeps the file of the last call open for the next of its pages."""

    def __init__(self) -> None:
        self._path = ""
        self._document: Any = None

    @staticmethod
    def handlers(context: Any) -> dict[str, Any]:
        """Return the methods that the engine calls, each with path, index, seconds and memory."""
        drawing = PdfDrawing()
        return {"picture": drawing.picture, "words": drawing.words, "labels": drawing.labels}

    def picture(self, call: Any) -> dict[str, Any]:
        """Draw a page at `scale` pixels a point: mode and size, the raw pixels beside them; or `refused`, in words."""

        def draw(page: Any) -> dict[str, Any]:
            # Four bytes a pixel, in Pillow's own order, because Pillow uses PDFium's buffer directly
            # only in that order: any other is copied.
            bitmap = page.render(scale=call.params["scale"], prefer_bgrx=True, rev_byteorder=True)
            image = _without_colour(bitmap.to_pil())
            call.answer_binary = image.tobytes()
            return {"mode": image.mode, "size": image.size}

        return self._of_page(call, draw)

    def words(self, call: Any) -> dict[str, Any]:
        """Return the words of a page of `width` by `height` pixels, each with its box, and a break where PDFium sees one."""
        size = call.params["width"], call.params["height"]
        return self._of_page(call, lambda page: {"words": list(_words(page, *size))})

    def labels(self, call: Any) -> dict[str, Any]:
        """Return the number that the file gives each of its pages (iv, 12); empty where it gives none."""
        with _within_limits(call):
            document = self._document_at(call.params["path"])
            return {"labels": [document.get_page_label(index) for index in range(len(document))]}

    def _of_page(self, call: Any, work: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        import pypdfium2

        with _within_limits(call):
            try:
                page = self._document_at(call.params["path"])[call.params["index"]]
                try:
                    return work(page)
                finally:
                    page.close()
            except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
                return {"refused": str(error)}

    def _document_at(self, path: str) -> Any:
        import pypdfium2

        if path != self._path:
            if self._document is not None:
                self._document.close()
            self._path, self._document = "", None
            self._document, self._path = pypdfium2.PdfDocument(path), path
        return self._document


@contextmanager
def _within_limits(call: Any) -> Iterator[None]:
    """Answer for a page that takes more processor time or memory than it may, and end this process: nothing else stops PDFium."""
    import psutil

    process, over = psutil.Process(), threading.Event()
    seconds, memory = call.params["seconds"], call.params["memory"]
    since, held = time.process_time(), process.memory_info().rss

    def watch() -> None:
        while not over.wait(_LOOK_SECONDS):
            if time.process_time() - since > seconds:
                taken = f"more than {seconds:g} seconds of work"
            elif process.memory_info().rss - held > memory:
                taken = f"more than {memory >> 20:,} MiB of memory"
            else:
                continue
            call.send({"result": {"refused": f"it takes {taken}, which no page needs"}})
            os._exit(_TOO_MUCH)

    threading.Thread(target=watch, daemon=True, name="pdf-limits").start()
    try:
        yield
    finally:
        over.set()


def _words(page: Any, width: int, height: int) -> Iterator[Word | Literal["\n"]]:
    """Yield the words of a page, and a line break where PDFium sees one."""
    from ctypes import byref, c_int

    import pypdfium2.raw as pdfium

    from armarium_documents.text_layers import Word

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
