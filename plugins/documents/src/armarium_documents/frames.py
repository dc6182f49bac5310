"""Affine maps between the pictures of one document: six numbers `[a, b, c, d, e, f]` over fractions of each
frame.

A point (u, v) of one is at x = a·u + c·v + e, y = b·u + d·v + f of the other.
"""

from __future__ import annotations

from collections.abc import Sequence

IDENTITY = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
"""The transform of a document's primary picture: to its own frame."""


def inverse(transform: Sequence[float]) -> list[float] | None:
    """Return the inverse; None if *transform* is singular."""
    a, b, c, d, e, f = transform
    area = a * d - b * c
    if not area:
        return None
    return [d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area]


def compose(outer: Sequence[float], inner: Sequence[float]) -> list[float]:
    """Return the transform that applies *inner*, then *outer*."""
    a, b, c, d, e, f = outer
    g, h, i, j, k, m = inner
    return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * m + e, b * k + d * m + f]
