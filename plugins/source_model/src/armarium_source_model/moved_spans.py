"""One reading that counts now in the place of another, and where characters of the one stand in the other."""

from __future__ import annotations

from typing import NamedTuple


class Corrected(NamedTuple):
    """One reading that counts now in the place of another."""

    document_id: str
    segment_id: str
    old_id: str
    new_id: str
    old_text: str
    new_text: str


def placed(start: int, end: int, old: str, new: str) -> tuple[int, int] | str:
    """Where the characters *start* to *end* of *old* stand in *new*, or why that cannot be said."""
    words = old[start:end]
    if not words or end > len(old):
        return "Its characters lie outside the earlier reading."
    at = new.find(words)
    if at < 0:
        return "Its characters do not occur in the new reading."
    if new.find(words, at + 1) >= 0:
        return "Its characters occur more than once in the new reading."
    return at, at + len(words)
