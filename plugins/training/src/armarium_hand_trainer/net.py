"""The hand reader's network, as the base is trained on a graphics card (`normalised` convolutions) and as it is trained
further, its normalisation folded into the convolutions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

SHAPE: Mapping[str, Any] = {
    "height": 64,
    "channels": [24, 48, 96, 160],
    "middle": [64, 96],
    "blocks": [2, 4],
    "features": 320,
    "hidden": 320,
    "layers": 2,
    "dropout": 0.2,
}
"""Sizes of the shipped model; a network that is trained without a base has them too."""
FRAME = 4
"""Pixels of width per answer."""
PAIR = 2
"""Answers per step of the memory."""
STEP = FRAME * PAIR
ROWS = 16
"""Pixels of height per row of the last convolutions."""
MARGIN = 40
"""Pixels of paper right of every line, as far as the convolutions see; the reader adds as many."""

Convolving = Callable[[int, int, int | tuple[int, int], tuple[int, int], int], nn.Module]
"""Makes a convolution of channels before and after, size, stride and padding."""


def steps_of(width: int) -> int:
    """Return how many steps the memory takes over a picture of *width* pixels."""
    return -(-width // STEP)


class Block(nn.Module):  # type: ignore[misc]
    """What was seen, and a correction of it through fewer channels."""

    def __init__(self, channels: int, middle: int, convolution: Convolving) -> None:
        super().__init__()
        self.inward = convolution(channels, middle, 3, (1, 1), 1)
        self.outward = convolution(middle, channels, 1, (1, 1), 0)

    def forward(self, features: Tensor) -> Tensor:
        return functional.relu(features + self.outward(functional.relu(self.inward(features))))


class LineNet(nn.Module):  # type: ignore[misc]
    """Convolutions to a quarter of the width, then LSTM layers over pairs of columns, and one class for each character and
    column. The columns also answer by themselves; the memory corrects them.

    Maps (lines, 1, height, width) of ink from 0 to 1 to (frames, lines, classes); class 0 is the blank. Widths are
    multiples of STEP.
    """

    def __init__(self, shape: Mapping[str, Any], classes: int, convolution: Convolving = nn.Conv2d) -> None:
        super().__init__()
        first, second, third, fourth = shape["channels"]
        rows = shape["height"] // ROWS
        self.shape, self.classes = dict(shape), classes

        def blocks(stage: int, channels: int) -> nn.Sequential:
            middle = shape["middle"][stage]
            return nn.Sequential(
                *(Block(channels, middle, convolution) for _ in range(shape["blocks"][stage]))
            )

        self.first = convolution(1, first, 3, (2, 2), 1)
        self.second = convolution(first, second, 3, (2, 2), 1)
        self.third = convolution(second, third, 3, (2, 1), 1)
        self.third_blocks = blocks(0, third)
        self.fourth = convolution(third, fourth, 3, (2, 1), 1)
        self.fourth_blocks = blocks(1, fourth)
        self.columns = convolution(fourth, shape["features"], (rows, PAIR), (1, PAIR), 0)
        self.glance = nn.Conv2d(fourth, classes, (rows, 1))
        self.rest = nn.Dropout(shape["dropout"])
        self.memory = nn.LSTM(
            shape["features"], shape["hidden"], shape["layers"], bidirectional=True, dropout=shape["dropout"]
        )
        self.letters = nn.Linear(2 * shape["hidden"], classes * PAIR)

    def forward(self, lines: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the answer, and what the columns answer by themselves, both as scores; *lengths*: steps per line, not on the
        graphics card, beyond which the memory does not look."""
        features = lines
        for layer in (self.first, self.second, self.third):
            features = functional.relu(layer(features))
        features = self.third_blocks(features)
        features = self.fourth_blocks(functional.relu(self.fourth(features)))
        glance = self.glance(features).squeeze(2).permute(2, 0, 1).float()
        columns = functional.relu(self.columns(features)).squeeze(2).permute(2, 0, 1)
        scores = self._remember(self.rest(columns), lengths)
        count, lines_here, _ = scores.shape
        scores = scores.view(count, lines_here, PAIR, self.classes).transpose(1, 2)
        return scores.reshape(count * PAIR, lines_here, self.classes) + glance, glance

    def _remember(self, columns: Tensor, lengths: Tensor) -> Tensor:
        """Return the scores of the LSTM over each line as far as it goes, in full precision: under autocast, torch would take
        16-bit floats, in which small gradients vanish."""
        with torch.autocast(columns.device.type, enabled=False):
            packed = nn.utils.rnn.pack_padded_sequence(columns.float(), lengths, enforce_sorted=False)
            remembered = nn.utils.rnn.pad_packed_sequence(
                self.memory(packed)[0], total_length=columns.shape[0]
            )[0]
            out: Tensor = self.letters(self.rest(remembered))
        return out


def base_net(weights: Mapping[str, Any], shape: Mapping[str, Any], classes: int) -> LineNet:
    """Return the network with the weights of an ONNX file (`graph.weights_of`), its answers extended to *classes*."""
    net = LineNet(shape, classes)
    grown = net.state_dict()
    for name, value in weights.items():
        old = torch.as_tensor(value)
        if name.startswith(("glance.", "letters.")):
            # Each column of a pair has all classes. A new letter starts as unlikely as the rarest of the others.
            pairs = PAIR if name.startswith("letters.") else 1
            new = grown[name].view(pairs, classes, *old.shape[1:])
            old_pairs = old.view(pairs, -1, *old.shape[1:])
            new[:] = old_pairs.amin(1, keepdim=True) if name.endswith("bias") else 0
            new[:, : old_pairs.shape[1]] = old_pairs[:, :classes]
        else:
            grown[name] = old
    net.load_state_dict(grown)
    return net
