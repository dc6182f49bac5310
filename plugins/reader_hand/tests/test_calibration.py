"""The calibration table: it rises, it states the observed accuracy, and its error is measured correctly."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

TRAINING = Path(__file__).parents[1]
if str(TRAINING) not in sys.path:
    sys.path.append(str(TRAINING))

from training.calibrate import accuracy, calibration_error, fit  # noqa: E402

SHARE = st.floats(0, 1)


@given(st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=60))
def test_the_table_never_falls_and_stays_between_0_and_1(lines: list[tuple[float, float]]) -> None:
    table = np.array(fit([line[0] for line in lines], [line[1] for line in lines]))
    assert (np.diff(table, axis=0) >= 0).all()
    assert table.min() >= 0
    assert table.max() <= 1


def test_an_overconfident_network_is_calibrated() -> None:
    chance = np.random.default_rng(0)
    right = chance.uniform(0, 1, 4000)
    sure = np.sqrt(right)
    table = np.array(fit(sure.tolist(), right.tolist()))
    confidence = np.interp(sure, *table.T)
    assert calibration_error(sure.tolist(), right.tolist()) > 0.15
    assert calibration_error(confidence.tolist(), right.tolist()) < 0.02


def test_the_calibration_error_equals_a_manual_calculation() -> None:
    # Two bins: 0.2 and 0.3 with half right, 0.9 with all right.
    assert calibration_error([0.21, 0.29, 0.9], [0.0, 1.0, 1.0], bins=2) == pytest.approx(
        (2 * 0.25 + 0.1) / 3
    )


def test_accuracy_is_one_less_the_error_rate() -> None:
    assert accuracy("abcd", "abxd") == 0.75
    assert accuracy("ab", "something else") == 0.0
