"""Vectors that a provider gives: through the gateway, in the real wire formats, never of what rights withhold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from search_desk import SearchDesk

from armarium.api import Forbidden, Invalid
from armarium.principals import LOCAL_OWNER
from armarium_search.queries.search import prepare_query
from armarium_search.schemas import SearchParams
from armarium_search.vectors.files import read
from armarium_testing.model_provider import Answer, LoopbackProvider

SIGNS = "abcdefghijklmnopqrstuvwxyz"


class VectorProvider(LoopbackProvider):
    """A provider whose model says of a passage how often each letter stands in it; as OpenAI and as Ollama answer."""

    lacking = 0
    """So many vectors fewer than passages."""

    def next_answer(self, asked: dict[str, Any]) -> Answer:
        """The vectors, those of OpenAI's kind in another order than the passages."""
        self.asked.append(asked)
        if isinstance(self.answers[0], Answer):
            return self.answers[0]
        rows = [[float(text.lower().count(sign)) for sign in SIGNS] for text in asked["body"]["input"]]
        rows = rows[: len(rows) - self.lacking]
        if asked["path"] == "/api/embed":
            told: dict[str, Any] = {"model": "tiny:v2", "embeddings": rows, "prompt_eval_count": 9}
        else:
            numbered = [
                {"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)
            ]
            told = {
                "object": "list",
                "data": numbered[::-1],
                "model": "tiny-v2",
                "usage": {"prompt_tokens": 9},
            }
        return Answer(body=json.dumps(told).encode())

    @property
    def passages(self) -> list[str]:
        """All that came in."""
        return [text for request in self.asked for text in request["body"]["input"]]


@pytest.fixture
def provider() -> Iterator[VectorProvider]:
    """A provider on this machine; not yet one of the engine's."""
    with VectorProvider() as running:
        yield running


def embed(desk: SearchDesk, name: str = "openai-compatible", **more: Any) -> None:
    desk.do("search.embed", {"embedder": name, "provider": "Loopback", **more})
    desk.run_jobs()


@pytest.mark.parametrize(
    ("name", "path"), [("openai-compatible", "/v1/embeddings"), ("ollama", "/api/embed")]
)
def test_pages_and_queries_get_their_vectors_from_the_provider(
    desk: SearchDesk, provider: VectorProvider, name: str, path: str
) -> None:
    provider.add_to(desk.engine, "Loopback", capabilities=["embedding"], input_cost=1000.0, output_cost=0.0)
    minas = desk.page("minas de plata")
    desk.page("el rey y la flota")
    embed(desk, name)
    assert [request["path"] for request in provider.asked] == [path]
    assert provider.asked[0]["headers"]["authorization"] == "Bearer sk-loopback-0123456789"
    assert provider.asked[0]["body"]["model"] == "tiny"
    answer = desk.ask("plata de minas", search_type="semantic", min_score=0.9)
    assert [result["document_id"] for result in answer["results"]] == [minas.id]
    assert answer["semantic"]["embedder"] == name
    assert provider.passages[-1] == "plata de minas"
    # What was corrected is sent again, and nothing else.
    desk.correct(minas.lines[0], "minas de oro")
    embed(desk, name)
    assert provider.passages[-1:] == ["minas de oro"]
    assert len(provider.passages) == 4
    calls = desk.rows("SELECT use_case, model, model_version, exchange, cost FROM episode ORDER BY id")
    assert {row[:2] for row in calls} == {("make-a-vector", "tiny")}
    assert all("minas" not in row[3] and json.loads(row[4])["tokens_in"] == 9 for row in calls)
    assert json.loads(calls[0][4])["usd"] == pytest.approx(0.009)


def test_what_rights_keep_from_models_is_never_sent(desk: SearchDesk, provider: VectorProvider) -> None:
    provider.add_to(desk.engine, "Loopback")
    desk.page("abierto")
    page = desk.page("secreto")
    desk.do(
        "rights.set",
        {"target_kind": "document", "target_id": page.id, "restricted": False, "model_use": "none"},
    )
    embed(desk)
    assert provider.passages == ["abierto"]
    assert desk.ask("abierto", search_type="semantic")["semantic"]["missing"] == 1


def test_words_leave_this_machine_only_where_somebody_says_so(
    desk: SearchDesk, provider: VectorProvider
) -> None:
    desk.page("abierto")
    with pytest.raises(Invalid, match="name the provider in `provider`"):
        desk.do("search.embed", {"embedder": "ollama"})
    provider.add_to(desk.engine, "Loopback", host="https://203.0.113.7")
    with pytest.raises(Forbidden):
        embed(desk)
    assert provider.asked == []


def test_a_search_goes_on_by_words_where_the_provider_gives_no_vector(
    desk: SearchDesk, provider: VectorProvider
) -> None:
    provider.add_to(desk.engine, "Loopback")
    page = desk.page("minas de plata")
    embed(desk)
    viewer = replace(LOCAL_OWNER, role="viewer", name="a guest")
    params = SearchParams(query="plata")
    prepared = prepare_query(desk.library, desk.engine, viewer, params)["params"]
    assert prepared.vector is None
    assert "viewer" in str(prepared.why_no_vector)
    provider.answers = [Answer(status=404, body=b"{}")]
    answer = desk.ask("plata", search_type="hybrid")
    assert [result["document_id"] for result in answer["results"]] == [page.id]
    assert answer["search_type"] == "fulltext"
    assert "Similarity was not searched" in answer["semantic"]["notice"]


def test_an_answer_that_lacks_a_vector_fails_the_job_and_leaves_what_there_was(
    desk: SearchDesk, provider: VectorProvider
) -> None:
    provider.add_to(desk.engine, "Loopback")
    first = desk.page("minas de plata")
    embed(desk)
    before = read(desk.library)
    desk.correct(first.lines[0], "minas de oro")
    provider.lacking = 1
    embed(desk)
    (state, why) = desk.rows("SELECT state, reason FROM job WHERE kind = 'embeds' ORDER BY rowid DESC")[0]
    assert state == "failed"
    assert "vectors for 1 passages" in str(why)
    after = read(desk.library)
    assert before is not None
    assert after is not None
    assert after.made == before.made
