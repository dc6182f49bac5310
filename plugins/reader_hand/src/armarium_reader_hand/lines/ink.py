"""Tells lines of writing from what shines through from the back of a leaf and from the ground beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

FAINT = 0.3
"""A line whose ink stands out less than this share of what is usual on its page is not writing of the page."""
BLANK = 0.125
"""Where three quarters of the lines stand out less than this share of the paper's brightness, the page is blank."""

Outline = NDArray[np.float64]


def are_written(grey: NDArray[np.uint8], outlines: Sequence[Outline]) -> NDArray[np.bool_]:
    """Return for each outline (points in pixels of the page) whether ink stands out there as on the rest of the page."""
    if not outlines:
        return np.zeros(0, bool)
    levels = np.array([_levels(grey, outline) for outline in outlines])
    darkest, dark, paper, lightest = levels.T
    # Light writing on a dark ground stands out the other way.
    ink = np.maximum(paper - darkest, lightest - dark) / max(1.0, float(np.percentile(paper, 90)))
    if np.percentile(ink, 75) < BLANK:
        return np.zeros(len(outlines), bool)
    is_ink: NDArray[np.bool_] = ink >= FAINT * np.median(ink)
    return is_ink


def _levels(grey: NDArray[np.uint8], outline: Outline) -> NDArray[np.float64]:
    """Return four grey levels within an outline (their percentiles 2, 25, 75 and 98), smoothed so that grain counts little."""
    height, width = grey.shape
    corners = np.clip(np.rint(outline), 0, (width - 1, height - 1)).astype(np.int32)
    (left, top), (right, bottom) = corners.min(0), corners.max(0)
    inside = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
    cv2.fillPoly(inside, [corners - (left, top)], 1)
    smooth: Any = cv2.GaussianBlur(
        grey[top : bottom + 1, left : right + 1], (0, 0), max(0.8, (bottom - top) / 40)
    )
    levels: NDArray[np.float64] = np.percentile(smooth[inside > 0], (2, 25, 75, 98))
    return levels
