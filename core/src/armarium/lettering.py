"""Writes text into pictures with the font that travels inside Pillow, composing the accents that font lacks.

The embedded font knows little more than ASCII, so a letter such as ``ñ`` is built from its base letter and a drawn
mark: pictures carry Spanish, French or Latin on a machine that has no font at all, and look the same everywhere.
A font file may be named instead. A letter that can be neither drawn nor composed becomes a hollow box.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

ASCENT = 0.80
DESCENT = 0.27
X_HEIGHT = 0.54
SYSTEM_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial Unicode.ttf")
"""Font files looked for, in this order, when a text needs letters that the embedded font cannot compose."""
_ABSENT = "\uffff"
_BOX = "n"
_STAND_IN = {"¿": "?", "¡": "!", "º": "o", "ª": "a", "—": "-", "–": "-", "‐": "-", "\u00a0": " ", "\t": " "}


@dataclass(frozen=True, slots=True)
class _Glyph:
    """One letter to draw: ``stand_in`` carries its width and body, ``char`` and ``marks`` say what it really is."""

    char: str
    marks: str
    stand_in: str
    native: bool


class Lettering:
    """Letters of one size (pixels), slope (dx per dy) and weight (extra stroke, pixels at size 40).

    ``shaped`` lets a named font join and turn letters (Arabic, Devanagari) where Pillow can; OSError when
    ``font_path`` cannot be opened.
    """

    def __init__(
        self,
        size: float,
        slope: float = 0.0,
        weight: float = 0.0,
        font_path: Path | str | None = None,
        *,
        shaped: bool = False,
    ) -> None:
        self.size = size
        self.slope = slope
        self._font_path = font_path
        self._shaped = shaped
        self._stroke = weight * size / 40
        self._font = self._open(size)
        self._known: dict[str, bool] = {}

    def _open(self, size: float) -> ImageFont.FreeTypeFont:
        from PIL import ImageFont

        if self._font_path is not None:
            layout = None if self._shaped else ImageFont.Layout.BASIC
            return ImageFont.truetype(str(self._font_path), size, layout_engine=layout)
        font = ImageFont.load_default(size)
        if not isinstance(font, ImageFont.FreeTypeFont):
            raise RuntimeError(
                "This Pillow was built without FreeType, so no text can be drawn; install Pillow's own wheel."
            )
        return font

    @property
    def space(self) -> float:
        """Width of a blank between words, in pixels."""
        return float(self._font.getlength(" "))

    def width(self, text: str) -> float:
        """Advance width of ``text`` in pixels."""
        return float(self._font.getlength(self._skeleton(self._glyphs(text))))

    def missing(self, text: str) -> int:
        """How many letters of ``text`` can be neither drawn nor composed."""
        return sum(_is_box(glyph) for glyph in self._glyphs(text))

    def mask(self, text: str) -> tuple[Image.Image, int, int]:
        """The text as an ink mask (white is ink), with where its pen start and its baseline lie in the mask."""
        from PIL import Image, ImageDraw

        glyphs = self._glyphs(text)
        skeleton = self._skeleton(glyphs)
        margin = round(self.size * 0.4)
        baseline = margin + round(self.size * 0.95)
        wide = int(self._font.getlength(skeleton)) + 2 * margin + 2
        mask = Image.new("L", (wide, baseline + margin + round(DESCENT * self.size)))
        pen = ImageDraw.Draw(mask)
        self._write(pen, (margin, baseline), skeleton)
        if not all(glyph.native for glyph in glyphs):
            edges = [margin + self._font.getlength(skeleton[:index]) for index in range(len(skeleton) + 1)]
            for index, glyph in enumerate(glyphs):
                if not glyph.native:
                    self._finish(mask, pen, glyph, edges[index], edges[index + 1], baseline)
        if self.slope:
            mask = mask.transform(
                mask.size,
                Image.Transform.AFFINE,
                (1, self.slope, -self.slope * baseline, 0, 1, 0),
                Image.Resampling.BICUBIC,
            )
        return mask, margin, baseline

    def write(
        self, picture: Image.Image, at: tuple[float, float], text: str, colour: tuple[int, int, int]
    ) -> None:
        """Write ``text`` into an RGB picture with its baseline beginning ``at``."""
        mask, start, baseline = self.mask(text)
        picture.paste(colour, (round(at[0]) - start, round(at[1]) - baseline), mask)

    def _write(self, pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str) -> None:
        pen.text(at, text, font=self._font, fill=255, anchor="ls", stroke_width=self._stroke)

    def _glyphs(self, text: str) -> list[_Glyph]:
        glyphs: list[_Glyph] = []
        for char in unicodedata.normalize("NFC", text):
            if unicodedata.combining(char) and glyphs and not self._draws(char):
                last = glyphs[-1]
                glyphs[-1] = _Glyph(last.char, last.marks + char, last.stand_in, False)
            elif self._draws(char):
                glyphs.append(_Glyph(char, "", char, True))
            elif char in _STAND_IN:
                stand_in = _STAND_IN[char]
                glyphs.append(_Glyph(char, "", stand_in, stand_in == " "))
            elif unicodedata.category(char) not in ("Cf", "Cc"):
                parts = unicodedata.normalize("NFD", char)
                base, marks = parts[0], parts[1:]
                known = bool(marks) and self._draws(base)
                glyphs.append(_Glyph(char, marks if known else "", base if known else _BOX, False))
        return glyphs

    @staticmethod
    def _skeleton(glyphs: Sequence[_Glyph]) -> str:
        return "".join(glyph.stand_in for glyph in glyphs)

    def _draws(self, char: str) -> bool:
        known = self._known.get(char)
        if known is None:
            glyph, absent = self._font.getmask(char), self._font.getmask(_ABSENT)
            known = char == " " or (glyph.size, bytes(glyph)) != (absent.size, bytes(absent))
            known = known and unicodedata.category(char) not in ("Cc", "Cf")
            self._known[char] = known
        return known

    def _finish(
        self, mask: Image.Image, pen: ImageDraw.ImageDraw, glyph: _Glyph, left: float, right: float, base: int
    ) -> None:
        """Turn the stand-in into the letter meant: turned, raised, lengthened, marked or boxed."""
        if glyph.char in "¿¡":
            self._turn(mask, pen, glyph, left, right, base)
        elif glyph.char in "ºª":
            self._cover(pen, left, right, 0, base + round(self.size * 0.1))
            small = self._open(self.size * 0.6)
            pen.text((left, base - self.size * 0.3), glyph.stand_in, font=small, fill=255, anchor="ls")
        elif glyph.char in "—–":
            high = base - self.size * 0.28
            pen.line((left, high, right, high), 255, max(1, round(self.size * 0.06)))
        elif _is_box(glyph):
            self._cover(pen, left, right, 0, mask.height)
            pen.rectangle((left + 1, base - self.size * 0.7, right - 2, base), outline=255)
        for mark in glyph.marks:
            self._mark(pen, glyph, mark, (left + right) / 2, (left, right), base)

    @staticmethod
    def _cover(pen: ImageDraw.ImageDraw, left: float, right: float, top: float, bottom: float) -> None:
        pen.rectangle((left, top, max(left, right - 1), bottom), fill=0)

    def _turn(
        self, mask: Image.Image, pen: ImageDraw.ImageDraw, glyph: _Glyph, left: float, right: float, base: int
    ) -> None:
        """Spanish opening marks: the closing mark turned round, hung a little below the line."""
        from PIL import Image, ImageDraw

        self._cover(pen, left, right, 0, mask.height)
        turned = Image.new("L", (max(1, round(right - left)), round(self.size * 1.1)))
        self._write(ImageDraw.Draw(turned), (0, round(self.size * 0.9)), glyph.stand_in)
        mask.paste(
            turned.transpose(Image.Transpose.ROTATE_180), (round(left), base - round(self.size * 0.75))
        )

    def _mark(
        self,
        pen: ImageDraw.ImageDraw,
        glyph: _Glyph,
        mark: str,
        middle: float,
        sides: tuple[float, float],
        base: int,
    ) -> None:
        size = self.size
        foot = base - size * (0.60 if glyph.stand_in.islower() else 0.77)
        stroke = max(1, round(size * 0.065 + self._stroke))
        if glyph.stand_in in "ij" and mark != "\u0327":  # the mark takes the place of the dot
            self._cover(pen, *sides, 0, base - size * X_HEIGHT - 1)
        if mark == "\u0301":
            pen.line((middle - size * 0.03, foot, middle + size * 0.11, foot - size * 0.15), 255, stroke)
        elif mark == "\u0300":
            pen.line((middle + size * 0.03, foot, middle - size * 0.11, foot - size * 0.15), 255, stroke)
        elif mark == "\u0302":
            top = (middle, foot - size * 0.15)
            pen.line((middle - size * 0.12, foot, *top, middle + size * 0.12, foot), 255, stroke)
        elif mark == "\u0308":
            dot = size * 0.045
            for x in (middle - size * 0.11, middle + size * 0.11):
                pen.ellipse((x - dot, foot - size * 0.1 - dot, x + dot, foot - size * 0.1 + dot), fill=255)
        elif mark == "\u0327":
            pen.line((middle, base, middle + size * 0.04, base + size * 0.16), 255, stroke)
        else:  # tilde, macron and any other mark: a wavy stroke over the letter
            wave = [
                (middle - size * 0.15, foot - size * 0.02),
                (middle - size * 0.06, foot - size * 0.09),
                (middle + size * 0.06, foot - size * 0.03),
                (middle + size * 0.15, foot - size * 0.10),
            ]
            pen.line(wave, 255, stroke, joint="curve")


def lettering_for(text: str, size: float) -> Lettering:
    """The lettering that draws most of ``text``: the embedded font, else the first system font that does better."""
    best = Lettering(size)
    lacking = best.missing(text)
    for path in _system_fonts() if lacking else ():
        other = Lettering(size, font_path=path, shaped=True)
        if (still := other.missing(text)) < lacking:
            best, lacking = other, still
        if not lacking:
            break
    return best


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


def _is_box(glyph: _Glyph) -> bool:
    return not glyph.native and glyph.stand_in == _BOX and glyph.char not in _STAND_IN and not glyph.marks
