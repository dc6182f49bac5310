"""Labels of other collections, which are not read: known by their lines, so that they are no text of numbers."""

from __future__ import annotations

import re
from typing import Final

_WHOLE = r"-?\d{1,7}"
_DECIMAL = r"-?\d{1,7}(?:\.\d{1,12})?"
_KINDS: Final = (
    (
        "labels of ICDAR (the corners of a box in pixels, and its text)",
        re.compile(
            rf"\s*{_WHOLE}(?:\s*,\s*{_WHOLE}){{7}}\s*,.*|\s*{_WHOLE}(?:\s*,\s*{_WHOLE}){{3}}\s*,\s*\".*"
        ),
    ),
    (
        "labels of DOTA (the corners of a box in pixels, a class and its difficulty)",
        re.compile(rf"\s*{_DECIMAL}(?:\s+{_DECIMAL}){{7}}\s+[^\s\d]\S*(?:\s+\d)?\s*|(?:imagesource|gsd):.*"),
    ),
    (
        "YOLO labels with names instead of class numbers",
        re.compile(r"\s*[^\W\d][\w.:-]{0,60}(?:\s+[01]?\.\d{1,20}){4,5}\s*"),
    ),
)


def foreign_labels(text: str) -> str | None:
    """What labels every line of a text is of, in words for a sentence; None where it is none that is known."""
    rows = [row for row in text.splitlines() if row.strip()]
    if not rows:
        return None
    return next((words for words, pattern in _KINDS if all(map(pattern.fullmatch, rows))), None)
