"""Likeness: passages get vectors by a job, offline; what is stale is said, and nothing withheld is near anything."""

from __future__ import annotations

import numpy as np
import pytest
from search_desk import EDITOR, SearchDesk

from armarium.api import Invalid
from armarium_search.vectors.embedders import ProjectEmbedder, check_embedder, passages_of
from armarium_source_model.api import armarium_source_model_rests_on_text

TEXTS = (
    "el convento de San Francisco y su iglesia con claustro",
    "la hacienda de azúcar y sus esclavos en el valle",
    "cartas del rey sobre los navíos y la flota de Indias",
    "las minas de plata de Zacatecas y el azogue",
)


def teach(desk: SearchDesk) -> list[str]:
    pages = [desk.page(text, f"{text} otra vez").id for text in TEXTS]
    desk.do("search.embed", {})
    desk.run_jobs()
    return pages


def in_doubt(desk: SearchDesk, page: str) -> list[tuple[str, str, str | None, str]]:
    """What this family says of a page rests on another text: kind, id, words, what to do."""
    (family,) = [
        one
        for one in desk.engine.points.collect(armarium_source_model_rests_on_text)
        if "embedding" in one.kinds
    ]
    with desk.library.db.read() as conn:
        rows = family.stale(conn, desk.library, [page])
    return [(row.kind, row.id, row.text, row.todo) for row in rows]


def test_without_vectors_a_hybrid_search_answers_words_and_says_so(desk: SearchDesk) -> None:
    page = desk.page("alpha")
    answer = desk.ask("alpha", search_type="hybrid")
    assert [result["document_id"] for result in answer["results"]] == [page.id]
    assert answer["search_type"] == "fulltext"
    assert "similarity was not searched" in answer["semantic"]["notice"]
    assert desk.ask("alpha", search_type="semantic")["count"] == 0


def test_passages_are_found_by_likeness_stale_ones_are_said_and_brought_up_to_date(desk: SearchDesk) -> None:
    pages = teach(desk)
    answer = desk.ask("conuento de Sant Franzisco", search_type="semantic", min_score=0.2)
    assert answer["search_type"] == "semantic"
    assert answer["results"][0]["document_id"] == pages[0]
    assert (answer["semantic"]["embedder"], answer["semantic"]["pages"], answer["semantic"]["stale"]) == (
        "project",
        4,
        0,
    )
    both = desk.ask("convento", search_type="hybrid", min_score=0.2)
    assert both["search_type"] == "hybrid"
    assert both["results"][0]["document_id"] == pages[0]

    line = desk.rows("SELECT id FROM segment WHERE document_id = ? ORDER BY id", pages[0])[0][0]
    desk.correct(line, "un texto nuevo")
    desk.page("una página más")
    state = desk.ask("convento", search_type="hybrid")["semantic"]
    assert (state["stale"], state["missing"]) == (1, 1)
    assert "2 pages" in state["notice"]
    assert in_doubt(desk, pages[0]) == [("embedding", pages[0], None, "redo")]
    assert in_doubt(desk, pages[1]) == []
    desk.do("search.embed", {})
    desk.run_jobs()
    state = desk.ask("convento", search_type="hybrid")["semantic"]
    assert (state["pages"], state["stale"], state["missing"], state["notice"]) == (5, 0, 0, None)
    assert in_doubt(desk, pages[0]) == []
    desk.do("search.embed", {"learn_anew": True})
    desk.run_jobs()
    assert desk.ask("convento", search_type="hybrid")["semantic"]["pages"] == 5


def test_what_is_withheld_or_in_the_trash_is_near_nothing(desk: SearchDesk) -> None:
    pages = teach(desk)
    desk.do(
        "rights.set", {"target_kind": "document", "target_id": pages[0], "restricted": True, "readers": []}
    )
    desk.do("document.delete", {"ids": [pages[1]]})
    for query in (TEXTS[0], TEXTS[1]):
        ids = desk.ids_for(EDITOR, query, search_type="semantic", min_score=0)
        assert not set(ids) & set(pages[:2])
    assert desk.ask_as(EDITOR, TEXTS[0], search_type="hybrid")["semantic"]["pages"] == 3
    assert pages[0] in desk.ids(TEXTS[0], search_type="semantic", min_score=0)


def test_an_unknown_embedder_and_an_empty_project_are_refused(desk: SearchDesk) -> None:
    with pytest.raises(Invalid, match="project"):
        desk.do("search.embed", {"embedder": "nobody"})
    job_id = desk.do("search.embed", {})["job_id"]
    desk.run_jobs()
    ((state, reason),) = desk.rows("SELECT state, reason FROM job WHERE id = ?", job_id)
    assert (state, "nothing to learn from" in reason) == ("failed", True)


def test_a_job_that_was_killed_goes_on_with_the_next_pages(
    desk: SearchDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from armarium_search import jobs

    monkeypatch.setattr(jobs, "BATCH", 1)
    for text in TEXTS:
        desk.page(text)
    job_id = desk.do("search.embed", {})["job_id"]
    done: list[int] = []
    original = jobs._embed_some

    def once(*given: object) -> None:
        done.append(1)
        if len(done) == 3:
            raise SystemExit
        original(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(jobs, "_embed_some", once)
    desk.run_jobs()
    if desk.rows("SELECT state FROM job WHERE id = ?", job_id)[0][0] != "done":
        desk.do("job.retry", {"job_id": job_id})
        desk.run_jobs()
    assert desk.rows("SELECT state FROM job WHERE id = ?", job_id) == [("done",)]
    assert desk.ask("convento", search_type="hybrid")["semantic"]["pages"] == 4


def test_the_same_passages_give_the_same_vectors_of_length_one() -> None:
    passages = [passage for text in TEXTS for passage in passages_of(text)]
    one, two = (ProjectEmbedder().train(passages).embed([*passages, "", "?!"]) for _ in range(2))
    assert np.array_equal(one, two)
    assert np.allclose(np.linalg.norm(one[:-2], axis=1), 1, atol=1e-5)
    assert not one[-2:].any()


def test_a_class_without_the_methods_of_an_embedder_is_none() -> None:
    assert check_embedder("armarium.embedders", "x", ProjectEmbedder) is None
    assert "train and load" in (check_embedder("armarium.embedders", "x", object) or "")
