"""Shapes letters of one font into positioned glyphs with HarfBuzz, and draws these."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import uharfbuzz
    from PIL import Image

Way = Literal["ltr", "rtl", "ttb"]
Outline = tuple[tuple[float, ...], ...]
_PARTS = 64
"""Positions are in fractions of a pixel."""
_PLACEHOLDER = 5
"""If more different letters than this share one picture, it is the picture of none of them."""
_IGNORABLE = frozenset(
    map(chr, (0x00AD, 0x034F, 0x061C, 0x180B, 0x180C, 0x180D, 0x180E, 0x180F, *range(0x200B, 0x2010), 0x2060, *range(0xFE00, 0xFE10)))
)  # fmt: skip
"""Characters that change how other letters look and need no glyph of their own."""


def is_ignorable(char: str) -> bool:
    """Return whether a font may lack a character and still draw the text around it."""
    return char in _IGNORABLE


def has_letters(path: str, letters: str) -> bool:
    """Return whether a font has every character of *letters*; OSError if the file cannot be opened."""
    covered = _covered_letters(path)
    return all(ord(char) in covered for char in letters if char not in _IGNORABLE)


_COPYRIGHT, _LICENCE, _ADDRESS = 0, 13, 14
"""Entries of a font's name table."""


def licence_in(path: str) -> str | None:
    """Return the copyright and licence that a font states, if that is the SIL Open Font License; None otherwise."""
    face = _face(path)
    texts = [face.get_name(entry) or "" for entry in (_COPYRIGHT, _LICENCE, _ADDRESS)]
    return "\n\n".join(texts) + "\n" if "SIL Open Font License" in texts[1] else None


@dataclass(frozen=True)
class ShapedText:
    """Letters as glyphs: number, x and y of each in fractions of a pixel from the pen's start, y upward."""

    path: str
    size: float
    glyphs: tuple[tuple[int, int, int], ...]
    length: float
    """How far the pen moves, in pixels: to the right, or downward for vertical text."""

    def draw(self, picture: Image.Image, x: float, y: float) -> None:
        """Draw the letters into an ink mask, with the pen starting at (x, y)."""
        import uharfbuzz
        from PIL import Image, ImageChops

        font = _font(self.path, self.size)
        drawer = uharfbuzz.RasterDraw()
        for number, right, up in self.glyphs:
            drawer.transform = (1 / _PARTS, 0, 0, 1 / _PARTS, x + right / _PARTS, up / _PARTS - y)
            drawer.draw_glyph(font, number)
        image = drawer.render()
        if image is None or not image.extents.width or not image.extents.height:
            return
        extents = image.extents
        size = extents.width, extents.height
        ink = Image.frombytes("L", size, bytes(image.buffer), "raw", "L", extents.stride, -1)
        left, top = extents.x_origin, -extents.y_origin - extents.height
        box = (left, top, left + extents.width, top + extents.height)
        picture.paste(ImageChops.lighter(picture.crop(box), ink), box[:2])


def shape(path: str, size: float, text: str, way: Way) -> ShapedText:
    """Shape *text* in the font at *path*, *size* pixels high; letters join, stack and turn as their script
    requires.
    """
    import uharfbuzz

    buffer = uharfbuzz.Buffer()
    buffer.add_str(text)
    buffer.direction = way
    buffer.guess_segment_properties()
    uharfbuzz.shape(_font(path, size), buffer)
    x = y = 0
    glyphs = []
    for info, place in zip(buffer.glyph_infos or (), buffer.glyph_positions or (), strict=True):
        glyphs.append((info.codepoint, x + place.x_offset, y + place.y_offset))
        x += place.x_advance
        y += place.y_advance
    return ShapedText(path, size, tuple(glyphs), (-y if way == "ttb" else x) / _PARTS)


def lacking(path: str, text: str) -> int:
    """Return how many glyphs of *text* are the font's picture of a missing letter."""
    return sum(1 for number, _, _ in shape(path, 32, text, "ltr").glyphs if number == 0)


@lru_cache(maxsize=256)
def _face(path: str) -> uharfbuzz.Face:
    import uharfbuzz

    return uharfbuzz.Face(uharfbuzz.Blob.from_file_path(path))


@lru_cache(maxsize=256)
def _covered_letters(path: str) -> frozenset[int]:
    """Return the characters for which a font has its own picture: one shared by many letters is a placeholder
    (Cardo draws most runes and all of Gothic so).
    """
    letters = frozenset(_face(path).unicodes)
    # Within 256 characters, that is, within one script: an I looks the same in several scripts and is an I in
    # each.
    pictures: dict[tuple[int, Outline], list[int]] = {}
    for code in letters:
        if unicodedata.category(chr(code))[0] in "LS" and unicodedata.east_asian_width(chr(code)) != "W":
            pictures.setdefault((code >> 8, _outline(path, code)), []).append(code)
    alike = (codes for (_, outline), codes in pictures.items() if outline and len(codes) >= _PLACEHOLDER)
    # One picture may stand for compatible letters, such as the forms of an Arabic one.
    placeholders = (
        codes
        for codes in alike
        if len({unicodedata.normalize("NFKC", chr(code)) for code in codes}) >= _PLACEHOLDER
    )
    return letters.difference(*placeholders)


def _outline(path: str, code: int) -> Outline:
    font = _font(path, 32)
    contours: list[tuple[float, ...]] = []
    number = font.get_nominal_glyph(code)
    if number:
        font.draw_glyph(number, _noting(), contours)
    return tuple(contours)


@lru_cache(maxsize=1)
def _noting() -> uharfbuzz.DrawFuncs:
    """Draw nothing; record the drawing calls in the given list."""
    import uharfbuzz

    pen = uharfbuzz.DrawFuncs()
    pen.set_move_to_func(lambda *at: at[-1].append(at[:-1]))
    pen.set_line_to_func(lambda *at: at[-1].append(at[:-1]))
    pen.set_quadratic_to_func(lambda *at: at[-1].append(at[:-1]))
    pen.set_cubic_to_func(lambda *at: at[-1].append(at[:-1]))
    pen.set_close_path_func(lambda contours: contours.append(()))
    return pen


@lru_cache(maxsize=64)
def _font(path: str, size: float) -> uharfbuzz.Font:
    import uharfbuzz

    font = uharfbuzz.Font(_face(path))
    font.scale = (round(size * _PARTS), round(size * _PARTS))
    return font
