"""Changes a line picture as other hands, pens, papers and scanners would. All in place of a few small array calls."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from armarium_reader_hand.picture import HEIGHT, NARROWEST, Grey

NOISE = np.random.default_rng(0).normal(0, 1, (HEIGHT, 8192)).astype(np.float32)
"""Drawn once: a line takes a part of it."""


def augment(ink: Grey, other: Grey, chance: np.random.Generator) -> Grey:
    """A changed copy of *ink* (48, width), about as wide; *other* is any line, for what shines through or intrudes."""
    out = _written_otherwise(ink, chance)
    if chance.random() < 0.25:
        out = _pen(out, chance)
    if chance.random() < 0.15:
        out = _show_through(out, other, chance)
    if chance.random() < 0.15:
        out = _intrusion(out, other, chance)
    if chance.random() < 0.2:
        out = cv2.GaussianBlur(out, (0, 0), float(chance.uniform(0.4, 1.3)))
    out = _levels(chance)[out]
    if chance.random() < 0.4:
        out = _paper(out, chance)
    if chance.random() < 0.2:
        _gaps(out, chance)
    return out


def _written_otherwise(ink: Grey, chance: np.random.Generator) -> Grey:
    """Slant, size, position and slope, in one resampling."""
    width = ink.shape[1]
    wide = float(np.exp(chance.uniform(-0.22, 0.22)))
    high = float(np.exp(chance.uniform(-0.18, 0.12)))
    slant = float(chance.normal(0, 0.18)) if chance.random() < 0.7 else 0.0
    slope = float(chance.normal(0, 2.0)) / max(width, 200)
    lift = float(chance.normal(0, 2.0))
    target = max(NARROWEST, round(width * wide))
    middle = HEIGHT / 2
    # Output to input: columns shear by the slant around the middle row, rows shift along the slope.
    matrix = np.array(
        [
            [1 / wide, slant, -slant * middle],
            [slope, 1 / high, middle - middle / high + lift - slope * target / 2],
        ]
    )
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    out: Any = cv2.warpAffine(
        ink, matrix, (target, HEIGHT), flags=flags, borderMode=cv2.BORDER_CONSTANT, borderValue=0
    )
    return out  # type: ignore[no-any-return]


def _pen(ink: Grey, chance: np.random.Generator) -> Grey:
    """Thicker or thinner strokes."""
    kernel = np.ones((2, 2) if chance.random() < 0.6 else (3, 2), np.uint8)
    change = cv2.dilate if chance.random() < 0.5 else cv2.erode
    share = float(chance.uniform(0.4, 1.0))
    out: Any = cv2.addWeighted(change(ink, kernel), share, ink, 1 - share, 0)
    return out  # type: ignore[no-any-return]


def _show_through(ink: Grey, other: Grey, chance: np.random.Generator) -> Grey:
    """The writing of the other side of the leaf, mirrored and faint."""
    share = float(chance.uniform(0.1, 0.4))
    behind = cv2.GaussianBlur(
        np.roll(_fit_width(other[:, ::-1], ink.shape[1]), int(chance.integers(-20, 20)), axis=0), (0, 0), 1.2
    )
    return np.maximum(ink, (behind * share).astype(np.uint8))


def _intrusion(ink: Grey, other: Grey, chance: np.random.Generator) -> Grey:
    """The feet of the line above or the heads of the line below at the edge of the crop."""
    rows = int(chance.integers(3, 10))
    out = ink.copy()
    beside = _fit_width(other, ink.shape[1])
    if chance.random() < 0.5:
        out[:rows] = np.maximum(out[:rows], beside[-rows:])
    else:
        out[-rows:] = np.maximum(out[-rows:], beside[:rows])
    return out


def _fit_width(other: Grey, width: int) -> Grey:
    if other.shape[1] < width:
        other = np.tile(other, (1, -(-width // other.shape[1])))
    return np.ascontiguousarray(other[:, :width])


def _levels(chance: np.random.Generator) -> Grey:
    """A table for faint or strong ink, soft or hard."""
    gamma = float(np.exp(chance.normal(0, 0.25)))
    gain = float(chance.uniform(0.6, 1.15))
    return np.clip(255 * gain * (np.arange(256) / 255) ** gamma, 0, 255).astype(np.uint8)


def _paper(ink: Grey, chance: np.random.Generator) -> Grey:
    """Stains (coarse) and grain (fine)."""
    width = ink.shape[1]
    out = ink.astype(np.float32)
    if chance.random() < 0.6:
        coarse = chance.normal(0, chance.uniform(5, 25), (3, max(2, width // 48))).astype(np.float32)
        out += cv2.resize(coarse, (width, HEIGHT), interpolation=cv2.INTER_LINEAR)
    if chance.random() < 0.6 and width < NOISE.shape[1]:
        start = int(chance.integers(0, NOISE.shape[1] - width))
        out += NOISE[:, start : start + width] * chance.uniform(2, 18)
    return np.clip(out, 0, 255).astype(np.uint8)


def _gaps(ink: Grey, chance: np.random.Generator) -> None:
    """Narrow upright strips without ink, so that the neighbours must help."""
    for _ in range(int(chance.integers(1, 4))):
        start = int(chance.integers(0, ink.shape[1]))
        ink[:, start : start + int(chance.integers(3, 12))] = 0
