"""What the line finder is to answer for a page, as maps at a quarter of its size."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand.lines.maps import CODE, STRIDE
from training.finder.bending import DrawnLine

Maps = NDArray[np.uint8]
BASE, ENDS, CORE, ABOVE, BELOW, KNOWN = range(6)
SHIFT = 4
"""Bits of the fraction of a pixel that OpenCV draws with."""


def target_maps(lines: Sequence[DrawnLine], size: int, whole: bool) -> Maps:
    """Baselines, the ends of lines, the bands of their x-height, and their reach above and below, coded from 0 to 255,
    and where this is known: everywhere if *whole*, else around the lines."""
    side = size // STRIDE
    maps = np.zeros((6, side, side), np.uint8)
    for line in lines:
        points = (line.baseline + 0.5) / STRIDE - 0.5
        ups = _normals(points)
        core = np.concatenate([points, (points - ups * -line.core / STRIDE)[::-1]])
        cv2.fillPoly(maps[CORE], [_as_fixed_point(core)], 255, cv2.LINE_AA, SHIFT)
    maps[KNOWN] = 255 if whole else 0
    for line in lines:
        points = (line.baseline + 0.5) / STRIDE - 0.5
        thick = 1 if line.core < 9 else 2 if line.core < 22 else 3
        drawn = [_as_fixed_point(points)]
        cv2.polylines(
            maps[KNOWN], drawn, False, 255, max(3, round(3 * line.above / STRIDE)), cv2.LINE_8, SHIFT
        )
        cv2.polylines(maps[BASE], drawn, False, 255, thick, cv2.LINE_AA, SHIFT)
        for channel, reach in ((ABOVE, line.above), (BELOW, line.below)):
            cv2.polylines(maps[channel], drawn, False, byte_of(reach), thick + 2, cv2.LINE_8, SHIFT)
    for line in lines:
        points = (line.baseline + 0.5) / STRIDE - 0.5
        ups = _normals(points)
        for at in (0, -1):
            bar = np.stack(
                [points[at] + ups[at] * line.core / STRIDE, points[at] - ups[at] * 0.35 * line.core / STRIDE]
            )
            cv2.polylines(maps[ENDS], [_as_fixed_point(bar)], False, 255, 2, cv2.LINE_AA, SHIFT)
    return maps


def byte_of(reach: float) -> int:
    """A distance in pixels as one byte."""
    return int(np.clip(round(CODE * np.log2(max(reach, 1.0))), 1, 255))


def _normals(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """At each point the unit vector that points to the tops of the letters."""
    along = np.gradient(points, axis=0)
    along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-6)[:, None]
    return np.stack([along[:, 1], -along[:, 0]], 1)


def _as_fixed_point(points: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.round(np.clip(points, -2000, 4000) * 2**SHIFT).astype(np.int32)
