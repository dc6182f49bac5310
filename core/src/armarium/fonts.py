"""Writes text into pictures with the font that comes with Armarium (Roboto), so that they look the same everywhere.

What it lacks is drawn with a font installed on the machine, and a letter that no font has is a hollow box.
"""

from __future__ import annotations

import math
import unicodedata
from functools import lru_cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image, ImageFont

SYSTEM_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial Unicode.ttf")
_FINE = 44
"""Pillow rounds each letter's width to whole pixels: smaller text is drawn at least this large, then reduced."""
_BOX = 0.6
"""Width of a hollow box, as a part of the size."""


class PictureFont:
    """Letters of one size (pixels) and one ``style``: the file of Roboto, such as "Regular" or "Medium".

    ``path`` names a font file to take before ours; OSError when it cannot be opened.
    """

    def __init__(self, size: float, style: str = "Regular", path: Path | str | None = None) -> None:
        self.size = size
        self._factor = max(1, math.ceil(_FINE / size))
        self._fine = size * self._factor
        named = () if path is None else (str(path),)
        self._paths = (*named, str(_our_fonts() / f"Roboto-{style}.ttf"), *_system_fonts())
        _open(self._paths[0], self._fine)

    def width(self, text: str) -> float:
        """Advance width of ``text`` in pixels."""
        return sum(self._advance(path, run) for path, run in self._runs(text)) / self._factor

    def mask(self, text: str) -> tuple[Image.Image, int, int]:
        """The text as an ink mask (white is ink), with where its pen start and its baseline lie in the mask."""
        from PIL import Image, ImageDraw

        margin, baseline = math.ceil(self.size * 0.4), math.ceil(self.size * 1.35)
        size = (math.ceil(self.width(text)) + 2 * margin, baseline + math.ceil(self.size * 0.7))
        mask = Image.new("L", (size[0] * self._factor, size[1] * self._factor))
        pen = ImageDraw.Draw(mask)
        x, y, fine = float(margin * self._factor), baseline * self._factor, self._fine
        for path, run in self._runs(text):
            if path:
                pen.text((x, y), "".join(run), font=_open(path, fine), fill=255, anchor="ls")
                x += self._advance(path, run)
                continue
            for _ in run:
                pen.rectangle(
                    (x + 0.06 * fine, y - 0.7 * fine, x + 0.54 * fine, y), None, 255, round(fine / 14)
                )
                x += _BOX * fine
        return mask.reduce(self._factor), margin, baseline

    def write(
        self, picture: Image.Image, at: tuple[float, float], text: str, colour: tuple[int, int, int]
    ) -> None:
        """Write ``text`` into an RGB picture with its baseline beginning ``at``."""
        mask, start, baseline = self.mask(text)
        picture.paste(colour, (round(at[0]) - start, round(at[1]) - baseline), mask)

    def _advance(self, path: str, run: list[str]) -> float:
        return _open(path, self._fine).getlength("".join(run)) if path else _BOX * self._fine * len(run)

    def _runs(self, text: str) -> list[tuple[str, list[str]]]:
        """The font file of each run ("" where none has the letter), and its letters, each with its marks."""
        letters = _letters(text)
        paths = [next((path for path in self._paths if _draws(path, letter)), "") for letter in letters]
        # What stands between words of one font is drawn with it: right-to-left words keep their order in one run only.
        last = 0
        for place, (path, letter) in enumerate(zip(paths, letters, strict=True)):
            if letter.isalpha():
                within = path and last and path == paths[last - 1]
                if within and all(_draws(path, one) for one in letters[last:place]):
                    paths[last:place] = [path] * (place - last)
                last = place + 1
        runs = groupby(zip(paths, letters, strict=True), key=lambda pair: pair[0])
        return [(path, [letter for _, letter in run]) for path, run in runs]


def _letters(text: str) -> list[str]:
    """Each letter with the marks that follow it; tabs and line ends as blanks, other controls left out."""
    letters: list[str] = []
    for char in unicodedata.normalize("NFC", text):
        kind = unicodedata.category(char)
        if kind in ("Mn", "Mc", "Me") and letters:
            letters[-1] += char
        elif kind not in ("Cc", "Cf") or char.isspace():
            letters.append(" " if char.isspace() else char)
    return letters


def _draws(path: str, letter: str) -> bool:
    return all(_has(path, char) for char in letter)


@lru_cache(maxsize=50_000)
def _has(path: str, char: str) -> bool:
    """Whether a font has a sign: what it lacks looks as U+FFFF, which no font has."""
    sign, absent = (_open(path, _FINE).getmask(one) for one in (char, "\uffff"))
    return char == " " or (sign.size, bytes(sign)) != (absent.size, bytes(absent))


@lru_cache(maxsize=32)
def _open(path: str, size: float) -> ImageFont.FreeTypeFont:
    """Our font is laid out by Pillow, the same everywhere; others by Raqm, which joins letters, where it is there."""
    from PIL import ImageFont

    layout = ImageFont.Layout.BASIC if Path(path).parent == _our_fonts() else None
    return ImageFont.truetype(path, size, layout_engine=layout)


def _our_fonts() -> Path:
    return Path(str(files("font_roboto"))) / "files"


@lru_cache(maxsize=1)
def _system_fonts() -> tuple[str, ...]:
    from PIL import ImageFont

    found = []
    for name in SYSTEM_FONTS:
        try:
            found.append(str(ImageFont.truetype(name, 10).path))
        except OSError:
            continue
    return tuple(found)
