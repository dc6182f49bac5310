"""Whatever is sent as a query is words or is refused in a sentence, and nothing of it reaches the index as syntax."""

from __future__ import annotations

from search_desk import SearchDesk

SYNTAX = (
    'alpha"', '"alpha', '"" alpha', "alpha)", "(alpha OR", "alpha*", "NEAR(alpha beta)", "words:alpha", "-alpha", "alpha^2",
    "{words}: alpha", "alpha;DROP TABLE search_text", "alpha\u200f\u202e", "\u202balpha", "ALPHA AND", "AND alpha",
    "alpha\u0000", "alph\u0301a",
)  # fmt: skip
SIGNS = ("\u0301\u0302", "!!! ???", "—", '""', "\u200f", "\u0000", "*")


def test_syntax_of_the_index_is_only_signs(desk: SearchDesk) -> None:
    desk.page("near alpha beta or words alpha drop table search text alpha 2")
    for query in SYNTAX:
        assert len(desk.ids(query)) == 1, query


def test_signs_without_a_letter_find_nothing_and_say_so(desk: SearchDesk) -> None:
    desk.page("alpha")
    for query in SIGNS:
        answer = desk.ask(query)
        assert (answer["count"], answer["total_results"]) == (0, 0), query
        assert "nothing to search for" in answer["notice"]


def test_common_words_alone_are_searched_as_any(desk: SearchDesk) -> None:
    page = desk.page("the of and")
    assert desk.ids("the of and") == [page.id]


def test_a_lone_surrogate_is_refused(desk: SearchDesk) -> None:
    answer = desk.client.post(
        "/api/search", content=b'{"query": "\\ud800 alpha"}', headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert "detail" in answer.json()


def test_ten_thousand_terms_are_refused(desk: SearchDesk) -> None:
    assert "at most 64 words" in desk.expect_refusal(422, " ".join(["ab"] * 3_000))
    assert desk.client.post("/api/search", json={"query": "a " * 10_000}).status_code == 422


def test_endless_phrases_are_refused_wherever_they_stand(desk: SearchDesk) -> None:
    passage = [f"w{number}" for number in range(1_200)]
    for query in (f'"{" ".join(passage)}"', f'people:"{" ".join(passage)}"', "-".join(passage)):
        assert "at most 256 words" in desk.expect_refusal(422, query), query[:20]
    quoted = " ".join(passage[:256])
    page = desk.page(quoted)
    assert desk.ids(f'"{quoted}"', include=["content", "entities", "claims"]) == [page.id]


def test_four_thousand_filters_are_refused(desk: SearchDesk) -> None:
    desk.expect_refusal(422, filters={"doc_types": ["page"] * 4_000})
    assert desk.ask("alpha", filters={"doc_types": ["page"] * 1_000})["count"] == 0


def test_what_only_leaves_out_is_refused(desk: SearchDesk) -> None:
    assert "what to leave out" in desk.expect_refusal(422, "NOT alpha")
    assert "what to leave out" in desk.expect_refusal(422, "NOT name:alpha")


def test_unknown_words_are_refused_with_those_there_are(desk: SearchDesk) -> None:
    assert "content, entities, claims" in desk.expect_refusal(400, include=["everything"])
    assert "hybrid, semantic, fulltext" in desk.expect_refusal(400, search_type="magic")
    assert "relevance, date, name, size" in desk.expect_refusal(400, sort_by="colour")
    assert "asc, desc" in desk.expect_refusal(400, sort_direction="up")
    desk.expect_refusal(422, limit=101)
    desk.expect_refusal(422, unknown=1)
    desk.expect_refusal(422, filters={"unknown": 1})
    desk.expect_refusal(404, filters={"parent_id": "nowhere"})
    assert "not a date" in desk.expect_refusal(422, "dates:yesterday")


def test_a_very_long_word_and_a_very_long_line(desk: SearchDesk) -> None:
    page = desk.page("x" * 5_000, "alpha " * 2_000)
    assert desk.ids("x" * 5_000) == [page.id]
    assert desk.ids("alpha") == [page.id]
