"""Builds lines from the words of a file's own text layer; pure. Pixels of the page's picture, origin top left."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""

WIDEST_SPACE: Final = 3.0
"""Heights of a line: words further apart stand in different columns."""


class Word(NamedTuple):
    """A word and its box."""

    text: str
    box: Box


class TextLine(NamedTuple):
    """Words that follow each other in one line."""

    words: list[Word]

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def box(self) -> Box:
        boxes = [word.box for word in self.words]
        return (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )


def lines_from(words: Iterable[Word | Literal["\n"]], width: float, height: float) -> list[TextLine]:
    """Return the lines of *words* that lie on the page; none if most characters are unreadable.

    A line ends at a break, and where the next word stands in another row or column.
    """
    lines: list[TextLine] = []
    previous: Word | None = None
    for word in words:
        if isinstance(word, str):
            previous = None
            continue
        word = Word(_clean_text(word.text), _clip(word.box, width, height))
        if not word.text or word.box[2] <= word.box[0] or word.box[3] <= word.box[1]:
            continue
        if previous is None or not _follows(previous.box, word.box):
            lines.append(TextLine([]))
        lines[-1].words.append(word)
        previous = word
    text = "".join(line.text for line in lines)
    return [] if text.count("\ufffd") * 2 > len(text) else lines


def _clean_text(text: str) -> str:
    """Return *text* without control characters; what its font gives no character for is U+FFFD."""
    kinds = [(letter, unicodedata.category(letter)) for letter in text]
    return "".join(
        "\ufffd" if kind in ("Cn", "Cs") else letter
        for letter, kind in kinds
        if kind not in ("Cc", "Zl", "Zp")
    )


def _clip(box: Box, width: float, height: float) -> Box:
    return max(0.0, box[0]), max(0.0, box[1]), min(width, box[2]), min(height, box[3])


def _follows(box: Box, other: Box) -> bool:
    """Return whether two words stand in one line, whatever its direction; lines of turned text run up or down."""
    across = _overlap(box[0], box[2], other[0], other[2])
    along = _overlap(box[1], box[3], other[1], other[3])
    if along >= 0.3:
        thickness = max(box[3] - box[1], other[3] - other[1])
        return max(other[0] - box[2], box[0] - other[2]) <= WIDEST_SPACE * thickness
    upright = box[3] - box[1] > box[2] - box[0] or other[3] - other[1] > other[2] - other[0]
    thickness = max(box[2] - box[0], other[2] - other[0])
    return upright and across >= 0.6 and max(other[1] - box[3], box[1] - other[3]) <= thickness


def _overlap(start: float, end: float, other_start: float, other_end: float) -> float:
    """Return how much two stretches have in common, as a share of the shorter."""
    common = min(end, other_end) - max(start, other_start)
    return common / max(1e-9, min(end - start, other_end - other_start))
