"""Decoding against all paths there are, on answers small enough to write every path out."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from numpy.typing import NDArray

from armarium_reader_hand.decoding import best_path, expected_share, likeliest


def _answer(seed: int, steps: int, classes: int, sharpness: float) -> NDArray[np.float32]:
    values = np.random.default_rng(seed).normal(0, sharpness, (steps, classes))
    return np.asarray(values - np.log(np.exp(values).sum(axis=1, keepdims=True)), dtype=np.float32)


def _collapsed(path: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(code for code, _ in itertools.groupby(path) if code)


def _every_text(answer: NDArray[np.float32]) -> dict[tuple[int, ...], float]:
    """The probability of each text: the sum over its paths, each written out."""
    texts: dict[tuple[int, ...], float] = defaultdict(float)
    for path in itertools.product(range(answer.shape[1]), repeat=len(answer)):
        texts[_collapsed(path)] += math.exp(sum(float(answer[step, code]) for step, code in enumerate(path)))
    return texts


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sharpness", [0.5, 2.0])
def test_the_likeliest_texts_are_those_of_all_paths(seed: int, sharpness: float) -> None:
    answer = _answer(seed, 6, 3, sharpness)
    expected = sorted(_every_text(answer).items(), key=lambda item: -item[1])[:5]
    found = likeliest(answer, 5, beam=1000)
    assert [codes for codes, _ in found] == [codes for codes, _ in expected]
    assert [math.exp(score) for _, score in found] == pytest.approx(
        [chance for _, chance in expected], rel=1e-4
    )


def test_all_texts_together_are_certain() -> None:
    answer = _answer(1, 4, 3, 1.0)
    found = likeliest(answer, 10_000, beam=10_000)
    assert sum(math.exp(score) for _, score in found) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_path_is_the_likeliest_of_all_paths(seed: int) -> None:
    answer = _answer(seed, 5, 4, 2.0)
    paths = itertools.product(range(4), repeat=5)
    chances = {
        path: math.prod(math.exp(float(answer[at, code])) for at, code in enumerate(path)) for path in paths
    }
    best = max(chances, key=lambda path: chances[path])
    codes, sure = best_path(answer)
    assert codes == _collapsed(best)
    assert sure == pytest.approx(chances[best] ** (1 / (len(codes) + 1)), rel=1e-4)


def test_the_same_letter_twice_needs_a_blank_between() -> None:
    likely = np.log(np.array([[0.02, 0.98], [0.98, 0.02], [0.02, 0.98]], dtype=np.float32))
    assert best_path(likely)[0] == (1, 1)
    assert best_path(likely[[0, 2]])[0] == (1,)
    assert likeliest(likely, 1)[0][0] == (1, 1)


def test_an_answer_without_steps_is_no_text() -> None:
    assert best_path(np.zeros((0, 4), dtype=np.float32)) == ((), 0.0)


def test_more_sureness_is_never_less_confidence() -> None:
    table = [[0.0, 0.1], [0.4, 0.3], [0.8, 0.7], [1.0, 0.99]]
    values = [expected_share(table, sure) for sure in np.linspace(0, 1, 101)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.1, 0.99)
    assert expected_share(table, 0.6) == pytest.approx(0.5)
