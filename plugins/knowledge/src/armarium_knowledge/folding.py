"""Text as names are compared: without case, diacritics, vowel points, ligatures; with the way back to the characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_FIRST_MARK = 10
"""The combining class from which a mark may be left out: points and accents. Below are nukta and virama, which are letters' own."""


@lru_cache(maxsize=65_536)
def _fold_character(character: str) -> str:
    return "".join(
        one
        for one in unicodedata.normalize("NFKD", character.casefold())
        if unicodedata.combining(one) < _FIRST_MARK and one != "ـ"
    )


def fold(text: str) -> str:
    """*text* without case, diacritics, vowel points and ligatures, its white space made single."""
    return fold_with_places(text)[0].strip()


def fold_with_places(text: str) -> tuple[str, list[int]]:
    """As `fold` of a text with its white space kept as single blanks, and for each of its characters which of *text* it
    comes from."""
    if text.isascii() and " ".join(text.split()) == text:
        return text.lower(), list(range(len(text)))
    found: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            if found and found[-1] != " ":
                found.append(" ")
                places.append(place)
            continue
        for one in _fold_character(character).casefold():
            found.append(one)
            places.append(place)
    return "".join(found), places


def folded_names(names: Iterable[str]) -> str:
    """The names as a search of names looks in them: each folded, one a line."""
    return "\n".join(dict.fromkeys(one for one in map(fold, names) if one))
