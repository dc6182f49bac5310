"""The table that turns a reader's own sureness into the share of letters that is right, fitted on checked lines."""

from __future__ import annotations

from collections.abc import Sequence

GROUPS = 16
FEWEST = 50
"""Lines, with fewer of which no table is made."""


def fit(
    sure: Sequence[float],
    right: Sequence[float],
    weights: Sequence[float] | None = None,
) -> list[list[float]]:
    """Return rising pairs [sureness, share of right letters], from lines with both and their *weights*; the ends reach 0 and 1.

    Lines in order of sureness are grouped, and neighbouring groups that do not rise are pooled (isotonic regression).
    """
    import numpy as np

    order = np.argsort(sure)
    x, y = np.asarray(sure)[order], np.asarray(right)[order]
    w = np.ones(len(x)) if weights is None else np.asarray(weights)[order]
    group_of = np.minimum((np.cumsum(w) - w / 2) / w.sum() * GROUPS, GROUPS - 1).astype(int)
    pools: list[list[float]] = []
    for group in sorted(set(group_of.tolist())):
        own = group_of == group
        pools.append([float((values[own] * w[own]).sum()) for values in (x, y)] + [float(w[own].sum())])
        while len(pools) > 1 and pools[-2][1] / pools[-2][2] >= pools[-1][1] / pools[-1][2]:
            last = pools.pop()
            pools[-1] = [first + second for first, second in zip(pools[-1], last, strict=True)]
    inner = [[round(x / count, 4), round(y / count, 4)] for x, y, count in pools]
    return [[0.0, round(inner[0][1] / 2, 4)], *inner, [1.0, max(inner[-1][1], 0.99)]]
