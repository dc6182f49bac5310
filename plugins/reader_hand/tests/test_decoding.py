"""Decoding, compared with the enumeration of all paths through small outputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from path_oracle import collapse, every_text, random_answer

from armarium_reader_hand.decoding import best_path, expected_share, likeliest


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sharpness", [0.5, 2.0])
def test_the_likeliest_texts_are_those_of_all_paths(seed: int, sharpness: float) -> None:
    answer = random_answer(seed, 6, 3, sharpness)
    expected = sorted(every_text(answer).items(), key=lambda item: -item[1])[:5]
    found = likeliest(answer, 5, beam=1000)
    assert [codes for codes, _ in found] == [codes for codes, _ in expected]
    assert [math.exp(score) for _, score in found] == pytest.approx(
        [chance for _, chance in expected], rel=1e-4
    )


def test_all_texts_together_are_certain() -> None:
    answer = random_answer(1, 4, 3, 1.0)
    found = likeliest(answer, 10_000, beam=10_000)
    assert sum(math.exp(score) for _, score in found) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_path_is_the_likeliest_of_all_paths(seed: int) -> None:
    answer = random_answer(seed, 5, 4, 2.0)
    paths = itertools.product(range(4), repeat=5)
    chances = {
        path: math.prod(math.exp(float(answer[at, code])) for at, code in enumerate(path)) for path in paths
    }
    best = max(chances, key=lambda path: chances[path])
    codes, sure = best_path(answer)
    assert codes == collapse(best)
    assert sure == pytest.approx(chances[best] ** (1 / (len(codes) + 1)), rel=1e-4)


def test_the_same_letter_twice_needs_a_blank_between() -> None:
    likely = np.log(np.array([[0.02, 0.98], [0.98, 0.02], [0.02, 0.98]], dtype=np.float32))
    assert best_path(likely)[0] == (1, 1)
    assert best_path(likely[[0, 2]])[0] == (1,)
    assert likeliest(likely, 1)[0][0] == (1, 1)


def test_an_answer_without_steps_is_no_text() -> None:
    assert best_path(np.zeros((0, 4), dtype=np.float32)) == ((), 0.0)


def test_confidence_rises_with_the_probability() -> None:
    table = [[0.0, 0.1], [0.4, 0.3], [0.8, 0.7], [1.0, 0.99]]
    values = [expected_share(table, sure) for sure in np.linspace(0, 1, 101)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0.1, 0.99)
    assert expected_share(table, 0.6) == pytest.approx(0.5)
