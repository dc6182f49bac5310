"""Batches of lines of similar width, made one ahead of the training in a thread of their own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from armarium_reader_hand.picture import HEIGHT, Grey
from training.augment import augment
from training.corpus import Line, PreparedCorpus
from training.model import steps
from training.settings import Training

AHEAD = 6
ROUND = 16
"""Pixels: widths of batches are multiples of it, so that the convolutions meet few different sizes."""


@dataclass
class Batch:
    """Pictures (lines, 1, 48, width), steps and letters per line, all letters in a row."""

    pictures: torch.Tensor
    steps: torch.Tensor
    letters: torch.Tensor
    lengths: torch.Tensor
    samples: int


def order(
    lines: Sequence[Line], most: int, wanted: Training, chance: np.random.Generator
) -> list[list[Line]]:
    """One epoch in batches of at most *most*: similar widths together (not always the same), the batches in any order."""
    keys = np.array([line.width for line in lines]) * np.exp(chance.normal(0, 0.04, len(lines)))
    batches: list[list[Line]] = []
    batch: list[Line] = []
    for at in np.argsort(keys):
        line = lines[at]
        widest = max([line.width, *(each.width for each in batch)])
        if batch and (len(batch) == most or widest * (len(batch) + 1) > wanted.batch_pixels):
            batches.append(batch)
            batch = []
        batch.append(line)
    batches.append(batch)
    chance.shuffle(batches)  # type: ignore[arg-type]
    return batches


def pad_pictures(pictures: Sequence[Grey]) -> torch.Tensor:
    """Pictures of different widths as one tensor of ink from 0 to 1, paper on the right."""
    width = max(picture.shape[1] for picture in pictures)
    out = np.zeros((len(pictures), 1, HEIGHT, -(-width // ROUND) * ROUND), dtype=np.uint8)
    for row, picture in zip(out, pictures, strict=True):
        row[0, :, : picture.shape[1]] = picture
    return torch.from_numpy(out).float().div_(255)


def make(corpus: PreparedCorpus, lines: Sequence[Line], chance: np.random.Generator, plain: bool) -> Batch:
    """One batch, augmented unless *plain*."""
    drawn = [corpus.picture(line) for line in lines]
    others = [drawn[int(at)] for at in chance.integers(len(drawn), size=len(drawn))]
    pictures = drawn if plain else [augment(*pair, chance) for pair in zip(drawn, others, strict=True)]
    texts = [corpus.encode(line.text) or [] for line in lines]
    return Batch(
        pad_pictures(pictures),
        torch.tensor([steps(picture.shape[1]) for picture in pictures]),
        torch.tensor([code for text in texts for code in text]),
        torch.tensor([len(text) for text in texts]),
        len(lines),
    )


def endless(corpus: PreparedCorpus, wanted: Training, seen: Any, number: int) -> Iterator[Batch]:
    """Batches for ever, for the process of that *number*; short lines first while few samples were *seen* (shared)."""
    every = corpus.lines_of("train")
    short = [line for line in every if len(line.text) <= wanted.short_text]
    ready: queue.Queue[Batch] = queue.Queue(AHEAD)

    def work() -> None:
        while True:
            chance = np.random.default_rng((wanted.seed, number, seen.value))
            early = seen.value < wanted.short_first
            drawn, most = (short, wanted.short_lines) if early else (every, wanted.batch_lines)
            for lines in order(drawn, most, wanted, chance):
                ready.put(make(corpus, lines, chance, early))
                if early and seen.value >= wanted.short_first:
                    break

    threading.Thread(target=work, daemon=True).start()
    while True:
        yield ready.get()
