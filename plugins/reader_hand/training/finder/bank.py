"""What pages are composed of, in memory: strips of lines, drawn pages, layouts, and a texture of noise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]
HEIGHT = 48
"""Pixels of a strip."""


class Bank:
    """The packed file of `training.finder.pack`, decoded."""

    def __init__(self, path: Path, every: int = 1) -> None:
        with np.load(path) as packed:
            ends = packed["line_ends"]
            blob, page_blob, page_ends = packed["lines"], packed["pages"], packed["page_ends"]
            groups, tops, bases = packed["groups"], packed["tops"], packed["bases"]
            records = json.loads(packed["told"].tobytes())
        starts = np.r_[0, ends[:-1]]
        self.strips: list[Grey] = []
        self.by_hand: dict[int, list[int]] = {}
        self.tops: list[int] = []
        self.bases: list[int] = []
        for at in range(0, len(ends), every):
            self.by_hand.setdefault(int(groups[at]), []).append(len(self.strips))
            self.strips.append(_decode(blob[starts[at] : ends[at]]))
            self.tops.append(int(tops[at]))
            self.bases.append(int(bases[at]))
        hands = sorted(self.by_hand)
        self.hands = [self.by_hand[hand] for hand in hands]
        weight = np.array([len(lines) for lines in self.hands], np.float64) ** 0.5
        self.likely = np.cumsum(weight / weight.sum())
        self.layouts: list[dict[str, Any]] = records["layouts"]
        self.pages: list[dict[str, Any]] = records["pages"]
        page_starts = np.r_[0, page_ends[:-1]]
        self.pictures = [
            _decode(page_blob[page_start:page_end])
            for page_start, page_end in zip(page_starts, page_ends, strict=True)
        ]
        self.noise = _noise(2048)


def _decode(blob: NDArray[np.uint8]) -> Grey:
    image = cv2.imdecode(np.ascontiguousarray(blob), cv2.IMREAD_GRAYSCALE)
    assert image is not None
    return image


def _noise(size: int) -> NDArray[np.float32]:
    """Noise of many scales, with a mean of 0 and a deviation of 1."""
    chance = np.random.default_rng(5)
    whole = np.zeros((size, size), np.float32)
    for cell, strength in ((1, 0.5), (3, 0.6), (8, 0.7), (24, 0.8), (80, 1.0)):
        small = chance.standard_normal((size // cell + 2, size // cell + 2)).astype(np.float32)
        whole += strength * cv2.resize(small, (size, size), interpolation=cv2.INTER_CUBIC)
    return whole / float(whole.std())
