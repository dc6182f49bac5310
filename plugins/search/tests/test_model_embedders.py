"""Vectors by a model of this machine: in a worker process, never of what rights withhold from models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from letters_embedder import LettersEmbedder
from search_desk import SearchDesk

from armarium.api import ServiceError
from armarium.principals import LOCAL_OWNER
from armarium_search.queries.search import prepare_query
from armarium_search.schemas import SearchParams
from armarium_search.vectors.embedders import GROUP, check_embedder


@pytest.fixture
def model(desk: SearchDesk) -> Path:
    """The embedder installed, and a model of it on this machine."""
    desk.engine.drivers.give(GROUP, "letters", LettersEmbedder)
    place = desk.engine.settings.state_dir / "models" / "letters" / "small.letters"
    place.parent.mkdir(parents=True)
    place.touch()
    return place


def embed(desk: SearchDesk, model: str | None = "small", **more: Any) -> None:
    desk.do("search.embed", {"embedder": "letters", "model": model, **more})
    desk.run_jobs()


def test_pages_and_queries_get_their_vectors_from_the_model(desk: SearchDesk, model: Path) -> None:
    minas = desk.page("minas de plata")
    desk.page("el rey y la flota")
    embed(desk)
    answer = desk.ask("plata de minas", search_type="semantic", min_score=0.9)
    assert [result["document_id"] for result in answer["results"]] == [minas.id]
    assert answer["semantic"]["embedder"] == "letters"
    given = ["minas de plata", "el rey y la flota", "plata de minas"]
    assert model.read_text().splitlines() == given
    # What was corrected is given to the model again, and nothing else.
    desk.correct(minas.lines[0], "minas de oro")
    assert desk.ask("minas", search_type="fulltext")["results"]
    embed(desk)
    assert model.read_text().splitlines() == [*given, "minas de oro"]
    # Another model makes every vector anew.
    other = model.with_name("other.letters")
    other.touch()
    embed(desk, "other")
    assert len(other.read_text().splitlines()) == 2


def test_a_viewer_may_have_likeness_searched_by_a_model_of_this_machine(
    desk: SearchDesk, model: Path
) -> None:
    desk.page("minas de plata")
    embed(desk)
    viewer = replace(LOCAL_OWNER, role="viewer", name="a guest")
    prepared = prepare_query(desk.library, desk.engine, viewer, SearchParams(query="plata"))["params"]
    assert prepared.vector is not None
    assert prepared.why_no_vector is None


def test_what_rights_keep_from_models_is_never_given(desk: SearchDesk, model: Path) -> None:
    desk.page("abierto")
    page = desk.page("secreto")
    rights = {"target_kind": "document", "target_id": page.id, "restricted": False, "model_use": "none"}
    desk.do("rights.set", rights)
    embed(desk)
    assert model.read_text().splitlines() == ["abierto"]
    assert desk.ask("abierto", search_type="semantic")["semantic"]["missing"] == 1


def test_a_model_that_is_not_here_or_named_by_a_path_is_refused_before_anything_is_queued(
    desk: SearchDesk, model: Path
) -> None:
    desk.page("abierto")
    for name, words in (
        ("large", "small"),
        ("/models/small", "without folders"),
        ("../small", "without folders"),
    ):
        with pytest.raises(ServiceError, match=words):
            embed(desk, name)
    with pytest.raises(ServiceError, match="needs a model"):
        embed(desk, None)
    assert model.read_text() == ""
    here = desk.client.get("/api/local-models").json()["items"]
    assert [one["model_id"] for one in here if one["model_type"] == "letters"] == ["small.letters"]


@pytest.mark.parametrize(("text", "words"), [("lost", "1 passages"), ("unreadable", "does not take")])
def test_a_failure_of_the_model_fails_the_job_and_leaves_what_there_was(
    desk: SearchDesk, model: Path, text: str, words: str
) -> None:
    page = desk.page("minas")
    embed(desk)
    desk.page(text)
    desk.do("search.embed", {"embedder": "letters", "model": "small"})
    desk.engine.jobs.run_until_idle(desk.library)
    (state, why) = desk.rows("SELECT state, reason FROM job WHERE kind = 'embeds' ORDER BY rowid DESC")[0]
    assert state == "failed"
    assert words in str(why)
    assert [result["document_id"] for result in desk.ask("minas", search_type="semantic")["results"]] == [
        page.id
    ]


def test_a_query_without_its_model_is_answered_by_words_and_says_why(desk: SearchDesk, model: Path) -> None:
    page = desk.page("minas de plata")
    embed(desk)
    model.unlink()
    answer = desk.ask("plata", search_type="hybrid")
    assert [result["document_id"] for result in answer["results"]] == [page.id]
    assert answer["search_type"] == "fulltext"
    assert "Similarity was not searched" in answer["semantic"]["notice"]


def test_a_driver_says_its_own_name() -> None:
    assert check_embedder(GROUP, "letters", LettersEmbedder) is None
    assert "letters" in str(check_embedder(GROUP, "other", LettersEmbedder))
