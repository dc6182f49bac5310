"""What search and maps find of knowledge: entities, statements and interpretations by their words, and where places were."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from knowledge_desk import Desk

from armarium.api import Engine, Library


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """With maps beside what knowledge stands on."""
    names = ("documents", "source_model", "images", "canvas", "reading", "rights", "checking", "search",
             "knowledge", "formats", "georeference")  # fmt: skip
    made = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in names]
    return make_engine(plugins=made)


def search(desk: Desk, query: str, **more: Any) -> dict[str, Any]:
    answer = desk.client.post("/api/search", json={"query": query, "search_type": "fulltext", **more})
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def ids(found: dict[str, Any]) -> list[str]:
    return [result["document_id"] for result in found["results"]]


def test_pages_are_found_by_who_is_named_on_them_whatever_the_spelling_there(desk: Desk) -> None:
    deed, other_page = desk.page(), desk.page(("Nobody is named here",), name="Blank")
    person = desk.entity("Johannes Garsias", names=[{"text": "Juan García"}])
    desk.mention(deed, person, "Juan Garcia")
    assert ids(search(desk, "people:garsias")) == [deed.id]
    assert ids(search(desk, 'people:"johannes garsias"')) == [deed.id]
    assert ids(search(desk, "places:garsias")) == []
    assert other_page.id not in ids(search(desk, "people:garcia"))
    desk.do("document.delete", {"ids": [deed.id]})
    assert ids(search(desk, "people:garsias")) == []


def test_hits_beside_pages_are_answered_with_what_they_rest_on(desk: Desk) -> None:
    deed = desk.page()
    person = desk.entity("Johannes Garsias")
    desk.mention(deed, person, "Juan Garcia")
    desk.claim("The miller Garsias sold his mill", source_document_id=deed.id)
    desk.do(
        "interpretation.create",
        {
            "document_id": deed.id,
            "framework_id": "law",
            "framework_name": "Law",
            "text": "An emphyteusis, not a sale",
            "key_insights": [],
        },
    )
    found = search(desk, "garsias", include=["content", "entities", "claims"])
    assert [entity_hit["id"] for entity_hit in found["entity_hits"]] == [person]
    assert [claim_hit["text"] for claim_hit in found["claim_hits"]] == ["The miller Garsias sold his mill"]
    assert ids(found) == [deed.id]
    read = search(desk, "emphyteusis", include=["content", "interpretations"])
    (result,) = read["results"]
    assert result["document_id"] == deed.id
    assert result["metadata"]["matched_via"] == "interpretation"
    assert result["metadata"]["framework_id"] == "law"
    assert result["content_preview"] == "An emphyteusis, not a sale"
    assert search(desk, "emphyteusis")["results"] == []


def test_a_merged_entity_is_found_under_its_survivor_alone(desk: Desk) -> None:
    entity, other_entity = desk.entity("Juan Garcia"), desk.entity("Juan Garcia el mozo")
    merged = desk.do("entity.merge", {"survivor_id": entity, "ids": [other_entity]})
    assert merged
    found = search(desk, "mozo", include=["entities"])
    assert [hit["id"] for hit in found["entity_hits"]] in ([entity], [])
    assert other_entity not in [hit["id"] for hit in found["entity_hits"]]


def test_a_place_is_asked_of_maps(desk: Desk, library: Library) -> None:
    point = {"label": "Toledo", "geometry_type": "point", "lat": 39.86, "lon": -4.02, "basis": "atlas"}
    place = desk.entity("Toledo", "location", place_values=[point])
    answer = desk.client.get(f"/api/entities/{place}/place")
    assert answer.status_code == 200, answer.text
    assert "39.86" in answer.text
    assert desk.client.get(f"/api/entities/{'f' * 32}/place").status_code == 404


SHAPES = (
    {"geojson": {"type": "Point", "coordinates": [-4.02, 39.86, 500]}},
    {"geojson": {"type": "Feature", "geometry": {"type": "Point", "coordinates": [-4.02, 39.86]}}},
    {"geojson": {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1]]]}},
    {"geojson": {"type": "MultiLineString", "coordinates": [[[0, 0], [1, 1]], [[2, 2], [3, 3]]]}},
    {"geometry_type": "bbox", "geo_bbox": [170, -20, -170, -10]},
    {"geometry_type": "point", "lat": 39.86, "lon": -4.02},
)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_place_that_is_written_is_read(desk: Desk, shape: dict[str, Any]) -> None:
    value = {"label": "X", "basis": "b", "geometry_type": "area", **shape}
    place = desk.entity("X", "location", place_values=[value])
    answer = desk.get(f"/api/entities/{place}/place")
    assert answer["status"] == "stated", answer
    assert answer["place"]["geometry"] is not None
