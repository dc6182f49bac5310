"""The ONNX graph with random weights: compared with the same network written in numpy, read back, and used as the reader's
model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from armarium_hand_trainer.graph import fold_normalisation, onnx_model, shape_of, weights_of
from armarium_reader_hand.model import LineModel
from armarium_reader_hand.reader import HandReader
from armarium_worker import LineShape, Refused

Values = NDArray[np.float32]
CHANNELS, MIDDLE, BLOCKS, FEATURES, HIDDEN, LETTERS = (2, 3, 4, 5), (3, 2), (1, 2), 6, 3, 7
HEIGHT = 32


def _drawn_line(dice: np.random.Generator, *shape: int) -> Values:
    return dice.normal(0, 0.5, shape).astype(np.float16).astype(np.float32)


@pytest.fixture(scope="module")
def trained() -> dict[str, Values]:
    """Random weights of a very small network as the base's training leaves them: convolutions with their normalisation."""
    dice = np.random.default_rng(3)
    found: dict[str, Values] = {}

    def convolution(at: str, before: int, after: int, high: int = 3, wide: int = 3) -> None:
        found[f"{at}.kernel.weight"] = _drawn_line(dice, after, before, high, wide)
        for part in ("weight", "bias", "running_mean"):
            found[f"{at}.norm.{part}"] = _drawn_line(dice, after)
        found[f"{at}.norm.running_var"] = dice.uniform(0.5, 2, after).astype(np.float32)

    first, second, third, fourth = CHANNELS
    convolution("first", 1, first)
    convolution("second", first, second)
    for stage, before, after, middle, count in (
        ("third", second, third, MIDDLE[0], BLOCKS[0]),
        ("fourth", third, fourth, MIDDLE[1], BLOCKS[1]),
    ):
        convolution(stage, before, after)
        for number in range(count):
            convolution(f"{stage}_blocks.{number}.inward", after, middle)
            convolution(f"{stage}_blocks.{number}.outward", middle, after, 1, 1)
    convolution("columns", fourth, FEATURES, HEIGHT // 16, 2)
    found["glance.weight"] = _drawn_line(dice, LETTERS + 1, fourth, HEIGHT // 16, 1)
    found["glance.bias"] = _drawn_line(dice, LETTERS + 1)
    for layer, size in ((0, FEATURES), (1, 2 * HIDDEN)):
        for way in ("", "_reverse"):
            found[f"memory.weight_ih_l{layer}{way}"] = _drawn_line(dice, 4 * HIDDEN, size)
            found[f"memory.weight_hh_l{layer}{way}"] = _drawn_line(dice, 4 * HIDDEN, HIDDEN)
            found[f"memory.bias_ih_l{layer}{way}"] = _drawn_line(dice, 4 * HIDDEN)
            found[f"memory.bias_hh_l{layer}{way}"] = _drawn_line(dice, 4 * HIDDEN)
    found["letters.weight"] = _drawn_line(dice, 2 * (LETTERS + 1), 2 * HIDDEN)
    found["letters.bias"] = _drawn_line(dice, 2 * (LETTERS + 1))
    return found


@pytest.fixture(scope="module")
def model(trained: dict[str, Values]) -> bytes:
    """The graph with these weights."""
    model_bytes: bytes = onnx_model(fold_normalisation(trained), {}).SerializeToString()
    return model_bytes


@pytest.fixture(scope="module")
def session(model: bytes) -> Any:
    """A session that runs the graph."""
    import onnxruntime

    return onnxruntime.InferenceSession(model)


def _convolve(
    x: Values, weights: dict[str, Values], at: str, stride: tuple[int, int] = (1, 1), pad: int = 1
) -> Values:
    """Return one picture (channels, height, width) after a convolution and its normalisation, point by point."""
    kernel = weights[f"{at}.kernel.weight"]
    high, wide = kernel.shape[2:]
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    height, width = (
        (size - own) // step + 1
        for size, own, step in zip(padded.shape[1:], (high, wide), stride, strict=True)
    )
    out = np.zeros((len(kernel), height, width))
    for row in range(height):
        for column in range(width):
            top, left = row * stride[0], column * stride[1]
            part = padded[:, top : top + high, left : left + wide]
            out[:, row, column] = (kernel * part).sum(axis=(1, 2, 3))
    mean, variance = weights[f"{at}.norm.running_mean"], weights[f"{at}.norm.running_var"]
    scale = weights[f"{at}.norm.weight"] / np.sqrt(variance + 1e-5)
    return np.asarray(
        (out - mean[:, None, None]) * scale[:, None, None] + weights[f"{at}.norm.bias"][:, None, None]
    )


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
    """Return the output (steps, classes) for one picture (height, width)."""
    x: Values = picture[None]
    for at, stride, blocks in (
        ("first", (2, 2), 0),
        ("second", (2, 2), 0),
        ("third", (2, 1), BLOCKS[0]),
        ("fourth", (2, 1), BLOCKS[1]),
    ):
        x = np.maximum(_convolve(x, weights, at, stride), 0)
        for number in range(blocks):
            name = f"{at}_blocks.{number}"
            inner = np.maximum(_convolve(x, weights, f"{name}.inward"), 0)
            x = np.maximum(x + _convolve(inner, weights, f"{name}.outward", pad=0), 0)
    kernel = weights["glance.weight"][..., 0]
    glance = np.einsum("lch,chw->wl", kernel, x) + weights["glance.bias"]
    steps = np.maximum(_convolve(x, weights, "columns", (1, 2), pad=0), 0)[:, 0].T
    for layer in (0, 1):
        forward = _one_way(steps, weights, f"l{layer}")
        back = _one_way(steps[::-1], weights, f"l{layer}_reverse")[::-1]
        steps = np.concatenate([forward, back], axis=1)
    pairs = steps @ weights["letters.weight"].T + weights["letters.bias"]
    values = pairs.reshape(2 * len(pairs), -1) + glance
    return np.asarray(values - np.log(np.exp(values).sum(axis=1, keepdims=True)))


def test_the_graph_equals_the_network_in_numpy(trained: dict[str, Values], session: Any) -> None:
    picture = np.random.default_rng(1).uniform(0, 1, (HEIGHT, 40)).astype(np.float32)
    inputs = {"lines": picture[None, None], "steps": np.array([10], dtype=np.int32)}
    (answer,) = session.run(None, inputs)
    assert answer.shape == (10, 1, LETTERS + 1)
    assert answer[:, 0] == pytest.approx(_network(picture, trained), abs=0.02)


def test_a_narrow_line_is_read_alike_beside_a_wide_one(session: Any) -> None:
    card = {"alphabet": list("abcdefg"), "calibration": [[0.0, 0.0], [1.0, 1.0]]}
    model = LineModel(session, card)
    dice = np.random.default_rng(2)
    narrow, wide = (dice.integers(0, 256, (HEIGHT, width)).astype(np.uint8) for width in (40, 200))
    (alone,), beside = model.answers([narrow]), model.answers([narrow, wide])[0]
    assert beside.shape == alone.shape
    assert beside == pytest.approx(alone, abs=1e-3)


def test_the_weights_of_a_file_are_those_that_were_written(
    trained: dict[str, Values], model: bytes, tmp_path: Path
) -> None:
    """What is trained further begins where the base ended, to the accuracy of 16 bits."""
    path = tmp_path / "model.onnx"
    path.write_bytes(model)
    weights, shape = weights_of(path)
    given = fold_normalisation(trained)
    assert set(weights) == set(given)
    for name, value in given.items():
        assert weights[name] == pytest.approx(value, rel=1e-3, abs=1e-3), name
    assert shape == shape_of(given)
    assert (shape["channels"], shape["middle"], shape["blocks"]) == (
        list(CHANNELS),
        list(MIDDLE),
        list(BLOCKS),
    )
    assert (shape["height"], shape["features"], shape["hidden"], shape["layers"]) == (
        HEIGHT,
        FEATURES,
        HIDDEN,
        2,
    )


def test_another_file_is_refused_as_a_base(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(b"no model")
    with pytest.raises(Refused, match="train from the shipped base"):
        weights_of(path)


def test_a_model_for_lines_of_another_height_reads_a_page_at_its_own(
    trained: dict[str, Values], tmp_path: Path
) -> None:
    """Models that were trained from the first base see lines of 48 pixels; they still read."""
    from PIL import Image

    path, page = tmp_path / "earlier.onnx", tmp_path / "page.png"
    stated = {"alphabet": list("abcdefg"), "calibration": [[0.0, 0.0], [1.0, 1.0]]}
    path.write_bytes(onnx_model(fold_normalisation(trained), stated).SerializeToString())
    Image.new("L", (300, 120), 220).save(page)
    reader = HandReader(threads=1, model=str(path))
    reader.load()
    assert reader.lines.height == HEIGHT
    lines = [LineShape((0, 0, 300, 50)), LineShape((0, 50, 120, 60))]
    read = list(reader.read_lines(reader.open_page(page, 10**6), lines))
    assert len(read) == 2
    assert all(set(item.text) <= set("abcdefg") for item in read)
