"""How much is written on a line: the ink in its part of the page's picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL import Image

DARKER = 40
"""By how many grey levels ink is darker than the paper around it."""

LEAST = 0.002
"""A line with a smaller share of ink pixels is empty."""


class Ink(NamedTuple):
    """The ink of a line."""

    share: float
    """Its share of the line's pixels, 0 to 1."""
    extent: float
    """Its extent along the line, in heights of the line."""


def ink_of(picture: Image.Image, rects: Sequence[Sequence[float]]) -> list[Ink]:
    """Return the ink within each rect (fractions of *picture*, upright and grey)."""
    import numpy as np

    grey = np.asarray(picture)
    height, width = grey.shape
    inks = []
    for x, y, w, h in rects:
        left, top = max(0, int(x * width)), max(0, int(y * height))
        cut = grey[top : max(top + 1, int((y + h) * height)), left : max(left + 1, int((x + w) * width))]
        if not cut.size:
            inks.append(Ink(0.0, 0.0))
            continue
        dark = cut.astype(np.int16) < float(np.percentile(cut, 90)) - DARKER
        # The gap between two words counts as written on: gaps shorter than a line's height are filled.
        columns = np.flatnonzero(dark.any(axis=0))
        gaps = np.diff(columns) if len(columns) else np.zeros(0, dtype=np.int64)
        reached = int(np.minimum(gaps, cut.shape[0]).sum()) + 1 if len(columns) else 0
        inks.append(Ink(float(dark.mean()), reached / cut.shape[0]))
    return inks
