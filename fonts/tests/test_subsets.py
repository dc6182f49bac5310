"""Subsets of fonts: the letters of a text, shaped as in the whole font, without any name that may be
reserved.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import uharfbuzz

from armarium_fonts.catalogue import bundled_fonts, fonts_for
from armarium_fonts.shaping import shape
from armarium_fonts.subsets import carried_font, font_faces, part_of


def names_in(data: bytes) -> dict[int, str]:
    face = uharfbuzz.Face(uharfbuzz.Blob(data))
    return {entry: text for entry in range(26) if (text := face.get_name(entry))}


@pytest.mark.parametrize(
    ("word", "way"),
    [("בְּרֵאשִׁית", "rtl"), ("بسم", "rtl"), ("क्षत्रिय", "ltr"), ("Κέρκυρα", "ltr"), ("漢字", "ltr")],
)
def test_a_subset_has_the_letters_of_a_text_and_shapes_them_as_the_whole_font_does(
    tmp_path: Path, word: str, way: str
) -> None:
    (font,) = fonts_for(word)
    part = tmp_path / f"part{font.path.suffix}"
    part.write_bytes(part_of(font, word))
    assert part.stat().st_size < font.path.stat().st_size / 4
    whole = shape(str(font.path), 100, word, way)  # type: ignore[arg-type]
    found = shape(str(part), 100, word, way)  # type: ignore[arg-type]
    assert [glyph[1:] for glyph in found.glyphs] == [glyph[1:] for glyph in whole.glyphs]
    assert all(number for number, _, _ in found.glyphs)


def test_subsets_have_no_font_name_and_state_the_licence() -> None:
    """SIL Open Font License, 3: no modified version may use the reserved name; 2: the notices must be
    included.
    """
    for font in bundled_fonts():
        names = names_in(part_of(font, "aαбאبक漢"))
        # Entry 2 is the style ("Regular"), which the subsetter adds for a font with several.
        assert set(names) <= {0, 2, 13, 14}, font.name
        assert names.get(0), font.name


def test_a_subset_has_the_name_of_its_font_only_if_none_is_reserved() -> None:
    for font in bundled_fonts():
        assert font.family in names_in(part_of(font, "aαбאبक漢", named=True)).values(), font.name
        for reserved in (
            f'Copyright 2020 Them, with Reserved Font Name "{font.family}".\nPREAMBLE',
            f"with reserved font names 'Other' and '{font.family.split()[0].upper()}'\nPREAMBLE",
        ):
            held = replace(font, licence_text=reserved)
            assert set(names_in(part_of(held, "aαбאبक漢", named=True))) <= {0, 2, 13, 14}, font.name
        free = replace(
            font, licence_text='with Reserved Font Name "Source"\nPREAMBLE … Reserved Font Name Noto Cardo'
        )
        assert font.family in names_in(part_of(free, "aαбאبक漢", named=True)).values(), font.name


def test_large_fonts_are_embedded_as_subsets_and_others_as_a_whole() -> None:
    fonts = {font.family: font for font in bundled_fonts()}
    whole, large = fonts["Cardo"], fonts["Noto Sans CJK JP"]
    assert carried_font(whole, "ꝓ") == whole.path.read_bytes()
    part = carried_font(large, "漢字")
    assert len(part) < 100_000
    assert set(uharfbuzz.Face(uharfbuzz.Blob(part)).unicodes) == {ord("漢"), ord("字")}


def test_the_css_lists_each_unusual_letter_once_and_no_common_one() -> None:
    assert font_faces("Plain, née à Zürich, λόγος, слово – 5 €\n", "Ours") == ("", [])
    css, fonts = font_faces("ꝓ uͦ λόγος 漢 \U0010fffd", "Ours")
    assert [font.family for font in fonts] == ["Cardo", "Noto Sans CJK JP"]
    listed = re.findall(r"U\+([0-9A-F]+)", css)
    assert sorted(listed) == sorted({f"{ord(one):X}" for one in "ꝓͦ漢"})
    assert css.count('font-family: "Ours"') == 2
