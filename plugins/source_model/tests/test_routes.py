"""The routes of the source model over HTTP: the form of answers, statuses, headers."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import AGENT, PERSON, anchor

from armarium_source_model.schemas.readings import PageText, ReadingList
from armarium_source_model.schemas.segments import SegmentListResponse, SegmentVersionList, SegmentView


@pytest.fixture
def page(desk: Any) -> str:
    return str(desk.page())


@pytest.fixture
def machine_pass(desk: Any, page: str) -> dict[str, Any]:
    """A machine's pass of three lines, two of them read."""
    reading: dict[str, Any] = desk.machine_lines(page, ["one", "two", None])
    return reading


def test_the_list_of_a_page_is_what_it_declares(
    client: Any, desk: Any, page: str, machine_pass: dict[str, Any]
) -> None:
    answer = client.get(f"/api/segments/document/{page}")
    assert answer.status_code == 200
    listed = SegmentListResponse.model_validate(answer.json())
    assert [segment.id for segment in listed.segments] == machine_pass["segment_ids"]
    assert [segment.text for segment in listed.segments] == ["one", "two", None]
    (page_pass,) = listed.passes
    assert (page_pass.working, page_pass.working_basis, page_pass.segment_count) == (
        True,
        "newest-machine-unchosen",
        3,
    )


def test_the_list_can_be_narrowed(client: Any, desk: Any, page: str, machine_pass: dict[str, Any]) -> None:
    other_page_pass = desk.new_pass(page)
    region = desk.run(
        "segment.create",
        document_id=page,
        pass_id=other_page_pass,
        kind="region",
        anchor={"rect": [0.5, 0.5, 0.4, 0.4]},
    )["id"]

    def ids(**query: str) -> list[str]:
        answer = client.get(f"/api/segments/document/{page}", params=query)
        assert answer.status_code == 200, answer.text
        return [segment["id"] for segment in answer.json()["segments"]]

    assert ids() == [*machine_pass["segment_ids"], region]
    assert ids(pass_id=other_page_pass) == [region]
    assert ids(kind="region") == [region]
    assert ids(area="0.6,0.6,0.1,0.1") == [region]
    assert ids(area="0.0,0.0,1.0,0.1") == machine_pass["segment_ids"][:1]
    assert ids(artifact_id="none") == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"area": "1,2"}, 422),
        ({"area": "a,b,c,d"}, 422),
        ({"area": "nan,0,1,1"}, 422),
        ({"kind": "glyph"}, 422),
        ({"pass_id": "nowhere"}, 404),
    ],
)
def test_a_bad_narrowing_is_refused(client: Any, page: str, query: dict[str, str], status: int) -> None:
    answer = client.get(f"/api/segments/document/{page}", params=query)
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_a_pass_of_another_page_is_not_found_here(client: Any, desk: Any, page: str) -> None:
    foreign = desk.new_pass(desk.page())
    assert client.get(f"/api/segments/document/{page}", params={"pass_id": foreign}).status_code == 404


def test_a_page_without_segments_answers_an_empty_list(client: Any, page: str) -> None:
    assert client.get(f"/api/segments/document/{page}").json() == {
        "document_id": page,
        "passes": [],
        "segments": [],
        "notice": None,
    }
    assert client.get("/api/segments/document/nowhere").status_code == 404


def test_passes_over_http(client: Any, page: str) -> None:
    response = client.post("/api/segments/passes", json={"document_id": page, "name": "By hand"})
    assert response.status_code == 200
    assert response.headers["X-Service-Audit-Id"] == response.json()["audit_id"]
    place = f"/api/segments/passes/{response.json()['id']}"
    assert client.put(f"{place}/ground-truth", json={"ground_truth": True}).json()["ground_truth"]
    assert client.put(f"{place}/working", json={"working": True}).json()["working_basis"] == "chosen"
    assert client.delete(place).json()["deleted_at"]
    assert client.delete(place).status_code == 409
    assert client.post(f"{place}/restore").json()["deleted_at"] is None
    assert client.delete("/api/segments/passes/nowhere").status_code == 404
    assert client.delete("/api/segments/passes/legacy:a").json()["code"] == "provisional_id"


def test_a_segment_from_making_to_bringing_back(client: Any, desk: Any, page: str) -> None:
    pass_id = desk.new_pass(page)
    body = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": anchor()}
    response = client.post("/api/segments", json=body)
    assert response.status_code == 200
    assert response.json()["audit_id"] == response.headers["X-Service-Audit-Id"]
    segment_id = response.json()["id"]
    many = client.post("/api/segments/bulk", json={"segments": [body, body]}).json()
    assert many["count"] == 2
    bad = client.post(
        "/api/segments/bulk", json={"segments": [body, {**body, "anchor": {"rect": [0, 0, 2, 2]}}]}
    )
    assert (bad.status_code, bad.json()["index"]) == (422, 1)

    place = f"/api/segments/{segment_id}"
    change = {"segment_id": segment_id, "expected_version": 1, "kind_raw": "heading"}
    changed = client.put(place, json=change)
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    stale = client.put(place, json=change)
    assert (stale.status_code, stale.json()["changed"]) == (409, ["kind_raw"])
    assert client.put(place, json={**change, "segment_id": "another"}).status_code == 422
    assert client.put(place, json={**change, "document_id": page}).status_code == 422

    versions = SegmentVersionList.model_validate(client.get(f"{place}/versions").json())
    assert [item.version for item in versions.items] == [1, 2]
    restored = client.post(f"{place}/restore-version", json={"version": 1, "expected_version": 2})
    assert (restored.json()["version"], restored.json()["kind_raw"]) == (3, None)
    missing = client.post(f"{place}/restore-version", json={"version": 8, "expected_version": 3})
    assert missing.status_code == 404

    answer = client.post("/api/segments/delete", json={"segment_ids": [segment_id], "expected_versions": [3]})
    assert answer.json()["segment_ids"] == [segment_id]
    view = SegmentView.model_validate(client.get(place).json())
    assert (view.deleted, view.live_segment_ids, [note.kind for note in view.trail]) == (
        True,
        [],
        ["deleted"],
    )
    assert view.segment is not None
    assert view.segment.deleted_at
    back = client.post("/api/segments/undelete", json={"segment_ids": [segment_id]})
    assert back.status_code == 200
    view = SegmentView.model_validate(client.get(place).json())
    assert (view.deleted, view.resolved_from_forwarding, view.live_segment_ids) == (
        False,
        False,
        [segment_id],
    )


@pytest.mark.parametrize("path", ["", "/versions", "/readings"])
def test_an_unknown_segment_is_not_found(client: Any, path: str) -> None:
    assert client.get(f"/api/segments/nowhere{path}").status_code == 404


def test_readings_over_http(client: Any, desk: Any, page: str, machine_pass: dict[str, Any]) -> None:
    place = f"/api/segments/{machine_pass['segment_ids'][0]}"
    listed = ReadingList.model_validate(client.get(f"{place}/readings").json())
    machine = listed.items[0].id
    response = client.post(f"{place}/correct", json={"text": "One", "expected_counting_id": machine})
    assert response.status_code == 200
    assert (response.json()["counting"], response.json()["unplaced"]) == (True, [])
    second_answer = client.post(f"{place}/correct", json={"text": "1", "expected_counting_id": machine})
    assert (second_answer.status_code, second_answer.json()["counting_text"]) == (409, "One")
    assert client.post(f"{place}/correct", json={"text": ""}).status_code == 422
    chosen = client.post(
        f"{place}/readings/choice", json={"kind": "transcription", "representation_id": machine}
    )
    assert chosen.json()["counting"]["basis"] == "chosen"
    assert client.get(f"{place}/readings", params={"kind": "translation"}).json()["count"] == 0
    retracted = client.post(f"/api/segments/readings/{machine}/retract")
    assert retracted.json()["retracted"]
    assert client.post("/api/segments/readings/nowhere/retract").status_code == 404
    assert (
        client.post("/api/segments/legacy:a:0/correct", json={"text": "x"}).json()["code"] == "provisional_id"
    )


def test_a_run_may_not_choose(desk: Any, machine_pass: dict[str, Any]) -> None:
    from armarium.api import Forbidden

    with pytest.raises(Forbidden):
        desk.as_(AGENT).run(
            "reading.choose", segment_id=machine_pass["segment_ids"][0], representation_id=None
        )
    desk.as_(PERSON).run("reading.choose", segment_id=machine_pass["segment_ids"][0], representation_id=None)


def test_the_text_over_http(client: Any, page: str, machine_pass: dict[str, Any]) -> None:
    answer = client.get(f"/api/segments/document/{page}/text")
    found = PageText.model_validate(answer.json())
    assert (found.text, found.pass_id) == ("one\ntwo", machine_pass["pass_id"])
    assert client.get("/api/segments/document/nowhere/text").status_code == 404
    assert client.get(f"/api/segments/document/{page}/text", params={"pass_id": "nowhere"}).status_code == 404
    named_answer = client.get(
        f"/api/segments/document/{page}/text", params={"pass_id": machine_pass["pass_id"]}
    ).json()
    assert named_answer["pass_basis"] == "named"


def test_a_lone_surrogate_is_refused_and_not_an_error_of_the_engine(
    client: Any, machine_pass: dict[str, Any]
) -> None:
    answer = client.post(
        f"/api/segments/{machine_pass['segment_ids'][0]}/correct",
        content=b'{"text": "\\ud800"}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code in (400, 422)


def test_the_rule_of_the_project_decides(
    client: Any, desk: Any, page: str, machine_pass: dict[str, Any]
) -> None:
    assert client.patch("/api/library/settings", json={"reading_rule": "relaxed"}).status_code == 200
    listed = client.get(f"/api/segments/document/{page}").json()
    assert listed["passes"][0]["working_basis"] == "newest"
