"""Writes text into pictures with the fonts that come with Armarium, so that they look the same everywhere.

Roboto comes first, then the fonts of `armarium_fonts` for every script, then those installed on the machine; a
character that no font has becomes a hollow box.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from armarium_fonts import bidi, shaping
from armarium_fonts.bidi import letters_from_left as letters_from_left
from armarium_fonts.catalogue import BundledFont as BundledFont
from armarium_fonts.catalogue import bundled_fonts as bundled_fonts
from armarium_fonts.catalogue import fonts_for as fonts_for
from armarium_fonts.catalogue import pen_font as pen_font
from armarium_fonts.subsets import carried_font as carried_font
from armarium_fonts.subsets import font_faces as font_faces
from armarium_fonts.subsets import is_unusual as is_unusual

if TYPE_CHECKING:
    from PIL import Image, ImageFont


SYSTEM_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial Unicode.ttf")
_FINE = 44
"""Pillow rounds each glyph's width to whole pixels: smaller text is drawn at least this large, then reduced."""
_BOX = 0.6
"""Width of a hollow box, as a fraction of the size."""


@dataclass(frozen=True)
class _Run:
    """Adjacent characters in one font, from left to right on the picture; "" means no font."""

    path: str
    letters: tuple[str, ...]
    backward: bool

    @property
    def text(self) -> str:
        return "".join(self.letters)


class PictureFont:
    """A font for characters of one size (pixels) and one ``style``: the file of Roboto, such as "Regular" or "Medium".

    ``path`` names a font file to use before ours; raises OSError when it cannot be opened.
    """

    def __init__(self, size: float, style: str = "Regular", path: Path | str | None = None) -> None:
        self.size = size
        self._factor = max(1, math.ceil(_FINE / size))
        self._fine = size * self._factor
        paths = () if path is None else (str(path),)
        self._paths = (*paths, str(_our_fonts() / f"Roboto-{style}.ttf"))
        _open(self._paths[0], self._fine)

    def width(self, text: str) -> float:
        """Return the advance width of ``text`` in pixels."""
        return sum(self._advance(run) for run in self._runs(text)) / self._factor

    def mask(self, text: str) -> tuple[Image.Image, int, int]:
        """Return the text as an ink mask (white is ink), with the positions of its pen start and baseline in the mask."""
        from PIL import Image

        margin, baseline = math.ceil(self.size * 0.4), math.ceil(self.size * 1.35)
        runs = self._runs(text)
        width = math.ceil(sum(map(self._advance, runs)) / self._factor)
        size = (width + 2 * margin, baseline + math.ceil(self.size * 0.7))
        mask = Image.new("L", (size[0] * self._factor, size[1] * self._factor))
        x, y = float(margin * self._factor), float(baseline * self._factor)
        for run in runs:
            self._draw(run, mask, x, y)
            x += self._advance(run)
        return mask.reduce(self._factor), margin, baseline

    def column(self, text: str) -> tuple[Image.Image, int, int]:
        """Return the text written downward, as an ink mask with the positions of its pen start and its middle in the
        mask.

        Chinese, Japanese and Korean characters are stacked upright; all others, Mongolian too, lie on their side.
        """
        from PIL import Image

        pieces = []
        for upright, letters in groupby(_letters(text), _stands_upright):
            part = "".join(letters)
            pieces.append(self._standing(part) if upright else self._lying(part))
        margin = math.ceil(self.size * 0.4)
        width = max((picture.width for picture, _ in pieces), default=1)
        height = math.ceil(sum(length for _, length in pieces))
        mask = Image.new("L", (width, height + 2 * margin))
        y = 0.0
        for picture, length in pieces:
            _add(mask, picture, (width - picture.width) // 2, round(y))
            y += length
        return mask, margin, width // 2

    def write(
        self, picture: Image.Image, at: tuple[float, float], text: str, colour: tuple[int, int, int]
    ) -> None:
        """Write ``text`` into an RGB picture with its baseline starting ``at``."""
        mask, start, baseline = self.mask(text)
        picture.paste(colour, (round(at[0]) - start, round(at[1]) - baseline), mask)

    def write_down(
        self, picture: Image.Image, at: tuple[float, float], text: str, colour: tuple[int, int, int]
    ) -> None:
        """Write ``text`` downward into an RGB picture, with the middle of its column starting ``at``."""
        mask, start, middle = self.column(text)
        picture.paste(colour, (round(at[0]) - middle, round(at[1]) - start), mask)

    def height(self, text: str) -> float:
        """Return how far ``text`` reaches downward when it is written in a column, in pixels."""
        parts = groupby(_letters(text), _stands_upright)
        return sum(
            self._shaped_down(part) if upright else self.width(part)
            for upright, part in ((upright, "".join(letters)) for upright, letters in parts)
        )

    def _shaped_down(self, text: str) -> float:
        return sum(
            shaping.shape(path, self.size, part, "ttb").length if path else _BOX * self.size * len(part)
            for path, part in self._parts_of(text)
        )

    def _parts_of(self, text: str) -> list[tuple[str, str]]:
        """Return the stacked characters by font, in reading order."""
        letters = _letters(text)
        parts = groupby(zip(self._paths_of(letters), letters, strict=True), key=lambda pair: pair[0])
        return [(path, "".join(letter for _, letter in part)) for path, part in parts]

    def _standing(self, text: str) -> tuple[Image.Image, float]:
        """Draw stacked characters: return their picture, with a margin at both ends, and the advance of the pen."""
        from PIL import Image

        margin = math.ceil(self.size * 0.4)
        length = self._shaped_down(text)
        mask = Image.new("L", (math.ceil(2 * self.size), math.ceil(length) + 2 * margin))
        y = float(margin)
        for path, part in self._parts_of(text):
            if path:
                shaped = shaping.shape(path, self.size, part, "ttb")
                shaped.draw(mask, self.size, y)
                y += shaped.length
            else:
                for _ in part:
                    _draw_box(mask, 0.7 * self.size, y + 0.85 * self.size, self.size)
                    y += _BOX * self.size
        return mask, length

    def _lying(self, text: str) -> tuple[Image.Image, float]:
        """Draw a line turned a quarter clockwise, centred on the middle of the picture."""
        from PIL import Image

        mask, start, baseline = self.mask(text)
        turned = mask.transpose(Image.Transpose.ROTATE_270)
        middle = turned.width - (baseline - 0.3 * self.size)
        half = math.ceil(max(middle, turned.width - middle))
        centred = Image.new("L", (2 * half, turned.height))
        centred.paste(turned, (round(half - middle), 0))
        margin = math.ceil(self.size * 0.4)
        return centred, float(turned.height - start - margin)

    def _draw(self, run: _Run, mask: Image.Image, x: float, y: float) -> None:
        from PIL import ImageDraw

        if not run.path:
            for place in range(len(run.letters)):
                _draw_box(mask, x + place * _BOX * self._fine, y, self._fine)
        elif _is_ours(run.path):
            font = _open(run.path, self._fine)
            ImageDraw.Draw(mask).text((x, y), _for_pillow(run), font=font, fill=255, anchor="ls")
        else:
            self._shape(run).draw(mask, x, y)

    def _advance(self, run: _Run) -> float:
        if not run.path:
            return _BOX * self._fine * len(run.letters)
        if _is_ours(run.path):
            return float(_open(run.path, self._fine).getlength(_for_pillow(run)))
        return self._shape(run).length

    def _shape(self, run: _Run) -> shaping.ShapedText:
        return _shape(run.path, self._fine, run.text, run.backward)

    def _runs(self, text: str) -> list[_Run]:
        """Return the text as runs from left to right; a word is in one font where one has all of its characters."""
        letters = _letters(text)
        levels = bidi.levels(letters)
        paths = self._paths_of(letters)
        runs, run_levels = [], []
        for (level, path), group in groupby(
            zip(levels, paths, letters, strict=True), key=lambda entry: (entry[0], entry[1])
        ):
            runs.append(_Run(path, tuple(letter for _, _, letter in group), level % 2 == 1))
            run_levels.append(level)
        return [runs[place] for place in bidi.visual_order(run_levels)]

    def _paths_of(self, letters: Sequence[str]) -> list[str]:
        """Return the font file of each character, "" where none has it."""
        paths: list[str] = []
        for is_word, group in groupby(letters, lambda letter: letter[0].isalpha()):
            word = list(group)
            whole = self._path_of("".join(word)) if is_word and len(word) > 1 else ""
            paths += [whole or self._path_of(letter) for letter in word]
        # Characters between words of one font are drawn with it where it has them; those ours lack, with a neighbour's
        # font.
        last = 0
        for place in range(len(letters) + 1):
            if place < len(letters) and not letters[place][0].isalpha():
                continue
            before = paths[last - 1] if last else ""
            after = paths[place] if place < len(letters) else ""
            if (
                before
                and before == after
                and all(_has(before, char) for letter in letters[last:place] for char in letter)
            ):
                paths[last:place] = [before] * (place - last)
            for at in range(last, place):
                if paths[at] not in self._paths:
                    beside = (
                        path
                        for path in (before, after)
                        if path and all(_has(path, char) for char in letters[at])
                    )
                    paths[at] = next(beside, paths[at])
            last = place + 1
        return paths

    def _path_of(self, letters: str) -> str:
        paths = (*self._paths, *_fallbacks())
        return next((path for path in paths if all(_has(path, char) for char in letters)), "")


def _letters(text: str) -> list[str]:
    """Yield each character with its combining marks; tabs and line ends as blanks, other control characters left out."""
    letters: list[str] = []
    for char in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(char)
        if letters and (kind in ("Mn", "Mc", "Me") or (kind == "Cf" and shaping.is_ignorable(char))):
            letters[-1] += char
        elif kind not in ("Cc", "Cf") or char.isspace():
            # The narrow no-break space within a Mongolian word connects what it separates.
            letters.append(char if char == "\u202f" or not char.isspace() else " ")
    return letters


def _for_pillow(run: _Run) -> str:
    """Return what Pillow writes from left to right: it knows no direction, and no invisible characters."""
    letters: Iterable[str] = (
        reversed([_MIRRORED.get(letter, letter) for letter in run.letters]) if run.backward else run.letters
    )
    return "".join(char for letter in letters for char in letter if not shaping.is_ignorable(char))


_MIRRORED = dict(zip("()[]{}<>«»‹›", ")(][}{><»«›‹", strict=True))


def _stands_upright(letter: str) -> bool:
    """Return whether a character stays upright in a column: those of East Asia do."""
    return unicodedata.east_asian_width(letter[0]) in ("W", "F")


def _draw_box(mask: Image.Image, x: float, y: float, size: float) -> None:
    from PIL import ImageDraw

    edges = (x + 0.06 * size, y - 0.7 * size, x + 0.54 * size, y)
    ImageDraw.Draw(mask).rectangle(edges, None, 255, max(1, round(size / 14)))


def _add(mask: Image.Image, picture: Image.Image, x: int, y: int) -> None:
    from PIL import ImageChops

    box = (x, y, x + picture.width, y + picture.height)
    mask.paste(ImageChops.lighter(mask.crop(box), picture), box[:2])


@lru_cache(maxsize=50_000)
def _has(path: str, char: str) -> bool:
    return char == " " or shaping.has_letters(path, char)


@lru_cache(maxsize=2048)
def _shape(path: str, size: float, text: str, backward: bool) -> shaping.ShapedText:
    return shaping.shape(path, size, text, "rtl" if backward else "ltr")


@lru_cache(maxsize=32)
def _open(path: str, size: float) -> ImageFont.FreeTypeFont:
    """Open a font with Pillow's own layout engine, which is the same everywhere."""
    from PIL import ImageFont

    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


def _is_ours(path: str) -> bool:
    return Path(path).parent == _our_fonts()


@lru_cache(maxsize=1)
def _our_fonts() -> Path:
    return Path(str(files("font_roboto"))) / "files"


def _fallbacks() -> tuple[str, ...]:
    return (*_bundled_paths(), *_system_fonts())


@lru_cache(maxsize=1)
def _bundled_paths() -> tuple[str, ...]:
    return tuple(str(font.path) for font in bundled_fonts())


@lru_cache(maxsize=1)
def _system_fonts() -> tuple[str, ...]:
    from PIL import ImageFont

    paths = []
    for name in SYSTEM_FONTS:
        try:
            paths.append(str(ImageFont.truetype(name, 10).path))
        except OSError:
            continue
    return tuple(paths)
