"""How the lines of a selection are divided into strata, and how many are drawn from each; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

LOW, MIDDLE, HIGH, UNKNOWN, CHECKED = "low", "middle", "high", "unknown", "checked"
BANDS = (LOW, MIDDLE, HIGH, UNKNOWN, CHECKED)
"""Bands of confidence; checked: a person wrote or confirmed the text."""
FEWEST_OF_STRATUM = 4
"""How many lines of a sample a stratum has on average."""


class Bands(NamedTuple):
    """The thirds of the confidences of a selection."""

    low: float
    high: float

    def of(self, confidence: float | None) -> str:
        """Return the band of a confidence; None: it is not known."""
        if confidence is None:
            return UNKNOWN
        return LOW if confidence < self.low else HIGH if confidence >= self.high else MIDDLE


def bands_of(confidences: Sequence[float]) -> Bands:
    """Return the bounds of the thirds; where all confidences are the same there is one band."""
    ordered = sorted(confidences)
    if not ordered or ordered[0] == ordered[-1]:
        return Bands(-math.inf, -math.inf)
    return Bands(ordered[len(ordered) // 3], ordered[min(len(ordered) - 1, 2 * len(ordered) // 3)])


def parts_of(lines: Mapping[str, int], size: int, bands: int) -> dict[str, int]:
    """Divide pages, in their order, into runs of about as many lines: as many runs as *size* drawn lines fill; return the
    number of each page's run. With few pages each is a run of its own.
    """
    parts = max(1, min(len(lines), size // (FEWEST_OF_STRATUM * bands)))
    whole = sum(lines.values()) or 1
    part_by_page: dict[str, int] = {}
    before = 0
    for page, count in lines.items():
        part_by_page[page] = min(parts - 1, parts * (before + count // 2) // whole)
        before += count
    return part_by_page


def allocate(lines: Sequence[int], size: int) -> list[int]:
    """Return how many of *size* lines are drawn from each stratum: in proportion, two at least where there are two, and
    never more than it has. The parts of a line are given to the largest remainders.
    """
    whole = sum(lines)
    size = min(size, whole)
    shares = [size * count / whole if whole else 0.0 for count in lines]
    sizes = [min(count, max(math.floor(share), 2)) for count, share in zip(lines, shares, strict=True)]
    by_rest = sorted(range(len(lines)), key=lambda at: sizes[at] - shares[at])
    while sum(sizes) < size:
        open_ones = [at for at in by_rest if sizes[at] < lines[at]]
        for at in open_ones[: size - sum(sizes)]:
            sizes[at] += 1
    return sizes
