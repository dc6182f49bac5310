"""Scripts of ISO 15924: their names and numbers, the direction of their lines, and the bundled font for each."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from armarium.api import bundled_fonts
from armarium_recipes.knowledge.tables import table_lines

Direction = Literal["ltr", "rtl", "ttb", "ttb-lr"]
_SOURCES = {
    "unicode": "the direction of its letters in Unicode",
    "iso15924": "the range of its number in ISO 15924",
    "usage": "the way its columns are usually written",
}


@dataclass(frozen=True, slots=True)
class Script:
    """A script, and its consequences for pages written in it."""

    code: str
    name: str
    number: str
    direction: Direction | None
    """The direction of its lines; None if no source states one."""
    may_be_vertical: bool
    """Whether it is, or was, written in columns as well as in lines."""
    font: str | None
    """The family of the installed bundled font for it."""
    direction_from: str
    """In words."""
    font_from: str
    """In words."""


def find_script(code: str) -> Script | None:
    """Return the script with this ISO 15924 code, in any capitalisation; None if there is none."""
    return scripts().get(code.title())


def search_scripts(q: str, limit: int) -> list[Script]:
    """Return at most *limit* scripts by name, code or number; the one with that code first, then names that
    begin with *q*.
    """
    text = _fold_text(q).strip()

    def nearness(script: Script) -> int:
        name, codes = _fold_text(script.name), (script.code.lower(), script.number)
        ranks = (
            text in codes,
            name == text,
            name.startswith(text),
            f" {text}" in name,
            text in name,
        )
        return ranks.index(True) if True in ranks else len(ranks) + (not codes[0].startswith(text))

    near = sorted((nearness(script), script.name, script.code) for script in scripts().values())
    return [scripts()[code] for rank, _, code in near if rank <= 5][:limit]


@cache
def scripts() -> dict[str, Script]:
    """Return all scripts by code."""
    fonts: dict[str, str] = {}
    for font in bundled_fonts():
        for covered in font.scripts:
            fonts.setdefault(covered, font.family)
    return {script.code: script for script in (_script(line, fonts) for line in table_lines("scripts"))}


def _script(line: str, fonts: dict[str, str]) -> Script:
    code, name, number, direction, vertical, source, letters_of = line.split("\t")
    font = fonts.get(code) or fonts.get(letters_of)
    whose = f" for the letters of {letters_of}" if font and code not in fonts else ""
    return Script(
        code=code,
        name=name,
        number=number,
        direction=cast("Direction", direction) if direction else None,
        may_be_vertical=vertical == "yes",
        font=font,
        direction_from=_SOURCES.get(source, "no source states it; the pages show it"),
        font_from=f"the fonts that come with Armarium{whose}" if font else "no bundled font covers it",
    )


def _fold_text(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in plain if not unicodedata.combining(char))
