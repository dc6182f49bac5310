"""The lines of a packed corpus on the device that trains: drawn by source, put together by width, changed there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from armarium_hand_trainer.net import FRAME, PAIR, STEP, steps_of
from armarium_reader_hand.picture import NARROWEST
from training.distort import distort
from training.packed import Line, PackedLines, encode

DRAWN = 8192
"""Lines that are drawn at a time."""
WIDER = 0.22
"""Logarithm: how much wider or narrower a line may become."""
WIDEST = 5120
"""Pixels: no line becomes wider."""


@dataclass
class Draw:
    """Lines that are trained on together: their numbers and the widths they shall have, falling, in a batch of *width*."""

    lines: NDArray[np.int64]
    widths: NDArray[np.int64]
    width: int


@dataclass
class Batch:
    """Pictures (lines, 1, height, width), steps of the memory, letters (lines, longest), letters per line."""

    pictures: Tensor
    steps: Tensor
    letters: Tensor
    lengths: Tensor
    shares: Tensor
    """Where each letter stands, in shares of the line's width."""

    @property
    def frames(self) -> Tensor:
        return self.steps * PAIR


class Lines:
    """Pictures and letters of all lines on a device; lines with letters that the alphabet lacks have none."""

    def __init__(self, packed: PackedLines, device: torch.device) -> None:
        self.known = packed.lines
        self.device = device
        codes = {letter: code for code, letter in enumerate(packed.alphabet, 1)}
        coded = [encode(line.text, codes) or [] for line in packed.lines]
        self.widths = np.array([line.width for line in packed.lines])
        self.lengths = np.array([len(letters) for letters in coded])
        doubled = np.array([sum(a == b for a, b in pairwise(letters)) for letters in coded])
        narrowest = np.exp(-WIDER) * self.widths
        self.fits = (self.lengths > 0) & (self.lengths + doubled <= PAIR * np.floor(narrowest / STEP))
        self.columns = torch.from_numpy(packed.columns).to(device)
        self.starts = torch.tensor([line.start for line in packed.lines], device=device)
        self.letters = torch.tensor([code for letters in coded for code in letters] or [0], device=device)
        shares = [
            share
            for line, letters in zip(packed.lines, coded, strict=True)
            for share in _shares(line, codes, len(letters))
        ]
        self.shares = torch.tensor(shares or [0.0], device=device)
        self.firsts = torch.from_numpy(np.cumsum(self.lengths) - self.lengths).to(device)

    def pictures(self, lines: NDArray[np.int64], width: int) -> Tensor:
        """The lines (lines, 1, height, *width*) of ink from 0 to 1, paper on the right."""
        widths = torch.from_numpy(self.widths[lines]).to(self.device)[:, None]
        at = torch.arange(width, device=self.device)[None]
        inside = at < widths
        places = self.starts[torch.from_numpy(lines).to(self.device)][:, None] + at.minimum(widths - 1)
        ink = self.columns[places].permute(0, 2, 1)[:, None].float().div_(255)
        return ink * inside[:, None, None]

    def batch(self, draw: Draw, plain: bool) -> Batch:
        """The lines of a draw, changed unless *plain*."""
        before = self.widths[draw.lines]
        widest = draw.width if plain else -(-int(before.max()) // 64) * 64
        pictures = self.pictures(draw.lines, widest)
        if not plain:
            widths = [torch.from_numpy(each).to(self.device).float() for each in (before, draw.widths)]
            pictures = distort(pictures, *widths, draw.width)
        lengths = self.lengths[draw.lines]
        at = torch.arange(max(1, int(lengths.max())), device=self.device)[None]
        firsts = self.firsts[torch.from_numpy(draw.lines).to(self.device)][:, None]
        letters = self.letters[(firsts + at).clamp(max=len(self.letters) - 1)]
        return Batch(
            pictures,
            torch.tensor([steps_of(int(width)) for width in draw.widths]),
            letters,
            torch.from_numpy(lengths),
            self.shares[(firsts + at).clamp(max=len(self.letters) - 1)],
        )

    def draws(
        self, usable: Sequence[int], limits: Mapping[str, Any], seed: int, plain: bool
    ) -> Iterator[Draw]:
        """Draws for ever, from each source by the square root of its lines."""
        chance = np.random.default_rng(seed)
        usable_lines = np.array(usable)
        sizes = Counter(self.known[at].source for at in usable)
        likely = np.array([sizes[self.known[at].source] ** -0.5 for at in usable])
        bounds = np.cumsum(likely / likely.sum())
        waiting: dict[int, list[tuple[int, int]]] = defaultdict(list)
        while True:
            places = np.searchsorted(bounds, chance.random(DRAWN)).clip(max=len(usable_lines) - 1)
            lines = usable_lines[places]
            wide = 0 if plain else chance.uniform(-WIDER, WIDER, DRAWN)
            widths = np.round(self.widths[lines] * np.exp(wide)).astype(np.int64).clip(NARROWEST, WIDEST)
            for line, width in zip(lines.tolist(), widths.tolist(), strict=True):
                bucket = -(-width // limits["width_step"]) * limits["width_step"]
                together = waiting[bucket]
                together.append((width, line))
                if len(together) >= min(
                    limits["batch_lines"], max(2, int(limits["batch_columns"]) // bucket)
                ):
                    together.sort(reverse=True)
                    yield Draw(
                        np.array([line for _, line in together]),
                        np.array([width for width, _ in together]),
                        bucket,
                    )
                    waiting[bucket] = []


def whole(lines: Lines, chosen: Sequence[int], columns: int, step: int) -> Iterator[Draw]:
    """Each of the *chosen* lines once, as it is, similar widths together."""
    order = sorted(chosen, key=lambda at: -lines.widths[at])
    while order:
        width = -(-int(lines.widths[order[0]]) // step) * step
        some, order = order[: max(1, columns // width)], order[max(1, columns // width) :]
        yield Draw(np.array(some), lines.widths[some], width)


def _shares(line: Line, codes: dict[str, int], count: int) -> list[float]:
    """The places of the line's letters; evenly spaced where they are not known."""
    if len(line.places) != len(line.text):
        return [(number + 0.5) / count for number in range(count)]
    parts = [len(encode(letter, codes) or ()) for letter in line.text]
    spread = [share for share, part in zip(line.places, parts, strict=True) for _ in range(part)]
    return spread if len(spread) == count else [(number + 0.5) / count for number in range(count)]


def places(batch: Batch, widths: NDArray[np.int64]) -> Tensor:
    """For each letter (lines, longest) the frame where it stands in a line of that width."""
    pixels = torch.from_numpy(widths).to(batch.shares.device)[:, None]
    return (batch.shares * pixels / FRAME).long().clamp(min=0).minimum((pixels - 1) // FRAME)


def loss_of(scores: Tensor, batch: Batch, frames: Tensor | None) -> Tensor:
    """Per letter; where *frames* are given, with that of letters that are not at theirs."""
    chances = functional.log_softmax(scores, -1)
    total = functional.ctc_loss(
        chances, batch.letters, batch.frames, batch.lengths, reduction="sum", zero_infinity=True
    )
    if frames is not None:
        rows = torch.arange(len(frames), device=frames.device)[:, None].expand_as(frames)
        inside = torch.arange(frames.shape[1])[None] < batch.lengths[:, None]
        total = total - (chances[frames, rows, batch.letters] * inside.to(frames.device)).sum()
    return total / batch.lengths.sum()
