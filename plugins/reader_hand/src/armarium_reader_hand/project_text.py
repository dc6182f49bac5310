"""What a project's corrected text says next: counts of its characters, and reading with them (CTC prefix beam search).

A trained model carries such counts where they help: they are fitted on the lines it was taught and kept only if lines that were not
taught are read better with them (`fit`). Pages that are held out are in neither.
"""

from __future__ import annotations

import base64
import json
import math
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from armarium_reader_hand.decoding import Answer, Codes

ORDER = 5
"""Characters that are looked at together: four before the one that is expected."""
BEAM = 8
LIKELY = -7.0
"""Logarithm of probability: letters less likely at a step are not tried there."""
SURE = math.log(0.999)
"""A blank as likely as this ends nothing and begins nothing."""
WEIGHTS = (0.15, 0.3, 0.5)
BONUS = 1.8
"""What each letter earns, as a logarithm: without it short texts are the likelier ones."""
FEWEST = 10
"""Lines for the choice; by fewer nothing is chosen."""
SMALLEST_GAIN = 0.005
"""Of the characters: what helps less is chance."""


class TextModel:
    """Counts of characters after those before them, and how much they weigh; a line begins and ends with a line break."""

    def __init__(self, counts: dict[str, dict[str, int]], weight: float) -> None:
        self.counts, self.weight = counts, weight
        self._letters = len(counts.get("", {})) + 1
        self._known: dict[tuple[str, str], float] = {}

    @classmethod
    def of(cls, texts: Iterable[str], weight: float) -> TextModel:
        """The counts of *texts*."""
        counts: dict[str, Counter[str]] = {}
        for text in texts:
            line = f"\n{unicodedata.normalize('NFC', ' '.join(text.split()))}\n"
            for at in range(1, len(line)):
                for length in range(min(ORDER, at + 1)):
                    counts.setdefault(line[at - length : at], Counter())[line[at]] += 1
        return cls({context: dict(after) for context, after in counts.items()}, weight)

    @classmethod
    def unpacked(cls, packed: dict[str, Any]) -> TextModel:
        """From what `packed` wrote."""
        counts = json.loads(zlib.decompress(base64.b64decode(packed["counts"])))
        return cls(counts, float(packed["weight"]))

    def packed(self) -> dict[str, Any]:
        """As plain values."""
        told = json.dumps(self.counts, ensure_ascii=False, sort_keys=True).encode()
        return {"weight": self.weight, "counts": base64.b64encode(zlib.compress(told, 9)).decode()}

    def expects(self, before: str, letter: str) -> float:
        """The logarithm of the probability of *letter* after *before* (Witten and Bell's interpolation of all lengths)."""
        context = before[-(ORDER - 1) :]
        known = self._known.get((context, letter))
        if known is None:
            known = self._known[context, letter] = math.log(self._share(context, letter))
        return known

    def _share(self, context: str, letter: str) -> float:
        shorter = self._share(context[1:], letter) if context else 1 / self._letters
        after = self.counts.get(context)
        if after is None:
            return shorter
        kinds = len(after)
        return (after.get(letter, 0) + kinds * shorter) / (sum(after.values()) + kinds)


def likeliest_text(answer: Answer, alphabet: Sequence[str], text: TextModel) -> Codes:
    """The letters of the likeliest text by the picture and by what the project's text says, over all its paths."""
    # Of each beginning: the logarithms of its paths that end with a blank and with a letter, and what the text says of it.
    beginnings: dict[Codes, tuple[float, float, float]] = {(): (0.0, -math.inf, 0.0)}
    spelled: dict[Codes, str] = {(): "\n"}
    for step in answer:
        blank_now = float(step[0])
        if blank_now > SURE:
            beginnings = {
                codes: (_sum(blank, letter) + blank_now, -math.inf, said)
                for codes, (blank, letter, said) in beginnings.items()
            }
            continue
        tried = [int(code) for code in np.flatnonzero(step > LIKELY) if code]
        grown: dict[Codes, list[float]] = {}
        for codes, (blank, letter, said) in beginnings.items():
            total = _sum(blank, letter)
            ends = grown.setdefault(codes, [-math.inf, -math.inf, said])
            ends[0] = _sum(ends[0], total + blank_now)
            if codes:
                ends[1] = _sum(ends[1], letter + float(step[codes[-1]]))
            for code in tried:
                # After the same letter a new one begins only behind a blank.
                before = blank if codes and codes[-1] == code else total
                if before == -math.inf:
                    continue
                longer = (*codes, code)
                ends = grown.get(longer) or []
                if not ends:
                    sign = alphabet[code - 1]
                    spelled[longer] = spelled[codes] + sign
                    expected = text.expects(spelled[codes], sign) + BONUS
                    ends = grown[longer] = [-math.inf, -math.inf, said + text.weight * expected]
                ends[1] = _sum(ends[1], before + float(step[code]))
        best = sorted(grown.items(), key=lambda item: -(_sum(item[1][0], item[1][1]) + item[1][2]))[:BEAM]
        beginnings = {codes: (blank, letter, said) for codes, (blank, letter, said) in best}
        spelled = {codes: spelled[codes] for codes in beginnings}

    def whole(codes: Codes) -> float:
        blank, letter, said = beginnings[codes]
        return _sum(blank, letter) + said + text.weight * text.expects(spelled[codes], "\n")

    return max(beginnings, key=whole)


def _sum(one: float, other: float) -> float:
    """The logarithm of the sum of two probabilities given by their logarithms."""
    high, low = (one, other) if one > other else (other, one)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def fit(
    model: Any, taught: Sequence[str], checked: Sequence[tuple[Any, str]]
) -> tuple[TextModel | None, dict[str, Any]]:
    """The text model of the lines *taught* with which those *checked* (picture, text) are read best; None where none helps.

    *model* is a `LineModel`. The second value says what was measured: characters wrong without, with each weight, and the
    weight that was chosen.
    """
    told: dict[str, Any] = {"lines": len(checked), "cer_without": None, "cer_with": {}, "weight": None}
    if len(checked) < FEWEST:
        return None, told
    answers = [answer for picture, _ in checked for answer in model.answers([picture])]
    texts = [unicodedata.normalize("NFC", " ".join(text.split())) for _, text in checked]
    letters = max(1, sum(map(len, texts)))
    from armarium_reader_hand.decoding import best_path

    def rate(codes: Sequence[Codes]) -> float:
        read = map(model.text, codes)
        return sum(distance(one, other) for one, other in zip(texts, read, strict=True)) / letters

    told["cer_without"] = without = round(rate([best_path(answer)[0] for answer in answers]), 5)
    best, chosen = without - SMALLEST_GAIN, None
    for weight in WEIGHTS:
        text = TextModel.of(taught, weight)
        found = round(rate([likeliest_text(answer, model.alphabet, text) for answer in answers]), 5)
        told["cer_with"][str(weight)] = found
        if found < best:
            best, chosen = found, text
    told["weight"] = None if chosen is None else chosen.weight
    return chosen, told


def distance(one: str, other: str) -> int:
    """Levenshtein's distance; the engine's own measure is not importable in a worker."""
    before = list(range(len(other) + 1))
    for row, left in enumerate(one, 1):
        now = [row]
        for at, right in enumerate(other, 1):
            now.append(min(before[at] + 1, now[-1] + 1, before[at - 1] + (left != right)))
        before = now
    return before[-1]
