"""The bundled fonts: every one has its licence, covers the scripts it is listed for, and joins letters where it must."""

from __future__ import annotations

import io

import pytest
from paleography_desk import Desk
from PIL import ImageFont

from armarium_paleography.fonts import FONT_PACKAGES, FontPackage, bundled_fonts, font_for, has_letter

SAMPLES = {
    "Latn": "In principio erat Uerbum, ꝓ ꝑ ꝗ ꝛ ꝝ ſ ꝫ Ꝫ þ ƿ",
    "Grek": "Ἐν ἀρχῇ ἦν ὁ λόγος",
    "Hebr": "בְּרֵאשִׁית בָּרָא",
    "Goth": "𐌰𐌱𐌲𐌳",
    "Runr": "ᚠᚢᚦᚨᚱᚲ",
    "Ital": "𐌀𐌁𐌂𐌃",
    "Cyrl": "Въ началѣ бѣ слово ѳѵѧѫ",
    "Arab": "بسم الله الرحمن",
    "Deva": "नमस्ते क्षत्रिय",
    "Beng": "বাংলা লিপি",
    "Taml": "தமிழ்",
    "Telu": "తెలుగు",
    "Thai": "ภาษาไทย",
    "Khmr": "ភាសាខ្មែរ",
}
JOINED = {"Arab": "بسم", "Deva": "क्ष", "Khmr": "ខ្មែ"}


@pytest.mark.parametrize("font", bundled_fonts(), ids=lambda font: font.name)
def test_no_letter_of_a_sample_is_a_hollow_box(font: object) -> None:
    from armarium_paleography.fonts import BundledFont

    assert isinstance(font, BundledFont)
    for script in font.scripts:
        # General Latin is asked of every font of Latin, the medieval letters of the first alone.
        sample = SAMPLES[script] if script != "Latn" or font.order == 1 else "In principio erat Uerbum"
        lacking = [char for char in sample if not char.isspace() and not has_letter(font.path, char)]
        assert lacking == [], (font.name, script)


def test_scripts_that_need_it_are_shaped() -> None:
    """A word drawn in one run is narrower than its letters one by one: they join, or stand above each other."""
    for script, word in JOINED.items():
        path = next(font.path for font in bundled_fonts() if script in font.scripts)
        font = ImageFont.truetype(str(path), 64, layout_engine=ImageFont.Layout.RAQM)
        assert font.getlength(word) < sum(font.getlength(char) for char in word), script


def test_fonts_are_listed_in_fallback_order_with_their_licences(desk: Desk) -> None:
    found = desk.get("/fonts")
    assert found["count"] == len(FONT_PACKAGES)
    assert [one["order"] for one in found["items"]] == list(range(1, found["count"] + 1))
    assert found["items"][0]["family"] == "Cardo"
    for one in found["items"]:
        font = desk.client.get(f"/api/fonts/{one['file']}")
        assert font.content == desk.client.get(f"/api/fonts/{one['name']}").content
        assert ImageFont.truetype(io.BytesIO(font.content), 12).getname()[0]
        licence = desk.client.get(f"/api/fonts/{one['licence_file']}")
        assert "SIL OPEN FONT LICENSE" in licence.text.upper(), one
    assert {script for one in found["items"] for script in one["scripts"]} == set(SAMPLES)


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "%2e%2e%2fsetup", "..%5c..", "%00", "nowhere.ttf", "Cardo-Regular.ttf%2f.."]
)
def test_a_name_that_is_no_fonts_leads_nowhere(desk: Desk, name: str) -> None:
    assert desk.client.get(f"/api/fonts/{name}").status_code == 404


def test_a_package_that_is_not_installed_is_absent_from_the_list() -> None:
    packages = (FontPackage("fontpkg_that_is_not_here", ("Mong",)), *FONT_PACKAGES[:1])
    assert [(font.family, font.order) for font in bundled_fonts(packages)] == [("Cardo", 1)]


def test_the_font_of_a_text_is_the_first_that_has_most_of_its_letters() -> None:
    chosen = {text: font_for(text) for text in ("ꝓ", "слово", "بسم", "क्ष", "ภาษา")}
    names = [path.name for path in chosen.values() if path is not None]
    assert [name.split("[")[0].split("-")[0].removesuffix(".ttf") for name in names] == [
        "Cardo", "NotoSerif", "Amiri", "NotoSansDevanagari", "NotoSansThai",
    ]  # fmt: skip
