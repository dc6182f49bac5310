"""Folds letters: the one form in which texts and names are compared, without case, accents and ligatures; pure.

Latin, Greek and Cyrillic accents, Hebrew points and Arabic vowels are removed; vowel signs that are letters
of their script (Devanagari, Thai) stay. Scripts written without spaces give one word per character.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

_LETTERS = {
    "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ŋ": "n", "ħ": "h",
    "ꝛ": "r", "ꝺ": "d", "ꝼ": "f", "ᵹ": "g", "ꞇ": "t", "ꞅ": "s", "ƶ": "z", "ꝰ": "us",
}  # fmt: skip
_JOINED_MARKS = frozenset({0x0640, 0x034F, *range(0xFE00, 0xFE10)})
"""The Arabic lengthening stroke, and marks that say only how another is drawn."""
_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF), (0x0F00, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF),
    (0x20000, 0x3FFFF),
)  # fmt: skip
"""Thai and Lao, Tibetan and Burmese, Khmer, kana, and Chinese characters."""


def is_unspaced(letter: str) -> bool:
    """Return whether a letter belongs to a script without blanks between words."""
    return any(first <= ord(letter) <= last for first, last in _WITHOUT_SPACES)


class _Folding(dict[int, str | None]):
    """What each character becomes, computed on first use: a letter, nothing, or a space between words."""

    def __missing__(self, code: int) -> str | None:
        self[code] = folded = _fold_code(code)
        return folded


def _fold_code(code: int) -> str | None:
    sign = chr(code)
    if sign in _LETTERS:
        return _LETTERS[sign]
    if sign == "\n":
        return sign
    category = unicodedata.category(sign)
    if category == "Cf" or code in _JOINED_MARKS:
        return None
    if any(first <= code <= last for first, last in _WITHOUT_SPACES) and category[0] in "LMN":
        return f" {sign} "
    if category[0] == "M":
        order = unicodedata.combining(sign)
        return None if order in (1, 7) or 10 <= order <= 36 or order >= 200 else sign
    if category[0] in "LN" or category == "Co":
        return sign
    return " "


_FOLDING = _Folding()
_REORDERED = "\0"
"""Stands for a mark that is kept: where there is one, its place depends on the marks beside it."""


class _FoldingOfSigns(dict[int, str]):
    """What each character of a text becomes as written, keeping case and compositions."""

    def __missing__(self, code: int) -> str:
        plain = _decompose(chr(code))
        folded = plain.translate(_FOLDING)
        if any(unicodedata.combining(sign) for sign in folded):
            folded = _REORDERED
        if len(folded) != 1 or folded == _REORDERED:
            _UNEVEN.add(chr(code))
        self[code] = folded
        return folded


_LATIN = (
    "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞōœŒſāăąćčďđēėęěğīįıłńňőřśşšťũūůűźżž"
    "\u0303\u0304’‘“”„–—…·«»¿¡°ºª§¶¬\u00ad⁊ẽĩħẜȩꝑꝓꝗꝙꝯꝰꝵꝭ"
    "\u0301\u0305\u033e\u0363\u0364\u0365\u0366\u0367\u0368\u036b\u036c\u036d\u1dd1\u1de4"
)
"""The letters and signs beside those of ASCII that are usual in Latin texts, those of medieval hands among them."""
_TWO = {"\1": "ae", "\2": "oe", "\3": "ss", "\4": "th", "\5": "us"}
"""What stands for two letters while each sign of a text is one byte."""
_LINE_END = b"\1"
_UNKNOWN = bytes([2 + ord("?") - ord(" ")])
"""What is put where a sign has no byte; a line that has it as its own is folded apart for nothing."""
_UNEVEN: set[str] = set()
"""The characters met so far that become none or several, or marks that are kept."""
_OF_SIGNS = _FoldingOfSigns()


def words_of(text: str) -> list[str]:
    """Return the words of *text*, folded, in order."""
    return fold_letters(text).split()


def fold_letters(text: str) -> str:
    """Return *text* with folded letters and spaces between words; line feeds stay."""
    return _of_latin(text) or _of_any(text)


def fold_lines(lines: Sequence[str]) -> list[str]:
    """Return each line with folded letters; those of other than Latin letters, of which a page has few, one by one."""
    to_bytes, folding, left_out = _latin()
    encoded = codecs.charmap_encode("\n".join(lines), "replace", to_bytes)[0]
    folded = _of_bytes(encoded, folding, left_out).split("\n")
    if len(folded) != len(lines):
        return [fold_letters(line) for line in lines]
    if _UNKNOWN in encoded:
        for number, part in enumerate(encoded.split(_LINE_END)):
            if _UNKNOWN in part:
                folded[number] = fold_letters(lines[number])
    return folded


def fold_evenly(text: str) -> str | None:
    """Return *text* with folded letters, each where it was; None where a sign becomes none or several."""
    even = _of_latin(text) or text.translate(_OF_SIGNS)
    return even if len(even) == len(text) and _UNEVEN.isdisjoint(text) else None


def _of_latin(text: str) -> str | None:
    """Fold a text of Latin letters and usual signs in a tenth of the time; None for any other."""
    to_bytes, folding, left_out = _latin()
    try:
        return _of_bytes(codecs.charmap_encode(text, "strict", to_bytes)[0], folding, left_out)
    except UnicodeEncodeError:
        return None


def _of_bytes(encoded: bytes, folding: str, left_out: bytes) -> str:
    folded = codecs.charmap_decode(encoded.translate(None, left_out), "strict", folding)[0]
    for code, letters in _TWO.items():
        if code in folded:
            folded = folded.replace(code, letters)
    return folded


@cache
def _latin() -> tuple[Any, str, bytes]:
    """Return the tables for codecs: the single-byte signs, what each becomes, and those left out."""
    # A table that begins with NUL is the quick kind.
    signs = "\0\n" + "".join(map(chr, range(32, 127))) + _LATIN
    becomes = [_OF_SIGNS[ord(sign)] for sign in signs]
    codes_of_pairs = {letters: code for code, letters in _TWO.items()}
    table = "".join(letters if len(letters) == 1 else codes_of_pairs.get(letters, " ") for letters in becomes)
    left_out = bytes(number for number, letters in enumerate(becomes) if not letters)
    padding = "\ufffe" * (256 - len(signs))
    return codecs.charmap_build(signs + padding), table + padding, left_out


def _of_any(text: str) -> str:
    # Takes a fifth of the time of decomposing the whole text; same result but for the order of kept marks.
    folded = text.translate(_OF_SIGNS)
    return _decompose(text).translate(_FOLDING) if _REORDERED in folded else folded


def _decompose(text: str) -> str:
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
