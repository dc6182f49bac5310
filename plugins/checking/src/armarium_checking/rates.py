"""An error rate from lines drawn at random, with an interval that holds; pure.

**Estimator.** Lines are drawn without replacement within strata. Each answered line counts for the lines of its
stratum that were not drawn too (weight N/n), and the rate is a ratio: weighted errors by weighted characters, because
how many characters a selection has is only known once it is transcribed (Cochran, *Sampling Techniques*, 3rd ed. 1977,
sections 6.11 and 6.12, the combined ratio estimator). Its variance is the linearised one, from the residuals
e - R·c within strata, with the finite population correction.

**Documents.** Errors come in clusters: pages differ. Runs of pages are strata, so that their difference does not count as
chance; within a stratum lines are drawn and not pages, so that the scatter of the lines drawn contains that of their pages
(a whole page is never taken for many independent lines, as with clusters drawn: Kish, *Survey Sampling*, 1965, ch. 5).

**Interval.** No normal approximation, which fails near zero: the errors are taken as a weighted sum of Poisson events and
the limits are those of a gamma distribution with the estimated mean and variance (Fay and Feuer, *Statistics in Medicine* 16
(1997) 791-801; the idea of an effective number of events is that of Korn and Graubard, *Survey Methodology* 24 (1998)
193-201). The upper limit adds one event that was not seen. How large it may be is the floor: the mean errors of a
wrong line, at least `UNSEEN` of a line's characters, since what was not met in the sample may be a line that went quite wrong.
Few lines widen both through Student's t. `test_rates.py` proves the coverage by simulation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

FEWEST = 10
"""With fewer answered lines no rate is given."""
UNSEEN = 0.25
"""The part of a line that an error which was not met in the sample may take."""
LEVEL = 0.95
TAIL = (1 + LEVEL) / 2


class AnsweredLine(NamedTuple):
    """A line of a sample that was answered: its errors, and the characters or words in which they are counted."""

    errors: int
    length: int


class Stratum(NamedTuple):
    """All lines of a stratum by their number, and those of the sample that were answered."""

    lines: int
    answered: Sequence[AnsweredLine]


class Rate(NamedTuple):
    """Errors by length, with the limits of its 95 % interval."""

    rate: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


def estimate(strata: Sequence[Stratum]) -> Rate | None:
    """Return the rate of all lines of *strata*; None with fewer answered lines than `FEWEST`, or with nothing written on
    them. Strata that stand beside each other are alike: one with fewer than two answered lines is joined to the next.
    """
    joined = join_small(strata)
    lines = [answered for stratum in joined for answered in stratum.answered]
    if len(lines) < FEWEST:
        return None
    weights = [stratum.lines / len(stratum.answered) for stratum in joined for _ in stratum.answered]
    whole = sum(weight * line.length for weight, line in zip(weights, lines, strict=True))
    if not whole:
        return None
    errors = sum(weight * line.errors for weight, line in zip(weights, lines, strict=True))
    rate = errors / whole
    variance = _variance(joined, rate)
    share = 1 - len(lines) / max(len(lines), sum(stratum.lines for stratum in joined))
    # Errors of one line are at least as scattered as independent events.
    floor = share * sum(weight**2 * line.errors for weight, line in zip(weights, lines, strict=True))
    freedom = max(1, len(lines) - len(joined))
    variance = max(variance, floor) * (_student(freedom) / NormalDist().inv_cdf(TAIL)) ** 2
    wrong = [line for line in lines if line.errors]
    usual = whole / sum(weights)
    size = max(UNSEEN * usual, sum(line.errors for line in wrong) / len(wrong) if wrong else 0.0, 1.0)
    unseen = math.sqrt(share) * size * sum(weights) / len(lines)
    low = _gamma_limit(errors, variance, 1 - TAIL) if errors else 0.0
    high = _gamma_limit(errors + unseen, variance + unseen**2, TAIL) if unseen else errors
    return Rate(rate, min(low, errors) / whole, max(high, errors) / whole)


def join_small(strata: Sequence[Stratum]) -> list[Stratum]:
    """Join each stratum with fewer than two answered lines to the one after it, the last to the one before."""
    joined_strata: list[Stratum] = []
    for stratum in strata:
        if joined_strata and (len(joined_strata[-1].answered) < 2 or len(stratum.answered) < 2):
            joined_strata[-1] = Stratum(
                joined_strata[-1].lines + stratum.lines, [*joined_strata[-1].answered, *stratum.answered]
            )
        else:
            joined_strata.append(stratum)
    return joined_strata


def lines_for(half_width: float, spread: float = 0.12) -> int:
    """Return how many lines a half-width of the interval needs, before anything is known: *spread* is the standard
    deviation of the error rates of lines, which is about 0.12 where the reader fits the hand.
    """
    return math.ceil((NormalDist().inv_cdf(TAIL) * spread / half_width) ** 2)


def more_lines(answered: int, now: float, target: float, population: int) -> int:
    """Return how many more lines bring the half-width from *now* to *target*: it shrinks with the root of their number,
    and with the lines that are left.
    """
    if now <= target or not answered or not population:
        return 0
    needed = answered * (now / target) ** 2
    # Undo the finite population correction of the present width, then apply that of the wanted one.
    free = needed / max(1e-9, 1 - answered / population)
    return max(1, math.ceil(free / (1 + free / population)) - answered) if answered < population else 0


def _variance(strata: Sequence[Stratum], rate: float) -> float:
    """Return the linearised variance of the weighted errors: of the residuals within each stratum."""
    whole = 0.0
    for stratum in strata:
        count = len(stratum.answered)
        residuals = [line.errors - rate * line.length for line in stratum.answered]
        mean = sum(residuals) / count
        scatter = sum((residual - mean) ** 2 for residual in residuals) / max(1, count - 1)
        correction = max(0.0, 1 - count / stratum.lines)
        whole += (stratum.lines / count) ** 2 * count * correction * scatter
    return whole


def _gamma_limit(mean: float, variance: float, share: float) -> float:
    """Return the quantile of a gamma distribution with that mean and variance (Wilson and Hilferty's cube root, whose
    error is below a hundredth from one event on; below, the lower limit is 0)."""
    if variance <= 0:
        return mean
    events = mean**2 / variance
    spread = 1 / (9 * events)
    root = 1 - spread + NormalDist().inv_cdf(share) * math.sqrt(spread)
    return mean * max(0.0, root) ** 3


def _student(freedom: int) -> float:
    """Return Student's t for the tail (Cornish and Fisher's expansion, exact to a thousandth from 5 degrees on)."""
    quantile = NormalDist().inv_cdf(TAIL)
    degrees = max(3, freedom)
    return (
        quantile
        + (quantile**3 + quantile) / (4 * degrees)
        + (5 * quantile**5 + 16 * quantile**3 + 3 * quantile) / (96 * degrees**2)
        + (3 * quantile**7 + 19 * quantile**5 + 17 * quantile**3 - 15 * quantile) / (384 * degrees**3)
    )
