"""The fonts that a site includes: one for each script of its texts that a reader's machine may lack."""

from __future__ import annotations

from pathlib import Path

from armarium.api import carried_font, fonts_for, is_unusual


def add_fonts(site: Path) -> None:
    """Add the fonts that a site's data require, with their licences, to its assets, and name them in its style."""
    letters: set[str] = set()
    for data in (site / "content" / "_data").glob("*.json"):
        letters.update(data.read_text(encoding="utf-8"))
    fonts = fonts_for(filter(is_unusual, letters))
    if not fonts:
        return
    assets = site / "static" / "assets"
    (assets / "fonts").mkdir()
    rules = []
    for font in fonts:
        (assets / "fonts" / font.file).write_bytes(carried_font(font, letters))
        (assets / "fonts" / font.licence_file).write_text(font.licence_text, encoding="utf-8")
        rules.append(f'@font-face {{ font-family: "{font.family}"; src: url("fonts/{font.file}"); }}')
    named = ", ".join(f'"{font.family}"' for font in fonts)
    rules.append(f'body {{ font-family: Georgia, "Times New Roman", {named}, serif; }}')
    with (assets / "site.css").open("a", encoding="utf-8") as style:
        style.write("\n".join(["", *rules, ""]))
