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
        letters: list[int] = []
        at: _Beginning | None = self
        while at is not None and at.before is not None:
            letters.append(at.letter)
            at = at.before
        return tuple(reversed(letters))


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
            for prefix in beginnings:
                prefix.blank, prefix.further = _sum(prefix.blank, prefix.further) + blank, -math.inf
            continue
        tried = np.flatnonzero(step > float(step.max()) - behind).tolist()
        letters = [(code, float(step[code])) for code in tried if code]
        grown: list[_Beginning] = []
        first = beginnings[0]
        least = _sum(first.blank, first.further) + first.spelled + float(step.max()) - lost
        for prefix in beginnings:
            total = _sum(prefix.blank, prefix.further)
            _reach(prefix, grown)
            prefix.new_blank = _sum(prefix.new_blank, total + blank)
            if prefix.letter:
                prefix.new_letter = _sum(prefix.new_letter, prefix.further + float(step[prefix.letter]))
            for code, likelihood in letters:
                # The same letter can be repeated only after a blank.
                before = prefix.blank if code == prefix.letter else total
                if before == -math.inf or before + likelihood + prefix.spelled < least:
                    continue
                longer = prefix.longer.get(code)
                if longer is None:
                    longer = prefix.longer[code] = _lengthen(prefix, code, spelling)
                _reach(longer, grown)
                longer.new_letter = _sum(longer.new_letter, before + likelihood)
        for prefix in grown:
            prefix.blank, prefix.further = prefix.new_blank, prefix.new_letter
            prefix.new_blank = prefix.new_letter = -math.inf
        grown.sort(key=lambda prefix: -_sum(prefix.blank, prefix.further) - prefix.spelled)
        for prefix in grown[beam:]:
            prefix.blank = prefix.further = -math.inf
        beginnings = grown[:beam]
    ended = [(beginning, _sum(beginning.blank, beginning.further)) for beginning in beginnings]
    if spelling is None:
        ended.sort(key=lambda pair: -pair[1])
    else:
        ended.sort(
            key=lambda pair: (
                -pair[1] - pair[0].spelled - spelling.weight * spelling.chances(pair[0].context)[0]
            )
        )
    return [(beginning.codes(), likelihood) for beginning, likelihood in ended[:count]]


def _lengthen(prefix: _Beginning, code: int, spelling: Spelling | None) -> _Beginning:
    if spelling is None:
        return _Beginning(code, prefix, "", 0.0)
    spelled = prefix.spelled + spelling.weight * spelling.chances(prefix.context)[code] + spelling.bonus
    return _Beginning(code, prefix, spelling.after(prefix.context, code), spelled)


def _reach(prefix: _Beginning, grown: list[_Beginning]) -> None:
    """Record once that a path reaches this prefix at the next step."""
    if prefix.new_blank == prefix.new_letter == -math.inf:
        grown.append(prefix)


def _sum(first: float, other: float) -> float:
    """Return the logarithm of the sum of two probabilities given as logarithms."""
    high, low = (first, other) if first > other else (other, first)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def expected_share(table: Any, sure: float) -> float:
    """Interpolate the share of right letters for a confidence; *table* has rising pairs [confidence, share]."""
    return float(np.interp(sure, [pair[0] for pair in table], [pair[1] for pair in table]))
