"""What an imported file contains: one picture, pages rendered one by one (multi-page TIFF, PDF), or a speech
recording.

Everything is opened through the guard; every refusal is an `Invalid` whose sentence does not name the file,
because the file is shown next to it.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from armarium.api import (
    Invalid,
    Library,
    ObjectStore,
    OpenedImage,
    flatten_image,
    image_info,
    open_image,
    open_pages,
    open_plain,
    replacing,
)
from armarium_documents.pdf import LONGEST_JPEG, CallWorker, OpenedPdf
from armarium_documents.queries.files import THUMBNAIL_SIDE, thumbnail_path
from armarium_documents.recordings import recording_type

if TYPE_CHECKING:
    from PIL import Image

MAX_PAGES = 10_000
"""Pages of one file."""

JPEG_QUALITY = 92

_IT = "The file"
"""How a sentence calls the file it is about."""


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
    opens_alike: bool = True
    """Whether other programs that open the file see this picture; if not, they are given a copy."""
    passed_over: int = 0
    """Thumbnails, smaller copies and masks in the file, which are not pages."""

    @property
    def notes(self) -> list[str]:
        """What was done with parts of the file, in sentences."""
        if not self.passed_over:
            return []
        fault = (
            "1 of its images is a smaller copy or a mask and no page"
            if self.passed_over == 1
            else (f"{self.passed_over} of its images are smaller copies or masks and no pages")
        )
        return [f"{fault}; the file is kept as it is."]

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
    """Like `take_in`, reading only from the opened *file*, whatever *path* refers to by now."""
    before = _stamp(file)
    head = file.read(1024)
    if head.lstrip().startswith(b"%PDF") or (path.suffix.casefold() == ".pdf" and b"%PDF-" in head):
        pages = _check_pdf(_rewound_path(file))
        checksum = _store(library.objects, path, file, before, link)
        return SourceFile(checksum, before[1], "application/pdf", pages)
    if (mime_type := recording_type(head)) is not None:
        checksum = _store(library.objects, path, file, before, link)
        return SourceFile(checksum, before[1], mime_type, 0)
    info = image_info(_rewound_path(file), max_pixels=max_pixels, name=_IT)
    if info.frames > 1:
        checksum = _store(library.objects, path, file, before, link)
        return SourceFile(checksum, before[1], info.mime_type, info.frames, passed_over=info.passed_over)
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
    return SourceFile(
        checksum,
        before[1],
        info.mime_type,
        0,
        width,
        height,
        info.orientation,
        info.opens_alike,
        info.passed_over,
    )


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
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def _check_pdf(path: Path) -> int:
    """Return the number of pages of a PDF; Invalid if it cannot be read, or a page has no possible size."""
    with OpenedPdf(path) as pdf:
        if pdf.pages > MAX_PAGES:
            raise Invalid(
                f"{_IT} has {pdf.pages} pages; at most {MAX_PAGES} are imported from one file. Split it.",
                code="too_many_pages",
            )
        return pdf.pages


class OpenedPages:
    """A file of several pages in the object store, opened once for all of them: their sizes and their pictures."""

    def __init__(self, source: SourceFile, opened: OpenedPdf | OpenedImage) -> None:
        self.source, self.opened = source, opened

    def size(self, index: int) -> tuple[int, int]:
        """Return the width and height that the picture of page *index* (from 0) has. Raises Invalid."""
        return self.opened.size(index)

    def label(self, index: int, call: CallWorker) -> str | None:
        """Return the number that the file gives a page (iv, 12), if any."""
        return self.opened.label(index, call) if isinstance(self.opened, OpenedPdf) else None

    def picture(self, library: Library, index: int, call: CallWorker) -> PagePicture:
        """Render page *index*, of a PDF in a worker process, and store its picture in the project.

        The same page always gives the same bytes, so that repeating it after a crash adds nothing.
        """
        params: dict[str, Any] = {"page_index": index}
        if isinstance(self.opened, OpenedPdf):
            image, dpi = self.opened.picture(index, call)
            params["dpi"] = round(dpi)
        else:
            image = self.opened.page(index)
        data, mime_type = _encode(image)
        checksum = library.objects.put_bytes(data)
        _draw_ahead(library, checksum, image)
        made_by = "pdfium" if self.source.is_pdf else "pillow"
        return PagePicture(
            checksum, len(data), mime_type, *image.size, self.label(index, call), made_by, params
        )


@contextmanager
def open_source_pages(library: Library, source: SourceFile, *, max_pixels: int) -> Iterator[OpenedPages]:
    """Open a PDF or a TIFF of several pages that is in the object store. Raises Invalid."""
    path = library.objects.path(source.checksum)
    if source.is_pdf:
        with OpenedPdf(path) as pdf:
            yield OpenedPages(source, pdf)
    else:
        with open_pages(path, max_pixels=max_pixels, name=_IT) as image:
            yield OpenedPages(source, image)


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
    converted = image if image.mode in ("1", "L", "P", "LA", "RGB", "RGBA", "I;16") else image.convert("L")
    converted.save(file, "PNG")
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

    from PIL import Image, ImageOps

    target = thumbnail_path(library, checksum)
    small = image
    if max(image.size) > THUMBNAIL_SIDE:
        scale = THUMBNAIL_SIDE / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        if image.mode not in ("L", "RGB", "RGBX", "CMYK"):
            small = flatten_image(image)
        small = small.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    if small.mode not in ("L", "RGB"):
        small = flatten_image(small)
    small = ImageOps.exif_transpose(small)
    with replacing(target) as beside:
        small.save(beside, "JPEG", quality=82, exif=b"")
        byte_size = beside.stat().st_size
    return small.width, small.height, byte_size


def draw_thumbnail(library: Library, checksum: str, name: str, max_pixels: int) -> tuple[int, int, int]:
    """Draw the thumbnail of the stored picture *checksum*, or of its reduced stand-in; return width, height, size in bytes.

    Raises NotFound where the package lacks the picture, Invalid where it cannot be opened; *name* is for its sentence.
    """
    small = library.objects.find_reduced(checksum)
    if small is None:
        library.objects.size(checksum)
    with nullcontext(small) if small else library.objects.hold_file(checksum) as stored:
        info = image_info(stored, max_pixels=max_pixels, name=name)
        draft = thumbnail_draft(info.width, info.height)
        return write_thumbnail(
            library, checksum, open_image(stored, shrink_to=draft, max_pixels=max_pixels, name=name)
        )
