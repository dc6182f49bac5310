"""Letters of one font as glyphs with their places, shaped by HarfBuzz; and these as ink."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import uharfbuzz
    from PIL import Image

Way = Literal["ltr", "rtl", "ttb"]
_PARTS = 64
"""Places are counted in parts of a pixel."""
_IGNORABLE = frozenset(
    map(chr, (0x00AD, 0x034F, 0x061C, 0x180B, 0x180C, 0x180D, 0x180E, 0x180F, *range(0x200B, 0x2010), 0x2060, *range(0xFE00, 0xFE10)))
)  # fmt: skip
"""What changes how other letters look and needs no picture of its own."""


def is_ignorable(char: str) -> bool:
    """Whether a character may be absent from a font that draws what stands around it."""
    return char in _IGNORABLE


def has_letters(path: str, letters: str) -> bool:
    """Whether a font has every character of *letters*; OSError where the file cannot be opened."""
    covered = _covered_letters(path)
    return all(ord(char) in covered for char in letters if char not in _IGNORABLE)


_COPYRIGHT, _LICENCE, _ADDRESS = 0, 13, 14
"""Entries of a font's table of names."""


def licence_in(path: str) -> str | None:
    """The copyright and licence that a font states of itself, where that is the SIL Open Font License; None otherwise."""
    face = _face(path)
    stated = [face.get_name(entry) or "" for entry in (_COPYRIGHT, _LICENCE, _ADDRESS)]
    return "\n\n".join(stated) + "\n" if "SIL Open Font License" in stated[1] else None


@dataclass(frozen=True)
class ShapedText:
    """Letters as glyphs: number, x and y of each in parts of a pixel from the pen's start, y upward."""

    path: str
    size: float
    glyphs: tuple[tuple[int, int, int], ...]
    length: float
    """Pixels that the pen moves: to the right, or downward where the letters stand below one another."""

    def draw(self, picture: Image.Image, x: float, y: float) -> None:
        """Add the letters to an ink mask, the pen starting at (x, y)."""
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
    """*text* in the font at *path*, *size* pixels high; letters join, stack and turn as their script asks."""
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
    """How many glyphs of *text* are the font's picture of a letter it lacks."""
    return sum(1 for number, _, _ in shape(path, 32, text, "ltr").glyphs if number == 0)


@lru_cache(maxsize=256)
def _face(path: str) -> uharfbuzz.Face:
    import uharfbuzz

    return uharfbuzz.Face(uharfbuzz.Blob.from_file_path(path))


@lru_cache(maxsize=256)
def _covered_letters(path: str) -> frozenset[int]:
    return frozenset(_face(path).unicodes)


@lru_cache(maxsize=64)
def _font(path: str, size: float) -> uharfbuzz.Font:
    import uharfbuzz

    font = uharfbuzz.Font(_face(path))
    font.scale = (round(size * _PARTS), round(size * _PARTS))
    return font
