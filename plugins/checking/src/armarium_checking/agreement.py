"""The checker that needs no model: `builtin`, `agreement`. Each verdict names the signal it is based on.

- agreement: another reader, in this pass or another, reads the line the same or quite differently, or two
  agree against one;
- ink: nothing is written where something was read, or the reverse;
- length: far more or fewer characters than the ink on the other lines of the page suggests;
- characters: far less likely than the lines of the project that people have corrected.

A line without any signal is left unanswered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from armarium_checking.characters import Likelihood
from armarium_checking.ink import LEAST, Ink
from armarium_source_model.api import normalise

SAME, OTHER, APART = 0.03, 0.05, 0.5
"""Error rates: below the first, two readings are the same; above the second, they differ; above the third,
one is wrong.
"""

TIMES = 2.5
"""By what factor the characters of a line may deviate from the number that its ink suggests."""

FEWEST_LINES, SHORTEST = 5, 8
"""The least number of lines of a page for statements on lengths; the characters of the shortest text that is
measured.
"""


class Line(NamedTuple):
    """A line and the reading to check."""

    reading_id: str
    text: str
    maker: str
    by_person: bool
    ink: Ink | None
    others: Mapping[str, str]
    """The readings of other readers on that line: maker to text."""


class Judgement(NamedTuple):
    """A verdict with its reason, and the correction if there is one."""

    verdict: str
    reasons: str
    correction: str | None = None


def judge(lines: Sequence[Line], likelihood: Likelihood) -> list[Judgement | None]:
    """Return the opinion on each of a page's *lines*; None if there is no signal."""
    usual = _characters_for_ink(lines)
    return [_judge(line, usual, likelihood) for line in lines]


def error_rate(text: str, other: str) -> float:
    """Return the edit distance of two readings divided by the length of the longer, ignoring white space and composition."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_distance(normalise(text), normalise(other)))


def _judge(line: Line, usual: float | None, likelihood: Likelihood) -> Judgement | None:
    has_ink = None if line.ink is None else line.ink.share >= LEAST
    if not line.text.strip():
        return (
            Judgement("reject", "ink: something is written there, and nothing was read") if has_ink else None
        )
    if has_ink is False:
        return Judgement("reject", "ink: nothing is written there, and something was read")
    rates = {maker: error_rate(line.text, text) for maker, text in line.others.items()}
    alike = [maker for maker, rate in rates.items() if rate <= SAME]
    if alike:
        return Judgement("confirm", f"agreement: {_join_makers(alike)} read the same")
    against = _two_against(line, rates)
    if against is not None:
        return against
    if usual is not None and line.ink is not None and len(line.text.strip()) >= SHORTEST:
        times = len(line.text.strip()) / max(line.ink.extent, 0.1) / usual
        if times > TIMES or times < 1 / TIMES:
            much = "more" if times > 1 else "fewer"
            return Judgement("reject", f"length: far {much} characters than the ink of the line gives")
    if not line.by_person and likelihood.is_unlikely(line.text):
        return Judgement("reject", "characters: far less likely than the project's corrected lines")
    apart = [maker for maker, rate in rates.items() if rate > APART]
    if apart:
        return Judgement("reject", f"agreement: {_join_makers(apart)} read it quite differently")
    return None


def _two_against(line: Line, rates: Mapping[str, float]) -> Judgement | None:
    """Return two other readers who agree with each other against the reading."""
    against = [maker for maker, rate in rates.items() if rate > OTHER]
    for number, first_maker in enumerate(against):
        for other in against[number + 1 :]:
            if error_rate(line.others[first_maker], line.others[other]) <= SAME:
                words = f"agreement: {_join_makers([first_maker, other])} agree on another reading"
                return Judgement("correct", words, line.others[first_maker])
    return None


def _characters_for_ink(lines: Iterable[Line]) -> float | None:
    """Return how many characters the page's lines have per stretch of ink as long as a line is high."""
    densities = [
        len(line.text.strip()) / line.ink.extent
        for line in lines
        if line.ink is not None and line.ink.extent > 0.5 and len(line.text.strip()) >= SHORTEST
    ]
    return median(densities) if len(densities) >= FEWEST_LINES else None


def _join_makers(makers: Sequence[str]) -> str:
    return " and ".join(sorted(makers))
