"""Another family adds scopes and kinds of hits to searching, and sees through its caller's eyes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from search_desk import EDITOR, SearchDesk
from sqlalchemy import Connection

from armarium.api import Engine, Plugin, raw_of
from armarium_documents.plugin import armarium_plugin as documents
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_search.api import Hit, Kind, Scope
from armarium_search.plugin import armarium_plugin as search
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.answers import answering


def _find_starred(conn: Connection, text: str) -> Iterable[str]:
    """A family that knows people as the names of starred documents."""
    rows = raw_of(conn).execute("SELECT id, name FROM document WHERE is_starred").fetchall()
    return [row[0] for row in rows if text.casefold() in row[1].casefold()]


def _entities(conn: Connection, words: tuple[str, ...], most: int) -> Iterable[Hit]:
    for document_id in _find_starred(conn, " ".join(words))[:most]:  # type: ignore[index]
        answer = {"id": "e1", "canonical_name": "Juan"}
        yield Hit("e1", (document_id,), "Juan Diego, a person", answer, {"interpretation_id": None})


PEOPLE = Plugin(
    name="folk",
    summary="People, as the names of starred documents",
    hooks=answering(
        armarium_search_scopes=lambda: (Scope("people", _find_starred), Scope("folk", _find_starred)),
        armarium_search_kinds=lambda: (
            Kind("entities", _entities, "entity"),
            Kind("folk", _entities, "interpretation"),
        ),
    ),
)


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    plugins = [documents(), source_model(), reading(), rights(), search(), PEOPLE]
    return make_engine(plugins=plugins)


def star(desk: SearchDesk, name: str) -> str:
    page = desk.page("alpha", name=name)
    desk.do("document.update", {"document_id": page.id, "is_starred": True})
    return page.id


def test_scopes_and_hits_of_another_family(desk: SearchDesk) -> None:
    page = star(desk, "Juan Diego")
    desk.page("alpha", name="Juan")
    assert desk.ids("people:juan") == [page]
    assert desk.ids('folk:"juan diego" alpha') == [page]
    assert page not in desk.ids("alpha NOT people:juan")
    assert desk.ask("people:juan")["results"][0]["metadata"]["matched_via"] == "entity"
    answer = desk.ask('"juan diego"', include=["entities"])
    assert answer["entity_hits"] == [{"id": "e1", "canonical_name": "Juan"}]
    (result,) = answer["results"]
    assert (result["document_id"], result["kg_entity_ids"]) == (page, ["e1"])
    assert result["metadata"]["matched_via"] == "entity"
    assert result["content_preview"] == "Juan Diego, a person"
    folk = desk.ask("diego", include=["folk"])["results"][0]["metadata"]
    assert (folk["matched_via"], folk["interpretation_id"]) == ("interpretation", None)
    assert "folk" in desk.expect_refusal(400, include=["people"])


def test_what_a_hit_rests_on_is_shown_to_those_who_may_see_it(desk: SearchDesk) -> None:
    page = star(desk, "Juan Diego")
    desk.do("rights.set", {"target_kind": "document", "target_id": page, "restricted": True, "readers": []})
    assert desk.ids_for(EDITOR, "people:juan") == []
    answer: dict[str, Any] = desk.ask_as(EDITOR, "juan", include=["entities"])
    assert (answer["entity_hits"], answer["results"], answer["total_results"]) == ([], [], 0)
    desk.do("document.delete", {"ids": [page]})
    assert desk.ids("people:juan") == []
