"""Examples of the actions and recipe jobs of georeference: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sample_maps import sample_annotation, sample_map, sample_point

from armarium.api import Example
from armarium_testing.sample_pages import sample_page


def georeference_point_update(ex: Example) -> dict[str, Any]:
    result = ex.run("georeference.point_create", sample_point(sample_map(ex), 0))
    return {
        "point_id": result["id"],
        "original_crs": "EPSG:2154",
        "original_x": 652_000,
        "original_y": 6_862_000,
        "note": "The church tower",
    }


def georeference_set_type(ex: Example) -> dict[str, Any]:
    page = sample_map(ex)
    for number in range(3):
        ex.run("georeference.point_create", sample_point(page, number))
    return {"pass_id": page.pass_id, "type": "polynomial1"}


def georeference_read_annotation(ex: Example) -> dict[str, Any]:
    page = sample_map(ex)
    return {"pass_id": page.pass_id, "annotation": sample_annotation()}


def georeference_place_names(ex: Example) -> dict[str, Any]:
    page = sample_map(ex)
    named = {"segment_id": page.segment_ids[0], "uri": "https://www.geonames.org/2988507"}
    return {"document_id": page.document_id, "placements": [named]}


def place_in_a_gazetteer(ex: Example) -> dict[str, Any]:
    page = sample_page(ex, ["Written at Lima, the 3rd of May"]).document_id
    file = ex.file("places.csv", b"id,name,lon,lat\nhttps://www.geonames.org/3936456,Lima,-77.04,-12.05\n")
    return {"page_id": page, "settings": {"file": str(file)}}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "georeference.point_create": lambda ex: sample_point(sample_map(ex), 0),
    "georeference.point_update": georeference_point_update,
    "georeference.point_delete": lambda ex: {
        "point_id": ex.run("georeference.point_create", sample_point(sample_map(ex), 0))["id"]
    },
    "georeference.set_type": georeference_set_type,
    "georeference.read_annotation": georeference_read_annotation,
    "georeference.place_names": georeference_place_names,
    "place-in-a-gazetteer": place_in_a_gazetteer,
}
