"""Which letters a reader's machine may lack, so that exports include fonts for them."""

from __future__ import annotations

LARGEST = 4_000_000
"""Bytes: a larger font, such as one for Chinese and Japanese, is left to the reader's machine."""
_USUAL = ((0, 0x52F), (0x1E00, 0x1FFF), (0x2000, 0x2044), (0x2060, 0x206F), (0x20A0, 0x20BF))
"""Latin, Greek and Cyrillic with their accents, common punctuation, currency signs: every machine has these."""


def is_unusual(letter: str) -> bool:
    """Return whether a machine may have no font for *letter*."""
    return not any(first <= ord(letter) <= last for first, last in _USUAL)
