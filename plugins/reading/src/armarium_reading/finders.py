"""Who finds the lines of a folder where nobody is named: our finder, unless it is not sure of what it found on a few pages and
another leaves out clearly less of the writing there; pure.

A page of which our finder is sure costs nothing more. `make evaluate-finder` has the pages on which this was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any, NamedTuple

FINDERS = ("lines", "rapidocr")
"""By name, the one that is taken first."""
SAMPLE = 3
"""On how many pages of a folder they are tried, spread evenly."""
SURE = 0.78
"""Mean confidence of our finder's lines from which no other is tried."""
CLEAR = 0.005
"""By how much less of the writing another must leave out."""

LONG = 2
"""How many times as long as high the middle line of a page is at least: else these are letters (of Chinese, say), not lines."""
PIECES = 2
"""How many times as many lines as another a finder finds that cuts lines into pieces."""

Lines = Sequence[Mapping[str, Any]]


class FinderTrial(NamedTuple):
    """How sure the first finder was of a page's lines, and what share of the length of all lines each of two left out that the
    other found; None if the other was not asked.
    """

    sure: float
    left_out: tuple[float, float] | None = None


def sureness(lines: Lines) -> float:
    """Return the mean confidence of the lines of a page; 0 if there are none, or if they are rather letters."""
    text_lines = [line for line in lines if line["kind"] == "line"]
    if not text_lines:
        return 0.0
    spans = [max(w, h) / max(min(w, h), 1e-9) for _, _, w, h in (line["rect"] for line in text_lines)]
    return mean(float(line.get("confidence", 1.0)) for line in text_lines) if median(spans) >= LONG else 0.0


def left_out(mine: Lines, other: Lines) -> tuple[float, float]:
    """Return the shares of the longer of two findings that the first and the second left out; all, if the first cut it up."""
    first, second = (
        [line["rect"] for line in lines if line["kind"] == "line" and line["rect"][2] > 0]
        for lines in (mine, other)
    )
    whole = max(sum(rect[2] for rect in first), sum(rect[2] for rect in second)) or 1.0
    cut_up = len(first) > PIECES * len(second) > 0
    return 1.0 if cut_up else _measure_missing(second, first) / whole, _measure_missing(first, second) / whole


def _measure_missing(some: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> float:
    """Return the length of the lines of *some* of which less than half lies in *others*."""
    total = 0.0
    for x, y, w, h in some:
        middle = y + h / 2
        shared = sum(
            max(0.0, min(x + w, left + wide) - max(x, left))
            for left, top, wide, high in others
            if top <= middle <= top + high
        )
        total += w if shared < w / 2 else 0.0
    return total


def settle_finder(tried: Sequence[FinderTrial], labels: Sequence[str]) -> tuple[int, str]:
    """Return the number of the finder of a folder, and why in a sentence."""
    first, other = labels
    pages = f"{len(tried)} sample page{'' if len(tried) == 1 else 's'}"
    compared = [trial.left_out for trial in tried if trial.left_out is not None]
    if not tried:
        return 0, f"{first} finds the lines: no page of the folder could be tried."
    if not compared:
        return 0, f"{first} finds the lines: it is sure of what it found on {pages}."
    mine, theirs = (sum(shares) / len(tried) for shares in zip(*compared, strict=True))
    number = int(mine - theirs > CLEAR)
    sentence = f"{labels[number]} finds the lines: on {pages} {first} left out or cut up {mine:.1%} of the writing, {other} {theirs:.1%}"
    return number, sentence + ("." if number or mine <= theirs else ", which is not a clear difference.")
