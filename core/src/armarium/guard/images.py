"""Untrusted images: the size is read before anything is decoded, and a truncated image is never accepted as whole."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from armarium.errors import Invalid
from armarium.guard.parts import part_of
from armarium.guard.sources import length_of, name_of, open_source, plain
from armarium.guard.tiff import TiffDirectory, pages_among, read_directories

if TYPE_CHECKING:
    from PIL import Image, ImageFile

MAX_IMAGE_PIXELS: Final = 200_000_000
SUSPECT_PIXELS: Final = 40_000_000
MAX_PIXELS_A_BYTE: Final = 4_000
"""A photograph has 5 to 50 pixels per byte of file, a bilevel scan a few hundred, a bomb many thousands."""

IMAGE_FORMATS: Final = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "TIFF": "image/tiff",
    "WEBP": "image/webp",
    "JPEG2000": "image/jp2",
    "GIF": "image/gif",
    "BMP": "image/bmp",
    "AVIF": "image/avif",
    "HEIC": "image/heic",
}

TAKEN_IMAGES: Final = "a JPEG, PNG, TIFF, WebP, JPEG 2000, BMP, GIF, AVIF or HEIC image"
"""The pictures that are opened, for sentences."""


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What an image file's header says, read without decoding it. Width and height are stored pixels."""

    format: str
    width: int
    height: int
    frames: int = 1
    """Pages of a TIFF; its smaller copies (thumbnails, pyramids) and masks are none."""
    orientation: int = 1
    """EXIF orientation 1 to 8; with 5 to 8 width and height are swapped when the picture is upright."""
    passed_over: int = 0
    """Images of a TIFF that are not pages."""
    opens_alike: bool = True
    """Whether any program that opens the file sees this picture; false for HEIC, AVIF and a TIFF that begins with its thumbnail."""

    @property
    def mime_type(self) -> str:
        return IMAGE_FORMATS[self.format]

    @property
    def upright_size(self) -> tuple[int, int]:
        """Width and height after the orientation is applied."""
        return (self.height, self.width) if self.orientation >= 5 else (self.width, self.height)


def image_info(
    source: Path | str | bytes, *, max_pixels: int | None = None, name: str | None = None
) -> ImageInfo:
    """Return format, size, frames and orientation of an image from its header alone. Raises Invalid as `open_image`.

    Every page of a multi-page TIFF is counted; the size is that of the first.
    """
    name = name or name_of(source)
    with open_source(source, name) as file:
        return _identify(file, name, max_pixels or MAX_IMAGE_PIXELS)[0]


def open_image(
    source: Path | str | bytes,
    *,
    max_pixels: int | None = None,
    frame: int = 0,
    shrink_to: tuple[int, int] | None = None,
    box: tuple[int, int, int, int] | None = None,
    name: str | None = None,
) -> Image.Image:
    """Return one decoded frame of an image; raises Invalid.

    The size is read before anything is decoded; more than `max_pixels` (200 million by default) is refused, and so is a
    file that claims thousands of pixels for each of its bytes. A truncated or damaged file is refused, never filled
    with grey. `shrink_to` allows a JPEG to be decoded at 1/2, 1/4 or 1/8 of its size, not below the size given. EXIF
    orientation is not applied, except that TIFF pages come upright. `box` (left, top, right, bottom) selects a part of
    the (shrunk) picture, which is returned; a JPEG or PNG is decoded no further down than the box reaches.
    """
    name = name or name_of(source)
    with open_source(source, name) as file:
        opened = OpenedImage(file, name, max_pixels or MAX_IMAGE_PIXELS)
        if frame:
            return opened.page(frame)
        if shrink_to is not None and opened.info.format == "JPEG":
            opened.image.draft(None, shrink_to)
        return opened.decode_page(
            lambda image: image if box is None else part_of(image, file, box, shrink_to)
        )


@contextmanager
def open_pages(
    source: Path | str | bytes, *, max_pixels: int | None = None, name: str | None = None
) -> Iterator[OpenedImage]:
    """Open a TIFF once for all of its pages; see `open_image` for what is refused."""
    name = name or name_of(source)
    with open_source(source, name) as file:
        yield OpenedImage(file, name, max_pixels or MAX_IMAGE_PIXELS)


class OpenedImage:
    """An image file whose header was read: what it contains (`info`), and its pages one after the other."""

    def __init__(self, file: BinaryIO, name: str, limit: int) -> None:
        self._file, self._name, self._limit = file, name, limit
        self.info, self.image, self._pages = _identify(file, name, limit)

    def size(self, number: int) -> tuple[int, int]:
        """Return the stored width and height of page *number* (from 0), without decoding it. Raises Invalid."""
        if not 0 <= number < self.info.frames:
            raise Invalid(f"{self._name} has {self.info.frames} pages; page {number + 1} was asked for.")
        with self._refusing():
            self.image.seek(self._pages[number])
            _check_size(self._name, *self.image.size, self._limit, length_of(self._file) // self.info.frames)
            return self.image.size

    def page(self, number: int) -> Image.Image:
        """Return page *number* decoded; a TIFF's comes upright. Raises Invalid; the other pages can still be asked for."""
        self.size(number)
        try:
            return self.decode_page()
        except Invalid:
            # What the decoder left behind is not used again.
            self._file.seek(0)
            self.image = _identify(self._file, self._name, self._limit)[1]
            raise

    def decode_page(self, part: Callable[[Any], Image.Image] = lambda image: image) -> Image.Image:
        """Return *part* of the present page, decoded. Raises Invalid."""
        with self._refusing():
            whole = part(self.image)
            whole.load()
        # The present page of a file of several would be read later, when the file is closed.
        several = self.info.frames > 1 or self.info.passed_over or self.info.format in _HELD_OPEN
        return _in_native_order(whole.copy() if several and whole is self.image else whole)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn what a decoder raises on damaged bytes into a refusal."""
        try:
            yield
        except Invalid:
            raise
        except (OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError, ZeroDivisionError,
                struct.error, MemoryError, OverflowError, RuntimeError, Warning) as fault:  # fmt: skip
            raise Invalid(
                f"{self._name} is a damaged {self.info.format} image ({plain(fault)}); it is cut short or its data "
                "do not fit its header. Copy it again from the original.",
                code="image_damaged",
            ) from None


_HELD_OPEN: Final = ("WEBP", "AVIF", "HEIC")
"""Formats whose decoders keep the file."""


def _in_native_order(image: Image.Image) -> Image.Image:
    """Return an image with 16-bit samples in native byte order: Pillow cannot compute extrema of the other one."""
    return image.convert("I").convert("I;16") if image.mode in ("I;16B", "I;16L", "I;16N") else image


def _identify(file: BinaryIO, name: str, limit: int) -> tuple[ImageInfo, ImageFile.ImageFile, Sequence[int]]:
    """Return the header's information, the image (not yet decoded), and which of its frames are pages."""
    head = file.read(32)
    kind = image_kind(head)
    if kind is None:
        raise Invalid(f"{name} {_what_it_is(head)}; {TAKEN_IMAGES} was expected.", code="not_an_image")
    if kind == "WEBP" and head[12:16] == b"VP8X":
        wide = int.from_bytes(head[24:27], "little") + 1
        high = int.from_bytes(head[27:30], "little") + 1
        _check_size(name, wide, high, limit, length_of(file))  # the decoder allocates the canvas at once
    factory = _factories(limit)[kind] if kind not in _LATE else _late_factory(kind, name)
    file.seek(0)
    try:
        image: ImageFile.ImageFile = factory(file, "")
        directories = read_directories(file, name) if kind == "TIFF" else [TiffDirectory(0, 0, 0)]
        pages = pages_among(directories)
        if pages[0]:
            image.seek(pages[0])
        width, height = image.size
        _check_size(name, width, height, limit, length_of(file))
        info = ImageInfo(
            kind,
            width,
            height,
            len(pages),
            _orientation(kind, image),
            len(directories) - len(pages),
            kind not in _LATE and not pages[0],
        )
        return info, image, pages
    except Invalid:
        raise
    except Exception as fault:  # header parsers raise almost any exception on damaged bytes
        raise Invalid(
            f"{name} begins like a {kind} image, but its header cannot be read ({plain(fault)}). "
            "Copy it again from the original.",
            code="image_damaged",
        ) from None


def _check_size(name: str, width: int, height: int, limit: int, length: int) -> None:
    pixels = width * height
    if pixels <= 0:
        raise Invalid(
            f"{name} says that it is {width} by {height} pixels; it holds no picture.", code="image_empty"
        )
    if pixels > limit:
        raise Invalid(
            f"{name} is {width} by {height} pixels, {pixels:,} in all; at most {limit:,} are decoded "
            "(SERVICE_MAX_IMAGE_PIXELS).",
            code="image_too_large",
        )
    if pixels > SUSPECT_PIXELS and pixels > MAX_PIXELS_A_BYTE * length:
        raise Invalid(
            f"{name} claims {pixels / 1e6:.0f} million pixels in {length:,} bytes, more than any photograph or "
            "scan of a page; it looks like a decompression bomb and is not decoded.",
            code="image_bomb",
        )


def image_kind(head: bytes) -> str | None:
    """Return the name of the image format that the first 32 bytes of a file are of, or None."""
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        return "TIFF"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WEBP"
    if head.startswith((b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51")):
        return "JPEG2000"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if head.startswith(b"BM") and head[6:10] == bytes(4):
        return "BMP"
    if head[4:8] == b"ftyp":
        brands = {head[8:12], *(head[at : at + 4] for at in range(16, len(head), 4))}
        return "AVIF" if brands & {b"avif", b"avis"} else "HEIC" if brands & _HEIC_BRANDS else None
    return None


_HEIC_BRANDS: Final = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}


def _what_it_is(head: bytes) -> str:
    if not head:
        return "is empty (0 bytes)"
    if head.startswith(b"%PDF"):
        return "is a PDF, not an image"
    if head.startswith(b"PK\3\4"):
        return "is a ZIP archive, not an image"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(
        (b"<?xml", b"<!DOCTYPE", b"<html", b"<PcGts", b"<alto")
    ):
        return "is an XML or HTML text, not an image"
    if all(byte >= 32 or byte in b"\t\r\n" for byte in head):
        return "is a text, not an image, whatever its name ends with"
    return "is not an image that can be read"


_LATE: Final = ("AVIF", "HEIC")
"""Formats whose decoder may be missing."""


def _late_factory(kind: str, name: str) -> Any:
    """Return the class that opens an AVIF (Pillow 11.3) or a HEIC (the extra `heic`); Invalid where it is not installed."""
    try:
        if kind == "AVIF":
            from PIL.AvifImagePlugin import SUPPORTED, AvifImageFile

            if not SUPPORTED:
                raise ImportError
            return AvifImageFile
        from pi_heif import HeifImageFile

        return HeifImageFile
    except ImportError:
        what, install = (
            ("an AVIF picture", "pip install 'pillow>=11.3'")
            if kind == "AVIF"
            else ("a HEIC photograph, as iPhones take them", "pip install 'armarium-core[heic]'")
        )
        raise Invalid(
            f"{name} is {what}, which this installation cannot open. Export it as JPEG (or TIFF) and import that, or make "
            f"it readable with {install}.",
            code="image_decoder_missing",
        ) from None


_raising = threading.Lock()


def _factories(limit: int) -> dict[str, Any]:
    """Return the Pillow classes of the accepted formats, used directly so that no other format's parser sees the bytes.

    Pillow's own limit (a warning above it, an error above twice as much) is raised to ours and never lowered, so that a
    page this module accepted does not fail or warn in a later crop; ours is checked first.
    """
    from PIL import (
        BmpImagePlugin,
        GifImagePlugin,
        Image,
        Jpeg2KImagePlugin,
        JpegImagePlugin,
        PngImagePlugin,
        TiffImagePlugin,
        WebPImagePlugin,
    )

    with _raising:
        if Image.MAX_IMAGE_PIXELS is not None and limit > Image.MAX_IMAGE_PIXELS:
            Image.MAX_IMAGE_PIXELS = limit
    return {
        "JPEG": JpegImagePlugin.JpegImageFile,
        "PNG": PngImagePlugin.PngImageFile,
        "TIFF": TiffImagePlugin.TiffImageFile,
        "WEBP": WebPImagePlugin.WebPImageFile,
        "JPEG2000": Jpeg2KImagePlugin.Jpeg2KImageFile,
        "GIF": GifImagePlugin.GifImageFile,
        "BMP": BmpImagePlugin.BmpImageFile,
    }


def _orientation(kind: str, image: ImageFile.ImageFile) -> int:
    """Return the EXIF orientation from the header; a PNG is not decoded to find one behind its pixels."""
    if kind == "PNG" and "exif" not in image.info:
        return 1
    try:
        value = int(image.getexif().get(0x0112, 1))
    except Exception:  # a damaged EXIF block is ignored
        return 1
    return value if 1 <= value <= 8 else 1
