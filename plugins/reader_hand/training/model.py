"""The network: convolutions to a quarter of the width, two bidirectional LSTM layers, one class per character and step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from training.settings import Shape


class HandNet(nn.Module):
    """(lines, 1, 48, width) of ink from 0 to 1 to (steps, lines, classes); class 0 is the blank."""

    def __init__(self, shape: Shape, classes: int) -> None:
        super().__init__()
        first, second, third, fourth = shape.channels
        self.eyes = nn.Sequential(
            *_convolution(1, first, (2, 2)),
            *_convolution(first, second, (2, 2)),
            _Residual(second),
            *_convolution(second, third, (2, 1)),
            _Residual(third),
            *_convolution(third, fourth, (2, 1)),
            _Residual(fourth),
        )
        self.squeeze = nn.Linear(fourth * 3, shape.features)
        self.rest = nn.Dropout(shape.dropout)
        self.memory = nn.LSTM(
            shape.features, shape.hidden, shape.layers, bidirectional=True, dropout=shape.dropout
        )
        self.letters = nn.Linear(2 * shape.hidden, classes)

    def forward(self, lines: Tensor) -> Tensor:
        seen = self.eyes(lines)
        count, channels, height, steps = seen.shape
        columns = seen.permute(3, 0, 1, 2).reshape(steps, count, channels * height)
        remembered, _ = self.memory(self.rest(functional.relu(self.squeeze(columns))))
        out: Tensor = self.letters(self.rest(remembered))
        return out


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.change = nn.Sequential(*_convolution(channels, channels), *_convolution(channels, channels)[:2])

    def forward(self, seen: Tensor) -> Tensor:
        return functional.relu(seen + self.change(seen))


def _convolution(before: int, after: int, stride: tuple[int, int] = (1, 1)) -> Sequence[Any]:
    return (
        nn.Conv2d(before, after, 3, stride, 1, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
    )


def steps(width: int) -> int:
    """How many steps the network gives for a picture of *width* pixels."""
    half = (width + 1) // 2
    return (half + 1) // 2
