"""Hooks for other families' rows that belong to segments: moving spans with a correction, following merges
and splits. Pure but for what the families themselves write.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from armarium.api import is_unspaced


def span_in_new_text(start: int, end: int, old: str, new: str) -> tuple[int, int] | str:
    """Return where the characters *start* to *end* of *old* are in *new*, or why that is unknown."""
    words = old[start:end]
    if not words or end > len(old):
        return "Its characters are outside the earlier reading."
    at = new.find(words)
    if at < 0:
        return "Its characters do not occur in the new reading."
    if new.find(words, at + 1) >= 0:
        return "Its characters occur more than once in the new reading."
    return at, at + len(words)


def move_span(start: int, end: int, old: str, new: str) -> tuple[int, int] | str:
    """Return where the same words are in *new*: the only ones, or among several (in either text) those in the same
    place; else why not. Whole words stay whole words. A span without characters is a place between two of them.
    """
    if start == end:
        return _move_place(start, old, new)
    words = old[start:end]
    if not words or end > len(old):
        return "Its characters are outside the earlier reading."
    inside = _cuts(old, start), _cuts(old, end)
    places = list(_occurrences(words, new, *inside))
    if not places:
        return "Its characters do not occur in the new reading."
    if len(places) == 1 and len(list(_occurrences(words, old, *inside))) == 1:
        return places[0], places[0] + len(words)
    beside = align_span(start, end, old, new)
    if beside is not None and beside[0] in places and beside[1] - beside[0] == len(words):
        return beside
    return f"Its characters occur more than once in the {'new' if len(places) > 1 else 'earlier'} reading."


def align_span(start: int, end: int, old: str, new: str) -> tuple[int, int] | None:
    """Return the characters of *new* in place of *start* to *end* of *old*; None if there are none."""
    first = last = None
    for kind, old_start, old_end, new_start, new_end in _alignment(old, new):
        if old_end <= start or old_start >= end:
            continue
        equal = kind == "equal" or old_end - old_start == new_end - new_start
        moved_start = new_start + max(0, start - old_start) if equal else new_start
        right = new_end - max(0, old_end - end) if equal else new_end
        first = moved_start if first is None else min(first, moved_start)
        last = right if last is None else max(last, right)
    return None if first is None or last is None or first >= last else (first, last)


def _move_place(at: int, old: str, new: str) -> tuple[int, int] | str:
    """Move a place between two characters: it is known if what is before or after it is unchanged."""
    tail = len(old) - at
    if 0 <= at <= len(old):
        if new[:at] == old[:at]:
            return at, at
        if tail <= len(new) and old[at:] == new[len(new) - tail :]:
            return len(new) - tail, len(new) - tail
        for kind, start, end, new_start, _ in _alignment(old, new):
            if kind == "equal" and start < at < end:
                return new_start + at - start, new_start + at - start
    return "The place between two characters is not in the new reading."


def _occurrences(words: str, text: str, cut_before: bool, cut_after: bool) -> Iterator[int]:
    """Return where *words* are in *text*, not in the middle of longer words unless they were before."""
    at = text.find(words)
    while at >= 0:
        if (cut_before or not _cuts(text, at)) and (cut_after or not _cuts(text, at + len(words))):
            yield at
        at = text.find(words, at + 1)


def _cuts(text: str, at: int) -> bool:
    """Return whether *at* is inside a word of a script that has blanks between words."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (after.isalnum() or unicodedata.combining(after)) or is_unspaced(before) or is_unspaced(after):
        return False
    return before.isalnum() or unicodedata.combining(before) != 0


@lru_cache(maxsize=64)
def _alignment(old: str, new: str) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
