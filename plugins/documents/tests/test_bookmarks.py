"""Bookmarks: alias nodes that lead to a live target, or say that it is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from documents_fixtures import Run

from armarium.api import Conflict, Invalid, NotFound

Make = Callable[..., str]


def test_a_bookmark_is_the_alias_not_its_target(client: Any, folder: Make) -> None:
    target, shelf = folder("Letters"), folder("Shelf")
    response = client.post(
        "/api/bookmarks", json={"target_id": target, "parent_id": shelf, "name": "Read me"}
    )
    assert response.status_code == 201
    mark = response.json()
    assert (mark["node_kind"], mark["prototype_key"], mark["alias_target_id"]) == (
        "alias",
        "bookmark",
        target,
    )
    assert (mark["name"], mark["parent_id"]) == ("Read me", shelf)
    assert client.get(f"/api/bookmarks/{mark['id']}/resolve").json()["id"] == target
    plain = client.post("/api/bookmarks", json={"target_id": target}).json()
    assert (plain["name"], plain["parent_id"]) == ("Letters", None)
    everything = client.get("/api/bookmarks").json()
    assert everything["count"] == len(everything["items"]) == 2
    here = client.get("/api/bookmarks", params={"parent_id": shelf}).json()
    assert [item["id"] for item in here["items"]] == [mark["id"]]


def test_a_bookmark_dangles_in_words(client: Any, do: Run, folder: Make) -> None:
    target = folder("Letters")
    mark = do("bookmark.create", {"target_id": target})["id"]
    do("document.delete", {"ids": [target]})
    answer = client.get(f"/api/bookmarks/{mark}/resolve")
    assert (answer.status_code, answer.json()["code"]) == (404, "target_not_found")
    do("document.restore", {"document_id": target})
    assert client.get(f"/api/bookmarks/{mark}/resolve").status_code == 200
    do("document.delete", {"ids": [target]})
    do("document.empty_trash", {})
    assert client.get(f"/api/bookmarks/{mark}/resolve").status_code == 404
    assert client.get(f"/api/documents/{mark}").status_code == 200


def test_what_is_no_bookmark_resolves_to_nothing(client: Any, folder: Make) -> None:
    answer = client.get(f"/api/bookmarks/{folder('Box')}/resolve")
    assert (answer.status_code, answer.json()["code"]) == (404, "bookmark_not_found")
    assert client.get(f"/api/bookmarks/{'f' * 32}/resolve").status_code == 404
    assert client.get("/api/bookmarks", params={"parent_id": "f" * 32}).status_code == 404


def test_a_bookmark_needs_a_live_document(do: Run, folder: Make) -> None:
    target = folder("Letters")
    mark = do("bookmark.create", {"target_id": target})["id"]
    with pytest.raises(Invalid) as alias:
        do("bookmark.create", {"target_id": mark})
    assert alias.value.code == "target_is_alias"
    with pytest.raises(NotFound):
        do("bookmark.create", {"target_id": "f" * 32})
    with pytest.raises(Invalid):
        do("bookmark.create", {"target_id": target, "parent_id": mark})
    do("document.delete", {"ids": [target]})
    with pytest.raises(Conflict):
        do("bookmark.create", {"target_id": target})
