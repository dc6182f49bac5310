"""The fonts: each has a licence and the letters of the scripts it is listed for, and joins them where
required.
"""

from __future__ import annotations

import shutil
import unicodedata
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from armarium_fonts import catalogue
from armarium_fonts.catalogue import BundledFont, FontPackage, bundled_fonts, installed_fonts, packaged_fonts
from armarium_fonts.shaping import has_letters, lacking, shape

FONTS = bundled_fonts()
SAMPLES = {
    "Latn": "In principio erat Uerbum",
    "Grek": "Ἐν ἀρχῇ ἦν ὁ λόγος",
    "Cyrl": "Въ началѣ бѣ слово ѳѵѧѫ",
    "Hebr": "בְּרֵאשִׁית בָּרָא",
    "Arab": "بسم الله الرحمن الرحيم",
    "Syrc": "ܒܪܫܝܬ ܐܝܬܘܗܝ",
    "Deva": "नमस्ते क्षत्रिय",
    "Beng": "বাংলা লিপি",
    "Taml": "தமிழ்",
    "Telu": "తెలుగు",
    "Thai": "ภาษาไทย",
    "Khmr": "ភាសាខ្មែរ",
    "Tibt": "བོད་ཡིག",
    "Mymr": "မြန်မာ",
    "Mong": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ",
    "Phag": "ꡏꡡꡃ",
    "Hani": "春眠不覺曉處處聞啼鳥漢汉",
    "Hira": "いろはにほへと",
    "Kana": "イロハニホヘト",
    "Hang": "훈민정음",
    "Bopo": "ㄅㄆㄇ",
    "Ethi": "አማርኛ",
    "Armn": "Հայերեն",
    "Geor": "ქართული",
    "Geok": "ႠႡႢ ⴀⴁⴂ",
    "Copt": "Ⲁⲃⲅ",
    "Glag": "ⰀⰁⰂ ⰰⰱⰲ",
    "Goth": "𐌰𐌱𐌲𐌳",
    "Runr": "ᚠᚢᚦᚨᚱᚲ",
    "Ital": "𐌀𐌁𐌂𐌃",
    "Xsux": "𒀀𒀁𒀂",
    "Egyp": "𓀀𓀁𓂋",
    "Gujr": "ગુજરાતી",
    "Guru": "ਗੁਰਮੁਖੀ",
    "Knda": "ಕನ್ನಡ",
    "Laoo": "ພາສາລາວ",
    "Mlym": "മലയാളം",
    "Orya": "ଓଡ଼ିଆ",
    "Sinh": "සිංහල",
}
MEDIEVAL = "ꝓ ꝑ ꝗ ꝛ ꝝ ſ ꝫ Ꝫ þ ƿ \uf161 \ue8bf \uf1ac \ue42c \uefa0"
"""Letters of the Medieval Unicode Font Initiative, the last five in the private use area."""
SYMBOLS = "☉☽♃♄♈✠☞℞℥℈⁂∮🜍①Ⅳ"
MORE_SYMBOLS = "𝄞⌖⠿"
"""Musical and technical symbols and braille, which only fonts of the machine have."""
JOINED = {
    "Arab": "بسم",
    "Syrc": "ܒܪܫܝܬ",
    "Deva": "क्षत्रिय",
    "Beng": "ক্ষ",
    "Khmr": "ខ្មែ",
    "Tibt": "རྒྱ",
    "Mong": "ᠮᠣᠩᠭᠣᠯ",
    "Phag": "ꡏꡡꡃ",
    "Hebr": "בְּרֵ",
    "Mymr": "မြန်မာ",
    "Gujr": "ક્ષ",
    "Guru": "ਸ੍ਰੀ",
    "Knda": "ಕ್ಷ",
    "Mlym": "ക്ഷ",
    "Orya": "କ୍ଷ",
    "Sinh": "ක්‍රි",
}


ALWAYS = {"Latn", "Grek", "Cyrl", "Hebr", "Arab", "Deva", "Beng", "Taml", "Telu", "Thai", "Khmr", "Ital"} | {
    "Hani", "Hira", "Kana", "Hang", "Bopo", "Armn", "Geor", "Geok", "Ethi", "Gujr", "Guru", "Knda", "Laoo", "Mlym", "Mymr", "Orya",
    "Sinh", "Zsym",
}  # fmt: skip
"""Scripts whose fonts are installed with this package."""


def first_for(script: str) -> BundledFont:
    font = next((font for font in FONTS if script in font.scripts), None)
    if font is None and script not in ALWAYS:
        pytest.skip(f"No font for {script} is installed on this machine (Debian: fonts-noto-core).")
    assert font is not None
    return font


@pytest.mark.parametrize("script", SAMPLES)
def test_no_letter_of_a_sample_is_a_hollow_box(script: str) -> None:
    font = first_for(script)
    sample = SAMPLES[script].replace(" ", "")
    assert has_letters(str(font.path), sample), font.name
    assert lacking(str(font.path), sample) == 0, font.name


@pytest.mark.parametrize("script", SAMPLES)
def test_letters_of_a_sample_have_different_glyphs(script: str) -> None:
    """Drawn ink is compared, since a font may have the same box for all letters of a script, which is as bad
    as a hollow one.
    """
    font = first_for(script)
    letters = sorted(
        {letter for letter in SAMPLES[script] if unicodedata.category(letter) in ("Lo", "Ll", "Lu")}
    )
    drawn = set()
    for letter in letters:
        picture = Image.new("L", (96, 96))
        shape(str(font.path), 32, letter, "ltr").draw(picture, 32, 64)
        drawn.add(picture.tobytes())
    assert len(drawn) == len(letters)


def test_a_glyph_shared_by_many_letters_does_not_count() -> None:
    cardo = str(FONTS[0].path)
    assert FONTS[0].family == "Cardo"
    for letters in ("𐌰", "𐌱𐌲𐌳", "ᚢᚨᚱᚲ"):
        assert lacking(cardo, letters) == 0, "it has a picture, of something else"
        assert not has_letters(cardo, letters)
    assert has_letters(cardo, "𐌀𐌁𐌂𐌃")
    # I is the same in Latin, Greek and Cyrillic, and drawn alike in all of them.
    assert all(has_letters(str(font.path), "IΙІӀ") for font in FONTS if font.family == "Noto Serif")
    roboto = Path(find_spec("font_roboto").origin).parent / "files" / "Roboto-Regular.ttf"
    assert has_letters(str(roboto), "IΙІӀMUFI")


def test_the_letters_of_medieval_manuscripts_are_in_the_first_font() -> None:
    assert all(has_letters(str(FONTS[0].path), letter) for letter in MEDIEVAL.split())


@pytest.mark.parametrize("signs", [SYMBOLS, MORE_SYMBOLS])
def test_symbols_are_in_some_font(signs: str) -> None:
    first_for("Zsym" if signs == SYMBOLS else "Brai")
    lacks = [sign for sign in signs if not any(has_letters(str(font.path), sign) for font in FONTS)]
    assert lacks == []


def test_every_font_has_letters_of_every_script_it_is_listed_for() -> None:
    """Checked by Unicode character names, which are independent of any font."""
    names = {"Laoo": "LAO", "Nkoo": "NKO", "Mymr": "MYANMAR", "Yiii": "YI", "Vaii": "VAI", "Ogam": "OGHAM"}
    for font in FONTS:
        assert font.path.stat().st_size > 2000
        assert font.scripts, font.name
        for script in font.scripts:
            if script in names:
                letters = [
                    chr(code)
                    for code in range(0x10000)
                    if unicodedata.name(chr(code), "").startswith(f"{names[script]} ")
                ]
                covered = sum(has_letters(str(font.path), letter) for letter in letters)
                assert covered > 0.75 * len(letters) > 0, (font.name, script)


@pytest.mark.parametrize("script", JOINED)
def test_scripts_that_need_it_are_shaped(script: str) -> None:
    """Letters join, stack or carry points: other glyphs, fewer, or at other places than one letter at a time."""
    path, word = str(first_for(script).path), JOINED[script]
    way = "rtl" if script in ("Arab", "Syrc", "Hebr") else "ltr"
    together = shape(path, 100, word, way).glyphs
    alone, pen = [], 0.0
    for letter in reversed(word) if way == "rtl" else word:
        shaped = shape(path, 100, letter, way)
        alone += [(number, round(pen * 64) + x, y) for number, x, y in shaped.glyphs]
        pen += shaped.length
    assert list(together) != alone
    if script not in ("Hebr", "Tibt"):
        assert {glyph[0] for glyph in together} != {glyph[0] for glyph in alone}
    assert all(number for number, _, _ in together)


def test_mongolian_letters_have_positional_forms() -> None:
    """The same letter alone, and at the beginning, inside and at the end of a word, has different glyphs."""
    path = str(first_for("Mong").path)
    forms = [shape(path, 100, word, "ltr").glyphs for word in ("ᠠ", "ᠠᠠᠠ")]
    assert len({glyph[0] for glyph in forms[1]} | {forms[0][0][0]}) >= 3


def test_vertical_text_uses_vertical_glyphs() -> None:
    path = str(first_for("Hani").path)
    assert shape(path, 100, "「", "ttb").glyphs[0][0] != shape(path, 100, "「", "ltr").glyphs[0][0]
    assert shape(path, 100, "一二", "ttb").length == 200


def test_latin_greek_and_cyrillic_come_first_and_symbols_last() -> None:
    assert [font.order for font in FONTS] == list(range(1, len(FONTS) + 1))
    latin = [font.family for font in FONTS if "Latn" in font.scripts]
    assert [one for one in latin if one != "Junicode Two Beta"] == ["Cardo", "Noto Serif"]
    assert [font.family for font in FONTS[: len(latin)]] == latin
    symbols = [font.order for font in FONTS if font.scripts[0].startswith("Z")]
    assert symbols == list(range(len(FONTS) - len(symbols) + 1, len(FONTS) + 1))
    assert len({font.name for font in FONTS}) == len({font.file for font in FONTS}) == len(FONTS)


@pytest.mark.parametrize("font", FONTS, ids=lambda font: font.name)
def test_every_font_comes_with_its_licence_and_copyright(font: BundledFont) -> None:
    assert "SIL OPEN FONT LICENSE" in font.licence_text.upper()
    assert "COPYRIGHT" in font.licence_text.upper()


def test_a_font_that_is_not_installed_is_absent_from_the_list(
    tmp_path: Path,
) -> None:
    absent = FontPackage("fontpkg_that_is_not_here", ("Zzzz",))
    assert [font.family for font in packaged_fonts([absent, *catalogue.FIRST])] == ["Cardo"]
    assert list(packaged_fonts([FontPackage("json", ("Zzzz",), "absent.ttf", "Absent")])) == []
    assert list(installed_fonts([tmp_path, tmp_path / "absent"])) == []


def test_a_font_of_the_machine_replaces_a_spare_one() -> None:
    spare = {font.family: font for font in packaged_fonts(catalogue.SPARE)}
    assert len(spare) == len(catalogue.SPARE)
    armenian, georgian, symbols = (spare[f"Noto Sans {one}"] for one in ("Armenian", "Georgian", "Symbols"))
    serif = replace(armenian, family="Noto Serif Armenian")
    music = replace(symbols, family="Noto Music")
    assert not catalogue._is_spared(armenian, [])
    assert catalogue._is_spared(armenian, [serif])
    # Both Georgian scripts must be covered.
    assert not catalogue._is_spared(georgian, [replace(georgian, family="Other", scripts=("Geor",))])
    assert not catalogue._is_spared(symbols, [serif, music])
    assert catalogue._is_spared(symbols, [replace(symbols)])


def test_fonts_in_a_folder_are_found_if_their_licence_is_free(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file that the catalogue does not name is ignored, and so is a font under another licence (Roboto's)."""
    roboto = Path(find_spec("font_roboto").origin).parent / "files" / "Roboto-Regular.ttf"
    cardo = next(font for font in FONTS if font.family == "Cardo")
    folder = tmp_path / "fonts" / "deep"
    folder.mkdir(parents=True)
    for name, source in (("One.ttf", cardo.path), ("Two.ttf", roboto), ("Other.ttf", cardo.path)):
        shutil.copyfile(source, folder / name)
    monkeypatch.setattr(catalogue, "_HERE", tmp_path)
    (tmp_path / "catalogue.tsv").write_text(
        "One.ttf\tOne\tLatn,Grek\nTwo.ttf\tTwo\tLatn\nThree.ttf\tThree\tMong\n"
    )
    (found,) = installed_fonts([tmp_path / "fonts"])
    assert (found.name, found.scripts, found.path) == ("one", ("Latn", "Grek"), folder / "One.ttf")
    assert "SIL Open Font License" in found.licence_text
