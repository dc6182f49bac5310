"""The network: convolutions to a quarter of the width, then two bidirectional LSTM layers over pairs of columns, and one class
for each character and column. The columns also answer by themselves; the memory corrects them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

FRAME = 4
"""Pixels of width per answer."""
PAIR = 2
"""Answers per step of the memory."""
STEP = FRAME * PAIR
ROWS = 16
"""Pixels of height per row of the last convolutions."""


def steps(width: int) -> int:
    """How many steps the memory takes over a picture of *width* pixels."""
    return -(-width // STEP)


class Convolution(nn.Module):
    """A convolution with its normalisation, which the export folds into it."""

    def __init__(
        self,
        before: int,
        after: int,
        size: int | tuple[int, int] = 3,
        stride: tuple[int, int] = (1, 1),
        pad: int = 1,
    ) -> None:
        super().__init__()
        self.kernel = nn.Conv2d(before, after, size, stride, pad, bias=False)
        self.norm = nn.BatchNorm2d(after)

    def forward(self, seen: Tensor) -> Tensor:
        out: Tensor = self.norm(self.kernel(seen))
        return out


class Block(nn.Module):
    """What was seen, and a correction of it through fewer channels."""

    def __init__(self, channels: int, middle: int) -> None:
        super().__init__()
        self.inward = Convolution(channels, middle)
        self.outward = Convolution(middle, channels, 1, pad=0)

    def forward(self, seen: Tensor) -> Tensor:
        return functional.relu(seen + self.outward(functional.relu(self.inward(seen))))


class LineNet(nn.Module):
    """(lines, 1, height, width) of ink from 0 to 1 to (frames, lines, classes); class 0 is the blank. Widths are multiples
    of STEP."""

    def __init__(self, shape: Mapping[str, Any], classes: int) -> None:
        super().__init__()
        first, second, third, fourth = shape["channels"]
        rows = shape["height"] // ROWS
        self.classes = classes
        self.first = Convolution(1, first, stride=(2, 2))
        self.second = Convolution(first, second, stride=(2, 2))
        self.third = Convolution(second, third, stride=(2, 1))
        self.third_blocks = nn.Sequential(
            *(Block(third, shape["middle"][0]) for _ in range(shape["blocks"][0]))
        )
        self.fourth = Convolution(third, fourth, stride=(2, 1))
        self.fourth_blocks = nn.Sequential(
            *(Block(fourth, shape["middle"][1]) for _ in range(shape["blocks"][1]))
        )
        self.columns = Convolution(fourth, shape["features"], (rows, PAIR), (1, PAIR), pad=0)
        self.glance = nn.Conv2d(fourth, classes, (rows, 1))
        self.rest = nn.Dropout(shape["dropout"])
        self.memory = nn.LSTM(
            shape["features"],
            shape["hidden"],
            shape["layers"],
            bidirectional=True,
            dropout=shape["dropout"],
        )
        self.letters = nn.Linear(2 * shape["hidden"], classes * PAIR)

    def forward(self, lines: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The answer, and what the columns answer by themselves, both as scores; *lengths*: steps per line, falling, not on
        the graphics card."""
        seen = lines
        for layer in (self.first, self.second, self.third):
            seen = functional.relu(layer(seen))
        seen = self.third_blocks(seen)
        seen = self.fourth_blocks(functional.relu(self.fourth(seen)))
        glance = self.glance(seen).squeeze(2).permute(2, 0, 1).float()
        columns = functional.relu(self.columns(seen)).squeeze(2).permute(2, 0, 1)
        scores = self.remember(self.rest(columns), lengths)
        count, lines_here, _ = scores.shape
        scores = scores.view(count, lines_here, PAIR, self.classes).transpose(1, 2)
        return scores.reshape(count * PAIR, lines_here, self.classes) + glance, glance

    def remember(self, columns: Tensor, lengths: Tensor) -> Tensor:
        """The scores of the LSTM over each line as far as it goes, in full precision: under autocast, torch would take 16-bit
        floats, in which small gradients vanish."""
        with torch.autocast(columns.device.type, enabled=False):
            packed = pack_padded_sequence(columns.float(), lengths)
            remembered = pad_packed_sequence(self.memory(packed)[0], total_length=columns.shape[0])[0]
            out: Tensor = self.letters(self.rest(remembered))
        return out
