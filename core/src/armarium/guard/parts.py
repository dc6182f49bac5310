"""A part of an image, decoded no further down than it reaches. What is refused elsewhere is refused here too."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from armarium.guard.sources import length_of

if TYPE_CHECKING:
    from PIL import Image, ImageFile

_BELOW: Final = 32
"""Rows decoded below the part: chroma is smoothed across rows, at most 16 rows away."""

_WATCHED: Final = 8
_WHOLE_FILE: Final = 64 * 1024 * 1024
"""Bytes of a JPEG that are read into memory at once; of a larger one Pillow reads as much as it needs."""

_MARKERS: Final = 200
"""Marker segments searched for the size of a JPEG."""

_SEQUENTIAL: Final = (0xC0, 0xC1)
_NO_FRAME: Final = (0xC4, *range(0xDB, 0xFF))
"""Segments before the picture's data: tables, restart interval, application data, comments."""

_SCAN: Final = 0xDA
_END: Final = b"\xff\xd9"


class _EnoughRows(Exception):
    """Raised when the requested rows are decoded."""


class PartialFile(io.RawIOBase):
    """A file that is read through, except for the height it states, until the requested rows are decoded."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._image: ImageFile.ImageFile | None = None
        self._rows = 0
        self._height: tuple[int, bytes] | None = None
        self.scan = 0

    def shorten(self, rows: int) -> bool:
        """Make a top-down JPEG state *rows* as its height; return False where it is no such file."""
        frame = _frame_of_jpeg(self._file)
        if frame is not None:
            self._height, self.scan = (frame[0], rows.to_bytes(2, "big")), frame[1]
        self._file.seek(0)
        return frame is not None

    def restore(self) -> None:
        """Read the original file again, from its beginning."""
        self._height = None
        self._file.seek(0)

    def complete_jpeg(self) -> bytearray | None:
        """Return a shortened JPEG; None where it is truncated, or too large to be read at once."""
        self._file.seek(0)
        size = length_of(self._file)
        if self._height is None or size > _WHOLE_FILE:
            return None
        data = bytearray(size)
        place, height = self._height
        if cast("io.BufferedReader", self._file).readinto(data) < size or data.rfind(_END, self.scan) < 0:
            return None
        data[place : place + 2] = height
        return data

    def watch(self, image: ImageFile.ImageFile, rows: int) -> None:
        self._image, self._rows = image, rows

    def read(self, size: int = -1) -> bytes:
        if self._image is not None and self._has_rows_below(self._image):
            raise _EnoughRows
        at = self._file.tell()
        data = self._file.read(size)
        if self._height is None or at >= self._height[0] + 2 or at + len(data) <= self._height[0]:
            return data
        place, height = self._height[0] - at, self._height[1]
        changed = bytearray(data)
        for number in (0, 1):
            if 0 <= place + number < len(changed):
                changed[place + number] = height[number]
        return bytes(changed)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def _has_rows_below(self, image: ImageFile.ImageFile) -> bool:
        """Return whether anything was decoded below the rows. A page that is black there is read on rather than guessed
        at.
        """
        try:
            pixels = image.im
        except AssertionError:  # nothing is decoded yet
            return False
        below = (
            pixels.crop((0, self._rows, image.width, self._rows + _WATCHED)) if pixels is not None else None
        )
        return below is not None and below.getbbox() is not None


def part_of(
    image: ImageFile.ImageFile,
    file: BinaryIO,
    box: tuple[int, int, int, int],
    shrink_to: tuple[int, int] | None,
) -> Image.Image:
    """Return the pixels in *box* (left, top, right, bottom; clipped) of *image*, which was opened from *file*."""
    left, top = max(0, min(box[0], image.width - 1)), max(0, min(box[1], image.height - 1))
    right = max(left + 1, min(box[2], image.width))
    bottom = max(top + 1, min(box[3], image.height))
    box = (left, top, right, bottom)
    # These two are decoded from the top down unless progressive or interlaced; then the whole file is read.
    if image.format not in ("JPEG", "PNG"):
        image.load()
        return _crop(image, box)
    partial = PartialFile(file)
    # A picture that ends sooner is all that is decoded and allocated.
    height = min(bottom + _BELOW, image.height)
    if image.format == "JPEG" and shrink_to is None and partial.shorten(height):
        part = _part_of_jpeg(image, partial, box, height)
        if part is not None:
            return part
    partial.seek(0)
    image = type(image)(cast("BinaryIO", partial), "")
    if image.format == "JPEG" and shrink_to is not None:
        image.draft(None, shrink_to)
    if bottom + _WATCHED < image.height:
        partial.watch(image, bottom)
    try:
        image.load()
    except _EnoughRows:
        image.tile = []  # nothing more is decoded into it
    return _crop(image, box)


def _crop(image: ImageFile.ImageFile, box: tuple[int, int, int, int]) -> Image.Image:
    part = image.crop(box)
    part.format = image.format
    return part


def _part_of_jpeg(
    image: ImageFile.ImageFile, file: PartialFile, box: tuple[int, int, int, int], height: int
) -> Image.Image | None:
    """Return the part of a JPEG shortened to *height*, without Pillow's four bytes for each pixel above it; or None.

    Its pixels are the same. It does not detect truncated files, so those are left to Pillow.
    """
    import simplejpeg
    from PIL import Image

    data = file.complete_jpeg() if image.mode in ("L", "RGB") else None
    if data is None:
        return None
    try:
        _check_scan(data, file.scan)
        pixels = simplejpeg.decode_jpeg(data, "GRAY" if image.mode == "L" else "RGB", strict=False)
    except ValueError:
        # Damage above the part or below it: pixels could be filled with grey, so the whole file is decoded.
        file.restore()
        whole = type(image)(cast("BinaryIO", file), "")
        whole.load()
        return _crop(whole, box)
    if pixels.shape[:2] != (height, image.width):
        return None
    left, top, right, bottom = box
    part = pixels[top:bottom, left:right]
    picture = Image.fromarray(part[..., 0] if image.mode == "L" else part)
    picture.info = dict(image.info)
    picture.format = image.format
    return picture


def _check_scan(data: bytearray, scan: int) -> None:
    """Raise ValueError for a marker within the image data: the decoder would fill up with grey from there."""
    import numpy

    begin = scan + 2 + int.from_bytes(data[scan + 2 : scan + 4], "big")
    codes = numpy.frombuffer(data, numpy.uint8)[begin:]
    after = codes[numpy.flatnonzero(codes[:-1] == 0xFF) + 1]
    markers = after[(after != 0) & (after != 0xFF) & ((after < 0xD0) | (after > 0xD7))]
    if not markers.size or markers[0] != _END[1]:
        raise ValueError("a marker among the colours")


def _frame_of_jpeg(file: BinaryIO) -> tuple[int, int] | None:
    """Return where a JPEG states its height, and where its scan begins; None unless it is baseline or sequential with
    all components in one scan.
    """
    at, height_at, colours = 2, None, 0
    for _ in range(_MARKERS):
        file.seek(at)
        head = file.read(10)
        if len(head) < 10 or head[0] != 0xFF:
            return None
        if head[1] == _SCAN:
            return (height_at, at) if height_at is not None and head[4] == colours else None
        if head[1] in _SEQUENTIAL:
            height_at, colours = at + 5, head[9]
        elif head[1] not in _NO_FRAME:
            return None
        at += 2 + int.from_bytes(head[2:4], "big")
    return None
