"""Cards are ranked in the stated order, checked against a pairwise comparison that uses no sort keys."""

from __future__ import annotations

import random
from functools import cmp_to_key
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_shelf import SHELF, card

from armarium_recipes.cards.ranking import rank
from armarium_recipes.rules.checking import nearest
from armarium_recipes.schemas.cards import Card

ASKED: dict[str, Any] = {
    "job": "read-a-line",
    "scripts": ["Latn"],
    "languages": ["la"],
    "materials": ["handwriting"],
    "memory_gb": 16.0,
    "cloud_allowed": True,
}


def _cer(one: Card, languages: list[str]) -> float | None:
    if one.cer_measured_here is not None:
        return one.cer_measured_here
    if one.cer_published is not None and set(languages) <= {tag.split("-")[0] for tag in one.languages}:
        return one.cer_published
    return None


def _band(cer: float | None) -> int:
    """Return the band of a rate, by counting: nothing is rounded as in the code under test."""
    return 10_000 if cer is None else sum(cer * 100 + 1e-6 >= point for point in range(1, 1_001))


def _before(one: Card, other: Card, languages: list[str]) -> int:
    """Compare two cards by the stated criteria, one by one: -1 where *one* comes first."""
    if one.stands_in != other.stands_in:
        return 1 if one.stands_in else -1
    first, second = _band(_cer(one, languages)), _band(_cer(other, languages))
    if first != second:
        return -1 if first < second else 1
    local = (one.runs_where == "this_mac", other.runs_where == "this_mac")
    if local[0] != local[1]:
        return -1 if local[0] else 1
    for name, more_is_better in (
        ("cost_per_page", False),
        ("pages_per_hour", True),
        ("carbon_g_per_page", False),
    ):
        a, b = getattr(one, name), getattr(other, name)
        if a != b:
            if a is None or b is None:
                return 1 if a is None else -1
            return -1 if (a > b) == more_is_better else 1
    if one.trainable != other.trainable:
        return -1 if one.trainable else 1
    first, second = _band(one.cer_of_authors or 0), _band(other.cer_of_authors or 0)
    if first != second:
        return -1 if first < second else 1
    if one.size_gb != other.size_gb:
        return -1 if one.size_gb < other.size_gb else 1
    return -1 if one.id < other.id else int(one.id > other.id)


_maybe = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.5]))
_cards = st.lists(
    st.builds(
        lambda number, **more: card(f"any:{number}@1", **more),
        st.integers(0, 99),
        cer_published=st.one_of(st.none(), st.floats(0, 0.12)),
        cer_measured_here=st.one_of(st.none(), st.none(), st.floats(0, 0.12)),
        cer_of_authors=st.one_of(st.none(), st.floats(0, 0.12)),
        languages=st.sampled_from([["la"], ["la", "fr"], ["fr"], []]),
        runs_where=st.sampled_from(["this_mac", "own_machine", "provider"]),
        cost_per_page=_maybe,
        pages_per_hour=_maybe,
        carbon_g_per_page=_maybe,
        trainable=st.booleans(),
        stands_in=st.sampled_from([False, False, False, True]),
        size_gb=st.sampled_from([0.1, 0.2]),
    ),
    max_size=12,
    unique_by=lambda one: one.id,
)


@given(_cards, st.randoms(use_true_random=False))
def test_the_order_is_the_stated_one(cards: list[Card], chance: random.Random) -> None:
    """Whatever the order of the input."""
    wanted = {**ASKED, "languages": ["la"]}
    able = [one for one in cards if not one.languages or "la" in one.languages]
    expected = sorted(able, key=cmp_to_key(lambda one, other: _before(one, other, ["la"])))
    shuffled = list(cards)
    chance.shuffle(shuffled)
    ranked = [one for one in rank(shuffled, **wanted) if one.refused is None]
    assert [one.id for one in ranked] == [one.id for one in expected]
    assert [one.rule_rank for one in ranked] == list(range(1, len(ranked) + 1))


@pytest.mark.parametrize(
    ("cers", "first"),
    [
        ((0.0799, 0.0701), "b"),  # the same band: the smaller one, by name
        ((0.08, 0.0799), "b"),  # two bands
        ((0.07, 0.0799), "a"),  # 7.0 and 7.99 points are one band
        ((0.29, 0.28999), "b"),
        ((0.0, 0.00999), "a"),
        ((None, 0.9), "b"),
    ],
)
def test_bands_of_one_point(cers: tuple[float | None, float | None], first: str) -> None:
    """Within one band the next criterion decides: a is larger than b where the result should be b."""
    size = {"a": 0.3 if first == "b" else 0.1, "b": 0.2}
    cards = [
        card(f"any:{name}@1", cer_published=cer, size_gb=size[name], languages=["la"])
        for name, cer in zip("ab", cers, strict=True)
    ]
    assert rank(cards, **ASKED)[0].id == f"any:{first}@1"


REFUSED = [
    ({"scripts": ["Grek"]}, "no-model-for-script", "Latn"),
    ({"languages": ["nci"]}, "no-model-for-language", "nci"),
    ({"materials": ["print"]}, "no-reader-for-material", "print"),
]


@pytest.mark.parametrize(("changed", "kind", "word"), REFUSED)
def test_what_a_card_is_not_made_for(changed: dict[str, Any], kind: str, word: str) -> None:
    """The reason names both what was asked for and what the card does."""
    hand = next(one for one in SHELF if one.id == "linereader:hand@1")
    (answer,) = rank([hand], **{**ASKED, **changed})
    assert answer.rule_rank is None
    assert answer.refused is not None
    assert answer.refused.kind == kind
    assert word in answer.refused.reason


@pytest.mark.parametrize(
    ("identity", "changed", "kind"),
    [
        (
            "linereader:10.5281/zenodo.103@1",
            {"scripts": ["Hebr"], "languages": ["he"]},
            "licence-not-accepted",
        ),
        ("cloud:Reader/eyes@served", {"cloud_allowed": False}, "cloud-not-allowed"),
        ("linereader:10.5281/zenodo.104@1", {"scripts": ["Grek"], "languages": ["grc"]}, "not-enough-memory"),
        ("linereader:10.5281/zenodo.105@1", {"languages": ["de"]}, "not-here"),
        ("linereader:10.5281/zenodo.106@1", {"languages": ["nl"]}, "not-here"),
    ],
)
def test_what_the_rules_do_not_take(identity: str, changed: dict[str, Any], kind: str) -> None:
    """Because of licence, cloud, memory, absence, or because it is outside the catalogue."""
    one = next(one for one in SHELF if one.id == identity)
    (answer,) = rank([one], **{**ASKED, **changed})
    assert answer.refused is not None
    assert answer.refused.kind == kind


def test_two_gigabytes_stay_free() -> None:
    """A model that leaves exactly two is accepted."""
    first_card = card("any:large@1", memory_gb=6)
    assert rank([first_card], **{**ASKED, "memory_gb": 8.0})[0].refused is None
    assert rank([first_card], **{**ASKED, "memory_gb": 7.9})[0].refused is not None
    assert rank([first_card], **{**ASKED, "memory_gb": None})[0].refused is None


def test_a_published_rate_counts_only_for_languages_that_the_card_names() -> None:
    """A better published rate for only one of two languages ranks behind a rate for both."""
    narrow = card("any:narrow@1", languages=["la"], cer_published=0.01)
    wide = card("any:wide@1", languages=["la", "fr"], cer_published=0.09)
    both = {**ASKED, "languages": ["la", "fr"]}
    assert [one.id for one in rank([narrow, wide], **both)] == ["any:wide@1", "any:narrow@1"]
    assert [one.id for one in rank([narrow, wide], **ASKED)] == ["any:narrow@1", "any:wide@1"]


def test_what_was_measured_here_counts_before_what_is_published() -> None:
    """A model that measured worse than published falls behind."""
    loud = card("any:loud@1", languages=["la"], cer_published=0.01, cer_measured_here=0.3)
    quiet = card("any:quiet@1", languages=["la"], cer_published=0.2)
    assert rank([loud, quiet], **ASKED)[0].id == "any:quiet@1"


def test_a_card_of_other_work_is_not_listed() -> None:
    """It is not reported as refused either: nobody asked for it."""
    assert all("find-lines" in one.jobs for one in rank(SHELF, **{**ASKED, "job": "find-lines"}))


def test_the_reason_that_nothing_does_a_job_names_a_model_that_is_here() -> None:
    removed_card = card(
        "kraken:a@1", name="Kraken", memory_gb=1.0, availability="not_here", cer_published=0.01
    )
    here = card("hand:b@1", name="Hand", memory_gb=1.0)
    ranked = rank([removed_card, here], **{**ASKED, "memory_gb": 1.0})
    assert nearest(ranked)[1].startswith("Hand needs 1 GB")
    assert nearest(rank([removed_card], **ASKED)) == ("no-model-for-job", removed_card.availability_words)
