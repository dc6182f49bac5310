"""Turns, bends and crops a flat page, and carries its lines along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.random import Generator

Points = NDArray[np.float64]
Float = NDArray[np.float32]


@dataclass
class DrawnLine:
    """A line on a page: its baseline in the direction of the writing, its reach above and below, its x-height."""

    baseline: Points
    above: float
    below: float
    core: float


def bend(
    chance: Generator, page: Float, lines: list[DrawnLine], size: int, scale: float
) -> tuple[NDArray[np.uint8], list[DrawnLine]]:
    """A window of the page turned and bent, and its lines there."""
    draw = chance.random()
    angle = np.deg2rad(
        chance.normal(0, 1.2)
        if draw < 0.6
        else chance.uniform(-15, 15)
        if draw < 0.96
        else chance.choice([-90, 90]) + chance.normal(0, 3)
    )
    down, across = page.shape
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) / scale
    turn[0] *= np.exp(chance.normal(0, 0.05))
    middle = np.array([chance.uniform(0.3, 0.7) * across, chance.uniform(0.25, 0.75) * down])
    waves = [
        (chance.normal(0, 1, 2) * [1.5, strength], chance.normal(0, 2 * np.pi / length, 2), chance.uniform(0, 2 * np.pi))
        for strength, length in ((5, 1500), (2.5, 700), (1.0, 300))
    ] if chance.random() < 0.65 else []  # fmt: skip

    def on_page(x: Points, y: Points) -> tuple[Points, Points]:
        moved_x, moved_y = x - size / 2, y - size / 2
        far_x = turn[0, 0] * moved_x + turn[0, 1] * moved_y + middle[0]
        far_y = turn[1, 0] * moved_x + turn[1, 1] * moved_y + middle[1]
        for strength, turning, phase in waves:
            wave = np.sin(turning[0] * x + turning[1] * y + phase)
            far_x, far_y = far_x + strength[0] * wave, far_y + strength[1] * wave
        return far_x, far_y

    step = 16
    grid = np.arange(0, size + step, step, dtype=np.float64)
    xs, ys = on_page(*np.meshgrid(grid, grid))
    zoom = [
        cv2.resize(axis.astype(np.float32), None, fx=step, fy=step, interpolation=cv2.INTER_LINEAR)
        for axis in (xs, ys)
    ]
    # Resized grids start half a cell early.
    half = step // 2
    maps = [zoomed[half : half + size, half : half + size] for zoomed in zoom]
    if scale < 0.75:
        page = cv2.GaussianBlur(page, (0, 0), 0.45 / scale)
    window = cv2.remap(
        page,
        maps[0],
        maps[1],
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=float(chance.uniform(0, 200)),
    )
    back = np.linalg.inv(turn)
    bent_lines = []
    for line in lines:
        pieces = max(2, int(np.hypot(*(line.baseline[-1] - line.baseline[0])) // 25))
        points = _resample(line.baseline, pieces + 1)
        place = (points - middle) @ back.T + size / 2
        for _ in range(4):
            reached = np.stack(on_page(place[:, 0], place[:, 1]), 1)
            place += (points - reached) @ back.T
        inside = ((place > -20) & (place < size + 20)).all(1)
        if inside.any():
            bent_lines.append(DrawnLine(place, line.above * scale, line.below * scale, line.core * scale))
    if chance.random() < 0.5:
        quality = int(chance.integers(25, 92))
        coded = cv2.imencode(
            ".jpg", np.clip(window, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, quality]
        )[1]
        return cv2.imdecode(coded, cv2.IMREAD_GRAYSCALE), bent_lines
    return np.clip(window, 0, 255).astype(np.uint8), bent_lines


def _resample(points: Points, count: int) -> Points:
    """Points evenly along a polyline."""
    far = np.r_[0, np.cumsum(np.hypot(*np.diff(points, axis=0).T))]
    at = np.linspace(0, far[-1], count)
    return np.stack([np.interp(at, far, points[:, 0]), np.interp(at, far, points[:, 1])], 1)
