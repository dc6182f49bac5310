"""Tiny recognisers of the shape of PP-OCR's: each eight columns of a line are a letter, told by how dark they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

HEIGHT, STEP = 16, 8
LETTERS = ["a", "b", "\u0327", " "]
LEVELS = [255, 0, 60, 120, 180]
"""Grey of the blank, then of each letter."""


def tiny_model(levels: list[int] = LEVELS, extra: list[Any] | None = None, **settings: Any) -> ModelProto:
    """Return a network (1, 3, 16, width) to (1, width / 8, classes) of probabilities."""
    centres = np.array([2 * level / 255 - 1 for level in levels], dtype=np.float32)
    nodes = [
        helper.make_node(
            "AveragePool", ["x"], ["pooled"], kernel_shape=[HEIGHT, STEP], strides=[HEIGHT, STEP]
        ),
        helper.make_node("ReduceMean", ["pooled"], ["level"], axes=[1, 2], keepdims=0),
        helper.make_node("Unsqueeze", ["level", "last"], ["column"]),
        helper.make_node("Sub", ["column", "centres"], ["apart"]),
        helper.make_node("Mul", ["apart", "apart"], ["square"]),
        helper.make_node("Mul", ["square", "sharp"], ["score"]),
        helper.make_node("Softmax", ["score"], ["y"], axis=2),
        *(extra or []),
    ]
    stored = [
        numpy_helper.from_array(np.array([2]), "last"),
        numpy_helper.from_array(centres, "centres"),
        numpy_helper.from_array(np.array(-200, dtype=np.float32), "sharp"),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, HEIGHT, "width"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "steps", "classes"])],
        stored,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, **settings)


def publish(folder: Path, model: ModelProto | None = None, letters: list[str] = LETTERS) -> Path:
    """Write a model as it is published into *folder*, made for it."""
    folder.mkdir(parents=True)
    (folder / "inference.onnx").write_bytes((model or tiny_model()).SerializeToString())
    (folder / "dict.txt").write_text("".join(f"{letter}\n" for letter in letters), "utf-8")
    return folder


def written(text: str, letters: list[str] = LETTERS) -> NDArray[np.uint8]:
    """Return the picture of a line in grey levels, with a blank after each letter."""
    levels = [LEVELS[0]]
    for letter in text:
        levels += [LEVELS[letters.index(letter) + 1], LEVELS[0]]
    row = np.repeat(np.array(levels, dtype=np.uint8), STEP)
    return np.broadcast_to(row[None, :, None], (HEIGHT, len(row), 3)).copy()
