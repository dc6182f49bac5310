"""Converts the network to an ONNX file and back: 16-bit weights, with the alphabet and the calibration in the
file's properties.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, checker, helper, load, numpy_helper

from armarium_hand_trainer.net import onnx_gates
from armarium_worker import Refused

Values = NDArray[np.float32]
OPSET = 17
LAYERS = 2
STRIDES = {0: (2, 2), 1: (2, 2), 4: (2, 1), 7: (2, 1)}


def weights_of(path: Path) -> dict[str, Values]:
    """Return the weights of the hand reader's model file at *path*, by names that say where each belongs.

    They are identified by their order in the graph, so that files from any exporter version can be loaded.
    Refused for a file that is not such a model.
    """
    try:
        return _weights(load(str(path)))
    except Refused:
        raise
    except Exception as error:
        raise Refused(
            f"{path.name} is not a model of the hand reader, so it cannot be trained further."
        ) from error


def _weights(model: ModelProto) -> dict[str, Values]:
    stored = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    made_by = {name: node for node in model.graph.node for name in node.output}

    def value(name: str) -> Values:
        while name not in stored:
            name = made_by[name].input[0]
        return stored[name].astype(np.float32)

    found: dict[str, Values] = {}
    of_kind: dict[str, list[Any]] = {}
    for node in model.graph.node:
        of_kind.setdefault(node.op_type, []).append(node)
    for at, node in enumerate(of_kind["Conv"]):
        found[f"convolution.{at}.kernel"], found[f"convolution.{at}.shift"] = map(value, node.input[1:3])
    for layer, node in enumerate(of_kind["LSTM"]):
        for name, put in zip(("taken", "kept", "bias"), node.input[1:4], strict=True):
            found[f"memory.{layer}.{name}"] = value(put)
    for name, node in zip(("squeeze", "letters"), of_kind["MatMul"], strict=True):
        found[f"{name}.matrix"] = value(node.input[1])
        (added,) = [one for one in of_kind["Add"] if one.input[0] == node.output[0]]
        found[f"{name}.bias"] = value(added.input[1])
    if len(of_kind["Conv"]) != 10 or len(of_kind["LSTM"]) != LAYERS:
        raise Refused("The file contains a network other than the hand reader's.")
    return found


class _Graph:
    """Collects nodes and weights of a graph under construction; each method returns the name of its result."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.stored: list[Any] = []

    def weight(self, name: str, value: Values) -> str:
        self.stored.append(numpy_helper.from_array(np.asarray(value, dtype=np.float16), f"{name}.16"))
        return self.node("Cast", f"{name}.16", to=TensorProto.FLOAT)

    def shape(self, name: str, value: list[int]) -> str:
        self.stored.append(numpy_helper.from_array(np.array(value, dtype=np.int64), name))
        return name

    def node(self, kind: str, *inputs: str, **settings: Any) -> str:
        name = f"{kind}-{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **settings))
        return name


def onnx_model(state: Mapping[str, Values], properties: Mapping[str, Any]) -> ModelProto:
    """Return the graph of a `FoldedNet` with this *state* (its state dict as arrays), and *properties* as
    JSON metadata.

    Inputs are `lines` (lines, 1, 48, width) and `steps` (lines), outputs are log probabilities, as the hand
    reader expects them.
    """
    graph = _Graph()

    def convolution(at: int, before: str) -> str:
        kernel = graph.weight(f"convolution.{at}.kernel", state[f"convolutions.{at}.weight"])
        shift = graph.weight(f"convolution.{at}.shift", state[f"convolutions.{at}.bias"])
        return graph.node("Conv", before, kernel, shift, strides=STRIDES.get(at, (1, 1)), pads=[1, 1, 1, 1])

    def linear(name: str, before: str) -> str:
        product = graph.node(
            "MatMul", before, graph.weight(f"{name}.matrix", np.ascontiguousarray(state[f"{name}.weight"].T))
        )
        return graph.node("Add", product, graph.weight(f"{name}.bias", state[f"{name}.bias"]))

    seen = "lines"
    for at in (0, 1):
        seen = graph.node("Relu", convolution(at, seen))
    for at in (2, 5, 8):
        inner = graph.node("Relu", convolution(at, seen))
        seen = graph.node("Relu", graph.node("Add", seen, convolution(at + 1, inner)))
        if at + 2 < 10:
            seen = graph.node("Relu", convolution(at + 2, seen))
    columns = graph.node("Transpose", seen, perm=[3, 0, 1, 2])
    columns = graph.node("Reshape", columns, graph.shape("columns", [0, 0, -1]))
    remembered = graph.node("Relu", linear("squeeze", columns))
    for layer in range(LAYERS):
        remembered = _memory(graph, state, layer, remembered)
    graph.nodes.append(helper.make_node("LogSoftmax", [linear("letters", remembered)], ["answer"], axis=-1))
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "hand",
            [
                helper.make_tensor_value_info("lines", TensorProto.FLOAT, ["lines", 1, 48, "width"]),
                helper.make_tensor_value_info("steps", TensorProto.INT32, ["lines"]),
            ],
            [
                helper.make_tensor_value_info(
                    "answer", TensorProto.FLOAT, ["steps", "lines", len(state["letters.bias"])]
                )
            ],
            graph.stored,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=8,
    )
    helper.set_model_props(
        made, {name: json.dumps(value, ensure_ascii=False) for name, value in properties.items()}
    )
    checker.check_model(made, full_check=True)
    return made


def _memory(graph: _Graph, state: Mapping[str, Values], layer: int, before: str) -> str:
    parts: dict[str, list[Values]] = {"taken": [], "kept": [], "bias": []}
    for way in ("", "_reverse"):
        end = f"l{layer}{way}"
        parts["taken"].append(onnx_gates(state[f"memory.weight_ih_{end}"]))
        parts["kept"].append(onnx_gates(state[f"memory.weight_hh_{end}"]))
        both = [onnx_gates(state[f"memory.bias_{kind}_{end}"]) for kind in ("ih", "hh")]
        parts["bias"].append(np.concatenate(both))
    taken, kept, bias = (
        graph.weight(f"memory.{layer}.{name}", np.stack(part)) for name, part in parts.items()
    )
    hidden = state[f"memory.weight_hh_l{layer}"].shape[1]
    out = graph.node(
        "LSTM", before, taken, kept, bias, "steps", hidden_size=hidden, direction="bidirectional"
    )
    level = graph.node("Transpose", out, perm=[0, 2, 1, 3])
    return graph.node("Reshape", level, graph.shape(f"memory.{layer}.flat", [0, 0, -1]))
