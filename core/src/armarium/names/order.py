"""The one order of names: the key by which they are sorted wherever they are listed."""

from __future__ import annotations

import re
import unicodedata

from armarium.names.folding import words_of

KEY_VERSION = 1
"""Raised with every change of what `name_key` returns, or of what folding makes of a letter: indexes hold the keys."""

_NUMBER = re.compile(r"\d+")


def name_key(name: str) -> str:
    """Return the text by which names are sorted, everywhere: their folded words, in which a number counts by its value; those
    that agree so far, as "avila", "Ávila" and "ávila" do, follow in the order of their code points.

    In SQL it is the function `armarium.store.name_order.NAME_KEY`.
    """
    words = " ".join(words_of(name))
    return f"{_NUMBER.sub(_number_key, words)}\0{name}"


def _number_key(found: re.Match[str]) -> str:
    """Return the digits after how many they are, so that the longer number is the larger one."""
    digits = (
        found[0] if found[0].isascii() else "".join(str(unicodedata.decimal(digit)) for digit in found[0])
    )
    digits = digits.lstrip("0")
    return f"0{chr(1 + len(digits))}{digits}"
