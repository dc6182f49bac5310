"""The ONNX graph with random weights: compared with the same network written in numpy, and used as the
reader's model.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from armarium_reader_hand.model import LineModel

TRAINING = Path(__file__).parents[1]
if str(TRAINING) not in sys.path:
    sys.path.append(str(TRAINING))

from training.graph import onnx_model  # noqa: E402

Values = NDArray[np.float32]
CHANNELS, FEATURES, HIDDEN, LETTERS = (2, 3, 4, 5), 6, 3, 7


@pytest.fixture(scope="module")
def weights() -> dict[str, Values]:
    """Random weights of a very small network, named as torch names them, exact as 16-bit numbers."""
    dice = np.random.default_rng(3)
    found: dict[str, Values] = {}

    def draw(name: str, *shape: int) -> None:
        found[name] = dice.normal(0, 0.5, shape).astype(np.float16).astype(np.float32)

    def convolution(at: str, norm: str, before: int, after: int) -> None:
        draw(f"{at}.weight", after, before, 3, 3)
        for part in ("weight", "bias", "running_mean"):
            draw(f"{norm}.{part}", after)
        found[f"{norm}.running_var"] = dice.uniform(0.5, 2, after).astype(np.float32)

    first, second, third, fourth = CHANNELS
    convolution("eyes.0", "eyes.1", 1, first)
    convolution("eyes.3", "eyes.4", first, second)
    convolution("eyes.7", "eyes.8", second, third)
    convolution("eyes.11", "eyes.12", third, fourth)
    for at, channels in (("eyes.6", second), ("eyes.10", third), ("eyes.14", fourth)):
        convolution(f"{at}.change.0", f"{at}.change.1", channels, channels)
        convolution(f"{at}.change.3", f"{at}.change.4", channels, channels)
    draw("squeeze.weight", FEATURES, fourth * 3)
    draw("squeeze.bias", FEATURES)
    for layer, size in ((0, FEATURES), (1, 2 * HIDDEN)):
        for way in ("", "_reverse"):
            draw(f"memory.weight_ih_l{layer}{way}", 4 * HIDDEN, size)
            draw(f"memory.weight_hh_l{layer}{way}", 4 * HIDDEN, HIDDEN)
            draw(f"memory.bias_ih_l{layer}{way}", 4 * HIDDEN)
            draw(f"memory.bias_hh_l{layer}{way}", 4 * HIDDEN)
    draw("letters.weight", LETTERS + 1, 2 * HIDDEN)
    draw("letters.bias", LETTERS + 1)
    return found


@pytest.fixture(scope="module")
def session(weights: dict[str, Values]) -> Any:
    """A session that runs the graph."""
    import onnxruntime

    return onnxruntime.InferenceSession(onnx_model(weights, 2).SerializeToString())


def _convolve(x: Values, weights: dict[str, Values], at: str, norm: str, stride: tuple[int, int]) -> Values:
    """Return one picture (channels, height, width) after a convolution and its normalisation, point by point."""
    kernel = weights[f"{at}.weight"]
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    height, width = (-(-size // step) for size, step in zip(x.shape[1:], stride, strict=True))
    out = np.zeros((len(kernel), height, width))
    for row in range(height):
        for column in range(width):
            top, left = row * stride[0], column * stride[1]
            part = padded[:, top : top + 3, left : left + 3]
            out[:, row, column] = (kernel * part).sum(axis=(1, 2, 3))
    mean, variance = weights[f"{norm}.running_mean"], weights[f"{norm}.running_var"]
    scale = weights[f"{norm}.weight"] / np.sqrt(variance + 1e-5)
    return np.asarray(
        (out - mean[:, None, None]) * scale[:, None, None] + weights[f"{norm}.bias"][:, None, None]
    )


def _residual(x: Values, weights: dict[str, Values], at: str) -> Values:
    inner = np.maximum(_convolve(x, weights, f"{at}.change.0", f"{at}.change.1", (1, 1)), 0)
    return np.maximum(x + _convolve(inner, weights, f"{at}.change.3", f"{at}.change.4", (1, 1)), 0)


def _sigmoid(x: Values) -> Values:
    return np.asarray(1 / (1 + np.exp(-x)))


def _one_way(steps: Values, weights: dict[str, Values], end: str) -> Values:
    """Return the output of an LSTM as torch defines it: gates in the order input, forget, cell, output."""
    hidden = cell = np.zeros(HIDDEN, dtype=np.float32)
    out = []
    for step in steps:
        given = weights[f"memory.weight_ih_{end}"] @ step + weights[f"memory.bias_ih_{end}"]
        kept = weights[f"memory.weight_hh_{end}"] @ hidden + weights[f"memory.bias_hh_{end}"]
        take, forget, new, give = np.split(given + kept, 4)
        cell = _sigmoid(forget) * cell + _sigmoid(take) * np.tanh(new)
        hidden = _sigmoid(give) * np.tanh(cell)
        out.append(hidden)
    return np.stack(out)


def _network(picture: Values, weights: dict[str, Values]) -> Values:
    """Return the output (steps, classes) for one picture (48, width)."""
    x: Values = picture[None]
    for at, norm, stride, residual in (
        ("eyes.0", "eyes.1", (2, 2), None),
        ("eyes.3", "eyes.4", (2, 2), "eyes.6"),
        ("eyes.7", "eyes.8", (2, 1), "eyes.10"),
        ("eyes.11", "eyes.12", (2, 1), "eyes.14"),
    ):
        x = np.maximum(_convolve(x, weights, at, norm, stride), 0)
        x = _residual(x, weights, residual) if residual else x
    steps = x.transpose(2, 0, 1).reshape(x.shape[2], -1)
    steps = np.maximum(steps @ weights["squeeze.weight"].T + weights["squeeze.bias"], 0)
    for layer in (0, 1):
        forward = _one_way(steps, weights, f"l{layer}")
        back = _one_way(steps[::-1], weights, f"l{layer}_reverse")[::-1]
        steps = np.concatenate([forward, back], axis=1)
    values = steps @ weights["letters.weight"].T + weights["letters.bias"]
    return np.asarray(values - np.log(np.exp(values).sum(axis=1, keepdims=True)))


def test_the_graph_equals_the_network_in_numpy(weights: dict[str, Values], session: Any) -> None:
    picture = np.random.default_rng(1).uniform(0, 1, (48, 40)).astype(np.float32)
    inputs = {"lines": picture[None, None], "steps": np.array([10], dtype=np.int32)}
    (answer,) = session.run(None, inputs)
    assert answer.shape == (10, 1, LETTERS + 1)
    assert answer[:, 0] == pytest.approx(_network(picture, weights), abs=0.02)


def test_a_narrow_line_is_read_alike_beside_a_wide_one(session: Any) -> None:
    card = {"alphabet": list("abcdefg"), "calibration": [[0.0, 0.0], [1.0, 1.0]]}
    model = LineModel(session, card)
    dice = np.random.default_rng(2)
    narrow, wide = (dice.integers(0, 256, (48, width)).astype(np.uint8) for width in (40, 200))
    (alone,), beside = model.answers([narrow]), model.answers([narrow, wide])[0]
    assert beside.shape == alone.shape
    assert beside == pytest.approx(alone, abs=1e-3)
