"""What an imported file contains: one picture, pages rendered one by one (multi-page TIFF, PDF), or a speech
recording.

Everything is opened through the guard; every refusal is an `Invalid` whose sentence does not name the file,
because the file is shown next to it.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from armarium.api import Invalid, Library, ObjectStore, image_info, open_image, open_plain
from armarium_documents.queries.files import THUMBNAIL_SIDE, thumbnail_path
from armarium_documents.recordings import recording_type

if TYPE_CHECKING:
    from PIL import Image

PDF_DPI = 300
"""Resolution at which a PDF's pages are pictured; enough for an OCR engine, and print scans are rarely finer."""

MAX_PAGE_PIXELS = 25_000_000
"""A page pictured from a PDF has at most so many pixels; a larger sheet is pictured coarser. A3 at 300 dpi has 17
million; with five bytes each while it is drawn, a page takes 125 MB at most, whatever size its file states."""

LONGEST_JPEG = 65_500
"""Pixels on a side that the JPEG encoder takes; a longer scroll is kept as PNG."""

MAX_SHEET = 144_000
"""Points of a side: 50 metres, ten times what PDF allows without a unit of its own. A drawing of what states more fills the memory."""

MAX_PAGES = 10_000
"""Pages of one file."""

JPEG_QUALITY = 92

_IT = "The file"
"""How a sentence calls the file it is about."""

_BAND = 256
"""Rows of a page that are looked at together."""

_pdfium = threading.Lock()
"""PDFium may be used by one thread at a time."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file copied into the object store, and what it contains. Sizes in pixels as displayed."""

    checksum: str
    size_bytes: int
    mime_type: str
    pages: int
    """0 for a single picture; else how many pages are to be pictured."""
    width: int | None = None
    height: int | None = None
    orientation: int = 1

    @property
    def is_pdf(self) -> bool:
        return self.mime_type == "application/pdf"

    @property
    def is_recording(self) -> bool:
        return self.mime_type.startswith("audio/")


@dataclass(frozen=True, slots=True)
class PagePicture:
    """One page of a file as a picture in the object store."""

    checksum: str
    size_bytes: int
    mime_type: str
    width: int
    height: int
    label: str | None
    made_by: str
    params: dict[str, Any]


def take_in(
    library: Library, path: Path, *, max_pixels: int, link: bool = False, within: Path | None = None
) -> SourceFile:
    """Examine the file at *path*, copy it into the object store, and return what it contains.

    The file is decoded once: a truncated or damaged picture is refused here, not when it is first shown.
    Raises Invalid with the reason, PathNotAllowed for a path that no caller may name, Unavailable when the
    project's disk is full. With *link* the file stays where it is. *within*: the engine's own folder into
    which it was received.
    """
    try:
        file = open_plain(path, library.is_closed, within=within)
    except FileNotFoundError:
        raise Invalid(f"{_IT} disappeared while it was being imported.", code="file_gone") from None
    with file:
        return _take_in(library, path, file, max_pixels, link)


def _take_in(library: Library, path: Path, file: BinaryIO, max_pixels: int, link: bool) -> SourceFile:
    """As `take_in`, reading only from the opened *file*, whatever *path* refers to by now."""
    before = _stamp(file)
    head = file.read(1024)
    if head.lstrip().startswith(b"%PDF") or (path.suffix.casefold() == ".pdf" and b"%PDF-" in head):
        pages = _pdf_pages(_rewound_path(file))
        checksum = _store(library.objects, path, file, before, link)
        return SourceFile(checksum, before[1], "application/pdf", pages)
    if (mime_type := recording_type(head)) is not None:
        checksum = _store(library.objects, path, file, before, link)
        return SourceFile(checksum, before[1], mime_type, 0)
    info = image_info(_rewound_path(file), max_pixels=max_pixels, name=_IT)
    if info.frames > 1:
        checksum = _store(library.objects, path, file, before, link)
        return SourceFile(checksum, before[1], info.mime_type, info.frames)
    image = open_image(
        _rewound_path(file),
        max_pixels=max_pixels,
        shrink_to=thumbnail_draft(info.width, info.height),
        name=_IT,
    )
    # Pillow applies the orientation itself when it decodes a TIFF; for other formats only the header states
    # it.
    width, height = image.size if info.format == "TIFF" else info.upright_size
    checksum = _store(library.objects, path, file, before, link)
    _draw_ahead(library, checksum, image)
    return SourceFile(checksum, before[1], info.mime_type, 0, width, height, info.orientation)


def _rewound_path(file: BinaryIO) -> Path:
    """Return a path through which the opened *file* is read from its beginning."""
    file.seek(0)
    return Path(f"/dev/fd/{file.fileno()}")


def _stamp(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return (status.st_mtime_ns, status.st_size)


def _store(objects: ObjectStore, path: Path, file: BinaryIO, before: tuple[int, int], link: bool) -> str:
    checksum = objects.link_file(path, digest_of(file)) if link else objects.put_file(_rewound_path(file))
    if _stamp(file) != before:
        raise Invalid(
            f"{_IT} changed while it was being imported. Import it again when it is complete.",
            code="file_changed",
        )
    return checksum


def digest_of(file: BinaryIO) -> str:
    """Return the checksum of *file*, as the object store names it."""
    file.seek(0)
    found = hashlib.sha256()
    while chunk := file.read(1 << 20):
        found.update(chunk)
    return found.hexdigest()


def _pdf_pages(path: Path) -> int:
    """Return the number of pages of a PDF; Invalid if it cannot be read."""
    with _pdfium:
        document = _open_pdf(path)
        try:
            pages = len(document)
        finally:
            document.close()
    if pages == 0:
        raise Invalid(f"{_IT} is a PDF without pages.", code="pdf_empty")
    if pages > MAX_PAGES:
        raise Invalid(
            f"{_IT} has {pages} pages; at most {MAX_PAGES} are imported from one file. Split it.",
            code="too_many_pages",
        )
    return pages


def _open_pdf(path: Path) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        words = "it requires a password" if "assword" in str(error) else "it is damaged or truncated"
        raise Invalid(f"{_IT} is a PDF that cannot be opened: {words}.", code="pdf_damaged") from None


def picture_page(library: Library, source: SourceFile, index: int, *, max_pixels: int) -> PagePicture:
    """Render page *index* (from 0) of a file in the object store, and store the picture there too.

    The same page always gives the same bytes, so that repeating it after a crash adds nothing.
    """
    path = library.objects.path(source.checksum)
    label: str | None = None
    if source.is_pdf:
        image, label, dpi = _pdf_page(path, index)
        made_by, params = "pdfium", {"page_index": index, "dpi": round(dpi)}
    else:
        image = open_image(path, frame=index, max_pixels=max_pixels, name=f"Page {index + 1}")
        made_by, params = "pillow", {"page_index": index}
    data, mime_type = _encode(image)
    checksum = library.objects.put_bytes(data)
    width, height = image.size
    _draw_ahead(library, checksum, image)
    return PagePicture(checksum, len(data), mime_type, width, height, label, made_by, params)


def _pdf_page(path: Path, index: int) -> tuple[Image.Image, str | None, float]:
    import pypdfium2

    with _pdfium:
        document = _open_pdf(path)
        try:
            page = document[index]
            width, height = page.get_size()
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
            scale = min(scale, LONGEST_JPEG / max(width, height))
            # Slightly less, because sizes are rounded up: 900.0001 pixels become 900. Four bytes a pixel, in
            # Pillow's own order, because Pillow uses PDFium's buffer directly only in that order: any other
            # is copied.
            bitmap = page.render(scale=scale * (1 - 1e-6), prefer_bgrx=True, rev_byteorder=True)
            image = bitmap.to_pil()
            label = document.get_page_label(index) or None
        except (pypdfium2.PdfiumError, ValueError, MemoryError) as error:
            raise Invalid(f"Page {index + 1} cannot be rendered: {error}.", code="pdf_damaged") from None
        finally:
            document.close()
    return _without_colour(image), label, scale * 72


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


def _encode(image: Image.Image) -> tuple[bytes, str]:
    """Encode as JPEG, or as PNG where JPEG would lose information (bilevel, palette, 16 bit, alpha) or is too
    small (a scroll of more than `LONGEST_JPEG`).
    """
    file = io.BytesIO()
    if image.mode in ("CMYK", "YCbCr", "LAB", "HSV"):
        image = image.convert("RGB")
    if image.mode in ("L", "RGB", "RGBX") and max(image.size) <= LONGEST_JPEG:
        image.save(file, "JPEG", quality=JPEG_QUALITY, subsampling=0)
        return file.getvalue(), "image/jpeg"
    kept = image if image.mode in ("1", "L", "P", "LA", "RGB", "RGBA", "I;16") else image.convert("L")
    kept.save(file, "PNG")
    return file.getvalue(), "image/png"


def _draw_ahead(library: Library, checksum: str, image: Image.Image) -> None:
    """Draw the thumbnail while the picture is decoded; if that fails, the job `thumbnails` reports why."""
    with suppress(OSError, ValueError):
        write_thumbnail(library, checksum, image)


def thumbnail_draft(width: int, height: int) -> tuple[int, int]:
    """Return the size at which a JPEG of *width* by *height* stored pixels may be decoded to draw its
    thumbnail.

    1.5 times the thumbnail, so that the final reduction is done by the better resampling filter.
    """
    scale = min(1.0, 1.5 * THUMBNAIL_SIDE / max(width, height))
    return max(1, int(width * scale)), max(1, int(height * scale))


def write_thumbnail(library: Library, checksum: str, image: Image.Image) -> tuple[int, int, int]:
    """Draw the thumbnail of a picture into the `derived` folder; return width, height, size in bytes."""
    import tempfile

    from PIL import Image, ImageOps

    target = thumbnail_path(library, checksum)
    small = image
    if max(image.size) > THUMBNAIL_SIDE:
        scale = THUMBNAIL_SIDE / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        if image.mode not in ("L", "RGB", "RGBX", "CMYK"):
            small = _flatten_image(image)
        small = small.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    if small.mode not in ("L", "RGB"):
        small = _flatten_image(small)
    small = ImageOps.exif_transpose(small)
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            small.save(file, "JPEG", quality=82, exif=b"")
            written = file.tell()
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return small.width, small.height, written


def _flatten_image(image: Image.Image) -> Image.Image:
    """Convert *image* to grey or RGB: transparent pixels become white, 16 bits become 8."""
    from PIL import Image

    if image.mode == "1":
        return image.convert("L")
    if image.mode.startswith("I") or image.mode == "F":
        extrema = image.getextrema()
        assert isinstance(extrema[1], int | float)
        scale = 255 / max(float(extrema[1]), 1.0)
        return image.point(lambda value: value * scale).convert("L")
    if image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info:
        paper = Image.new("RGBA", image.size, "white")
        paper.alpha_composite(image.convert("RGBA"))
        return paper.convert("RGB")
    return image.convert("RGB")
