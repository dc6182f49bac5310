"""A part of an image, decoded no further down than it goes. What is refused elsewhere is refused here too."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, BinaryIO, Final, cast

if TYPE_CHECKING:
    from PIL import Image, ImageFile

_BELOW: Final = 32
"""Rows decoded below the part: the colours of a row are smoothed with those of the next, 16 rows off at most."""

_WATCHED: Final = 8
_MARKERS: Final = 200
"""Marker segments looked through for the size of a JPEG."""

_SEQUENTIAL: Final = (0xC0, 0xC1)
_NO_FRAME: Final = (0xC4, *range(0xDB, 0xFF))
"""Segments before the picture's data: tables, restart interval, application data, words."""

_SCAN: Final = 0xDA


class _Enough(Exception):
    """The rows that were asked for are decoded."""


class PartialFile(io.RawIOBase):
    """A file that is read through, but for the height it states, until the wanted rows are found decoded."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._image: ImageFile.ImageFile | None = None
        self._rows = 0
        self._height: tuple[int, bytes] | None = None

    def shorten(self, rows: int) -> bool:
        """Let a JPEG that is coded from the top down state *rows* as its height; False where it is no such file."""
        at = _height_of_jpeg(self._file)
        if at is not None:
            self._height = at, rows.to_bytes(2, "big")
        self._file.seek(0)
        return at is not None

    def watch(self, image: ImageFile.ImageFile, rows: int) -> None:
        self._image, self._rows = image, rows

    def read(self, size: int = -1) -> bytes:
        if self._image is not None and self._decoded(self._image):
            raise _Enough
        at = self._file.tell()
        data = self._file.read(size)
        if self._height is None or at >= self._height[0] + 2 or at + len(data) <= self._height[0]:
            return data
        place, stated = self._height[0] - at, self._height[1]
        changed = bytearray(data)
        for number in (0, 1):
            if 0 <= place + number < len(changed):
                changed[place + number] = stated[number]
        return bytes(changed)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def _decoded(self, image: ImageFile.ImageFile) -> bool:
        """Whether something stands below the rows. A page that is black there is read on: nothing is guessed."""
        try:
            pixels = image.im
        except AssertionError:  # nothing is decoded yet
            return False
        below = (
            pixels.crop((0, self._rows, image.width, self._rows + _WATCHED)) if pixels is not None else None
        )
        return below is not None and below.getbbox() is not None


def part_of(
    image: ImageFile.ImageFile, file: PartialFile, box: tuple[int, int, int, int], *, shrunk: bool
) -> Image.Image:
    """The pixels of *image* in *box* (left, top, right, bottom; made to fit), which reads from *file*."""
    left, top = max(0, min(box[0], image.width - 1)), max(0, min(box[1], image.height - 1))
    right = max(left + 1, min(box[2], image.width))
    bottom = max(top + 1, min(box[3], image.height))
    # A decoder writes rows from the top down in these two, unless they come in passes: then all of it is read.
    if image.format in ("JPEG", "PNG") and bottom + _BELOW < image.height:
        # A picture that ends sooner is all that is decoded, and all that takes memory.
        if image.format == "JPEG" and not shrunk and file.shorten(bottom + _BELOW):
            image = type(image)(cast("BinaryIO", file), "")
        file.watch(image, bottom)
    try:
        image.load()
    except _Enough:
        image.tile = []  # nothing more is to be decoded into it
    return image.crop((left, top, right, bottom))


def _height_of_jpeg(file: BinaryIO) -> int | None:
    """Where a JPEG states its height; None unless it is plain, sequential, and has all its colours in one scan."""
    at, found, colours = 2, None, 0
    for _ in range(_MARKERS):
        file.seek(at)
        head = file.read(10)
        if len(head) < 10 or head[0] != 0xFF:
            return None
        if head[1] == _SCAN:
            return found if head[4] == colours else None
        if head[1] in _SEQUENTIAL:
            found, colours = at + 5, head[9]
        elif head[1] not in _NO_FRAME:
            return None
        at += 2 + int.from_bytes(head[2:4], "big")
    return None
