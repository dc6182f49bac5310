"""Which reading counts and which pass is the working one: every rung, in strict and in relaxed projects."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium_source_model.counting import (
    Counting,
    PassFacts,
    ReadingFacts,
    ReadingRule,
    Working,
    counting_reading,
    retired_ids,
    working_pass,
)

MACHINE_1 = ReadingFacts("m1", "workflow", "2024-01-01")
MACHINE_2 = ReadingFacts("m2", "agent", "2024-01-02")
IMPORTED = ReadingFacts("i", "external_import", "2024-01-03")
HUMAN_1 = ReadingFacts("h1", "human", "2024-02-01")
HUMAN_2 = ReadingFacts("h2", "human", "2024-02-02")
CORRECTION = ReadingFacts("c", "human", "2024-03-01", corrects_id="m1")
RECORRECTION = ReadingFacts("cc", "human", "2024-03-02", corrects_id="c")
MACHINE_CORRECTION = ReadingFacts("mc", "agent", "2024-04-01", corrects_id="h1")

CASES: list[tuple[list[ReadingFacts], str | None, ReadingRule, Counting]] = [
    ([], None, "strict", Counting(None, "none")),
    ([MACHINE_1], None, "strict", Counting("m1", "newest-machine-unchosen", True)),
    ([MACHINE_1, MACHINE_2], None, "strict", Counting("m2", "newest-machine-unchosen", True)),
    ([MACHINE_1, IMPORTED], None, "strict", Counting("i", "newest-machine-unchosen", False)),
    ([IMPORTED], None, "relaxed", Counting("i", "newest-machine-unchosen", False)),
    ([MACHINE_1, MACHINE_2], "m1", "strict", Counting("m1", "chosen")),
    ([MACHINE_1], "gone", "strict", Counting("m1", "newest-machine-unchosen", True)),
    ([HUMAN_1], None, "strict", Counting("h1", "newest-human")),
    ([HUMAN_1, MACHINE_2], None, "strict", Counting("h1", "newest-human")),
    ([HUMAN_1, HUMAN_2], None, "strict", Counting("h2", "newest-human", disputed=True)),
    ([HUMAN_1, HUMAN_2], None, "relaxed", Counting("h2", "newest-human")),
    ([HUMAN_1, HUMAN_2], "h1", "strict", Counting("h1", "chosen")),
    ([MACHINE_1, CORRECTION], None, "strict", Counting("c", "correction")),
    ([MACHINE_1, HUMAN_1, CORRECTION], None, "strict", Counting("c", "correction", disputed=True)),
    ([MACHINE_1, HUMAN_1, CORRECTION], None, "relaxed", Counting("c", "correction")),
    ([HUMAN_1, HUMAN_2], "m1", "strict", Counting("h2", "newest-human", disputed=True)),
    ([MACHINE_1, CORRECTION, RECORRECTION], None, "strict", Counting("cc", "correction")),
    ([MACHINE_1, CORRECTION, RECORRECTION], "m1", "strict", Counting("m1", "chosen")),
    ([CORRECTION], None, "strict", Counting("c", "correction")),
    ([HUMAN_1, MACHINE_CORRECTION], None, "strict", Counting("h1", "newest-human")),
]


@pytest.mark.parametrize(("readings", "chosen", "rule", "expected"), CASES)
def test_the_counting_rule(
    readings: list[ReadingFacts], chosen: str | None, rule: ReadingRule, expected: Counting
) -> None:
    for order in itertools.permutations(readings):
        assert counting_reading(order, chosen_id=chosen, rule=rule) == expected


def test_of_two_rival_corrections_the_newest_counts_and_a_strict_project_calls_it_disputed() -> None:
    rival = ReadingFacts("c2", "human", "2024-03-05", corrects_id="m1")
    assert counting_reading([MACHINE_1, CORRECTION, rival]) == Counting("c2", "correction", disputed=True)
    assert counting_reading([MACHINE_1, CORRECTION, rival], rule="relaxed") == Counting("c2", "correction")


@st.composite
def histories(draw: st.DrawFn) -> list[ReadingFacts]:
    found: list[ReadingFacts] = []
    for n in range(draw(st.integers(0, 8))):
        corrects = draw(st.one_of(st.none(), st.sampled_from(found).map(lambda r: r.id))) if found else None
        maker = draw(st.sampled_from(["human", "workflow", "agent", "external_import", "unknown"]))
        found.append(ReadingFacts(f"r{n}", maker, f"2024-01-{draw(st.integers(1, 9))}", corrects))
    return found


@given(histories(), st.randoms(use_true_random=False), st.sampled_from(["strict", "relaxed"]))
def test_what_counts_is_unique_live_and_does_not_depend_on_the_order_of_rows(
    readings: list[ReadingFacts], chance: object, rule: ReadingRule
) -> None:
    first = counting_reading(readings, rule=rule)
    chance.shuffle(readings)  # type: ignore[attr-defined]
    assert counting_reading(readings, rule=rule) == first
    assert (first.representation_id is None) is (not readings)
    if first.representation_id is not None:
        assert first.representation_id in {reading.id for reading in readings}
        assert first.representation_id not in retired_ids(readings)


def person(name: str, at: str = "1") -> PassFacts:
    return PassFacts(name, "human", at)


def model(name: str, at: str = "1") -> PassFacts:
    return PassFacts(name, "workflow", at)


def make_imported(name: str, at: str = "1") -> PassFacts:
    return PassFacts(name, "external_import", at, None, True)


def test_the_ladder_of_the_working_pass() -> None:
    text_layer = PassFacts("t", "external_import", "1", "text-layer", True)
    assert working_pass([]) == Working(None, "none")
    assert working_pass([make_imported("a"), make_imported("b", "2")]) == Working("b", "imported-only")
    assert not working_pass([make_imported("a")]).is_working
    assert working_pass([make_imported("a", "9"), model("b"), model("c", "2")]) == Working(
        "c", "newest-machine-unchosen"
    )
    assert working_pass([model("b"), model("c", "2")], rule="relaxed") == Working("c", "newest")
    assert working_pass([model("b"), text_layer]) == Working("t", "text-layer")
    assert working_pass([text_layer, person("p")]) == Working("p", "human-touched")
    assert working_pass([model("b"), model("c", "2")], touched=["b"]) == Working("b", "human-touched")
    assert working_pass([make_imported("a"), model("b")], touched=["a"]) == Working("a", "human-touched")
    assert working_pass([person("p", "2"), model("b")], chosen_id="b") == Working("b", "chosen")
    assert working_pass([person("p"), person("q", "2")], chosen_id="withdrawn") == Working(
        "q", "human-touched"
    )
