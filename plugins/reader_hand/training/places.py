"""Where the letters of a line stand, by the model that ships: the first steps of a training are shown them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armarium_reader_hand.picture import Grey
from training.settings import PACKAGE

UNKNOWN = -9.0
"""Logarithm of probability of a letter that the model does not know."""
PAPER = 96
"""Pixels right of the line, more than any model's convolutions see."""


class Finder:
    """Finds places with the model in the package; the height of its pictures is that of its input."""

    def __init__(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session: Any = onnxruntime.InferenceSession(
            (PACKAGE / "model.onnx").read_bytes(), options, ["CPUExecutionProvider"]
        )
        self.height = int(self.session.get_inputs()[0].shape[2])
        letters = json.loads((PACKAGE / "card.json").read_text(encoding="utf-8"))["alphabet"]
        self.codes = {letter: code for code, letter in enumerate(letters, 1)}

    def places(self, ink: Grey, text: str) -> list[float]:
        """For each letter of *text*, the share of the picture's width where it is likeliest to stand."""
        steps = -(-ink.shape[1] // 8)
        lines = np.zeros((1, 1, self.height, 8 * steps + PAPER), np.float32)
        lines[0, 0, :, : ink.shape[1]] = ink / np.float32(255)
        (answer,) = self.session.run(None, {"lines": lines, "steps": np.array([2 * steps], np.int32)})
        chances = answer[: 2 * steps, 0]
        known = np.concatenate([chances, np.full((len(chances), 1), UNKNOWN, np.float32)], axis=1)
        frames = align_letters(known, [self.codes.get(letter, -1) for letter in text])
        return [(frame + 0.5) * 4 / ink.shape[1] for frame in frames]


def align_letters(chances: NDArray[np.float32], codes: list[int]) -> list[int]:
    """The frame of each letter on the likeliest path that spells *codes* (CTC); [] where there is none."""
    states = np.zeros(2 * len(codes) + 1, np.int64)
    states[1::2] = codes
    skips = np.zeros(len(states), bool)
    skips[3::2] = states[3::2] != states[1:-2:2]
    scores = np.full(len(states), -np.inf)
    scores[:2] = chances[0, states[:2]]
    came: list[NDArray[np.int64]] = []
    for row in chances[1:]:
        one = np.concatenate([[-np.inf], scores[:-1]])
        two = np.where(skips, np.concatenate([[-np.inf, -np.inf], scores[:-2]]), -np.inf)
        ways = np.stack([scores, one, two])
        came.append(ways.argmax(0))
        scores = ways.max(0) + row[states]
    at = len(states) - 1 if scores[-1] >= scores[-2] else len(states) - 2
    if not np.isfinite(scores[at]):
        return []
    path = [at]
    for steps in reversed(came):
        at -= int(steps[at])
        path.append(at)
    path.reverse()
    best: dict[int, int] = {}
    for frame, state in enumerate(path):
        if state % 2 and (
            state not in best or chances[frame, states[state]] > chances[best[state], states[state]]
        ):
            best[state] = frame
    return [best[2 * number + 1] for number in range(len(codes))]
