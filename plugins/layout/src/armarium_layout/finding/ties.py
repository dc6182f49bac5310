"""A page's text divided among its lines: by its own line breaks, by what a reader read, by the room in each line."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

EMPTY = 1.5
"""The cost of leaving a line without a word."""
BREAK = 0.15
"""The bonus for ending a line where the text does."""
LOOSEST = 2.5
"""A line takes at most so many times the letters it has room for."""


ASTRAY = 0.1
"""A line begins at most this share of the text, and `LINES_ASTRAY` lines, before or after the place suggested
by its room.
"""
LINES_ASTRAY = 6


class TiedWords(NamedTuple):
    """The words of one line, and how well they fit it (0 to 1)."""

    text: str
    fit: float


def tie_words(
    text: str, widths: Sequence[float], read: Sequence[str | None] | None = None
) -> list[TiedWords]:
    """Return the words of *text* divided, in order, among lines of these *widths* (any unit): every word
    exactly once.

    read: what was read in each line so far, None if nothing was: each line gets the words most like it. If
    the text has as many lines as the page and nothing was read, its lines are used unchanged.
    """
    text_lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    readings = list(read or [None] * len(widths))
    if not text_lines or not widths:
        return [TiedWords("", 0.0) for _ in widths]
    if len(text_lines) == len(widths) and not any(readings):
        return [TiedWords(line, 1.0) for line in text_lines]
    words: list[str] = []
    ends: set[int] = set()
    for line in text_lines:
        words += line.split(" ")
        ends.add(len(words))
    return _cut_words(words, ends, widths, readings)


def _cut_words(
    words: list[str], ends: set[int], widths: Sequence[float], read: Sequence[str | None]
) -> list[TiedWords]:
    """Return the cheapest way to cut *words* into as many runs as there are lines."""
    count, lines = len(words), len(widths)
    begins = [0]
    for word in words:
        begins.append(begins[-1] + len(word) + 1)
    letters, width = begins[-1], sum(widths) or 1.0
    never = float("inf")
    # costs[j]: the least cost of having put the first j words into the lines so far.
    costs = [0.0] + [never] * count
    steps: list[list[int]] = []
    reach, due = ASTRAY * letters + LINES_ASTRAY * letters / lines, 0.0
    for number in range(lines):
        first = bisect_left(begins, due - reach)
        last = bisect_right(begins, due + reach)
        due += letters * widths[number] / width
        room = max(1.0, letters * widths[number] / width)
        most = max(LOOSEST * room, LOOSEST * len(read[number] or ""), 40.0)
        following = [never] * (count + 1)
        step = [0] * (count + 1)
        for begin in range(first, min(last, count + 1)):
            if costs[begin] == never:
                continue
            for end in range(begin, count + 1):
                long = begins[end] - begins[begin]
                if end > begin + 1 and long > most:
                    break
                cost = costs[begin] + _cost(words[begin:end], long, room, read[number])
                if end in ends:
                    cost -= BREAK
                if cost < following[end]:
                    following[end], step[end] = cost, begin
        costs = following
        steps.append(step)
    if costs[count] == never:
        # More words than the lines can take: the last one gets the rest.
        return [*(TiedWords("", 0.0) for _ in widths[:-1]), TiedWords(" ".join(words), 0.0)]
    return _trace_words(words, steps, begins, widths, read)


def _cost(words: list[str], long: int, room: float, read: str | None) -> float:
    if not words:
        return EMPTY
    off = (long - room) / room
    if read is None:
        return min(off * off, 4.0)
    return 3.0 * (1.0 - _likeness(" ".join(words), read)) + 0.1 * min(off * off, 4.0)


def _likeness(text: str, read: str) -> float:
    """Return 1 if the letters are the same, 0 if none is; case and punctuation do not matter."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(_strip_marks(text), _strip_marks(read)))


def _strip_marks(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def _trace_words(
    words: list[str],
    steps: list[list[int]],
    begins: list[int],
    widths: Sequence[float],
    read: Sequence[str | None],
) -> list[TiedWords]:
    end = len(words)
    tied: list[TiedWords] = []
    letters, width = begins[-1], sum(widths) or 1.0
    for number in range(len(widths) - 1, -1, -1):
        begin = steps[number][end]
        text = " ".join(words[begin:end])
        reading = read[number]
        room = max(1.0, letters * widths[number] / width)
        fit = _likeness(text, reading) if reading else max(0.0, 1.0 - abs(len(text) - room) / room)
        tied.append(TiedWords(text, round(fit if text else 0.0, 3)))
        end = begin
    return tied[::-1]
