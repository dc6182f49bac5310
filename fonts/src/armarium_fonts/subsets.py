"""Subsets of fonts with the letters that a text needs, for pages that embed their fonts."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from armarium_fonts.catalogue import BundledFont, fonts_for
from armarium_fonts.shaping import has_letters

_KEPT_NAMES = frozenset((0, 13, 14))
"""Entries of the name table that a subset keeps: copyright and licence. Not the font's name, which may be
reserved.
"""
_USUAL = 0xFF
"""The last character for which every machine has a font."""


def part_of(font: BundledFont, letters: Iterable[str]) -> bytes:
    """Return a font file with *letters* of a font and all their contextual forms, without a name of its own."""
    import uharfbuzz

    face = uharfbuzz.Face(uharfbuzz.Blob.from_file_path(str(font.path)))
    wanted = uharfbuzz.SubsetInput()
    wanted.sets(uharfbuzz.SubsetInputSets.UNICODE).set({ord(letter) for letter in letters})
    names = wanted.sets(uharfbuzz.SubsetInputSets.NAME_ID)
    names.clear()
    names.update(_KEPT_NAMES)
    wanted.pin_all_axes_to_default(face)
    return bytes(wanted.subset(face).blob.data)


def font_faces(text: str, family: str) -> tuple[str, list[BundledFont]]:
    """Return CSS that embeds the letters of *text* which a reader's machine may lack in *family*; and the
    fonts used.

    Letters that no installed font has are left to the machine.
    """
    left = {
        letter for letter in text if ord(letter) > _USUAL and letter.isprintable() and not letter.isspace()
    }
    rules, fonts = [], list(fonts_for(left))
    for font in fonts:
        here = {letter for letter in left if has_letters(str(font.path), letter)}
        left -= here
        data = base64.b64encode(part_of(font, here)).decode()
        ranges = ", ".join(f"U+{ord(letter):X}" for letter in sorted(here))
        rules.append(
            f'@font-face {{ font-family: "{family}"; src: url("data:font/{font.path.suffix[1:]};base64,{data}"); '
            f"unicode-range: {ranges}; }}"
        )
    return "\n".join(rules), fonts
