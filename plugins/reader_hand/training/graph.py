"""The trained network as an ONNX graph, built by hand so that it has no more in it than it needs.

Batch normalisation is folded into the convolutions, weights are stored as 16-bit numbers and computed with as 32-bit
ones, and the LSTM is told how long each line is, so that a line is read alike whatever it is batched with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

Values = NDArray[np.float32]
OPSET = 17
EPSILON = 1e-5
"""Of torch's batch normalisation."""
GATES = (0, 3, 1, 2)
"""torch keeps the gates as input, forget, cell, output; ONNX wants input, output, forget, cell."""


class _Graph:
    """Nodes and weights while they are put together; each method gives the name of its result."""

    def __init__(self, weights: Mapping[str, Values]) -> None:
        self.weights = weights
        self.nodes: list[Any] = []
        self.stored: list[Any] = []

    def weight(self, name: str, value: Values) -> str:
        small = np.asarray(value, dtype=np.float16)
        self.stored.append(numpy_helper.from_array(small, f"{name}.16"))
        return self.node("Cast", f"{name}.16", to=TensorProto.FLOAT)

    def shape(self, name: str, value: list[int]) -> str:
        self.stored.append(numpy_helper.from_array(np.array(value, dtype=np.int64), name))
        return name

    def node(self, kind: str, *inputs: str, outputs: int = 1, **settings: Any) -> str:
        names = [f"{kind}-{len(self.nodes)}" + (f".{number}" if number else "") for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **settings))
        return names[0]

    def convolution(self, at: str, norm: str, before: str, stride: tuple[int, int] = (1, 1)) -> str:
        kernel, scale = self.weights[f"{at}.weight"], self.weights[f"{norm}.weight"]
        factor = scale / np.sqrt(self.weights[f"{norm}.running_var"] + EPSILON)
        shift = self.weights[f"{norm}.bias"] - self.weights[f"{norm}.running_mean"] * factor
        folded = self.weight(f"{at}.kernel", kernel * factor[:, None, None, None])
        return self.node(
            "Conv", before, folded, self.weight(f"{at}.shift", shift), strides=stride, pads=[1, 1, 1, 1]
        )

    def residual(self, at: str, before: str) -> str:
        first = self.node("Relu", self.convolution(f"{at}.change.0", f"{at}.change.1", before))
        second = self.convolution(f"{at}.change.3", f"{at}.change.4", first)
        return self.node("Relu", self.node("Add", before, second))

    def linear(self, at: str, before: str) -> str:
        matrix = self.weight(f"{at}.matrix", self.weights[f"{at}.weight"].T)
        product = self.node("MatMul", before, matrix)
        return self.node("Add", product, self.weight(f"{at}.bias", self.weights[f"{at}.bias"]))

    def memory(self, layer: int, before: str, lengths: str) -> str:
        """One bidirectional LSTM layer: (steps, lines, features) to (steps, lines, 2 hidden)."""
        parts: dict[str, list[Values]] = {"weight_ih": [], "weight_hh": [], "bias": []}
        for way in ("", "_reverse"):
            end = f"l{layer}{way}"
            parts["weight_ih"].append(_gates(self.weights[f"memory.weight_ih_{end}"]))
            parts["weight_hh"].append(_gates(self.weights[f"memory.weight_hh_{end}"]))
            biases = [_gates(self.weights[f"memory.bias_{kind}_{end}"]) for kind in ("ih", "hh")]
            parts["bias"].append(np.concatenate(biases))
        taken, kept, bias = (
            self.weight(f"memory.{layer}.{name}", np.stack(part)) for name, part in parts.items()
        )
        hidden = self.weights[f"memory.weight_hh_l{layer}"].shape[1]
        out = self.node(
            "LSTM", before, taken, kept, bias, lengths, hidden_size=hidden, direction="bidirectional"
        )
        level = self.node("Transpose", out, perm=[0, 2, 1, 3])
        return self.node("Reshape", level, self.shape(f"memory.{layer}.flat", [0, 0, -1]))


def _gates(value: Values) -> Values:
    parts = np.split(value, 4)
    return np.concatenate([parts[gate] for gate in GATES])


def onnx_model(weights: Mapping[str, Values], layers: int) -> ModelProto:
    """The graph of `model.HandNet` with these *weights* (its state dict as arrays): inputs and output as the reader's
    `LineModel` has them."""
    graph = _Graph(weights)
    seen = graph.node("Relu", graph.convolution("eyes.0", "eyes.1", "lines", (2, 2)))
    seen = graph.node("Relu", graph.convolution("eyes.3", "eyes.4", seen, (2, 2)))
    seen = graph.residual("eyes.6", seen)
    seen = graph.node("Relu", graph.convolution("eyes.7", "eyes.8", seen, (2, 1)))
    seen = graph.residual("eyes.10", seen)
    seen = graph.node("Relu", graph.convolution("eyes.11", "eyes.12", seen, (2, 1)))
    seen = graph.residual("eyes.14", seen)
    columns = graph.node("Transpose", seen, perm=[3, 0, 1, 2])
    columns = graph.node("Reshape", columns, graph.shape("columns", [0, 0, -1]))
    remembered = graph.node("Relu", graph.linear("squeeze", columns))
    for layer in range(layers):
        remembered = graph.memory(layer, remembered, "steps")
    graph.nodes.append(
        helper.make_node("LogSoftmax", [graph.linear("letters", remembered)], ["answer"], axis=-1)
    )
    classes = len(weights["letters.bias"])
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "hand-base",
            [
                helper.make_tensor_value_info("lines", TensorProto.FLOAT, ["lines", 1, 48, "width"]),
                helper.make_tensor_value_info("steps", TensorProto.INT32, ["lines"]),
            ],
            [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["steps", "lines", classes])],
            graph.stored,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
    )
    checker.check_model(made, full_check=True)
    return made
