"""Every route of a canvas over HTTP: its answer, its audit id, and each refusal it declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from canvas_helpers import NOWHERE

Make = Callable[..., str]


def test_a_canvas_from_first_to_last(client: Any, folder: str, card: Make) -> None:
    base = f"/api/canvas/folders/{folder}"
    first_card = card()
    assert client.get(f"{base}/layout").json() == {"folder_id": folder, "rows": [], "items": []}
    response = client.post(f"{base}/items", json={"kind": "note", "text": "Who?"})
    assert response.status_code == 200
    note = response.json()
    assert response.headers["X-Service-Audit-Id"] == note["audit_id"]
    places = [{"item_id": first_card, "x": 1, "y": 2, "w": 50}, {"item_id": note["id"], "x": 3, "y": 4}]
    saved = client.put(f"{base}/layout", json={"rows": places}).json()
    assert "audit_id" in saved
    client.put(f"{base}/layout", json={"rows": [{"item_id": first_card, "x": 9, "y": 9}]})
    read = client.get(f"{base}/layout").json()
    assert {row["item_id"]: (row["x"], row["w"]) for row in read["rows"]} == {
        first_card: (9, 50),
        note["id"]: (3, None),
    }
    assert [item["id"] for item in read["items"]] == [note["id"]]
    changed = client.patch(f"/api/canvas/items/{note['id']}", json={"text": "Whose?"}).json()
    assert (changed["text"], changed["kind"]) == ("Whose?", "note")
    assert "audit_id" in changed
    answer = client.delete(f"/api/canvas/items/{note['id']}").json()
    assert (answer["status"], answer["id"]) == ("deleted", note["id"])
    assert client.delete(f"/api/canvas/items/{note['id']}").status_code == 404
    assert client.put(f"{base}/layout", json={"remove": [first_card]}).json()["rows"] == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/api/canvas/folders/{NOWHERE}/layout", None),
        ("PUT", f"/api/canvas/folders/{NOWHERE}/layout", {}),
        ("POST", f"/api/canvas/folders/{NOWHERE}/items", {"kind": "note"}),
        ("PATCH", f"/api/canvas/items/{NOWHERE}", {"text": "x"}),
        ("DELETE", f"/api/canvas/items/{NOWHERE}", None),
        ("GET", f"/api/canvas/folders/{NOWHERE}/canvas-picture", None),
    ],
)
def test_unknown_ids_are_404(client: Any, method: str, path: str, body: Any) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == 404
    assert NOWHERE in answer.json()["detail"]


def test_impossible_requests_are_422(client: Any, folder: str, card: Make) -> None:
    base = f"/api/canvas/folders/{folder}"
    # A folder cannot be placed on its own canvas.
    row = {"item_id": folder, "x": 0, "y": 0}
    assert client.put(f"{base}/layout", json={"rows": [{**row, "item_id": NOWHERE}]}).status_code == 404
    for answer in (
        client.put(f"{base}/layout", json={"rows": [row]}),
        client.put(f"{base}/layout", json={"rows": [{"item_id": card(), "x": "left", "y": 0}]}),
        client.put(f"{base}/layout", json={"places": []}),
        client.post(f"{base}/items", json={"kind": "link"}),
        client.post(f"{base}/items", json={}),
        client.get(f"/api/canvas/folders/{card()}/layout"),
        client.get(f"/api/canvas/folders/{card()}/canvas-picture"),
    ):
        assert answer.status_code == 422
        assert answer.json()["detail"]


def test_the_trash_is_409(client: Any, folder: str) -> None:
    client.delete(f"/api/documents/{folder}")
    for path in ("layout", "canvas-picture"):
        assert client.get(f"/api/canvas/folders/{folder}/{path}").status_code == 409


def test_viewers_may_look_and_callers_without_a_token_may_not(client: Any, folder: str, card: Make) -> None:
    first_card = card()
    answer = client.post("/api/tokens", json={"name": "looker", "role": "viewer"}).json()
    client.headers["Authorization"] = f"Bearer {answer['token']}"
    base = f"/api/canvas/folders/{folder}"
    assert client.get(f"{base}/layout").status_code == 200
    assert client.get(f"{base}/canvas-picture").status_code == 200
    row = {"item_id": first_card, "x": 0, "y": 0}
    assert client.put(f"{base}/layout", json={"rows": [row]}).status_code == 403
    assert client.post(f"{base}/items", json={"kind": "note"}).status_code == 403
    client.headers["Authorization"] = "Bearer nobody"
    assert client.get(f"{base}/layout").status_code == 401
