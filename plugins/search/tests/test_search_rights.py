"""What is withheld from a caller shows in no result, count, snippet or suggestion of it."""

from __future__ import annotations

from search_desk import EDITOR, SearchDesk


def restrict(desk: SearchDesk, kind: str, target: str) -> None:
    desk.do("rights.set", {"target_kind": kind, "target_id": target, "restricted": True, "readers": []})


def test_a_withheld_page_is_nowhere(desk: SearchDesk) -> None:
    page = desk.page("secretum aliud", name="Secretum")
    other_page = desk.page("aliud")
    restrict(desk, "document", page.id)
    assert set(desk.ids("aliud")) == {page.id, other_page.id}
    for query in ("secretum", "secret*", "name:secretum", "secretun"):
        answer = desk.ask_as(EDITOR, query, use_fuzzy_match=True)
        assert (answer["count"], answer["total_results"], answer["suggestions"], answer["fuzzy_words"]) == (
            0, 0, [], {},
        ), query  # fmt: skip
    assert desk.ids_for(EDITOR, "aliud") == [other_page.id]
    assert desk.ask_as(EDITOR, "aliud")["total_results"] == 1
    assert {desk.ask_as(EDITOR, query)["withheld"] for query in ("aliud", "secretum", "nihil")} == {1}


def test_a_withheld_line_is_not_searched_and_the_rest_of_its_page_is(desk: SearchDesk) -> None:
    page = desk.page("alpha beta", "secretum gamma", "delta")
    other_page = desk.page("gamma")
    restrict(desk, "segment", page.lines[1])
    assert desk.ids("secretum") == [page.id]
    answer = desk.ask_as(EDITOR, "secretum")
    assert (answer["count"], answer["total_results"], answer["suggestions"]) == (0, 0, [])
    assert desk.ids_for(EDITOR, "alpha delta") == [page.id]
    assert desk.ids_for(EDITOR, "gamma") == [other_page.id]
    assert desk.ids_for(EDITOR, "alpha NOT gamma") == [page.id]
    assert desk.ids("alpha NOT gamma") == []
    (result,) = desk.ask_as(EDITOR, "beta")["results"]
    assert "secretum" not in str(result)


def test_the_order_for_others_tells_nothing_of_what_is_withheld(desk: SearchDesk) -> None:
    desk.page("alpha")
    desk.page("alpha alpha")
    before = [(result["document_id"], result["score"]) for result in desk.ask_as(EDITOR, "alpha")["results"]]
    hidden = desk.page("alpha alpha alpha")
    restrict(desk, "document", hidden.id)
    after = [(result["document_id"], result["score"]) for result in desk.ask_as(EDITOR, "alpha")["results"]]
    assert after == before
