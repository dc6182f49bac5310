"""Decodes the network's output: the best path, and the most likely texts over all their paths (CTC).

The output is an array (steps, classes) of natural logarithms of probabilities; class 0 is the blank, class n
the n-th letter of the alphabet. A text's paths are all sequences of classes that become it when repetitions
are merged and blanks removed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from armarium_reader_hand.spelling import Spelling

Answer = NDArray[np.float32]
Codes = tuple[int, ...]

LEAST, CLOSE = 12.0, 4.0
"""How far, in logarithms of probability, a letter may be behind the likeliest of a step and be tried there; the second where spelling is weighed."""
LOST = 6.0
"""How far, in the same, a longer beginning may be behind the best of a step and be followed, where spelling is weighed."""
SURELY = -1e-4
"""Logarithm of the probability of a blank at a step where nothing else is tried."""
BEAM = 12
"""Beginnings of texts that are followed from step to step."""


def best_path(answer: Answer) -> tuple[Codes, float]:
    """Return the letters along the likeliest class of each step, and the network's confidence, 0 to 1.

    The confidence is the geometric mean, over the letters and one more, of the probability of the whole path.
    """
    if not len(answer):
        return (), 0.0
    best = answer.argmax(axis=1)
    changed = np.concatenate([[True], best[1:] != best[:-1]])
    codes = tuple(int(code) for code in best[changed & (best != 0)])
    likelihood = float(answer[np.arange(len(best)), best].sum())
    return codes, math.exp(min(0.0, likelihood) / (len(codes) + 1))


class _Beginning:
    """A prefix of a text: its last letter, the prefix before it, and the probabilities of its paths by their end."""

    __slots__ = (
        "before",
        "blank",
        "context",
        "further",
        "letter",
        "longer",
        "new_blank",
        "new_letter",
        "spelled",
    )

    def __init__(self, letter: int, before: _Beginning | None, context: str, spelled: float) -> None:
        self.letter, self.before, self.context, self.spelled = letter, before, context, spelled
        self.longer: dict[int, _Beginning] = {}
        self.blank = self.further = self.new_blank = self.new_letter = -math.inf
        """Paths that end with a blank, or with the letter; at the step in hand, and at the next."""

    def codes(self) -> Codes:
        """Return its letters."""
        found: list[int] = []
        at: _Beginning | None = self
        while at is not None and at.before is not None:
            found.append(at.letter)
            at = at.before
        return tuple(reversed(found))


def likeliest(
    answer: Answer, count: int, beam: int = BEAM, spelling: Spelling | None = None
) -> list[tuple[Codes, float]]:
    """Return the *count* likeliest texts with their log probabilities, likeliest first (prefix beam search).

    With *spelling*, texts are weighted by n-grams of letters. Only *beam* prefixes are kept from step to
    step, so that some of many close texts may be missed.
    """
    beam = max(beam, count)
    behind, lost = (LEAST, math.inf) if spelling is None else (CLOSE, LOST)
    root = _Beginning(0, None, spelling.start if spelling else "", 0.0)
    root.blank = 0.0
    beginnings = [root]
    for step in answer:
        blank = float(step[0])
        if blank > SURELY:
            for one in beginnings:
                one.blank, one.further = _sum(one.blank, one.further) + blank, -math.inf
            continue
        tried = np.flatnonzero(step > float(step.max()) - behind).tolist()
        letters = [(code, float(step[code])) for code in tried if code]
        grown: list[_Beginning] = []
        first = beginnings[0]
        least = _sum(first.blank, first.further) + first.spelled + float(step.max()) - lost
        for one in beginnings:
            total = _sum(one.blank, one.further)
            _reach(one, grown)
            one.new_blank = _sum(one.new_blank, total + blank)
            if one.letter:
                one.new_letter = _sum(one.new_letter, one.further + float(step[one.letter]))
            for code, likelihood in letters:
                # The same letter can be repeated only after a blank.
                before = one.blank if code == one.letter else total
                if before == -math.inf or before + likelihood + one.spelled < least:
                    continue
                longer = one.longer.get(code)
                if longer is None:
                    longer = one.longer[code] = _longer(one, code, spelling)
                _reach(longer, grown)
                longer.new_letter = _sum(longer.new_letter, before + likelihood)
        for one in grown:
            one.blank, one.further = one.new_blank, one.new_letter
            one.new_blank = one.new_letter = -math.inf
        grown.sort(key=lambda one: -_sum(one.blank, one.further) - one.spelled)
        for one in grown[beam:]:
            one.blank = one.further = -math.inf
        beginnings = grown[:beam]
    ended = [(one, _sum(one.blank, one.further)) for one in beginnings]
    if spelling is None:
        ended.sort(key=lambda pair: -pair[1])
    else:
        ended.sort(
            key=lambda pair: (
                -pair[1] - pair[0].spelled - spelling.weight * spelling.chances(pair[0].context)[0]
            )
        )
    return [(one.codes(), likelihood) for one, likelihood in ended[:count]]


def _longer(one: _Beginning, code: int, spelling: Spelling | None) -> _Beginning:
    if spelling is None:
        return _Beginning(code, one, "", 0.0)
    spelled = one.spelled + spelling.weight * spelling.chances(one.context)[code] + spelling.bonus
    return _Beginning(code, one, spelling.after(one.context, code), spelled)


def _reach(one: _Beginning, grown: list[_Beginning]) -> None:
    """Record once that a path reaches this prefix at the next step."""
    if one.new_blank == one.new_letter == -math.inf:
        grown.append(one)


def _sum(one: float, other: float) -> float:
    """Return the logarithm of the sum of two probabilities given as logarithms."""
    high, low = (one, other) if one > other else (other, one)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def expected_share(table: Any, sure: float) -> float:
    """Interpolate the share of right letters for a confidence; *table* has rising pairs [confidence, share]."""
    return float(np.interp(sure, [pair[0] for pair in table], [pair[1] for pair in table]))
