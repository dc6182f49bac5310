"""Converts the text of a line to String, SP and HYP, and checks whether these reproduce it exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from armarium_formats.page_model import PageSegment, kept_by, order_siblings

HYPHENS = frozenset("-\u00ad\u00ac\u2010\u2e17=\u2011")


_TOUCHING = 0.1
"""Of a word's height: words no farther apart touch."""


def says_blanks(parted: int, unparted: int) -> bool:
    """Return whether a file marks every space by SP: judged by its lines of several Strings."""
    return parted > unparted


def touch(words: Sequence[PageSegment]) -> bool:
    """Return whether words are so close that there is no space between them, as far as they have boxes."""
    for before, after in pairwise(words):
        if before.points and after.points:
            first, second = _span(before), _span(after)
            height = max(y for _, y in after.points) - min(y for _, y in after.points)
            if max(second[0] - first[1], first[0] - second[1]) > _TOUCHING * height:
                return False
    return True


def _span(word: PageSegment) -> tuple[float, float]:
    return min(x for x, _ in word.points), max(x for x, _ in word.points)


@dataclass(slots=True)
class Split:
    """The words of a line, whether a blank follows each, the hyphen at its end, and the text that a reader makes of it."""

    words: list[tuple[PageSegment, str]] = field(default_factory=list)
    blanks: list[bool] = field(default_factory=list)
    hyphen: str = ""
    text: str = ""
    given: bool = False
    """Whether the words had no texts and were given those of the line."""
    moved: bool = False
    """Whether the words stand in the sequence of the text now, which is not theirs."""


def split_line(line: PageSegment) -> Split | None:
    """Split the line into its words; None if it has none, or if they do not make up its text."""
    words = order_siblings(line.children)
    if not words:
        return None
    texts = [word.text for word in words]
    whole = line.text
    is_given = False
    if not whole:
        return _find_split(words, texts, [True] * (len(words) - 1), "", False)
    tokens = whole.split()
    if not any(texts):
        texts, is_given = tokens, True
        if len(texts) != len(words):
            return None
    moved = texts != tokens and len(texts) == len(tokens) and sorted(texts) == sorted(tokens)
    if moved:
        free: dict[str, list[PageSegment]] = {}
        for word in words:
            free.setdefault(word.text, []).append(word)
        words, texts = [free[token].pop(0) for token in tokens], tokens
    blanks: list[bool] = []
    place = 0
    for index, text in enumerate(texts):
        start = place
        while place < len(whole) and whole[place].isspace() and not whole.startswith(text, place):
            place += 1
        if not whole.startswith(text, place):
            return None
        if index:
            blanks.append(place > start)
        place += len(text)
    remaining = whole[place:]
    if remaining.strip() and remaining not in HYPHENS and remaining != _kept_hyphen(line):
        return None
    split = _find_split(words, texts, blanks, remaining if remaining.strip() else "", is_given)
    split.moved = moved
    return split


def _kept_hyphen(line: PageSegment) -> str | None:
    extras: dict[str, Any] = kept_by("alto", line.texts[0]) if line.texts else {}
    hyphen = extras.get("hyphen")
    return hyphen.get("CONTENT") if isinstance(hyphen, dict) else None


def _find_split(
    words: list[PageSegment], texts: list[str], blanks: list[bool], hyphen: str, given: bool
) -> Split:
    parted = len(words) < 2 or any(blanks)
    pieces: list[str] = []
    for index, text in enumerate(texts):
        pieces.append(text)
        if index < len(blanks) and (blanks[index] or not parted):
            pieces.append(" ")
    pieces.append(hyphen)
    return Split(list(zip(words, texts, strict=True)), blanks, hyphen, "".join(pieces), given)
