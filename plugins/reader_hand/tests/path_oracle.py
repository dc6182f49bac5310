"""Enumerates all paths through small network outputs, as an oracle for decoding."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray


def random_answer(seed: int, steps: int, classes: int, sharpness: float) -> NDArray[np.float32]:
    """Return a random network output: (steps, classes), logarithms of probabilities."""
    values = np.random.default_rng(seed).normal(0, sharpness, (steps, classes))
    return np.asarray(values - np.log(np.exp(values).sum(axis=1, keepdims=True)), dtype=np.float32)


def collapse(path: tuple[int, ...]) -> tuple[int, ...]:
    """Return the text of a path."""
    return tuple(code for code, _ in itertools.groupby(path) if code)


def every_text(answer: NDArray[np.float32]) -> dict[tuple[int, ...], float]:
    """Return the probability of each text: the sum over all its paths."""
    texts: dict[tuple[int, ...], float] = defaultdict(float)
    for path in itertools.product(range(answer.shape[1]), repeat=len(answer)):
        texts[collapse(path)] += math.exp(sum(float(answer[step, code]) for step, code in enumerate(path)))
    return texts
