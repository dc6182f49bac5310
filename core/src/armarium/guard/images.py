"""Untrusted images: the size is read before anything is decoded, and a truncated image is never accepted as whole."""

from __future__ import annotations

import os
import struct
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from armarium.errors import Invalid
from armarium.guard.parts import part_of
from armarium.guard.sources import length_of, name_of, open_source, plain

if TYPE_CHECKING:
    from PIL import Image, ImageFile

MAX_IMAGE_PIXELS: Final = 200_000_000
MAX_FRAMES: Final = 10_000
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
}


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What an image file's header says, read without decoding it. Width and height are stored pixels."""

    format: str
    width: int
    height: int
    frames: int = 1
    orientation: int = 1
    """EXIF orientation 1 to 8; with 5 to 8 width and height are swapped when the picture is upright."""

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

    Every frame of a multi-page TIFF is counted; the size is that of the first.
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
    limit = max_pixels or MAX_IMAGE_PIXELS
    with open_source(source, name) as file:
        info, image = _identify(file, name, limit)
        try:
            if frame:
                if not 0 <= frame < info.frames:
                    raise Invalid(f"{name} has {info.frames} pages; page {frame + 1} was asked for.")
                image.seek(frame)
                _check_size(name, *image.size, limit, length_of(file) // info.frames)
            elif shrink_to is not None and info.format == "JPEG":
                image.draft(None, shrink_to)
            if box is not None:
                return _in_native_order(part_of(image, file, box, shrink_to))
            image.load()
        except Invalid:
            raise
        except (OSError, SyntaxError, ValueError, TypeError, KeyError, IndexError, EOFError, ZeroDivisionError,
                struct.error, MemoryError, OverflowError, RuntimeError, Warning) as fault:  # fmt: skip
            raise Invalid(
                f"{name} is a damaged {info.format} image ({plain(fault)}); it is cut short or its data do not "
                "fit its header. Copy it again from the original.",
                code="image_damaged",
            ) from None
        # A frame of a multi-page file would be read later, when the file is closed.
        return _in_native_order(image.copy() if info.frames > 1 or info.format == "WEBP" else image)


def _in_native_order(image: Image.Image) -> Image.Image:
    """Return an image with 16-bit samples in native byte order: Pillow cannot compute extrema of the other one."""
    return image.convert("I").convert("I;16") if image.mode in ("I;16B", "I;16L", "I;16N") else image


def _identify(file: BinaryIO, name: str, limit: int) -> tuple[ImageInfo, ImageFile.ImageFile]:
    """Return the header's information and the image, not yet decoded."""
    head = file.read(32)
    kind = _image_kind(head)
    if kind is None:
        raise Invalid(
            f"{name} {_what_it_is(head)}; a JPEG, PNG or TIFF image was expected.", code="not_an_image"
        )
    if kind == "WEBP" and head[12:16] == b"VP8X":
        wide = int.from_bytes(head[24:27], "little") + 1
        high = int.from_bytes(head[27:30], "little") + 1
        _check_size(name, wide, high, limit, length_of(file))  # the decoder allocates the canvas at once
    factory = _factories(limit)[kind]
    file.seek(0)
    try:
        image: ImageFile.ImageFile = factory(file, "")
        width, height = image.size
        _check_size(name, width, height, limit, length_of(file))
        frames = _count_frames(file, name, kind, image)
        return ImageInfo(kind, width, height, frames, _orientation(kind, image)), image
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


def _image_kind(head: bytes) -> str | None:
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
    if head.startswith(b"BM"):
        return "BMP"
    return None


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
    return "is no image that can be read"


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


def _count_frames(file: BinaryIO, name: str, kind: str, image: ImageFile.ImageFile) -> int:
    if kind != "TIFF":
        return 1  # of an animation only the first picture counts
    at = file.tell()
    try:
        return _count_tiff_pages(file, name)
    finally:
        file.seek(at)


def _count_tiff_pages(file: BinaryIO, name: str) -> int:
    """Count the pages of a TIFF by following its directories; a loop or an endless chain is refused."""
    file.seek(0)
    head = file.read(16)
    end = "<" if head[:2] == b"II" else ">"
    big = 43 in head[2:4]
    (offset,) = struct.unpack(end + ("Q" if big else "I"), head[8:16] if big else head[4:8])
    seen: set[int] = set()
    while offset:
        if offset in seen:
            raise Invalid(f"{name} is a TIFF whose pages point back at each other.", code="image_damaged")
        seen.add(offset)
        if len(seen) > MAX_FRAMES:
            raise Invalid(
                f"{name} is a TIFF of more than {MAX_FRAMES:,} pages. Split it.", code="image_too_large"
            )
        try:
            file.seek(offset)
            (entries,) = struct.unpack(end + ("Q" if big else "H"), file.read(8 if big else 2))
            file.seek(entries * (20 if big else 12), os.SEEK_CUR)
            (offset,) = struct.unpack(end + ("Q" if big else "I"), file.read(8 if big else 4))
        except (struct.error, OSError, OverflowError, ValueError):
            break  # the chain is cut short; decoding the page concerned reports it
    return max(1, len(seen))


def _orientation(kind: str, image: ImageFile.ImageFile) -> int:
    """Return the EXIF orientation from the header; a PNG is not decoded to find one behind its pixels."""
    if kind == "PNG" and "exif" not in image.info:
        return 1
    try:
        value = int(image.getexif().get(0x0112, 1))
    except Exception:  # a damaged EXIF block is ignored
        return 1
    return value if 1 <= value <= 8 else 1
