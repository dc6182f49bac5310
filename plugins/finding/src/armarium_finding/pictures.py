"""What a page's thumbnail shows: how much ink there is, and a hash that is similar for similar pictures.
Stored once computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from armarium.api import Library, ServiceError, is_among, open_image
from armarium_documents.api import renditions, thumbnail_path, thumbnail_sources
from armarium_finding.models import pictures

SIDE = 64
"""The side of the square in which ink is measured, in pixels."""
BITS = 64


class Look(NamedTuple):
    """How dark a page is relative to its paper (0: bare paper, 1: black all over), and the hash of its picture."""

    ink: float
    hash: int


def bits_apart(first: Look, other: Look) -> int:
    """Return in how many of 64 bits two pictures differ: 0 for the same picture, about 32 for any two."""
    return (first.hash ^ other.hash).bit_count()


def look_of(path: Path) -> Look:
    """Return the look of the picture in a file; Invalid or OSError if it is not a picture."""
    import numpy
    from PIL import Image

    with open_image(path, shrink_to=(SIDE, SIDE)) as opened:
        small = opened.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
        slopes = numpy.asarray(small.resize((9, 8), Image.Resampling.BOX), dtype=numpy.int16)
        grey = numpy.asarray(small, dtype=numpy.float64)
    paper = float(numpy.percentile(grey, 90)) or 1.0
    rising = (slopes[:, 1:] > slopes[:, :-1]).ravel()
    ink = numpy.clip(1.0 - grey / paper, 0.0, 1.0).mean()
    return Look(float(ink), int("".join("1" if bit else "0" for bit in rising), 2))


def looks_of(library: Library, page_ids: Sequence[str]) -> dict[str, Look]:
    """Return the looks of the pages that have a thumbnail; missing ones are computed and stored."""
    with library.db.read() as conn:
        select_sources = thumbnail_sources.where(is_among(renditions.c.document_id, page_ids))
        colours = {row.document_id: row.checksum for row in conn.execute(select_sources)}
        rows = conn.execute(pictures.select().where(is_among(pictures.c.document_id, list(colours))))
        kept_looks = {row.document_id: (row.checksum, Look(row.ink, int(row.hash, 16))) for row in rows}
    looks = {page: look for page, (checksum, look) in kept_looks.items() if colours[page] == checksum}
    look_by_page: dict[str, Look] = {}
    for page_id, checksum in colours.items():
        if page_id not in looks:
            try:
                look_by_page[page_id] = look_of(thumbnail_path(library, checksum))
            except (OSError, ServiceError):
                # A missing thumbnail is made again by the family that makes them; until then it says nothing.
                continue
    if look_by_page:
        with library.db.write() as conn:
            conn.execute(pictures.delete().where(is_among(pictures.c.document_id, list(look_by_page))))
            conn.execute(
                pictures.insert(),
                [
                    {
                        "document_id": page,
                        "checksum": colours[page],
                        "hash": f"{look.hash:016x}",
                        "ink": look.ink,
                    }
                    for page, look in look_by_page.items()
                ],
            )
    return looks | look_by_page
