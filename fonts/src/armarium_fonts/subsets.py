"""Which letters a reader's machine may lack, and subsets of fonts with the letters that a text needs, for files that embed
their fonts.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Any

from armarium_fonts.catalogue import BundledFont, fonts_for
from armarium_fonts.shaping import has_letters

_NOTICES = frozenset((0, 13, 14))
"""Entries of the name table that a subset keeps: copyright and licence."""
_FAMILY = frozenset((1, 2, 4, 6))
"""Those that state the font's name."""
_USUAL = ((0, 0x362), (0x370, 0x52F), (0x1E00, 0x1FFF), (0x2000, 0x2044), (0x2060, 0x206F), (0x20A0, 0x20BF))
"""Latin, Greek and Cyrillic with their accents, common punctuation, currency signs: every machine has these. Not the small
letters above others in medieval manuscripts (U+0363 to U+036F).
"""
LARGEST = 4_000_000
"""Bytes: of a larger font, such as that for Chinese and Japanese, a subset is embedded instead of the whole."""


def is_unusual(letter: str) -> bool:
    """Return whether a machine may have no font for *letter*."""
    return not any(first <= ord(letter) <= last for first, last in _USUAL)


def carried_font(font: BundledFont, letters: Iterable[str], *, named: bool = False) -> bytes:
    """Return the file of *font* to be embedded: the whole, or of a large one a subset with *letters*, *named* as in
    `part_of`.
    """
    if font.path.stat().st_size <= LARGEST:
        return font.path.read_bytes()
    return part_of(font, letters, named=named)


def part_of(font: BundledFont, letters: Iterable[str], *, named: bool = False) -> bytes:
    """Return a font file with *letters* of a font and all their contextual forms.

    It has no name of its own, for that may be reserved; *named*: it has that of the font unless its makers reserve one.
    """
    import uharfbuzz

    face = uharfbuzz.Face(uharfbuzz.Blob.from_file_path(str(font.path)))
    subset_input = uharfbuzz.SubsetInput()
    subset_input.sets(uharfbuzz.SubsetInputSets.UNICODE).set({ord(letter) for letter in letters})
    names = subset_input.sets(uharfbuzz.SubsetInputSets.NAME_ID)
    names.clear()
    names.update(_NOTICES | _FAMILY if named and not _reserves_a_name(font, face) else _NOTICES)
    subset_input.pin_all_axes_to_default(face)
    return bytes(subset_input.subset(face).blob.data)


def _reserves_a_name(font: BundledFont, face: Any) -> bool:
    """Whether the copyright of a font or the head of its licence reserves a name that the font has (SIL OFL, 3)."""
    naming_text = f"{face.get_name(0) or ''}\n{font.licence_text.partition('PREAMBLE')[0]}"
    reserved = " ".join(re.findall(r"Reserved Font Names?\b([^\n]*)", naming_text, re.IGNORECASE))
    return bool(_words(reserved) & _words(font.family))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def font_faces(text: str, family: str) -> tuple[str, list[BundledFont]]:
    """Return CSS that embeds the letters of *text* which a reader's machine may lack in *family*; and the
    fonts used.

    Letters that no installed font has are left to the machine.
    """
    letters_left = {
        letter for letter in text if is_unusual(letter) and letter.isprintable() and not letter.isspace()
    }
    rules, fonts = [], list(fonts_for(letters_left))
    for font in fonts:
        here = {letter for letter in letters_left if has_letters(str(font.path), letter)}
        letters_left -= here
        data = base64.b64encode(part_of(font, here)).decode()
        ranges = ", ".join(f"U+{ord(letter):X}" for letter in sorted(here))
        rules.append(
            f'@font-face {{ font-family: "{family}"; src: url("data:font/{font.path.suffix[1:]};base64,{data}"); '
            f"unicode-range: {ranges}; }}"
        )
    return "\n".join(rules), fonts
