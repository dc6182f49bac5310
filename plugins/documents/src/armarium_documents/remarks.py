"""Counts remarks on files: those that differ only in numbers and file names are reported once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_NAMES_AND_NUMBERS = re.compile(
    r"\d[\d.,]*\d|\d|[^\s:;()]+\.(?:jpe?g|png|tiff?|jp2|pdf|xml|txt|html?|gif|bmp|webp)\b", re.IGNORECASE
)

NAMED = 5
"""Files that are named with a remark on several."""


def remark_pattern(remark: str) -> str:
    """Return what remarks of the same kind have in common: the words without numbers and file names."""
    return _NAMES_AND_NUMBERS.sub("#", remark)


def count_remarks(
    notes: list[dict[str, Any]], place: str, remarks: Iterable[str], *, most: int | None = None
) -> None:
    """Count remarks on the file *place* in *notes*: [{note, count, files}], at most *most* entries."""
    for remark in dict.fromkeys(remarks):
        kind = remark_pattern(remark)
        earlier = next((note for note in notes if remark_pattern(note["note"]) == kind), None)
        if earlier is None:
            if most is not None and len(notes) >= most:
                continue
            earlier = {"note": remark, "count": 0, "files": []}
            notes.append(earlier)
        earlier["count"] += 1
        if len(earlier["files"]) < NAMED:
            earlier["files"].append(place)
