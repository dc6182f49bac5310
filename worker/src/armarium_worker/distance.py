"""How far two texts are apart, for workers: the engine's own measure is not installed beside them."""

from __future__ import annotations


def distance(first: str, other: str) -> int:
    """Return Levenshtein's distance."""
    before = list(range(len(other) + 1))
    for row, left in enumerate(first, 1):
        now = [row]
        for at, right in enumerate(other, 1):
            now.append(min(before[at] + 1, now[-1] + 1, before[at - 1] + (left != right)))
        before = now
    return before[-1]
