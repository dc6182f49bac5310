"""Saved searches are nodes: listed, ordered, duplicated, sent to the Trash, and undone."""

from __future__ import annotations

from typing import Any

from search_desk import SearchDesk

SAVED = "/api/search/saved"


def keep(desk: SearchDesk, query: str, **more: Any) -> dict[str, Any]:
    answer = desk.client.post(SAVED, json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    new_answer: dict[str, Any] = answer.json()
    return new_answer


def list_names(desk: SearchDesk) -> list[str]:
    answer = desk.client.get(SAVED).json()
    assert answer["count"] == len(answer["items"])
    return [item["id"] for item in answer["items"]]


def test_a_saved_search_is_a_node_with_its_question(desk: SearchDesk) -> None:
    made = keep(
        desk, '"Dear Sir" NOT Madam', filters={"is_starred": True, "doc_types": ["page"]}, sort_order=3
    )
    assert made["filters"] == {"is_starred": True, "doc_types": ["page"]}
    assert (made["search_type"], made["sort_by"], made["sort_direction"], made["folder_path"], made["sort_order"]) == (
        "hybrid", "relevance", "desc", "/", 3,
    )  # fmt: skip
    assert made["is_smart_search"] is True
    assert made["updated_at"]
    node = desk.client.get(f"/api/documents/{made['id']}").json()
    assert (node["node_kind"], node["name"]) == ("saved_search", '"Dear Sir" NOT Madam')
    assert desk.ids("Madam") == []


def test_it_is_changed_in_part_and_called_after_its_query(desk: SearchDesk) -> None:
    made = keep(desk, "alpha", filters={"is_starred": True}, sort_by="name")
    changed = desk.client.put(f"{SAVED}/{made['id']}", json={"query": "beta\n"}).json()
    assert (changed["query"], changed["sort_by"], changed["filters"]) == (
        "beta\n",
        "name",
        {"is_starred": True},
    )
    assert desk.client.get(f"/api/documents/{made['id']}").json()["name"] == "beta"
    assert desk.client.put(f"{SAVED}/{made['id']}", json={"query": None}).status_code == 422
    cleared = desk.client.put(f"{SAVED}/{made['id']}", json={"filters": None, "sort_by": None}).json()
    assert (cleared["filters"], cleared["sort_by"], cleared["query"]) == (None, "relevance", "beta\n")
    desk.undo(cleared["audit_id"])
    desk.undo(changed["audit_id"])
    (second_item,) = desk.client.get(SAVED).json()["items"]
    assert (second_item["query"], second_item["filters"]) == ("alpha", {"is_starred": True})


def test_duplicates_deletions_and_their_undo(desk: SearchDesk) -> None:
    made = keep(desk, "alpha", folder_path="/Letters")
    twin = desk.client.post(f"{SAVED}/{made['id']}/duplicate").json()
    assert twin["id"] != made["id"]
    assert (twin["query"], twin["folder_path"]) == ("alpha", "/Letters")
    removed_answer = desk.client.delete(f"{SAVED}/{made['id']}").json()
    assert (removed_answer["status"], removed_answer["id"]) == ("deleted", made["id"])
    assert list_names(desk) == [twin["id"]]
    for method, path in (("DELETE", ""), ("POST", "/duplicate"), ("PUT", "")):
        answer = desk.client.request(
            method, f"{SAVED}/{made['id']}{path}", json={} if method == "PUT" else None
        )
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_search")
    desk.undo(removed_answer["audit_id"])
    assert set(list_names(desk)) == {made["id"], twin["id"]}


def test_they_are_put_in_order_folder_by_folder(desk: SearchDesk) -> None:
    one, two, three = (keep(desk, word)["id"] for word in ("one", "two", "three"))
    other = keep(desk, "other", folder_path="/Letters")["id"]
    answer = desk.client.post(f"{SAVED}/reorder", json=[three, one])
    assert (answer.status_code, answer.json()["status"], answer.json()["count"]) == (200, "reordered", 3)
    assert list_names(desk) == [three, one, two, other]
    desk.undo(answer.json()["audit_id"])
    assert list_names(desk) == [one, two, three, other]
    lost = desk.client.post(f"{SAVED}/reorder", params={"folder_path": "/Letters"}, json=[one])
    assert (lost.status_code, lost.json()["code"]) == (422, "not_in_folder")
    twice = desk.client.post(f"{SAVED}/reorder", json=[one, one])
    assert (twice.status_code, twice.json()["code"]) == (422, "named_twice")


def test_words_that_a_search_does_not_know_are_refused(desk: SearchDesk) -> None:
    for field in ("search_type", "sort_by", "sort_direction"):
        answer = desk.client.post(SAVED, json={"query": "x", field: "wrong"})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_word")
    made = keep(desk, "x")
    assert desk.client.put(f"{SAVED}/{made['id']}", json={"sort_by": "wrong"}).status_code == 400
    assert desk.client.post(SAVED, json={"query": "x", "filters": {"colour": "red"}}).status_code == 422
    assert (
        desk.client.post(SAVED, json={"query": "x", "filters": {"parent_id": "nowhere"}}).status_code == 404
    )
    assert desk.client.post(SAVED, json={"query": "x", "created_by": "me"}).status_code == 422
