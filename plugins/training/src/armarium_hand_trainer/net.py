"""The hand reader's network as it is trained further: its batch normalisation is folded into the convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Values = NDArray[np.float32]

CHANNELS = (32, 64, 96, 160)
FEATURES = HIDDEN = 256
LAYERS = 2
DROPOUT = 0.2
HEIGHT = 48
"""Height of a line in pixels."""


class FoldedNet(nn.Module):  # type: ignore[misc]
    """Maps (lines, 1, 48, width) of ink from 0 to 1 to (steps, lines, classes); class 0 is the blank.

    The sizes are those of a base, or of the shipped model if there is no base.
    """

    def __init__(
        self,
        classes: int,
        channels: tuple[int, int, int, int] = CHANNELS,
        features: int = FEATURES,
        hidden: int = HIDDEN,
    ) -> None:
        super().__init__()
        first, second, third, fourth = channels
        pairs = [
            (1, first, (2, 2)),
            (first, second, (2, 2)),
            (second, second, (1, 1)),
            (second, second, (1, 1)),
            (second, third, (2, 1)),
            (third, third, (1, 1)),
            (third, third, (1, 1)),
            (third, fourth, (2, 1)),
            (fourth, fourth, (1, 1)),
            (fourth, fourth, (1, 1)),
        ]
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, 3, stride, 1) for before, after, stride in pairs
        )
        self.squeeze = nn.Linear(fourth * 3, features)
        self.rest = nn.Dropout(DROPOUT)
        self.memory = nn.LSTM(features, hidden, LAYERS, bidirectional=True, dropout=DROPOUT)
        self.letters = nn.Linear(2 * hidden, classes)

    def forward(self, lines: Tensor, lengths: Tensor) -> Tensor:
        """Return logits; *lengths* are the steps of each line, beyond which the LSTM does not look."""
        seen = lines
        for at in (0, 1):
            seen = functional.relu(self.convolutions[at](seen))
        for at in (2, 5, 8):
            inner = functional.relu(self.convolutions[at](seen))
            seen = functional.relu(seen + self.convolutions[at + 1](inner))
            if at + 2 < len(self.convolutions):
                seen = functional.relu(self.convolutions[at + 2](seen))
        count, channels, height, steps = seen.shape
        columns = seen.permute(3, 0, 1, 2).reshape(steps, count, channels * height)
        squeezed = self.rest(functional.relu(self.squeeze(columns)))
        packed = nn.utils.rnn.pack_padded_sequence(squeezed, lengths.cpu(), enforce_sorted=False)
        remembered, _ = nn.utils.rnn.pad_packed_sequence(self.memory(packed)[0], total_length=steps)
        out: Tensor = self.letters(self.rest(remembered))
        return out


def steps_of(width: int) -> int:
    """Return the number of steps for a picture of *width* pixels."""
    return -(-width // 4)


def base_net(weights: Mapping[str, Values], classes: int) -> FoldedNet:
    """Return the network with the weights of an ONNX file (`graph.weights_of`), its last layer extended to
    *classes*.
    """
    kernels = [weights[f"convolution.{at}.kernel"] for at in range(10)]
    channels = tuple(int(kernels[at].shape[0]) for at in (0, 1, 4, 7))
    features, hidden = weights["squeeze.bias"].shape[0], weights["memory.0.taken"].shape[1] // 4
    net = FoldedNet(classes, channels, features, hidden)  # type: ignore[arg-type]
    state: dict[str, Any] = net.state_dict()
    for at, kernel in enumerate(kernels):
        state[f"convolutions.{at}.weight"] = kernel
        state[f"convolutions.{at}.bias"] = weights[f"convolution.{at}.shift"]
    state["squeeze.weight"] = weights["squeeze.matrix"].T
    state["squeeze.bias"] = weights["squeeze.bias"]
    for layer in range(LAYERS):
        for way, end in enumerate(("", "_reverse")):
            both = weights[f"memory.{layer}.bias"][way]
            state[f"memory.weight_ih_l{layer}{end}"] = torch_gates(weights[f"memory.{layer}.taken"][way])
            state[f"memory.weight_hh_l{layer}{end}"] = torch_gates(weights[f"memory.{layer}.kept"][way])
            state[f"memory.bias_ih_l{layer}{end}"] = torch_gates(both[: len(both) // 2])
            state[f"memory.bias_hh_l{layer}{end}"] = torch_gates(both[len(both) // 2 :])
    known = weights["letters.bias"].shape[0]
    for name, value in (("weight", weights["letters.matrix"].T), ("bias", weights["letters.bias"])):
        grown = state[f"letters.{name}"].numpy().copy()
        if name == "bias":
            # A new letter starts as unlikely as the rarest of the others.
            grown[known:] = value.min()
        grown[: min(known, classes)] = value[:classes]
        state[f"letters.{name}"] = grown
    net.load_state_dict({name: torch.as_tensor(np.array(value)) for name, value in state.items()})
    return net


TO_ONNX = (0, 3, 1, 2)
"""torch orders the gates input, forget, cell, output; ONNX expects input, output, forget, cell."""
TO_TORCH = (0, 2, 3, 1)


def torch_gates(value: Values) -> Values:
    """Return the four gates in torch's order."""
    parts = np.split(value, 4)
    return np.concatenate([parts[gate] for gate in TO_TORCH])


def onnx_gates(value: Values) -> Values:
    """Return the four gates in ONNX's order."""
    parts = np.split(value, 4)
    return np.concatenate([parts[gate] for gate in TO_ONNX])
