"""Writes one word in ink with the font that travels inside Pillow, composing the accents that font lacks.

The embedded font knows little more than ASCII, so a letter such as ``ñ`` is built from its base letter and a
drawn mark. The result is the same on every machine with the same Pillow; a font file may be named instead.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

ASCENT = 0.80
DESCENT = 0.27
X_HEIGHT = 0.54
_ABSENT = "\uffff"
_TURNED = {"¿": "?", "¡": "!"}
_RAISED = {"º": "o", "ª": "a"}


class Lettering:
    """Letters of one size (pixels), slope (dx per dy) and weight (extra stroke, pixels)."""

    def __init__(
        self, size: float, slope: float = 0.0, weight: float = 0.0, font_path: Path | None = None
    ) -> None:
        from PIL import ImageFont

        self.size = size
        self.slope = slope
        self.weight = weight
        self._font_path = font_path
        self._font = self._open(size)
        self._stroke = weight * size / 40
        self._known: dict[str, bool] = {}
        self._space = self._font.getlength(" ")
        self._getlength = self._font.getlength
        assert isinstance(self._font, ImageFont.FreeTypeFont)

    def _open(self, size: float) -> ImageFont.FreeTypeFont:
        from PIL import ImageFont

        if self._font_path is not None:
            return ImageFont.truetype(str(self._font_path), size, layout_engine=ImageFont.Layout.BASIC)
        font = ImageFont.load_default(size)
        if not isinstance(font, ImageFont.FreeTypeFont):
            raise RuntimeError(
                "The sample pages need Pillow with FreeType; this Pillow was built without it. "
                "Install the wheel from the package index."
            )
        return font

    @property
    def space(self) -> float:
        """Width of a blank between words, in pixels."""
        return self._space

    def width(self, word: str) -> float:
        """Advance width of ``word`` in pixels."""
        return float(self._getlength(self._skeleton(word)))

    def word(self, word: str) -> tuple[Image.Image, int, int]:
        """The word as an ink mask (white is ink), with where its pen start and its baseline lie in the mask."""
        from PIL import Image, ImageDraw

        margin = round(self.size * 0.4)
        baseline = margin + round(self.size * 0.95)
        wide = int(self.width(word)) + 2 * margin + 2
        mask = Image.new("L", (wide, baseline + margin + round(DESCENT * self.size)))
        pen = ImageDraw.Draw(mask)
        skeleton = self._skeleton(word)
        plain = "".join(" " if char in _TURNED or char in _RAISED else char for char in skeleton)
        if plain == skeleton:
            self._letters(pen, (margin, baseline), plain)
        else:  # blanks have another width than the letters they stand for, so those words go letter by letter
            for index, char in enumerate(plain):
                self._letters(pen, (margin + self._getlength(skeleton[:index]), baseline), char)
        for index, char in enumerate(unicodedata.normalize("NFC", word)):
            left = margin + self._getlength(skeleton[:index])
            right = margin + self._getlength(skeleton[: index + 1])
            self._special(mask, pen, char, left, right, baseline)
        if self.slope:
            shift = self.slope * baseline
            mask = mask.transform(
                mask.size, Image.Transform.AFFINE, (1, self.slope, -shift, 0, 1, 0), Image.Resampling.BICUBIC
            )
        return mask, margin, baseline

    def _letters(self, pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str) -> None:
        pen.text(at, text, font=self._font, fill=255, anchor="ls", stroke_width=self._stroke)

    def _skeleton(self, word: str) -> str:
        """``word`` with every letter the font lacks replaced by the one that carries its width."""
        out = []
        for char in unicodedata.normalize("NFC", word):
            if self._draws(char) or char in _TURNED or char in _RAISED:
                out.append(char if self._draws(char) else _TURNED.get(char, _RAISED.get(char, char)))
                continue
            base = unicodedata.normalize("NFD", char)[0]
            out.append(base if self._draws(base) else "-" if char in "—–" else "?")
        return "".join(out)

    def _draws(self, char: str) -> bool:
        known = self._known.get(char)
        if known is None:
            glyph, absent = self._font.getmask(char), self._font.getmask(_ABSENT)
            known = char == " " or (glyph.size, bytes(glyph)) != (absent.size, bytes(absent))
            self._known[char] = known
        return known

    def _special(
        self, mask: Image.Image, pen: ImageDraw.ImageDraw, char: str, left: float, right: float, base: int
    ) -> None:
        if self._draws(char):
            return
        if char in _TURNED:
            self._turned(mask, pen, char, left, right, base)
        elif char in _RAISED:
            self._cover(pen, left, right, 0, base + round(self.size * 0.1))
            small = self._open(self.size * 0.6)
            pen.text((left, base - self.size * 0.3), _RAISED[char], font=small, fill=255, anchor="ls")
        else:
            marks = unicodedata.normalize("NFD", char)[1:]
            for mark in marks:
                self._mark(pen, char, mark, left, right, base)

    def _cover(self, pen: ImageDraw.ImageDraw, left: float, right: float, top: float, bottom: float) -> None:
        pen.rectangle((left, top, right - 1, bottom), fill=0)

    def _turned(
        self, mask: Image.Image, pen: ImageDraw.ImageDraw, char: str, left: float, right: float, base: int
    ) -> None:
        """Spanish opening marks: the closing mark turned round, hung a little below the line."""
        from PIL import Image, ImageDraw

        high = round(self.size * 1.1)
        wide = max(1, round(right - left))
        self._cover(pen, left, right, 0, mask.height)
        glyph = Image.new("L", (wide, high))
        self._letters(ImageDraw.Draw(glyph), (0, round(self.size * 0.9)), _TURNED[char])
        mask.paste(glyph.transpose(Image.Transpose.ROTATE_180), (round(left), base - round(self.size * 0.75)))

    def _mark(
        self, pen: ImageDraw.ImageDraw, char: str, mark: str, left: float, right: float, base: int
    ) -> None:
        size = self.size
        lower = char == char.lower()
        middle = (left + right) / 2
        foot = base - size * (0.60 if lower else 0.77)
        stroke = max(1, round(size * 0.065 + self._stroke))
        if unicodedata.normalize("NFD", char)[0] in "ij":  # the mark takes the place of the dot
            self._cover(pen, left, right, 0, base - size * X_HEIGHT - 1)
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
