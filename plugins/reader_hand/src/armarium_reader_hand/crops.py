"""Cuts one line out of a page as in training: level along its baseline, only its own area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand.picture import HEIGHT, WIDEST, Grey
from armarium_worker import LineShape

Points = NDArray[np.float64]

LOWEST = 4
"""Pixels: a line lower or narrower than this is widened to it, so that there is something to read."""
TALLEST = 192
"""Pixels: a higher line is cut out smaller, since it is scaled down in any case."""
PAPER = 70
"""Percentile of grey that is taken for paper around a line."""
BEND = 0.1
"""Of the line's height: a baseline that bends more is straightened."""
BLOCK = 64
"""Pixels of width over which the tone of the paper is taken."""


@dataclass(frozen=True)
class Cut:
    """The level picture of a line, and where it lies on the page, in pixels: its corner and its sides along and across.

    *moved*: how far each column was moved up to straighten the baseline, as a part of the height.
    """

    picture: Grey
    frame: tuple[float, float, float, float, float, float]
    moved: NDArray[np.float64] | None = None


def cut_line(page: Grey, line: LineShape) -> Grey:
    """Return the line's picture, level, in grey or colour as the page is; paper outside its outline."""
    return cut_with_frame(page, line).picture


def cut_with_frame(page: Grey, line: LineShape) -> Cut:
    """Return the line's picture as `cut_line` does, with its place on the page."""
    outline, along = np.array(line.outline, dtype=np.float64), _direction_of(line)
    across = np.array([-along[1], along[0]])
    lengths, heights = outline @ along, outline @ across
    width, height = (max(LOWEST, float(np.ptp(values))) for values in (lengths, heights))
    scale = min(1.0, TALLEST / height, 2 * WIDEST * HEIGHT / width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    # From the cut to the page: its axes run along and across the line.
    corner = along * lengths.min() + across * heights.min()
    matrix = np.column_stack([along / scale, across / scale, corner])
    cut: Any = cv2.warpAffine(
        page, matrix, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE
    )
    if len(line.polygon) > 2:
        inside = np.column_stack([lengths - lengths.min(), heights - heights.min()]) * scale
        _clear_outside(cut, inside)
    moved = None
    if len(line.baseline) > 2:
        base = np.array(line.baseline, dtype=np.float64)
        base = np.column_stack([base @ along - lengths.min(), base @ across - heights.min()]) * scale
        moved = _bend(cut, base)
        cut = cut if moved is None else _straighten(cut, moved)
    frame = (*corner, *(along * width), *(across * height))
    return Cut(cut, frame, None if moved is None else moved / size[1])


def _direction_of(line: LineShape) -> Points:
    """Return the unit vector of the line's direction: that of its baseline, else level."""
    if len(line.baseline) > 1:
        points = np.array(line.baseline, dtype=np.float64)
        slope = points[-1] - points[0] if len(points) == 2 else _principal(points)
        length = float(np.hypot(*slope))
        if length > 0:
            return slope / length if slope[0] >= 0 else -slope / length
    return np.array([1.0, 0.0])


def _principal(points: Points) -> Points:
    _, _, directions = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    first: Points = directions[0]
    return first


def _clear_outside(cut: Grey, outline: Points) -> None:
    """Replace everything outside the outline with paper as light as nearby."""
    mask = np.zeros(cut.shape[:2], dtype=np.uint8)
    cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], 1)
    if not mask.any():
        return
    everywhere = np.percentile(cut[mask > 0], PAPER, axis=0)
    for start in range(0, cut.shape[1], BLOCK):
        block, own = cut[:, start : start + BLOCK], mask[:, start : start + BLOCK] > 0
        block[~own] = np.percentile(block[own], PAPER, axis=0) if own.sum() >= BLOCK else everywhere


def _bend(cut: Grey, baseline: Points) -> NDArray[np.float64] | None:
    """Return how far below its usual height the baseline lies at each column, in pixels; None if it is nearly level."""
    order = np.argsort(baseline[:, 0])
    columns = np.arange(cut.shape[1], dtype=np.float64)
    heights = np.interp(columns, baseline[order, 0], baseline[order, 1])
    if np.ptp(heights) <= BEND * cut.shape[0]:
        return None
    bend: NDArray[np.float64] = heights - np.median(heights)
    return bend


def _straighten(cut: Grey, moved: NDArray[np.float64]) -> Grey:
    """Shift columns so that a bent baseline becomes level."""
    rows = np.arange(cut.shape[0], dtype=np.float64)[:, None] + moved[None, :]
    across = np.broadcast_to(np.arange(cut.shape[1], dtype=np.float64)[None, :], rows.shape)
    out: Any = cv2.remap(
        cut,
        across.astype(np.float32),
        rows.astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return out  # type: ignore[no-any-return]
