"""The network as it is trained: that of `armarium_hand_trainer.net`, which trains it further, its convolutions normalised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from armarium_hand_trainer.net import LineNet


class Convolution(nn.Module):
    """A convolution with its normalisation, which the export folds into it."""

    def __init__(
        self, before: int, after: int, size: int | tuple[int, int], stride: tuple[int, int], pad: int
    ) -> None:
        super().__init__()
        self.kernel = nn.Conv2d(before, after, size, stride, pad, bias=False)
        self.norm = nn.BatchNorm2d(after)

    def forward(self, inputs: Tensor) -> Tensor:
        out: Tensor = self.norm(self.kernel(inputs))
        return out


def normalised_net(shape: Mapping[str, Any], classes: int) -> LineNet:
    """The network with normalised convolutions."""
    return LineNet(shape, classes, Convolution)
