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

from training.calibrate import accuracy, calibration_error, fit, fit_sources, leaving_sources_out  # noqa: E402

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


def test_every_source_counts_as_much_as_any_other() -> None:
    """A thousand sure and right lines of one source do not hide that a hundred of another are sure and wrong."""
    sure = [0.9] * 1100
    right = [1.0] * 1000 + [0.5] * 100
    sources = ["large"] * 1000 + ["small"] * 100
    assert np.interp(0.9, *np.array(fit_sources(sure, right, sources)).T) == pytest.approx(0.75, abs=0.01)


def test_a_source_is_judged_by_what_the_others_teach() -> None:
    sure, sources = [0.9] * 300, ["a"] * 100 + ["b"] * 100 + ["c"] * 100
    right = [0.9] * 100 + [0.8] * 100 + [0.1] * 100
    found = leaving_sources_out(sure, right, sources)
    assert [found[at] for at in (0, 100, 200)] == pytest.approx([0.45, 0.5, 0.85], abs=0.01)
