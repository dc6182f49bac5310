"""Converts the network to an ONNX file and back: 16-bit weights, with the alphabet and the calibration in the
file's properties. Built by hand, so that there is no more in it than it needs; needs no torch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper, load, numpy_helper

from armarium_worker import Refused

Values = NDArray[np.float32]
OPSET = 17
PAIR = 2
"""Answers per step of the memory."""
WAYS = ("", "_reverse")
TO_ONNX, TO_TORCH = (0, 3, 1, 2), (0, 2, 3, 1)
"""torch orders the gates input, forget, cell, output; ONNX expects input, output, forget, cell."""
EPSILON = 1e-5
"""Of torch's batch normalisation."""


def weights_of(path: Path) -> tuple[dict[str, Values], dict[str, Any]]:
    """Return the weights of the hand reader's model file at *path* by their names in the network, and its sizes.

    Refused for a file that is not such a model, or is one of the earlier network.
    """
    try:
        stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in load(str(path)).graph.initializer}
        weights = dict(
            _in_torch({name: value for name, value in stored.items() if value.dtype == np.float16})
        )
        return weights, shape_of(weights)
    except Exception as error:
        raise Refused(
            f"{path.name} is not a model that this trainer can train further: it takes the base that ships and what was "
            "trained from it. Models of the first edition (lines of 48 pixels) still read; train from the shipped base instead."
        ) from error


def _in_torch(stored: Mapping[str, Any]) -> Iterator[tuple[str, Values]]:
    for name, value in stored.items():
        value = value.astype(np.float32)
        part, _, layer = name.partition("#")
        if not layer:
            yield name, value
            continue
        for way, end in zip(value, WAYS, strict=True):
            halves = {"weight_ih": way, "weight_hh": way}
            if part == "memory.bias":
                halves = dict(zip(("bias_ih", "bias_hh"), np.split(way, 2), strict=True))
            for kind, half in halves.items():
                if part in ("memory.bias", f"memory.{kind}"):
                    yield f"memory.{kind}_l{layer}{end}", _gates(half, TO_TORCH)


def shape_of(weights: Mapping[str, Values]) -> dict[str, Any]:
    """Return the sizes of a network, as `net.LineNet` takes them."""

    def count(stage: str) -> int:
        return len({name.split(".")[1] for name in weights if name.startswith(f"{stage}_blocks.")})

    stages = ("third", "fourth")
    return {
        "height": 16 * weights["columns.weight"].shape[2],
        "channels": [weights[f"{name}.weight"].shape[0] for name in ("first", "second", *stages)],
        "middle": [weights[f"{stage}_blocks.0.inward.weight"].shape[0] for stage in stages],
        "blocks": [count(stage) for stage in stages],
        "features": weights["columns.weight"].shape[0],
        "hidden": weights["memory.weight_hh_l0"].shape[1],
        "layers": sum(name.startswith("memory.weight_hh") for name in weights) // len(WAYS),
        "dropout": 0.2,
    }


def fold_normalisation(state: Mapping[str, Values]) -> dict[str, Values]:
    """Return the state of a network whose convolutions (`NAME.kernel`) are normalised (`NAME.norm`) as one of plain ones."""
    folded = {}
    for name, value in state.items():
        at, kernel, _ = name.partition(".kernel.")
        if kernel:
            norm = {
                key: state[f"{at}.norm.{key}"] for key in ("weight", "bias", "running_mean", "running_var")
            }
            factor = norm["weight"] / np.sqrt(norm["running_var"] + EPSILON)
            folded[f"{at}.weight"] = value * factor[:, None, None, None]
            folded[f"{at}.bias"] = norm["bias"] - norm["running_mean"] * factor
        elif ".norm." not in name:
            folded[name] = value
    return folded


def _gates(value: Values, order: tuple[int, ...]) -> Values:
    parts = np.split(value, 4)
    return np.concatenate([parts[gate] for gate in order])


class _Graph:
    """Collects nodes and weights of a graph under construction; each method returns the name of its result."""

    def __init__(self, state: Mapping[str, Values]) -> None:
        self.state = state
        self.nodes: list[Any] = []
        self.stored: list[Any] = []

    def node(self, kind: str, *inputs: str, **settings: Any) -> str:
        name = settings.pop("name", f"{kind}-{len(self.nodes)}")
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **settings))
        return str(name)

    def weight(self, name: str, value: Values) -> str:
        self.stored.append(numpy_helper.from_array(np.asarray(value, dtype=np.float16), name))
        return self.node("Cast", name, to=TensorProto.FLOAT)

    def whole(self, name: str, value: list[int], kind: type = np.int64) -> str:
        self.stored.append(numpy_helper.from_array(np.array(value, dtype=kind), name))
        return name

    def own(self, at: str) -> tuple[str, str]:
        """The weights of a layer."""
        weight, bias = (
            self.weight(f"{at}.{part}", self.state[f"{at}.{part}"]) for part in ("weight", "bias")
        )
        return weight, bias

    def convolution(self, at: str, before: str, stride: tuple[int, int] = (1, 1), pad: int = 1) -> str:
        return self.node("Conv", before, *self.own(at), strides=stride, pads=[pad] * 4)

    def block(self, at: str, before: str) -> str:
        inner = self.node("Relu", self.convolution(f"{at}.inward", before))
        return self.node("Relu", self.node("Add", before, self.convolution(f"{at}.outward", inner, pad=0)))

    def memory(self, layer: int, before: str, lengths: str) -> str:
        """One bidirectional LSTM layer: (steps, lines, features) to (steps, lines, 2 hidden)."""

        def both(kind: str) -> list[Values]:
            return [_gates(self.state[f"memory.{kind}_l{layer}{end}"], TO_ONNX) for end in WAYS]

        pairs = zip(both("bias_ih"), both("bias_hh"), strict=True)
        parts = {
            "weight_ih": both("weight_ih"),
            "weight_hh": both("weight_hh"),
            "bias": [np.concatenate(pair) for pair in pairs],
        }
        weights = (self.weight(f"memory.{name}#{layer}", np.stack(part)) for name, part in parts.items())
        hidden = self.state[f"memory.weight_hh_l{layer}"].shape[1]
        out = self.node("LSTM", before, *weights, lengths, hidden_size=hidden, direction="bidirectional")
        level = self.node("Transpose", out, perm=[0, 2, 1, 3])
        return self.node("Reshape", level, self.whole(f"flat#{layer}", [0, 0, -1]))


EYES = "eyes"
"""The value in the graph that the memory looks at: (steps, lines, features)."""


def onnx_model(state: Mapping[str, Values], properties: Mapping[str, Any]) -> ModelProto:
    """Return the graph of a `net.LineNet` with this *state* (its state dict as arrays, not normalised), and *properties* as
    JSON metadata.

    Inputs are `lines` (lines, 1, height, width; widths are multiples of 8) and `steps` (of 4 pixels, an even number for each
    line), outputs are log probabilities (steps, lines, classes), as the hand reader expects them.
    """
    graph = _Graph(state)
    shape, classes = shape_of(state), len(state["glance.bias"])
    features = graph.node("Relu", graph.convolution("first", "lines", (2, 2)))
    features = graph.node("Relu", graph.convolution("second", features, (2, 2)))
    for stage, count in zip(("third", "fourth"), shape["blocks"], strict=True):
        features = graph.node("Relu", graph.convolution(stage, features, (2, 1)))
        for number in range(count):
            features = graph.block(f"{stage}_blocks.{number}", features)
    height = graph.whole("height", [2])
    glance = graph.node("Squeeze", graph.convolution("glance", features, pad=0), height)
    columns = graph.node("Relu", graph.convolution("columns", features, (1, PAIR), pad=0))
    remembered = graph.node("Transpose", graph.node("Squeeze", columns, height), perm=[2, 0, 1], name=EYES)
    lengths = graph.node("Div", "steps", graph.whole("pair", [PAIR], np.int32))
    for layer in range(shape["layers"]):
        remembered = graph.memory(layer, remembered, lengths)
    weight = graph.node("Transpose", graph.weight("letters.weight", state["letters.weight"]), perm=[1, 0])
    product = graph.node("MatMul", remembered, weight)
    scores = graph.node("Add", product, graph.weight("letters.bias", state["letters.bias"]))
    # From pairs (steps, lines, 2 classes) to answers (lines, 2 steps, classes), as the columns' own are turned.
    scores = graph.node("Transpose", scores, perm=[1, 0, 2])
    scores = graph.node("Reshape", scores, graph.whole("apart", [0, -1, classes]))
    scores = graph.node("Add", scores, graph.node("Transpose", glance, perm=[0, 2, 1]))
    scores = graph.node("Transpose", scores, perm=[1, 0, 2])
    graph.nodes.append(helper.make_node("LogSoftmax", [scores], ["answer"], axis=-1))
    floats, whole = TensorProto.FLOAT, TensorProto.INT32
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "hand",
            [
                helper.make_tensor_value_info("lines", floats, ["lines", 1, shape["height"], "width"]),
                helper.make_tensor_value_info("steps", whole, ["lines"]),
            ],
            [helper.make_tensor_value_info("answer", floats, ["steps", "lines", classes])],
            graph.stored,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
    )
    helper.set_model_props(
        model, {name: json.dumps(value, ensure_ascii=False) for name, value in properties.items()}
    )
    checker.check_model(model, full_check=True)
    return model
