"""The history says in words what was done, and to which documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from documents_fixtures import Run
from fastapi.testclient import TestClient

Make = Callable[..., str]


def newest(client: TestClient, **query: Any) -> dict[str, Any]:
    row: dict[str, Any] = client.get("/api/actions/audit", params={"limit": 1, **query}).json()["items"][0]
    return row


def test_a_step_names_what_it_moved_and_where(client: TestClient, do: Run, folder: Make) -> None:
    box = folder("Box 2")
    ids = [folder(name) for name in ("0001", "0002", "0003", "0004", "0005")]
    do("document.move", {"ids": ids[:1], "parent_id": box})
    row = newest(client)
    assert row["words"] == "Moved 0001 to Box 2"
    assert row["about"] == [{"id": ids[0], "name": "0001"}]
    do("document.move", {"ids": ids[:2], "parent_id": None})
    assert newest(client)["words"] == "Moved 0001 and 0002 to the top"
    do("document.move", {"ids": ids, "parent_id": box})
    row = newest(client)
    assert row["words"] == "Moved 0001, 0002, 0003 and 2 more to Box 2"
    assert [one["name"] for one in row["about"]] == ["0001", "0002", "0003", "0004", "0005"]


def test_more_than_the_log_lists_are_counted(client: TestClient, do: Run, folder: Make) -> None:
    box = folder("Box")
    ids = [folder(f"{number:04}") for number in range(60)]
    do("document.move", {"ids": ids, "parent_id": box})
    assert newest(client)["words"] == "Moved 0000, 0001, 0002 and 57 more to Box"


def test_a_flag_decides_the_words(client: TestClient, do: Run, folder: Make) -> None:
    box = folder("Box")
    do("document.lock", {"document_id": box, "locked": True})
    assert newest(client)["words"] == "Locked Box"
    do("document.lock", {"document_id": box, "locked": False})
    assert newest(client)["words"] == "Unlocked Box"


def test_an_undo_and_its_redo_speak_of_the_step_they_are_about(
    client: TestClient, do: Run, folder: Make
) -> None:
    first = folder("First")
    do("document.update", {"document_id": first, "name": "Second"})
    step = newest(client)
    assert (step["words"], step["reversal"]) == ("Described Second", None)
    undone = client.post(f"/api/actions/audit/{step['id']}/undo").json()["audit_id"]
    row = newest(client)
    assert (row["words"], row["reversal"]) == ("Described First", "undo")
    client.post(f"/api/actions/audit/{undone}/undo")
    row = newest(client)
    assert (row["words"], row["reversal"]) == ("Described Second", "redo")
    assert newest(client, seq=step["seq"])["id"] == step["id"]
    assert client.get("/api/actions/audit", params={"seq": 9999}).json()["items"] == []


def test_what_is_gone_has_words_all_the_same(client: TestClient, folder: Make) -> None:
    new_folder = folder("Box")
    step = newest(client, target_id=new_folder)
    client.post(f"/api/actions/audit/{step['id']}/undo")
    assert newest(client)["words"] == "Made a folder or page"
    assert newest(client)["about"] == []
