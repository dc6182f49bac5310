"""The weights of an exported model as a network that can be trained further, where no checkpoint is at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper

from training.graph import EPSILON, GATES
from training.model import HandNet

NORMS = {
    "eyes.0": "eyes.1",
    "eyes.3": "eyes.4",
    "eyes.6.change.0": "eyes.6.change.1",
    "eyes.6.change.3": "eyes.6.change.4",
    "eyes.7": "eyes.8",
    "eyes.10.change.0": "eyes.10.change.1",
    "eyes.10.change.3": "eyes.10.change.4",
    "eyes.11": "eyes.12",
    "eyes.14.change.0": "eyes.14.change.1",
    "eyes.14.change.3": "eyes.14.change.4",
}
"""Each convolution with the batch normalisation that the export folded into it."""


def load_exported(net: HandNet, path: Path) -> None:
    """Put the weights of the ONNX model at *path* into *net*; in evaluation it then answers as the model does."""
    stored = {one.name: numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    values: dict[str, NDArray[Any]] = {}
    for convolution, norm in NORMS.items():
        shift = stored[f"{convolution}.shift.16"]
        values[f"{convolution}.weight"] = stored[f"{convolution}.kernel.16"]
        values[f"{norm}.weight"] = np.ones_like(shift)
        values[f"{norm}.bias"] = shift
        values[f"{norm}.running_mean"] = np.zeros_like(shift)
        values[f"{norm}.running_var"] = np.full_like(shift, 1 - EPSILON, dtype=np.float32)
        values[f"{norm}.num_batches_tracked"] = np.array(0)
    for linear in ("squeeze", "letters"):
        values[f"{linear}.weight"] = stored[f"{linear}.matrix.16"].T
        values[f"{linear}.bias"] = stored[f"{linear}.bias.16"]
    for layer in range(net.memory.num_layers):
        for way, end in enumerate(("", "_reverse")):
            for kind in ("weight_ih", "weight_hh"):
                values[f"memory.{kind}_l{layer}{end}"] = _gates(stored[f"memory.{layer}.{kind}.16"][way])
            biases = np.split(stored[f"memory.{layer}.bias.16"][way], 2)
            for kind, bias in zip(("bias_ih", "bias_hh"), biases, strict=True):
                values[f"memory.{kind}_l{layer}{end}"] = _gates(bias)
    weights = {name: torch.tensor(np.asarray(value, dtype=np.float32)) for name, value in values.items()}
    net.load_state_dict(weights)


def unfold(net: HandNet, batches: list[torch.Tensor]) -> None:
    """Give each batch normalisation the statistics of *batches* (pictures), so that training meets what it expects;
    what the network answers in evaluation stays the same."""
    sums: dict[str, list[tuple[torch.Tensor, torch.Tensor]]] = {norm: [] for norm in NORMS.values()}

    def listen(norm: str) -> Any:
        def hear(_: Any, given: tuple[torch.Tensor, ...]) -> None:
            seen = given[0].float().transpose(0, 1).flatten(1)
            sums[norm].append((seen.mean(1), seen.square().mean(1)))

        return hear

    modules = dict(net.named_modules())
    hooks = [modules[norm].register_forward_pre_hook(listen(norm)) for norm in sums]
    net.eval()
    with torch.no_grad():
        for pictures in batches:
            net(pictures.contiguous(memory_format=torch.channels_last))
    for hook in hooks:
        hook.remove()
    with torch.no_grad():
        for norm, seen in sums.items():
            mean = torch.stack([one for one, _ in seen]).mean(0)
            variance = torch.stack([square for _, square in seen]).mean(0) - mean.square()
            layer: Any = modules[norm]
            layer.running_mean.copy_(mean)
            layer.running_var.copy_(variance)
            layer.weight.copy_((variance + EPSILON).sqrt())
            layer.bias.add_(mean)


def _gates(value: NDArray[Any]) -> NDArray[Any]:
    """From ONNX's order of gates to torch's."""
    parts = np.split(value, 4)
    return np.concatenate([parts[GATES.index(place)] for place in range(4)])
