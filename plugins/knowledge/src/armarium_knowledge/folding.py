"""Text as names are compared: without case, diacritics, vowel points and ligatures; with the offsets of the
original.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_FIRST_MARK = 10
"""The lowest combining class of marks that may be left out: points and accents. Below it are nukta and
virama, which belong to letters.
"""


@lru_cache(maxsize=65_536)
def _fold_character(character: str) -> str:
    return "".join(
        one
        for one in unicodedata.normalize("NFKD", character.casefold())
        if unicodedata.combining(one) < _FIRST_MARK and one != "ـ"
    )


def fold(text: str) -> str:
    """Return *text* without case, diacritics, vowel points and ligatures, with single spaces."""
    return fold_with_places(text)[0].strip()


def fold_with_places(text: str) -> tuple[str, list[int]]:
    """As `fold` for a text whose white space becomes single blanks; also return, for each character, the
    offset in *text* it comes from.
    """
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
    """Return the names in the form that a search of names uses: each folded, one per line."""
    return "\n".join(dict.fromkeys(one for one in map(fold, names) if one))
