"""The learned model `learned-1`: a logistic regression over everything known about a join, fitted to people's
judgements.

It is used only if, on folders it was not fitted to, it is less wrong than the rules and than the base rate, and never
accepts anything.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from armarium_finding.cues import MOST_CLOSING, MOST_OPENING
from armarium_finding.evidence import PageEvidence
from armarium_finding.pictures import BITS, Look, bits_apart
from armarium_finding.rules import BASE, Leaf, logistic, signals_of
from armarium_finding.scoring import judged_joins

METHOD = "learned-1"
LEAST_JOINS = 30
LEAST_FOLDERS = 2
PENALTY = 1.0
"""The penalty on a (squared) weight, so that a few examples cannot make any weight large."""
ROUNDS = 50
DIGITS = 4
"""Decimals of a feature: every change of a proposal writes the features of all its joins."""

FEATURES = (
    "openings", "closings", "restart", "run on", "runs over", "split word", "kind said", "fill before", "fill here",
    "change of lines", "change of line length", "begins with a capital", "words in common", "ink here", "change of ink",
    "pictures apart",
)  # fmt: skip
"""The features of a join, in order; the first six are those of the rules."""


def features_of(leaves: Sequence[Leaf], looks: Mapping[str, Look]) -> dict[str, list[float]]:
    """Return the features of each join except a folder's first, by the page it leads to."""
    characters = [leaf.front.characters for leaf in leaves if leaf.front.is_written]
    usual = float(median(characters)) if characters else 1.0
    features = {}
    for before, leaf in itertools.pairwise(leaves):
        numbers = _numbers(before.front, leaf.front, usual, looks)
        features[leaf.front.page_id] = [round(number, DIGITS) for number in numbers]
    return features


def _numbers(
    before: PageEvidence, page: PageEvidence, usual: float, looks: Mapping[str, Look]
) -> list[float]:
    signals = signals_of(before, page)

    def sum_role(role: str) -> float:
        return float(sum(signal["weight"] for signal in signals if signal["role"] == role))

    def holds(cue: str) -> float:
        return float(any(signal["cue"] == cue for signal in signals))

    look_before, look = looks.get(before.page_id), looks.get(page.page_id)
    first = next((letter for letter in page.text if letter.isalpha()), "")
    return [
        min(sum_role("opening"), MOST_OPENING),
        min(sum_role("closing"), MOST_CLOSING),
        holds("page numbers restart"),
        holds("page numbers run on"),
        holds("sentence runs over"),
        holds("hyphenated word split"),
        float(page.kind() is not None),
        min(before.characters / usual, 2.0),
        min(page.characters / usual, 2.0),
        _change(before.lines, page.lines),
        _change(_length(before), _length(page)),
        float(first.isupper()),
        _words_in_common(before.text, page.text),
        0.0 if look is None else look.ink,
        0.0 if look_before is None or look is None else abs(look_before.ink - look.ink),
        0.5 if look_before is None or look is None else bits_apart(look_before, look) / BITS,
    ]


def _length(page: PageEvidence) -> float:
    return page.characters / page.lines if page.lines else 0.0


def _change(first: float, other: float) -> float:
    return abs(first - other) / max(first, other, 1.0)


def _words_in_common(first: str, other: str) -> float:
    left, right = (set(re.findall(r"[^\W\d_]{4,}", text.casefold())) for text in (first, other))
    return len(left & right) / len(left | right) if left | right else 0.0


def rules_probability(numbers: Sequence[float]) -> float:
    """Return the probability that the rules give a join with these features."""
    opening, closing, restart, run_on, over, split = numbers[:6]
    return logistic(BASE + opening + closing + 4.0 * restart - 3.0 * run_on - 3.0 * over - 4.0 * split)


@dataclass(frozen=True)
class Example:
    """A join that a person judged, with its features."""

    folder_id: str
    numbers: tuple[float, ...]
    boundary: bool


@dataclass(frozen=True)
class Model:
    """A fitted logistic regression over standardised features."""

    weights: tuple[float, ...]
    bias: float
    means: tuple[float, ...]
    scales: tuple[float, ...]

    def probability(self, numbers: Sequence[float]) -> float:
        """Return the probability of a boundary."""
        total = self.bias
        for weight, mean, scale, value in zip(self.weights, self.means, self.scales, numbers, strict=True):
            total += weight * (value - mean) / scale
        return logistic(max(-30.0, min(30.0, total)))


def fit(examples: Sequence[Example]) -> Model:
    """Fit the regression with the least penalised loss, by Newton's method."""
    import numpy

    rows = numpy.array([example.numbers for example in examples], dtype=numpy.float64)
    truth = numpy.array([example.boundary for example in examples], dtype=numpy.float64)
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scales[scales < 1e-9] = 1.0
    table = numpy.hstack([(rows - means) / scales, numpy.ones((len(rows), 1))])
    penalty = numpy.diag([PENALTY] * rows.shape[1] + [1e-6])
    weights = numpy.zeros(table.shape[1])
    for _ in range(ROUNDS):
        predicted = 1.0 / (1.0 + numpy.exp(-numpy.clip(table @ weights, -30.0, 30.0)))
        slope = table.T @ (predicted - truth) + penalty @ weights
        bend = (table * (predicted * (1.0 - predicted))[:, None]).T @ table + penalty
        step = numpy.linalg.solve(bend, slope)
        weights -= step
        if float(numpy.abs(step).max()) < 1e-8:
            break
    return Model(
        tuple(map(float, weights[:-1])),
        float(weights[-1]),
        tuple(map(float, means)),
        tuple(map(float, scales)),
    )


class Losses(NamedTuple):
    """How wrong probabilities are: mistakes at one half, and the mean squared error (Brier score)."""

    mistakes: int
    squared: float

    def below(self, other: Losses) -> bool:
        """Return whether they are less in both respects."""
        return self.mistakes < other.mistakes and self.squared < other.squared


def losses(examples: Sequence[Example]) -> tuple[Losses, Losses, Losses]:
    """Return the losses of the model, each folder judged by one fitted to the others, of the rules, and of the base rate:
    the share of boundaries among all these joins, said of every one.
    """
    rate = sum(example.boundary for example in examples) / len(examples)
    predictions: list[tuple[float, float, float]] = []
    truth: list[bool] = []
    for folder_id in dict.fromkeys(example.folder_id for example in examples):
        fitted = fit([example for example in examples if example.folder_id != folder_id])
        for example in examples:
            if example.folder_id == folder_id:
                predictions.append(
                    (fitted.probability(example.numbers), rules_probability(example.numbers), rate)
                )
                truth.append(example.boundary)
    model, rules, base = (
        Losses(
            sum(
                (probability >= 0.5) != boundary for probability, boundary in zip(column, truth, strict=True)
            ),
            sum((probability - boundary) ** 2 for probability, boundary in zip(column, truth, strict=True))
            / len(truth),
        )
        for column in zip(*predictions, strict=True)
    )
    return model, rules, base


def model_that_beats_the_rules(examples: Sequence[Example]) -> Model | None:
    """Return a model fitted to all examples; None if there are too few, from too few folders or of one kind
    only, or if on held-out folders the rules, or the base rate alone, do as well.
    """
    folders = {example.folder_id for example in examples}
    if len(examples) < LEAST_JOINS or len(folders) < LEAST_FOLDERS:
        return None
    if len({example.boundary for example in examples}) < 2:
        return None
    model, rules, base = losses(examples)
    return fit(examples) if model.below(rules) and model.below(base) else None


def examples_of(proposals: Sequence[Mapping[str, Any]]) -> list[Example]:
    """Return people's judgements in *proposals*, which are sorted newest first: each join of a folder once,
    as last judged.
    """
    pairs_seen: set[tuple[str, str]] = set()
    examples = []
    for proposal in proposals:
        numbers = proposal.get("features", {})
        for judged_join in judged_joins(proposal):
            key = (proposal["folder_id"], judged_join.page_id)
            if (
                judged_join.page_id in numbers
                and len(numbers[judged_join.page_id]) == len(FEATURES)
                and key not in pairs_seen
            ):
                pairs_seen.add(key)
                examples.append(
                    Example(proposal["folder_id"], tuple(numbers[judged_join.page_id]), judged_join.boundary)
                )
    return examples
