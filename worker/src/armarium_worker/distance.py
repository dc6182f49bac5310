"""How far two texts are apart, for workers: the engine's own measure is not installed beside them."""

from __future__ import annotations


def distance(first: str, other: str) -> int:
    """Return Levenshtein's distance."""
    before = list(range(len(other) + 1))
    for row, left_letter in enumerate(first, 1):
        costs = [row]
        for at, right_letter in enumerate(other, 1):
            costs.append(min(before[at] + 1, costs[-1] + 1, before[at - 1] + (left_letter != right_letter)))
        before = costs
    return before[-1]
