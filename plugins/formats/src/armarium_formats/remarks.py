"""Remarks that differ in their numbers and names alone: one for all files, and how many they are of."""

from __future__ import annotations

import re

_NAMES_AND_NUMBERS = re.compile(
    r"\d[\d.,]*|[^\s:;()]+\.(?:jpe?g|png|tiff?|jp2|pdf|xml|txt|html?|gif|bmp|webp)\b", re.IGNORECASE
)


def alike(remark: str) -> str:
    """What remarks of the same kind have in common: the words without numbers and names of files."""
    return _NAMES_AND_NUMBERS.sub("#", remark)
