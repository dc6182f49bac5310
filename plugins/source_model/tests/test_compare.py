"""The character error rate: its policies, what it refuses to score, and the route."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium.api import Invalid
from armarium_source_model.cer import CannotScore, normalise, score, total_rate, word_rate


@pytest.mark.parametrize(
    ("policy", "text", "becomes"),
    [
        ("diplomatic", "e\u0301\r\nA\rb  ", "é\nA\nb  "),
        ("layout-insensitive", " Dear \n\n Sir,\u00a0x ", "Dear Sir, x"),
        ("lenient", "Dear Sir, — Straße!", "dear sir strasse"),
        ("accent-blind", "Élève — naïve", "eleve naive"),
    ],
)
def test_what_each_policy_makes_of_a_text(policy: str, text: str, becomes: str) -> None:
    assert normalise(text, policy) == becomes


def test_abbreviations_are_expanded_longest_first_and_once() -> None:
    assert normalise("Mr M Mgr", "diplomatic", {"M": "Monsieur", "Mgr": "Monseigneur"}) == (
        "Monsieurr Monsieur Monseigneur"
    )
    assert normalise("a", "diplomatic", {"a": "aa", "": "x"}) == "aa"
    assert normalise("a", "diplomatic", {"": "x"}) == "a"
    found = score("Monsieur", "M", expansions={"M": "Monsieur"})
    assert (found.distance, found.policy) == (0, "layout-insensitive+expansions(1)")
    assert "1 abbreviations" in found.policy_description


@given(
    st.text("abc", max_size=30),
    st.dictionaries(st.text("abc", max_size=4), st.text("abcx", max_size=4), max_size=6),
)
def test_expanding_is_what_a_pattern_of_all_abbreviations_would_do(
    text: str, expansions: dict[str, str]
) -> None:
    full = {short: long for short, long in expansions.items() if short}
    full = {long: long for long in full.values() if long} | full if full else {}
    pattern = re.compile("|".join(re.escape(one) for one in sorted(full, key=len, reverse=True)) or "(?!)")
    expected = pattern.sub(lambda found: full[found.group()], text)
    assert normalise(text, "diplomatic", expansions) == expected


def test_abbreviations_for_whole_books_are_refused_before_they_are_expanded() -> None:
    for text, long, words in (("a" * 90_000, "b" * 1000, "written out"), ("a" * 60_000, "bbb", "180,000")):
        with pytest.raises(CannotScore, match=words) as caught:
            score(text, text, expansions={"a": long})
        assert caught.value.code == "too_long"


def test_the_rate_is_the_distance_by_the_references_length_and_may_pass_one() -> None:
    found = score("abcd", "abXd")
    assert (found.distance, found.reference_chars, found.rate) == (1, 4, 0.25)
    assert score("ab", "xyzxyz").rate == 3.0
    assert total_rate([("abcd", "abXd"), ("", "zz"), ("abcd", "abcd")]) == (3, 8, 0.375)
    assert word_rate("one two three", "one too three") == (1, 3, 1 / 3)


@given(st.text(min_size=1, max_size=50), st.sampled_from(["diplomatic", "lenient", "accent-blind"]))
def test_a_text_is_at_no_distance_from_itself_and_normalising_twice_changes_nothing(
    text: str, policy: str
) -> None:
    once = normalise(text, policy)
    assert normalise(once, policy) == once or policy != "diplomatic"
    if once:
        assert score(text, text, policy).distance == 0


def test_where_a_number_would_mean_nothing_it_is_refused() -> None:
    for pair, code in (
        (("", "x"), "empty_reference"),
        (("  \n", "x"), "empty_reference"),
        (("a" * 100_001, "a"), "too_long"),
        (("a", "a" * 100_001), "too_long"),
        (("a", "abcdef"), "lengths_differ"),
        (("abcdef", "a"), "lengths_differ"),
        (("abcdef", ""), "lengths_differ"),
    ):
        with pytest.raises(CannotScore) as caught:
            score(*pair)
        assert caught.value.code == code
    with pytest.raises(Invalid, match="accent-blind"):
        normalise("a", "generous")
    with pytest.raises(CannotScore):
        total_rate([("", "a")])
    with pytest.raises(CannotScore):
        word_rate("", "a")


def test_two_passes_of_a_page_are_compared(client: Any, desk: Any) -> None:
    page = desk.page()
    pass_id = desk.machine_lines(page, ["Dear Sir", "your letter"])["pass_id"]
    second_pass_id = desk.machine_lines(page, ["Deer Sir", "your letter"], "m2")["pass_id"]
    place = f"/api/documents/{page}/readings/compare"
    body = {"reference": {"pass_id": pass_id}, "hypothesis": {"pass_id": second_pass_id}}
    answer = client.post(place, json=body).json()
    assert (answer["measure"], answer["reference_label"]) == ("agreement", "Lines of m1")
    assert [(found["policy"], found["distance"]) for found in answer["scores"]] == [("layout-insensitive", 1)]
    more = {**body, "policies": ["diplomatic", "accent-blind"], "reference_checked_by": "A. Scholar"}
    answer = client.post(place, json=more).json()
    assert answer["measure"] == "cer"
    assert [found["policy"] for found in answer["scores"]] == ["diplomatic", "accent-blind"]


def test_a_comparison_that_cannot_be_made_is_refused(client: Any, desk: Any) -> None:
    page, other_page = desk.page(), desk.page()
    pass_id = desk.machine_lines(page, ["Dear Sir"])["pass_id"]
    empty = desk.machine_lines(page, [None], "m2")["pass_id"]
    foreign = desk.machine_lines(other_page, ["x"])["pass_id"]
    place = f"/api/documents/{page}/readings/compare"

    def status(reference: dict[str, str], hypothesis: dict[str, str], **more: Any) -> tuple[int, str | None]:
        answer = client.post(place, json={"reference": reference, "hypothesis": hypothesis, **more})
        assert answer.json()["detail"]
        return answer.status_code, answer.json().get("code")

    good = {"pass_id": pass_id}
    assert status({"pass_id": empty}, good) == (422, "empty_reference")
    assert status(good, {"pass_id": foreign}) == (422, "other_document")
    assert status(good, {"pass_id": "nowhere"})[0] == 404
    assert status(good, {"artifact_id": "nowhere"})[0] == 404
    assert status(good, {}) == (422, "invalid_request")
    assert status(good, {"pass_id": pass_id, "artifact_id": "a"}) == (422, "invalid_request")
    assert status(good, good, policies=["generous"]) == (422, "invalid_request")
    assert status(good, good, policies=[]) == (422, "invalid_request")
    assert status(good, good, expansions={"D": "x" * 1001}) == (422, "invalid_request")
    body = {"reference": good, "hypothesis": good}
    assert client.post("/api/documents/nowhere/readings/compare", json=body).status_code == 404
