"""Which of the images in a TIFF are pages: read from its directories, without decoding anything."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import BinaryIO, Final, NamedTuple

from armarium.errors import Invalid

MAX_FRAMES: Final = 10_000
SMALLER_COPY, MASK = 1, 4
"""Bits of a TIFF directory's NewSubfileType (TIFF 6.0, page 36) that make it no page: a reduced copy of another image, a
transparency mask."""


class TiffDirectory(NamedTuple):
    """What an image of a TIFF says of itself, as far as it tells whether it is a page."""

    kind: int
    """NewSubfileType."""
    width: int
    height: int


def read_directories(file: BinaryIO, name: str) -> list[TiffDirectory]:
    """Return what each image of a TIFF is, following its directories; a loop or an endless chain is refused."""
    at = file.tell()
    file.seek(0)
    head = file.read(16)
    end = "<" if head[:2] == b"II" else ">"
    big = 43 in head[2:4]
    (offset,) = struct.unpack(end + ("Q" if big else "I"), head[8:16] if big else head[4:8])
    directories: dict[int, TiffDirectory] = {}
    while offset:
        if offset in directories:
            raise Invalid(f"{name} is a TIFF whose pages point back at each other.", code="image_damaged")
        directories[offset] = TiffDirectory(0, 0, 0)
        if len(directories) > MAX_FRAMES:
            raise Invalid(
                f"{name} is a TIFF of more than {MAX_FRAMES:,} pages. Split it.", code="image_too_large"
            )
        try:
            file.seek(offset)
            (entries,) = struct.unpack(end + ("Q" if big else "H"), file.read(8 if big else 2))
            size = 20 if big else 12
            # Entries are sorted by tag: NewSubfileType (254), SubfileType (255), width and height are the first in use.
            first = file.read(size * min(entries, 4))
            values = {}
            for start in range(0, len(first), size):
                tag, form = struct.unpack_from(end + "HH", first, start)
                # A LONG, or a SHORT in the writers of some scanners.
                sign = {3: "H", 16: "Q"}.get(form, "I")
                (values[tag],) = struct.unpack_from(end + sign, first, start + (12 if big else 8))
            kind = values.get(254) or (SMALLER_COPY if values.get(255) == 2 else 0)
            directories[offset] = TiffDirectory(kind, values.get(256, 0), values.get(257, 0))
            file.seek(max(0, entries * size - len(first)), os.SEEK_CUR)
            (offset,) = struct.unpack(end + ("Q" if big else "I"), file.read(8 if big else 4))
        except (struct.error, OSError, OverflowError, ValueError):
            break  # the chain is cut short; decoding the page concerned reports it
    file.seek(at)
    return list(directories.values())


def pages_among(directories: Sequence[TiffDirectory]) -> Sequence[int]:
    """Return the numbers of the images that are pages; all of them where each says that it is a copy or a mask, and the
    first of a pyramid that does not say so: of three or more images each half as large as the one before.
    """
    sizes = [(directory.width, directory.height) for directory in directories]
    halved = [
        all(small in (large // 2, (large + 1) // 2) for small, large in zip(after, before, strict=True))
        for before, after in pairwise(sizes)
    ]
    if len(halved) > 1 and all(halved) and min(sizes[-1]) > 0:
        return range(1)
    pages = [
        number for number, directory in enumerate(directories) if not directory.kind & (SMALLER_COPY | MASK)
    ]
    return pages or range(max(1, len(directories)))
