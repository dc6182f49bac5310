"""A character model of a project's corrected lines: how likely a text is by their standard."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

FEWEST_LINES = 50
"""With fewer corrected lines, the model makes no statements."""

SHORTEST = 6
"""The length in characters of the shortest text that is judged."""

SPREADS = 3.5
"""How many standard deviations below the mean of the corrected lines a text is called unlikely."""

_EDGE = "\x02"


class CharacterModel:
    """Trigrams interpolated with lower orders (Witten-Bell); scores are mean log probabilities per character."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = len(lines)
        self._counts: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
        self._followers: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
        for line in lines:
            padded = _EDGE * 2 + _fold_text(line)
            for at in range(2, len(padded)):
                for order in range(3):
                    gram = padded[at - order : at + 1]
                    if not self._counts[order][gram]:
                        self._followers[order][gram[:-1]] += 1
                    self._counts[order][gram] += 1
        self._contexts: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
        for order in range(3):
            for gram, number in self._counts[order].items():
                self._contexts[order][gram[:-1]] += number

    def score(self, text: str) -> float:
        """Return the mean log probability per character of *text*."""
        padded = _EDGE * 2 + _fold_text(text)
        logs = [math.log(self._probability(padded[at - 2 : at + 1])) for at in range(2, len(padded))]
        return sum(logs) / max(1, len(logs))

    def _probability(self, gram: str) -> float:
        likely = 1 / 1_000
        for order in range(3):
            part = gram[2 - order :]
            times, kinds = self._contexts[order][part[:-1]], self._followers[order][part[:-1]]
            if times:
                likely = (self._counts[order][part] + kinds * likely) / (times + kinds)
        return likely


class Likelihood:
    """Tells which texts are unlikely by the standard of *lines*; makes no statements if there are too few of
    them.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        usable = [line for line in lines if len(line.strip()) >= SHORTEST]
        self._model = CharacterModel(usable) if len(usable) >= FEWEST_LINES else None
        self._lowest = -math.inf
        if self._model is None:
            return
        # Each line is scored by a model of the other half.
        halves = usable[::2], usable[1::2]
        scores = [
            model.score(line)
            for known, held_out in (halves, halves[::-1])
            for model in (CharacterModel(known),)
            for line in held_out
        ]
        mean = sum(scores) / len(scores)
        spread = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
        self._lowest = mean - SPREADS * spread

    def is_unlikely(self, text: str) -> bool:
        """Return whether *text* is far less likely than the corrected lines are."""
        if self._model is None or len(text.strip()) < SHORTEST:
            return False
        return self._model.score(text) < self._lowest


def _fold_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
