"""Every candidate of an evaluation is measured by the same lines, and two of them are compared on those."""

from __future__ import annotations

import random

import numpy as np
import pytest

from armarium_training.measuring import page_scores, paired_bootstrap, result_of, totals


def test_the_paired_bootstrap_gives_the_interval_that_the_normal_law_gives() -> None:
    chance = np.random.default_rng(2)
    one = np.column_stack([chance.binomial(40, 0.10, 500), np.full(500, 40)])
    other = np.column_stack([chance.binomial(40, 0.12, 500), np.full(500, 40)])
    told = paired_bootstrap(one, other)
    assert told is not None
    differences = (other[:, 0] - one[:, 0]) / 40
    error = 1.96 * differences.std() / 500**0.5
    assert told["difference"] == pytest.approx(differences.mean(), abs=1e-6)
    assert told["interval"] == pytest.approx(
        [differences.mean() - error, differences.mean() + error], abs=error / 4
    )
    assert told["p"] < 0.01
    same = paired_bootstrap(one, chance.permutation(one))
    assert same is not None
    assert same["p"] > 0.5
    assert paired_bootstrap(one, one[1:]) is None
    assert paired_bootstrap(one[:1], one[:1]) is None


def test_a_page_that_one_of_those_measured_could_not_read_counts_for_none() -> None:
    def read(distance: int) -> dict[str, object]:
        score = {"cer": distance / 10, "distance": distance, "reference_chars": 10, "hypothesis_chars": 10}
        lines = [[distance, 5], [0, 5]]
        return {
            "scores": {"diplomatic": score},
            "words": [1, 2],
            "lines": {"diplomatic": lines},
            "seconds": 1.0,
        }

    pages = [{"document_id": f"p{number}"} for number in range(5)]
    candidates = [{"model": name, "reader": "linereader"} for name in ("whole", "most", "few")]
    whole = {page["document_id"]: read(number) for number, page in enumerate(pages)}
    most = {page: one for page, one in whole.items() if page != "p4"}
    few = {"p0": read(0), "p1": {"error": "Too faint."}}
    result = result_of(
        candidates, pages, [whole, {**most, "p4": {"error": "Too faint."}}, few], ["diplomatic"]
    )
    first, second, third = result["models"]
    # The first read the fifth page too, with four characters of ten wrong; both are rated by the other four.
    assert first["totals"]["diplomatic"]["distance"] == second["totals"]["diplomatic"]["distance"] == 6
    assert first["speed"]["pages"] == 5
    assert (third["measured"], third["totals"]) == (False, {})


def test_the_rate_of_a_text_is_that_of_its_lines_and_lies_within_their_interval() -> None:
    """A reader that slides by a word at every end of a line: by lines it is far worse than by the whole text."""
    words = [
        "lorem",
        "ipsum",
        "dolor",
        "sit",
        "amet",
        "consetetur",
        "sadipscing",
        "elitr",
        "sed",
        "diam",
        "nonumy",
        "eirmod",
        "tempor",
        "invidunt",
    ]
    chance = random.Random(4)
    drawn = [chance.choice(words) for _ in range(240)]
    reference = [" ".join(drawn[at : at + 6]) for at in range(0, 240, 6)]
    hypothesis = [" ".join(drawn[max(0, at - 1) : at + 5]) for at in range(0, 240, 6)]
    for policy in ("diplomatic", "lenient", "layout-insensitive"):
        one = page_scores(reference, hypothesis, [policy])
        lines, rated = one["lines"][policy], one["scores"][policy]
        assert sum(distance for distance, _ in lines) == rated["distance"]
        assert sum(chars for _, chars in lines) == rated["reference_chars"]
        assert len(lines) == len(reference)
        low, high = totals([one], [policy])[policy]["interval"]
        assert low <= rated["cer"] <= high
