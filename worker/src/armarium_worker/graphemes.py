"""What a person counts as one letter: extended grapheme clusters (Unicode's UAX 29), with the standard library alone."""

from __future__ import annotations

import unicodedata

_JOINER, _LINKERS = "\u200d", frozenset("\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d")
"""The signs that make the next consonant part of a letter (GB9c)."""
_MARKS = frozenset(("Mn", "Mc", "Me"))


def graphemes(text: str) -> list[str]:
    """Return the letters of *text* in order, each with its combining marks; joined together they are *text*."""
    letters: list[str] = []
    flags = 0
    for sign in text:
        before = letters[-1] if letters else ""
        is_flag = "\U0001f1e6" <= sign <= "\U0001f1ff"
        if before and (
            _extends(sign)
            or (sign == "\n" and before == "\r")
            or (before[-1] == _JOINER and _pictures(before[0], sign))
            or (is_flag and flags % 2 == 1)
            or (_links(before) and unicodedata.category(sign) == "Lo")
            or _continues_syllable(before[-1], sign)
        ):
            letters[-1] += sign
        else:
            letters.append(sign)
        flags = flags + 1 if is_flag else 0
    return letters


def _extends(sign: str) -> bool:
    # Latin and the like first: nearly every letter asked about.
    if sign < "\u0300":
        return False
    return (
        unicodedata.category(sign) in _MARKS
        or sign in (_JOINER, "\u200c")
        or "\U0001f3fb" <= sign <= "\U0001f3ff"
        or "\U000e0020" <= sign <= "\U000e007f"
        or sign in "\uff9e\uff9f"
    )


def _pictures(first: str, sign: str) -> bool:
    return first > "\u2000" and sign > "\u2000" and unicodedata.category(sign) == "So"


def _links(before: str) -> bool:
    return any(sign in _LINKERS for sign in before) and before.rstrip(_JOINER)[-1:] in _LINKERS


def _continues_syllable(before: str, sign: str) -> bool:
    """GB6 to GB8: the parts of a Hangul syllable."""
    if not "\u1100" <= sign <= "\ud7fb":
        return False
    leads, vowels = "\u1100" <= before <= "\u115f", "\u1160" <= before <= "\u11a7"
    whole = "\uac00" <= before <= "\ud7a3"
    open_ = whole and (ord(before) - 0xAC00) % 28 == 0
    if "\u1100" <= sign <= "\u115f" or "\uac00" <= sign <= "\ud7a3":
        return leads
    if "\u1160" <= sign <= "\u11a7":
        return leads or vowels or open_
    return "\u11a8" <= sign <= "\u11ff" and (vowels or whole or "\u11a8" <= before <= "\u11ff")
