"""Paper and parchment made up, what stands on them besides lines, and how they are photographed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from training.finder.bank import Bank

if TYPE_CHECKING:
    from numpy.random import Generator

Float = NDArray[np.float32]


def _texture(shape: tuple[int, ...], bank: Bank, chance: Generator) -> Float:
    """A piece of the noise, stretched at random."""
    zoom = float(np.exp(chance.uniform(-0.2, 1.2)))
    need = (int(shape[0] / zoom) + 1, int(shape[1] / zoom) + 1)
    size = bank.noise.shape[0]
    y, x = (int(chance.integers(0, max(1, size - side))) for side in need)
    piece = bank.noise[y : y + need[0], x : x + need[1]]
    if chance.random() < 0.5:
        piece = piece[::-1]
    return cv2.resize(piece, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR)


def paper_of(shape: tuple[int, ...], bank: Bank, chance: Generator) -> Float:
    """Paper with its tone, grain, stains, folds and rules, in grey levels."""
    tone = float(chance.uniform(120, 250))
    sheet = tone + float(abs(chance.normal(0, 5))) * _texture(shape, bank, chance)
    if chance.random() < 0.35:
        stain = cv2.GaussianBlur(_texture(shape, bank, chance), (0, 0), 12)
        stain = np.clip((stain - chance.uniform(0, 1.2)) * 4, 0, 1)
        sheet -= stain * tone * float(chance.uniform(0.05, 0.45))
    for _ in range(int(chance.integers(0, 3))) if chance.random() < 0.3 else ():
        at = int(chance.integers(10, shape[0] - 10))
        width = int(chance.integers(2, 8))
        sheet[at : at + width] *= float(chance.uniform(0.75, 1.1))
    if chance.random() < 0.35:
        _rule(sheet, chance)
    if chance.random() < 0.2:
        for _ in range(int(chance.integers(5, 120))):
            spot = (int(chance.integers(shape[1])), int(chance.integers(shape[0])))
            cv2.circle(sheet, spot, int(chance.integers(1, 4)), tone * float(chance.uniform(0.3, 0.9)), -1)
    return sheet


def _rule(sheet: Float, chance: Generator) -> None:
    """Rules of a ruled sheet, and the lines of a frame, which are no text."""
    down, across = sheet.shape
    shade = float(sheet.mean()) * float(chance.uniform(0.45, 0.93))
    pitch = float(chance.uniform(14, 60))
    left, right = int(across * chance.uniform(0, 0.12)), int(across * chance.uniform(0.88, 1))
    if chance.random() < 0.75:
        for y in np.arange(down * chance.uniform(0, 0.2), down * chance.uniform(0.8, 1), pitch):
            cv2.line(sheet, (left, int(y)), (right, int(y)), shade, 1)
    for _ in range(int(chance.integers(0, 5))):
        x = int(chance.integers(across))
        cv2.line(sheet, (x, 0), (x + int(chance.normal(0, 3)), down), shade, int(chance.integers(1, 3)))


def draw_furniture(ink: Float, lines: list[Any], chance: Generator) -> None:
    """Drawings, stamps, staves, strokes under lines and frames: ink that is no line of text."""
    down, across = ink.shape
    for line in lines:
        if chance.random() < 0.012:
            (x0, y0), (x1, y1) = line.baseline[0], line.baseline[-1]
            drop = line.below * float(chance.uniform(0.2, 0.8)) if chance.random() < 0.7 else -0.4 * line.core
            cv2.line(
                ink, (int(x0), int(y0 + drop)), (int(x1), int(y1 + drop)), float(chance.uniform(0, 0.6)), 1
            )
    for _ in range(int(chance.integers(1, 4)) if chance.random() < 0.35 else 0):
        place = (int(chance.integers(across)), int(chance.integers(down)))
        size = int(chance.integers(12, max(13, across // 6)))
        shade, width = float(chance.uniform(0.1, 0.8)), int(chance.integers(1, 4))
        kind = chance.random()
        if kind < 0.35:
            cv2.ellipse(
                ink,
                place,
                (size, int(size * chance.uniform(0.4, 1))),
                float(chance.uniform(0, 180)),
                0,
                360,
                shade,
                width,
            )
        elif kind < 0.65:
            walk = np.cumsum(chance.normal(0, size / 6, (int(chance.integers(5, 40)), 2)), 0) + place
            cv2.polylines(ink, [walk.astype(np.int32)], False, shade, width, cv2.LINE_AA)
        elif kind < 0.8:
            for step in range(5):
                y = place[1] + step * max(3, size // 10)
                cv2.line(ink, (place[0], y), (min(across, place[0] + size * 5), y), shade, 1)
        else:
            cv2.rectangle(
                ink,
                place,
                (place[0] + size, place[1] + int(size * chance.uniform(0.3, 2))),
                shade,
                width if chance.random() < 0.7 else -1,
            )


def photograph(page: Float, bank: Bank, chance: Generator) -> Float:
    """Light that is uneven, the fold of a book, the edge of the page and what lies around it."""
    down, across = page.shape
    ys, xs = np.mgrid[-1:1:9j, -1:1:9j].astype(np.float32)
    fall = chance.normal(0, 0.1, 5)
    light = 1 + fall[0] * xs + fall[1] * ys + fall[2] * xs * ys - abs(fall[3]) * xs**2 - abs(fall[4]) * ys**2
    page = page * cv2.resize(
        np.clip(light, 0.45, 1.2).astype(np.float32), (across, down), interpolation=cv2.INTER_CUBIC
    )
    if chance.random() < 0.25:
        at, width = float(chance.choice([0, 0.5, 1])) * across, across * float(chance.uniform(0.02, 0.12))
        shadow = 1 - float(chance.uniform(0.2, 0.7)) * np.exp(-np.abs(np.arange(across) - at) / width)
        page = page * shadow[None].astype(np.float32)
    if chance.random() < 0.6:
        # What lies around the page covers its outermost pixels, where as a rule no text stands.
        tone = float(
            chance.choice([chance.uniform(0, 50), chance.uniform(60, 150), chance.uniform(200, 255)])
        )
        wide = [
            max(1, int(size * chance.uniform(0.003, 0.04))) if chance.random() < 0.75 else 0
            for size in (across, across, down, down)
        ]
        for part in (
            np.s_[:, : wide[0]],
            np.s_[:, across - wide[1] :],
            np.s_[: wide[2]],
            np.s_[down - wide[3] :],
        ):
            page[part] = tone
    return np.clip(page, 0, 255)
