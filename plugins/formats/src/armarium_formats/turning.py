"""Rotates shapes that refer to a picture as stored, when its EXIF orientation rotates it."""

from __future__ import annotations

from dataclasses import replace

from armarium_formats.glyphs import drop_glyphs
from armarium_formats.opening import Size, are_alike
from armarium_formats.page_model import PageModel, PageSegment, Point
from armarium_source_model.api import Frame, LetterPlaces

_WORDS = {
    5: "turned and mirrored",
    6: "turned to the right",
    7: "turned and mirrored",
    8: "turned to the left",
}

TURN_UNKNOWN = (
    "The picture states that it is to be rotated or mirrored (EXIF), and the file's size is the same before "
    "and after; check whether the shapes fit."
)


def wants_turning(page: PageModel, picture: Size | None, orientation: int) -> bool:
    """Return whether a file's declared size is that of the picture before its EXIF rotation, not after.

    Only quarter turns change a size; for others nothing shows to which frame a file refers.
    """
    if orientation not in _WORDS or picture is None or not (page.width > 0 and page.height > 0):
        return False
    width, height = picture
    declared = page.width, page.height
    return are_alike(declared, (height, width)) and not are_alike(declared, picture)


def turn_point(at: Point, size: Size, orientation: int) -> Point:
    """Return where a pixel of the stored picture, which has *size*, is in the picture as displayed."""
    x, y = at
    width, height = size
    if orientation >= 5:
        x, y, width, height = y, x, height, width
    if orientation in (2, 3, 6, 7):
        x = width - x
    if orientation in (3, 4, 7, 8):
        y = height - y
    return x, y


def turn_page(page: PageModel, orientation: int) -> PageModel:
    """Return the page as displayed: shapes and size rotated with the picture, and a note."""
    width, height = page.width, page.height

    def point(at: Point) -> Point:
        return turn_point(at, (width, height), orientation)

    def segment(original: PageSegment) -> PageSegment:
        texts = [
            text if text.places is None else replace(text, places=turn_places(text.places))
            for text in original.texts
        ]
        turned = replace(
            original,
            points=[point(at) for at in original.points],
            baseline=[point(at) for at in original.baseline],
            children=[segment(child) for child in original.children],
            texts=texts,
        )
        drop_glyphs(turned)
        return turned

    def turn_places(places: LetterPlaces) -> LetterPlaces:
        (x, y), along, across = (point(places.frame.point(*part)) for part in ((0, 0), (1, 0), (0, 1)))
        return replace(places, frame=Frame(x, y, along[0] - x, along[1] - y, across[0] - x, across[1] - y))

    note = (
        f"The file's page has {width} x {height} pixels, those of the picture before it is "
        f"{_WORDS[orientation]} as it states (EXIF); the shapes were rotated with it."
    )
    return replace(
        page,
        width=height,
        height=width,
        segments=[segment(page_segment) for page_segment in page.segments],
        notes=[*page.notes, note],
    )


def leaves_open(page: PageModel, picture: Size | None, orientation: int) -> bool:
    """Return whether the picture has an EXIF orientation and the declared size is the same before and
    after.
    """
    if orientation == 1 or picture is None or not (page.width > 0 and page.height > 0):
        return False
    return orientation not in _WORDS or are_alike((page.width, page.height), (picture[1], picture[0]))


def has_shapes(page: PageModel) -> bool:
    """Return whether anything on the page has an outline or a baseline."""
    return any(segment.points or segment.baseline for segment in page.walk())
