"""Which letters a reader's machine may lack, so that what is exported takes their fonts along."""

from __future__ import annotations

LARGEST = 4_000_000
"""Bytes: a larger font, such as that of Chinese and Japanese, is left to the reader's machine."""
_USUAL = ((0, 0x52F), (0x1E00, 0x1FFF), (0x2000, 0x2044), (0x2060, 0x206F), (0x20A0, 0x20BF))
"""Latin, Greek and Cyrillic with their accents, common punctuation, signs of money: every machine has these."""


def is_unusual(letter: str) -> bool:
    """Whether a machine may have no font for *letter*."""
    return not any(first <= ord(letter) <= last for first, last in _USUAL)
