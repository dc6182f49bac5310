"""Every route of images over HTTP: its answer, its audit id, and each refusal it declares."""

from __future__ import annotations

from typing import Any

import pytest
from images_helpers import NOWHERE, add_page

from armarium.api import Engine, Library

CROP = {"left": 30, "top": 10, "width": 50, "height": 40}
HALVES = [{"bbox": [0, 0, 0.5, 1]}, {"bbox": [0.5, 0, 0.5, 1]}]
REGION = {"left": 0, "top": 0, "width": 0.5, "height": 1}


def test_crop_and_back(client: Any, page: str) -> None:
    response = client.post(f"/api/images/{page}/crop", json=CROP)
    assert response.status_code == 200
    body = response.json()
    assert response.headers["X-Service-Audit-Id"] == body["audit_id"]
    assert (body["document_id"], body["removed_ids"]) == (page, [])
    assert body["child"]["region"]["rect"] == body["region"]
    item = client.get(f"/api/documents/{body['child']['id']}/renditions").json()["items"][0]
    content = client.get(f"/api/documents/{body['child']['id']}/renditions/{item['id']}/content")
    assert content.headers["content-type"] == "image/png"
    back = client.post(f"/api/images/{page}/uncrop").json()
    assert (back["removed_ids"], back["child"]) == (body["child_ids"], None)
    undone = client.post("/api/actions/undo", json={"audit_ids": [back["audit_id"]]})
    assert undone.status_code in (200, 404)
    assert client.post(f"/api/images/{page}/unsplit").status_code == 409


def test_split_and_back(client: Any, page: str) -> None:
    answer = client.post(f"/api/images/{page}/split", json={"regions": HALVES}).json()
    assert [child["id"] for child in answer["children"]] == answer["child_ids"]
    back = client.post(f"/api/images/{answer['child_ids'][0]}/unsplit").json()
    assert (back["document_id"], back["removed_ids"]) == (page, answer["child_ids"][:1])
    assert "audit_id" in back


def test_many_at_once(client: Any, engine: Engine, library: Library, folder: str) -> None:
    pages = [add_page(engine, library, folder, name=f"{n}.png") for n in range(3)]
    answer = client.post(
        "/api/images/crops/batch", json={"document_ids": [*pages, NOWHERE], "region": REGION}
    ).json()
    assert len(answer["children"]) == 3
    assert [entry["document_id"] for entry in answer["failed"]] == [NOWHERE]
    assert "audit_id" in answer


def test_a_batch_from_first_to_last(
    client: Any, engine: Engine, library: Library, folder: str, page: str
) -> None:
    started = client.post(
        "/api/images/batch-apply", json={"folder_id": folder, "spec": {"kind": "crop", "region": REGION}}
    ).json()
    assert (started["total"], started["items"][0]["state"]) == (1, "waiting")
    engine.jobs.run_until_idle(library)
    place = f"/api/images/batch-apply/{started['batch_id']}"
    assert client.get(place).json()["items"][0]["state"] == "done"
    undone = client.post(f"{place}/undo").json()
    assert (undone["undone"], undone["kept"]) == (1, [])
    assert client.post(f"{place}/undo").status_code == 409


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"/api/images/{NOWHERE}/crop", CROP),
        (f"/api/images/{NOWHERE}/uncrop", None),
        (f"/api/images/{NOWHERE}/split", {"regions": HALVES}),
        (f"/api/images/{NOWHERE}/unsplit", None),
        (
            "/api/images/batch-apply",
            {"folder_id": NOWHERE, "spec": {"kind": "crop", "region": REGION}},
        ),
        (f"/api/images/batch-apply/{NOWHERE}/undo", None),
    ],
)
def test_unknown_ids_are_404(client: Any, path: str, body: Any) -> None:
    answer = client.post(path, json=body) if body is not None else client.post(path)
    assert answer.status_code == 404
    assert NOWHERE in answer.json()["detail"]


def test_a_batch_of_something_else_is_404(client: Any) -> None:
    assert client.get(f"/api/images/batch-apply/{NOWHERE}").status_code == 404


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("crop", {**CROP, "left": 100}),
        ("crop", {**CROP, "width": 0}),
        ("crop", {**CROP, "page": 2}),
        ("crop", {**CROP, "unit": "fraction"}),
        ("crop", {}),
        ("split", {"regions": HALVES[:1]}),
        ("split", {"regions": [HALVES[0], HALVES[0]]}),
        ("split", {"regions": [{"bbox": [0, 0, 0.001, 1]}, HALVES[1]]}),
        ("split", {"regions": [{"bbox": [0, 0, 1.5, 1]}, HALVES[1]]}),
    ],
)
def test_what_cannot_be_cut_is_422(client: Any, page: str, path: str, body: Any) -> None:
    answer = client.post(f"/api/images/{page}/{path}", json=body)
    assert answer.status_code == 422
    words = answer.json()["detail"]
    assert words.endswith(".")
    assert not words.endswith("..")
    assert "Value error" not in words
    assert client.get("/api/documents", params={"parent_id": page}).json()["total"] == 0


def test_viewers_and_callers_without_a_token_cannot_cut(client: Any, library: Library, page: str) -> None:
    answer = client.post("/api/tokens", json={"name": "looker", "role": "viewer"}).json()
    client.headers["Authorization"] = f"Bearer {answer['token']}"
    for path, body in (
        (f"/api/images/{page}/crop", CROP),
        (f"/api/images/{page}/split", {"regions": HALVES}),
        ("/api/images/crops/batch", {"document_ids": [page], "region": REGION}),
    ):
        assert client.post(path, json=body).status_code == 403
    assert not (library.derived_folder / "cuts").exists()
    client.headers["Authorization"] = "Bearer nobody"
    assert client.post(f"/api/images/{page}/crop", json=CROP).status_code == 401
