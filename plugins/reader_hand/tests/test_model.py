"""From pictures to texts with a scripted network: its inputs, and what its outputs become."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from armarium_reader_hand import model as model_module
from armarium_reader_hand.model import MARGIN, LineModel
from armarium_reader_hand.picture import HEIGHT

ALPHABET = ["a", "\u0303", " ", "b"]
CARD = {"alphabet": ALPHABET, "calibration": [[0.0, 0.0], [1.0, 0.9]]}


class Network:
    """Gives the same classes for every line, one a step, and records its inputs."""

    def __init__(self, classes: list[int], sure: float = 0.999) -> None:
        self.classes, self.sure = classes, sure
        self.given: dict[str, NDArray[Any]] = {}

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(shape=["lines", 1, HEIGHT, "width"])]

    def run(self, _outputs: None, inputs: dict[str, NDArray[Any]]) -> list[NDArray[np.float32]]:
        self.given = inputs
        count, steps = len(inputs["lines"]), inputs["lines"].shape[3] // 4
        rest = (1 - self.sure) / len(ALPHABET)
        answer = np.full((steps, count, len(ALPHABET) + 1), rest, dtype=np.float32)
        for step in range(steps):
            answer[step, :, self.classes[step] if step < len(self.classes) else 0] = self.sure
        return [np.log(answer)]


def _picture(width: int, ink: int = 255) -> NDArray[np.uint8]:
    return np.full((HEIGHT, width), ink, dtype=np.uint8)


def test_letters_and_marks_become_composed_text_without_white_space_at_the_ends() -> None:
    model = LineModel(Network([3, 1, 2, 3, 3, 0, 3, 4, 0, 4, 3]), CARD)
    (read,) = model.read([_picture(80)])
    assert read.text == "ã bb"
    assert 0.85 < read.confidence < 0.9


def test_only_the_width_of_the_line_itself_is_read() -> None:
    network = Network([1] + [0] * 9 + [4])
    short, long = LineModel(network, CARD).read([_picture(37), _picture(80)])
    assert (short.text, long.text) == ("a", "ab")
    # Four pixels a step, and an even number of steps.
    assert network.given["steps"].tolist() == [10, 20]
    assert network.given["lines"].shape == (2, 1, HEIGHT, 80 + MARGIN)
    assert network.given["lines"][0, 0, 0].tolist() == [1.0] * 37 + [0.0] * (43 + MARGIN)


def test_an_empty_reading_has_no_confidence() -> None:
    (read,) = LineModel(Network([]), CARD).read([_picture(40)])
    assert read[:3] == ("", 0.0, ())


def test_alternatives_come_likeliest_first_with_their_probabilities() -> None:
    model = LineModel(Network([1, 0, 4], 0.9), CARD)
    (read,) = model.read_all([_picture(16)], others=3)
    assert read.text == "ab"
    assert len(read.others) == 3
    assert "ab" not in dict(read.others)
    chances = [chance for _, chance in read.others]
    assert chances == sorted(chances, reverse=True)
    assert 0 < sum(chances) < 0.4
    assert model.read([_picture(16)])[0] == read._replace(others=(), spots=None)


def test_many_lines_are_read_in_order_and_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although lines of like width are run together, a few at a time."""
    monkeypatch.setattr(model_module, "TOGETHER", 2)
    monkeypatch.setattr(model_module, "AHEAD", 5)
    model = LineModel(Network([1, 0, 4, 4, 0, 3, 2, 2, 1, 0]), CARD)
    pictures = [_picture(width) for width in (16, 40, 8, 24, 32, 8, 40)]
    together = [text._replace(spots=None) for text in model.read_all(iter(pictures))]
    assert together == [text for picture in pictures for text in model.read([picture])]
    assert len({text.text for text in together}) > 1
