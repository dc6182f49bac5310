"""Error rates during the training, without libraries that an environment with torch may lack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def distance(left: Sequence[int], right: Sequence[int]) -> int:
    """The edit distance of two texts."""
    if not len(left) or not len(right):
        return max(len(left), len(right))
    other = np.asarray(right)
    places = np.arange(len(other) + 1)
    row = places.copy()
    for number, code in enumerate(left, 1):
        best = np.minimum(row[1:] + 1, row[:-1] + (other != code))
        row = np.minimum.accumulate(np.concatenate([[number], best]) - places) + places
    return int(row[-1])


def rate(pairs: Sequence[tuple[int, int]]) -> float:
    """Wrong letters of all letters."""
    return round(sum(wrong for wrong, _ in pairs) / max(1, sum(letters for _, letters in pairs)), 4)
