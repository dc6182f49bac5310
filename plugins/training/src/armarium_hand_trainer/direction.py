"""The writing direction of a text; standard library only."""

from __future__ import annotations

import unicodedata


def is_right_to_left(text: str) -> bool:
    """Return whether most letters of the text are written from right to left."""
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")
