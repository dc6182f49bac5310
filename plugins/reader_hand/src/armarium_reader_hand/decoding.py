"""From the network's answer to texts: the best path, and the most likely texts over all their paths (CTC).

An answer is an array (steps, classes) of natural logarithms of probabilities; class 0 is the blank, class n the n-th
letter of the alphabet. A text's paths are all sequences of classes that become it when repetitions are drawn together
and blanks taken out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Answer = NDArray[np.float32]
Codes = tuple[int, ...]

LEAST = -12.0
"""Logarithm of probability: letters less likely at a step are not tried there."""


def best_path(answer: Answer) -> tuple[Codes, float]:
    """The letters along the likeliest class of each step, and how sure the network was of them, 0 to 1.

    Sure is the geometric mean, over the letters and one more, of the probability of the whole path.
    """
    if not len(answer):
        return (), 0.0
    best = answer.argmax(axis=1)
    changed = np.concatenate([[True], best[1:] != best[:-1]])
    codes = tuple(int(code) for code in best[changed & (best != 0)])
    likelihood = float(answer[np.arange(len(best)), best].sum())
    return codes, math.exp(min(0.0, likelihood) / (len(codes) + 1))


def likeliest(answer: Answer, count: int, beam: int = 16) -> list[tuple[Codes, float]]:
    """The *count* likeliest texts with the logarithm of their probability, likeliest first (prefix beam search).

    Only *beam* beginnings are followed from step to step, so of many close texts some can be missed.
    """
    beam = max(beam, count)
    beginnings: dict[Codes, tuple[float, float]] = {(): (0.0, -math.inf)}
    for step in answer:
        tried = np.flatnonzero(step > LEAST)
        grown: dict[Codes, list[float]] = {}
        for codes, (blank, letter) in beginnings.items():
            total = _sum(blank, letter)
            _add(grown, codes, 0, total + float(step[0]))
            if codes:
                _add(grown, codes, 1, letter + float(step[codes[-1]]))
            for code in tried:
                if code:
                    # After the same letter a new one begins only behind a blank.
                    before = blank if codes and codes[-1] == code else total
                    _add(grown, (*codes, int(code)), 1, before + float(step[code]))
        best = sorted(grown.items(), key=lambda item: -_sum(*item[1]))[:beam]
        beginnings = {codes: (blank, letter) for codes, (blank, letter) in best}
    texts = [(codes, _sum(*ends)) for codes, ends in beginnings.items()]
    return sorted(texts, key=lambda item: -item[1])[:count]


def _add(grown: dict[Codes, list[float]], codes: Codes, end: int, likelihood: float) -> None:
    """Count a path: *end* 0 for paths that end with a blank, 1 for those that end with a letter."""
    ends = grown.setdefault(codes, [-math.inf, -math.inf])
    ends[end] = _sum(ends[end], likelihood)


def _sum(one: float, other: float) -> float:
    """The logarithm of the sum of two probabilities given by their logarithms."""
    high, low = (one, other) if one > other else (other, one)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def expected_share(table: Any, sure: float) -> float:
    """The share of right letters that *table*, rising pairs [how sure, share], gives for how *sure* the network was."""
    return float(np.interp(sure, [pair[0] for pair in table], [pair[1] for pair in table]))
