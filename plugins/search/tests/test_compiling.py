"""A sentence is turned into a query by a model: when it is asked for, where it may be, and never at the price of an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from search_desk import SearchDesk

from armarium.principals import LOCAL_OWNER
from armarium_testing.model_provider import Answer, LoopbackProvider

SENTENCE = "letters about the plague from before 1800"


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    """A provider on this machine; not yet one of the engine's."""
    with LoopbackProvider() as running:
        yield running


def compile_query(
    desk: SearchDesk, query: str = SENTENCE, **more: Any
) -> tuple[list[str], str | None, str | None]:
    answer = desk.ask(query, compile=True, **more)
    document_ids = [result["document_id"] for result in answer["results"]]
    assert answer["query"] == query
    return document_ids, answer["compiled_query"], answer["compilation_error"]


def test_a_model_writes_query_and_filters_and_only_the_sentence_is_sent(
    desk: SearchDesk, provider: LoopbackProvider
) -> None:
    old = desk.page("la peste en la villa", date_iso="1762")
    new = desk.page("otra peste", date_iso="1832")
    assert compile_query(desk)[0:2] == ([], None)
    assert "No model may be used" in str(compile_query(desk)[2])
    provider.add_to(desk.engine, "Loopback")
    provider.answers = [json.dumps({"query": "peste", "date_to": "1799"})]
    assert compile_query(desk) == ([old.id], "peste", None)
    assert compile_query(desk, filters={"date_from": "1800", "date_to": "1900"})[0] == [new.id]
    json_text = json.dumps(provider.asked)
    assert SENTENCE in json_text
    assert "villa" not in json_text
    assert len(provider.asked) == 2
    desk.ask("peste")
    desk.ask("", compile=True)
    assert len(provider.asked) == 2
    assert desk.rows("SELECT DISTINCT use_case FROM episode") == [("compile-a-search",)]


def test_what_a_model_does_wrong_leaves_the_words_as_they_were_written(
    desk: SearchDesk, provider: LoopbackProvider
) -> None:
    page = desk.page("la peste")
    provider.add_to(desk.engine, "Loopback")
    wrong: list[str | Answer] = [
        "drop the tables",
        json.dumps({"query": "NOT peste"}),
        json.dumps({"query": "x " * 400}),
        json.dumps({"query": "peste", "parent_id": "elsewhere"}),
        json.dumps({"query": "peste dates:yesterday"}),
        json.dumps({"query": "peste", "date_from": "1832-13"}),
        json.dumps({"query": "peste", "date_to": "1832-00-99"}),
        Answer(status=400),
    ]
    for answer in wrong:
        provider.answers = [answer]
        found, query, error = compile_query(desk, "peste")
        assert (found, query) == ([page.id], None), answer
        assert str(error).endswith("The words were searched as written."), answer
    found, query, error = compile_query(desk, "peste", provider="Nobody")
    assert (found, query) == ([page.id], None)
    assert "Nobody" in str(error)


def test_a_viewer_has_no_model_asked_and_nothing_leaves_unasked(
    desk: SearchDesk, provider: LoopbackProvider
) -> None:
    page = desk.page("la peste")
    provider.answers = [json.dumps({"query": "peste"})]
    provider.add_to(desk.engine, "Far", host="http://203.0.113.9")
    assert "No model may be used" in str(compile_query(desk)[2])
    assert "Far" in str(compile_query(desk, provider="Far")[2])
    provider.add_to(desk.engine, "Loopback")
    viewer = replace(LOCAL_OWNER, role="viewer", name="a guest", token_id="guest")
    answer = desk.ask_as(viewer, "peste", compile=True)
    assert [result["document_id"] for result in answer["results"]] == [page.id]
    assert "viewer" in answer["compilation_error"]
    assert provider.asked == []


def test_no_connection_is_held_while_a_model_is_asked(
    desk: SearchDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_search import compiling

    held: list[int] = []
    lent = 0
    read = type(desk.library.db).read

    @contextmanager
    def count_lent(db: Any) -> Iterator[Any]:
        nonlocal lent
        lent += 1
        try:
            with read(db) as conn:
                yield conn
        finally:
            lent -= 1

    def no_model(*_: Any) -> tuple[None, None]:
        held.append(lent)
        return None, None

    monkeypatch.setattr(type(desk.library.db), "read", count_lent)
    monkeypatch.setattr(compiling, "_choose_provider", no_model)
    desk.page("la peste")
    assert len(desk.ask("peste", compile=True)["results"]) == 1
    assert held == [0]
