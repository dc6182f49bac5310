"""The fonts that a site takes along: one for each script of its texts that a reader's machine may lack."""

from __future__ import annotations

import shutil
from pathlib import Path

from armarium.api import fonts_for

LARGEST = 4_000_000
"""Bytes: a larger font, such as that of Chinese and Japanese, is left to the reader's machine."""
_USUAL = ((0, 0x52F), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x20A0, 0x20BF))
"""Latin, Greek and Cyrillic with their accents, punctuation, signs of money: every machine has these."""


def add_fonts(site: Path) -> None:
    """Put the fonts that the data of a site ask for, with their licences, among its assets, and name them in its style."""
    letters: set[str] = set()
    for data in (site / "content" / "_data").glob("*.json"):
        letters.update(data.read_text(encoding="utf-8"))
    unusual = {
        letter for letter in letters if not any(first <= ord(letter) <= last for first, last in _USUAL)
    }
    fonts = [font for font in fonts_for(unusual) if font.path.stat().st_size <= LARGEST]
    if not fonts:
        return
    assets = site / "static" / "assets"
    (assets / "fonts").mkdir()
    rules = []
    for font in fonts:
        shutil.copyfile(font.path, assets / "fonts" / font.file)
        (assets / "fonts" / font.licence_file).write_text(font.licence_text, encoding="utf-8")
        rules.append(f'@font-face {{ font-family: "{font.family}"; src: url("fonts/{font.file}"); }}')
    named = ", ".join(f'"{font.family}"' for font in fonts)
    rules.append(f'body {{ font-family: Georgia, "Times New Roman", {named}, serif; }}')
    with (assets / "site.css").open("a", encoding="utf-8") as style:
        style.write("\n".join(["", *rules, ""]))
