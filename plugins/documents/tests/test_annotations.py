"""Annotations: created, changed, removed, and read by other tools as W3C Web Annotations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from documents_fixtures import add_picture, picture

from armarium.api import Engine, Library

Make = Callable[..., str]


@pytest.fixture
def page(engine: Engine, library: Library, folder: Make) -> str:
    return add_picture(engine, library, folder("Box"), picture())


def annotate(client: Any, page: str, **fields: Any) -> dict[str, Any]:
    body = {
        "document_id": page,
        "anchor_kind": "bbox",
        "kind": "note",
        "anchor": {"rect": [0.1, 0.2, 0.3, 0.1]},
    }
    answer = client.post("/api/annotations", json=body | fields)
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def test_an_annotation_from_first_to_last(client: Any, page: str) -> None:
    annotation = annotate(client, page, text="a second hand", tags=["hand"], color="#aa0000")
    assert (annotation["provenance_kind"], annotation["created_by"], annotation["text"]) == (
        "human",
        "owner",
        "a second hand",
    )
    primary = client.get(f"/api/documents/{page}/renditions").json()["items"][0]["id"]
    assert annotation["anchor"]["rendition_id"] == primary
    changed = client.patch(
        f"/api/annotations/{annotation['id']}", json={"text": "a third hand", "tags": None}
    ).json()
    assert (changed["text"], changed["tags"], changed["color"]) == ("a third hand", [], "#aa0000")
    assert client.get(f"/api/documents/{page}/view").json()["attachments"]["annotation_count"] == 1
    answer = client.delete(f"/api/annotations/{annotation['id']}").json()
    assert (answer["status"], answer["id"]) == ("deleted", annotation["id"])
    assert client.get("/api/annotations", params={"document_id": page}).json()["total"] == 0
    assert client.post(f"/api/actions/audit/{answer['audit_id']}/undo").status_code == 200
    assert client.get("/api/annotations", params={"document_id": page}).json()["total"] == 1


def test_annotations_of_a_document_or_a_segment(client: Any, page: str, folder: Make) -> None:
    first = annotate(client, page)
    second = annotate(client, page, targets=[{"segment_id": "seg1", "char_start": 0, "char_end": 3}])
    annotate(client, folder("Other"))

    def ids(**given: Any) -> list[str]:
        return [item["id"] for item in client.get("/api/annotations", params=given).json()["items"]]

    assert ids(document_id=page) == [first["id"], second["id"]]
    assert ids(segment_id="seg1") == [second["id"]]
    assert ids(segment_id="seg") == []
    assert len(ids()) == 3
    assert ids(document_id=page, limit=1, offset=1) == [second["id"]]


@pytest.mark.parametrize(
    "fields",
    [
        {"anchor": None},
        {"anchor": {"rect": [0, 0, 2, 1]}},
        {"anchor": {"rect": [0, 0, 0, 1]}},
        {"anchor": {"rect": [0.1, 0.1, 0.1, 0.1], "polygon": [[0, 0], [1, 0], [1, 1]]}},
        {"anchor": {"polygon": [[0, 0], [1, 0], [1, 1]]}},
        {"anchor": {"rect": [0, 0, 1, 1], "char_start": 3}},
        {"anchor": {"rect": [0, 0, 1, 1], "char_start": 3, "char_end": 3}},
        {"anchor": {"rect": [0, 0, 1, 1], "rendition_id": "none"}},
        {"anchor": {"rect": [0, 0, 1, 1], "document_id": "elsewhere"}},
        {"anchor": {"rect": [0, 0, 1, 1], "space": "pixels"}},
        {"anchor_kind": "char_range"},
        {"anchor_kind": "paragraph"},
        {"anchor_kind": "ink"},
        {"kind": "rating"},
        {"kind": "rating", "rating": 6},
        {"color": "red"},
        {"tags": [""]},
        {"targets": [{"char_start": 1}]},
        {"created_by": "me"},
        {"provenance_kind": "human"},
    ],
)
def test_an_annotation_that_does_not_hold_is_422(client: Any, page: str, fields: dict[str, Any]) -> None:
    body = {"document_id": page, "anchor_kind": "bbox", "kind": "note", "anchor": {"rect": [0, 0, 1, 1]}}
    answer = client.post("/api/annotations", json=body | fields)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"]


def test_a_number_that_no_column_holds_is_422(client: Any, page: str) -> None:
    anchor = {"rect": [0.1, 0.2, 0.5, 0.1], "page_index": 2**64}
    annotation = annotate(client, page)
    for answer in (
        client.patch(f"/api/annotations/{annotation['id']}", json={"anchor": anchor}),
        client.post(
            "/api/annotations",
            json={"document_id": page, "anchor_kind": "bbox", "kind": "note", "anchor": anchor},
        ),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (422, "A number is larger than 64 bits hold.")
    (there,) = client.get(f"/api/annotations?document_id={page}").json()["items"]
    assert there["anchor"] == annotation["anchor"]


def test_what_is_not_there_is_404(client: Any, page: str) -> None:
    nowhere = "f" * 32
    assert client.get("/api/annotations", params={"document_id": nowhere}).status_code == 404
    assert client.patch(f"/api/annotations/{nowhere}", json={"text": "a"}).status_code == 404
    assert client.delete(f"/api/annotations/{nowhere}").status_code == 404
    assert client.get(f"/api/documents/{nowhere}/annotations.jsonld").status_code == 404
    body = {"document_id": page, "anchor_kind": "paragraph", "paragraph_index": 1, "kind": "note"}
    assert client.post("/api/annotations", json=body | {"linked_note_id": nowhere}).status_code == 404
    assert client.post("/api/annotations", json=body | {"document_id": nowhere}).status_code == 404


def test_a_change_keeps_an_annotation_whole(client: Any, page: str) -> None:
    annotation = annotate(client, page)
    for change in ({"anchor": None}, {"kind": None}, {"kind": "rating"}):
        assert client.patch(f"/api/annotations/{annotation['id']}", json=change).status_code == 422


def test_anchors_are_stored_the_same_on_creation_and_on_change(client: Any, page: str) -> None:
    places = {"anchor": {"rect": [0.3, 0.2, 0.1, 0.1]}, "targets": [{"segment_id": "seg1"}]}
    annotation = annotate(client, page, **places)
    changed = client.patch(f"/api/annotations/{annotate(client, page)['id']}", json=places).json()
    assert (changed["anchor"], changed["targets"]) == (annotation["anchor"], annotation["targets"])


def test_other_tools_read_them_as_web_annotations(client: Any, page: str) -> None:
    annotate(client, page, text="a second hand", tags=["hand"], color="#aa0000")
    annotate(
        client,
        page,
        kind="highlight",
        anchor={"rect": [0, 0, 1, 1], "polygon": [[0, 0], [1, 0], [0.5, 1]]},
    )
    annotate(client, page, kind="rating", rating=4, anchor_kind="paragraph", paragraph_index=2, anchor=None)
    annotate(
        client,
        page,
        kind="underline",
        anchor_kind="char_range",
        anchor={"char_start": 4, "char_end": 9},
    )
    annotate(
        client,
        page,
        kind="line",
        anchor_kind="ink",
        anchor=None,
        ink_payload={"strokes": [[[0.1, 0.1], [0.2, 0.3]]]},
    )
    annotate(client, page, targets=[{"segment_id": "a" * 32, "char_start": 0, "char_end": 3}])
    answer = client.get(f"/api/documents/{page}/annotations.jsonld")
    assert answer.headers["content-type"].startswith("application/ld+json")
    found_answer = answer.json()
    assert found_answer["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert found_answer["type"] == "AnnotationPage"
    note, highlight, rating, underline, ink, both = found_answer["items"]
    for item in found_answer["items"]:
        assert item["type"] == "Annotation"
        assert item["id"].startswith("urn:uuid:")
        assert item["creator"] == {"type": "Person", "name": "owner"}
    assert note["motivation"] == "commenting"
    assert note["target"]["selector"] == {
        "type": "FragmentSelector",
        "conformsTo": "http://www.w3.org/TR/media-frags/",
        "value": "xywh=percent:10,20,30,10",
    }
    assert [body["purpose"] for body in note["body"]] == ["commenting", "tagging"]
    assert highlight["motivation"] == "highlighting"
    assert [selector["type"] for selector in highlight["target"]["selector"]] == [
        "FragmentSelector",
        "SvgSelector",
    ]
    assert 'points="0,0 100,0 50,100"' in highlight["target"]["selector"][1]["value"]
    assert (rating["motivation"], rating["body"]["value"]) == ("assessing", "4")
    assert underline["target"]["selector"] == {"type": "TextPositionSelector", "start": 4, "end": 9}
    assert "<polyline" in ink["target"]["selector"]["value"]
    assert [target["source"][-12:] for target in both["target"]] == [note["target"]["source"][-12:], "a" * 12]
