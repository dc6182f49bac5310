"""Parts of fonts: the letters of a text, shaped as in the whole font, under no name that may be reserved."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
import uharfbuzz

from armarium_fonts.catalogue import bundled_fonts
from armarium_fonts.shaping import shape
from armarium_fonts.subsets import font_faces, part_of


def names_in(data: bytes) -> dict[int, str]:
    face = uharfbuzz.Face(uharfbuzz.Blob(data))
    return {entry: text for entry in range(26) if (text := face.get_name(entry))}


@pytest.mark.parametrize(
    ("word", "way"),
    [("בְּרֵאשִׁית", "rtl"), ("بسم", "rtl"), ("क्षत्रिय", "ltr"), ("Κέρκυρα", "ltr"), ("漢字", "ltr")],
)
def test_a_part_has_the_letters_of_a_text_and_joins_them_as_the_whole_does(
    tmp_path: Path, word: str, way: str
) -> None:
    css, (font,) = font_faces(word, "Ours")
    (data,) = re.findall(r"base64,([^\"]+)", css)
    part = tmp_path / f"part{font.path.suffix}"
    part.write_bytes(base64.b64decode(data))
    assert part.stat().st_size < font.path.stat().st_size / 4
    whole = shape(str(font.path), 100, word, way)  # type: ignore[arg-type]
    found = shape(str(part), 100, word, way)  # type: ignore[arg-type]
    assert [glyph[1:] for glyph in found.glyphs] == [glyph[1:] for glyph in whole.glyphs]
    assert all(number for number, _, _ in found.glyphs)


def test_no_part_goes_by_the_name_of_its_font_and_each_says_its_licence() -> None:
    """The SIL Open Font License, 3: no modified version may use the reserved name; 2: the notices go along."""
    for font in bundled_fonts():
        stated = names_in(part_of(font, "aαбאبक漢"))
        # 2 is the style ("Regular"), which a font that had several states anew.
        assert set(stated) <= {0, 2, 13, 14}, font.name
        assert stated.get(0), font.name


def test_letters_are_listed_once_and_those_of_every_machine_are_left_to_it() -> None:
    assert font_faces("Plain, née à Zürich\n", "Ours") == ("", [])
    css, fonts = font_faces("ꝓ λόγος 漢 \U0010fffd", "Ours")
    assert [font.family for font in fonts] == ["Cardo", "Noto Sans CJK JP"]
    listed = re.findall(r"U\+([0-9A-F]+)", css)
    assert sorted(listed) == sorted({f"{ord(one):X}" for one in "ꝓλόγος漢"})
    assert css.count('font-family: "Ours"') == 2
