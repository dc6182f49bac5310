"""Workspaces over HTTP: four kinds of members, the Trash, undo, transfers, rights, and every refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from armarium.api import Conflict, Engine, Invalid, Library, NotFound, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.conformance import exercise_plugin
from armarium_testing.digest import differences, table_digests

NOWHERE = "f" * 32
BASE = "/api/chat/workspaces"
Run = Any


def page(do: Run, name: str = "Letter", **more: Any) -> str:
    return str(do("document.create", {"name": name, "doc_type": "page", **more})["id"])


def note(do: Run) -> str:
    return str(do("document.create", {"name": "Note", "node_kind": "note", "page_content": "Who?"})["id"])


def workspace(do: Run, *add: dict[str, Any], title: str = "Letters") -> str:
    workspace_id = str(do("workspace.create", {"title": title})["id"])
    if add:
        do("workspace.members", {"workspace_id": workspace_id, "add": list(add)})
    return workspace_id


def test_actions_conform(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "agents", tmp_path / "kit") == []


def test_a_workspace_from_first_to_last(client: Any, do: Run) -> None:
    letter = page(do)
    response = client.post(
        BASE, json={"title": "Letters", "messages": [{"role": "user", "content": "Who wrote?"}]}
    )
    assert response.status_code == 200, response.text
    answer = response.json()
    assert (answer["title"], answer["members"], answer["provider"], answer["scoped_document_ids"]) == (
        "Letters",
        [],
        None,
        [],
    )
    assert [(message["role"], message["content"], bool(message["at"])) for message in answer["messages"]] == [
        ("user", "Who wrote?", True)
    ]
    changed = client.patch(
        f"{BASE}/{answer['id']}",
        json={
            "title": "Letters of 1650",
            "provider": "ollama",
            "model": "qwen",
            "scoped_document_ids": [letter, letter],
        },
    ).json()
    assert (changed["title"], changed["provider"], changed["scoped_document_ids"]) == (
        "Letters of 1650",
        "ollama",
        [letter],
    )
    assert changed["messages"] == answer["messages"]
    assert changed["updated_at"] >= answer["updated_at"]
    assert client.patch(f"{BASE}/{answer['id']}", json={"title": None}).status_code == 422
    cleared = client.patch(f"{BASE}/{answer['id']}", json={"provider": None, "messages": None}).json()
    assert (cleared["provider"], cleared["messages"], cleared["title"]) == (None, [], "Letters of 1650")
    assert {**client.get(f"{BASE}/{answer['id']}").json(), "audit_id": 0} == {**cleared, "audit_id": 0}
    listed = client.get(BASE).json()
    assert (listed["count"], listed["total"], listed["items"][0]["id"]) == (1, 1, answer["id"])
    assert client.delete(f"{BASE}/{answer['id']}").json()["status"] == "deleted"
    assert client.get(BASE).json()["items"] == []
    assert client.get(f"{BASE}/{answer['id']}").status_code == 409
    do("document.restore", {"document_id": answer["id"]})
    assert client.get(f"{BASE}/{answer['id']}").json()["title"] == "Letters of 1650"


def test_four_kinds_of_members(client: Any, do: Run) -> None:
    letter, question, new_workspace = page(do), note(do), workspace(do)
    add = [
        {"kind": "source", "target_id": letter, "label": "The letter"},
        {"kind": "note", "target_id": question, "note": "To be answered"},
        {"kind": "entity", "target_id": "e1"},
        {"kind": "claim", "target_id": "c1"},
    ]
    answer = client.patch(f"{BASE}/{new_workspace}/members", json={"add": add})
    assert answer.status_code == 200, answer.text
    members = answer.json()["members"]
    assert [(member["kind"], member["target_id"]) for member in members] == [
        (member["kind"], member["target_id"]) for member in add
    ]
    assert (members[0]["label"], members[1]["note"], members[0]["added_by"]) == (
        "The letter",
        "To be answered",
        "owner",
    )
    second_answer = client.patch(
        f"{BASE}/{new_workspace}/members", json={"add": [{**add[0], "label": "Another"}]}
    ).json()
    assert second_answer["members"] == members
    fewer = client.patch(
        f"{BASE}/{new_workspace}/members", json={"remove_ids": [members[0]["id"], members[2]["id"]]}
    ).json()
    assert [member["kind"] for member in fewer["members"]] == ["note", "claim"]


def test_members_come_and_go_with_what_they_refer_to(client: Any, do: Run, known: set[str]) -> None:
    letter = page(do)
    new_workspace = workspace(
        do, {"kind": "source", "target_id": letter}, {"kind": "entity", "target_id": "e1"}
    )
    do("workspace.update", {"workspace_id": new_workspace, "scoped_document_ids": [letter]})
    do("document.delete", {"ids": [letter]})
    known.clear()
    answer = client.get(f"{BASE}/{new_workspace}").json()
    assert (answer["members"], answer["scoped_document_ids"]) == ([], [])
    do("document.restore", {"document_id": letter})
    known.add("e1")
    answer = client.get(f"{BASE}/{new_workspace}").json()
    assert ([member["target_id"] for member in answer["members"]], answer["scoped_document_ids"]) == (
        [letter, "e1"],
        [letter],
    )


def test_a_node_of_the_tree_is_a_workspace_as_well(client: Any, do: Run) -> None:
    result = do("document.create", {"name": "Plain", "node_kind": "workspace"})["id"]
    assert client.get(f"{BASE}/{result}").json()["messages"] == []
    assert client.patch(f"{BASE}/{result}", json={"model": "qwen"}).json()["model"] == "qwen"


def test_every_write_is_taken_back(engine: Engine, library: Library, do: Run) -> None:
    letter, new_workspace = page(do), workspace(do)
    before = table_digests(library.db, engine.library_schema)
    steps = [
        (
            "workspace.members",
            {"workspace_id": new_workspace, "add": [{"kind": "source", "target_id": letter}]},
        ),
        (
            "workspace.update",
            {"workspace_id": new_workspace, "title": "Other", "messages": [{"role": "tool", "content": "x"}]},
        ),
        ("workspace.delete", {"workspace_id": new_workspace}),
    ]
    audit_ids = [engine.run(library, name, params, LOCAL_OWNER).audit_id for name, params in steps]
    for audit_id in reversed(audit_ids):
        engine.undo(library, [audit_id], LOCAL_OWNER)
    assert differences(before, table_digests(library.db, engine.library_schema)) == []


def test_a_move_cuts_slots_and_a_workspace_takes_its_own_along(
    engine: Engine, library: Library, do: Run, tmp_path: Path
) -> None:
    engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    target = engine.libraries.get(tmp_path / "To.library")
    box = do("document.create", {"name": "Box"})["id"]
    letter = page(do, parent_id=box)
    stays = workspace(do, {"kind": "source", "target_id": letter}, title="Stays")
    goes = do("workspace.create", {"title": "Goes", "parent_id": box})["id"]
    do("workspace.members", {"workspace_id": goes, "add": [{"kind": "source", "target_id": letter}]})
    before = table_digests(library.db, engine.library_schema)
    params = {"source_library": str(library.path), "items": [box], "mode": "move"}
    outcome = engine.run(target, "document.transfer", params, LOCAL_OWNER)
    assert outcome.result is not None
    assert [(cut["kind"], cut["name"]) for cut in outcome.result["cuts"]] == [("workspace_slot", "Letter")]
    with library.db.read() as conn:
        rows = raw_of(conn).execute("SELECT workspace_id FROM agents_member").fetchall()
    assert (stays,) not in rows
    with target.db.read() as conn:
        raw = raw_of(conn)
        ((target_id, workspace_id),) = raw.execute(
            "SELECT target_id, workspace_id FROM agents_member"
        ).fetchall()
        names = dict(raw.execute("SELECT id, name FROM document").fetchall())
    assert (names[target_id], names[workspace_id]) == ("Letter", "Goes")
    engine.undo(library, [outcome.result["source_audit_id"]], LOCAL_OWNER)
    assert table_digests(library.db, engine.library_schema) == before


def test_a_purge_takes_a_workspace_along(library: Library, do: Run) -> None:
    new_workspace = workspace(do, {"kind": "source", "target_id": page(do)})
    do("workspace.delete", {"workspace_id": new_workspace})
    do("document.empty_trash", {})
    with library.db.read() as conn:
        for table in ("agents_workspace", "agents_member"):
            assert raw_of(conn).execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_withheld_member_is_not_shown(client: Any, do: Run) -> None:
    secret, letter = page(do, "Secret"), page(do)
    new_workspace = workspace(
        do, {"kind": "source", "target_id": secret}, {"kind": "source", "target_id": letter}
    )
    do("workspace.update", {"workspace_id": new_workspace, "scoped_document_ids": [secret, letter]})
    do("rights.set", {"target_kind": "document", "target_id": secret, "restricted": True})
    answer = client.post("/api/tokens", json={"name": "a device", "role": "editor"}).json()
    token = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
    first_answer = client.get(f"{BASE}/{new_workspace}", headers={"Authorization": f"Bearer {token}"}).json()
    assert (
        [member["target_id"] for member in first_answer["members"]],
        first_answer["scoped_document_ids"],
    ) == ([letter], [letter])


@pytest.mark.parametrize("how", ["scope", "member"])
def test_what_was_said_about_a_withheld_page_is_not_shown(client: Any, do: Run, how: str) -> None:
    secret, letter = page(do, "Secret"), page(do)
    said = [{"role": "user", "content": "Ana was accused here"}]
    made, other = (
        str(do("workspace.create", {"title": title, "model": "qwen", "messages": said})["id"])
        for title in ("About it", "About another")
    )
    for workspace_id, target in ((made, secret), (other, letter)):
        if how == "scope":
            do("workspace.update", {"workspace_id": workspace_id, "scoped_document_ids": [target]})
        else:
            add = [{"kind": "source", "target_id": target}]
            do("workspace.members", {"workspace_id": workspace_id, "add": add})
    changed = do("workspace.update", {"workspace_id": made, "messages": [*said, *said]})
    do("rights.set", {"target_kind": "document", "target_id": secret, "restricted": True})
    answer = client.post("/api/tokens", json={"name": "an agent", "role": "editor"}).json()
    headers = {"Authorization": f"Bearer {answer['token']}"}
    first_answer = client.get(f"{BASE}/{made}", headers=headers).json()
    assert (first_answer["title"], first_answer["messages"], first_answer["model"]) == ("About it", [], None)
    assert client.get(f"{BASE}/{other}", headers=headers).json()["messages"] != []
    renamed = client.patch(f"{BASE}/{made}", headers=headers, json={"title": "About it"}).json()
    second_answer = client.get(f"{BASE}/{made}", headers=headers).json()
    assert renamed == {name: value for name, value in second_answer.items() if name != "withheld"} | {
        "audit_id": renamed["audit_id"]
    }
    assert changed
    for step in client.get("/api/actions/audit", headers=headers).json()["items"]:
        if step["action_name"] == "workspace.update" and made in step["target_ids"]:
            response = client.get(f"/api/actions/audit/{step['id']}", headers=headers)
            assert "accused" not in response.text
    assert len(client.get(f"{BASE}/{made}").json()["messages"]) == 2


def test_a_withheld_entity_is_no_member_for_others(client: Any, do: Run, secret: set[str]) -> None:
    hidden = page(do, "Secret")
    new_workspace = workspace(do)
    add = [
        {"kind": "entity", "target_id": "e1", "label": "The secret one"},
        {"kind": "claim", "target_id": "c1"},
    ]
    do("workspace.members", {"workspace_id": new_workspace, "add": add})
    do("rights.set", {"target_kind": "document", "target_id": hidden, "restricted": True})
    secret.add("e1")
    answer = client.post("/api/tokens", json={"name": "an agent", "role": "editor"}).json()
    headers = {"Authorization": f"Bearer {answer['token']}"}
    for one in (
        client.get(f"{BASE}/{new_workspace}", headers=headers).json(),
        client.get(BASE, headers=headers).json()["items"][0],
    ):
        assert [member["target_id"] for member in one["members"]] == ["c1"]
    assert len(client.get(f"{BASE}/{new_workspace}").json()["members"]) == 2
    body = {"add": [{"kind": "entity", "target_id": "e1"}]}
    assert client.patch(f"{BASE}/{new_workspace}/members", json=body, headers=headers).status_code == 403


def test_the_time_of_a_message_is_one(client: Any) -> None:
    for at, kept in (
        ("2026-01-31T13:00:00+01:00", "2026-01-31T12:00:00.000Z"),
        ("2026-01-31", "2026-01-31T00:00:00.000Z"),
    ):
        said = [{"role": "user", "content": "x", "at": at}]
        answer = client.post(BASE, json={"title": "x", "messages": said}).json()
        assert answer["messages"][0]["at"] == kept
    for at in ("yesterday", "", "0001-01-01T00:00:00+14:00"):
        said = [{"role": "user", "content": "x", "at": at}]
        assert client.post(BASE, json={"title": "x", "messages": said}).status_code == 422, at


def test_a_workspace_whose_members_changed_was_changed(client: Any, do: Run) -> None:
    new_workspace, other_workspace = workspace(do, title="First"), workspace(do, title="Second")
    assert client.get(BASE).json()["items"][0]["id"] == other_workspace
    before = client.get(f"{BASE}/{new_workspace}").json()["updated_at"]
    body = {"add": [{"kind": "source", "target_id": page(do)}]}
    updated_at = client.patch(f"{BASE}/{new_workspace}/members", json=body).json()["updated_at"]
    assert updated_at > before
    assert client.get(BASE).json()["items"][0]["id"] == new_workspace
    assert client.patch(f"{BASE}/{new_workspace}/members", json=body).json()["updated_at"] == updated_at


def test_what_is_no_member_is_refused(client: Any, do: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    letter, question, new_workspace = page(do), note(do), workspace(do)
    other_workspace = workspace(do, {"kind": "source", "target_id": letter}, title="Other")
    theirs = client.get(f"{BASE}/{other_workspace}").json()["members"][0]["id"]

    def add(kind: str, target_id: str) -> None:
        do(
            "workspace.members",
            {"workspace_id": new_workspace, "add": [{"kind": kind, "target_id": target_id}]},
        )

    for kind in ("source", "note", "entity", "claim"):
        with pytest.raises(NotFound, match=NOWHERE):
            add(kind, NOWHERE)
    for kind, target_id, said in (
        ("source", question, "is a note"), ("note", letter, "is not a note"), ("source", new_workspace, "a workspace itself"),
    ):  # fmt: skip
        with pytest.raises(Invalid, match=said) as refusal:
            add(kind, target_id)
        assert refusal.value.code == "other_kind"
    with pytest.raises(Conflict) as merged:
        add("entity", "merged")
    assert merged.value.code == "merged"
    for member_id in (NOWHERE, theirs):
        with pytest.raises(NotFound) as unknown:
            do("workspace.members", {"workspace_id": new_workspace, "remove_ids": [member_id]})
        assert unknown.value.code == "member_not_found"
    do("document.delete", {"ids": [question]})
    with pytest.raises(Conflict) as trashed:
        add("note", question)
    assert trashed.value.code == "document_in_trash"
    monkeypatch.setattr("armarium_agents.actions.MAX_MEMBERS", 1)
    add("source", letter)
    with pytest.raises(Invalid) as full:
        add("claim", "c1")
    assert full.value.code == "workspace_full"
    for body in ({}, {"add": [{"kind": "place", "target_id": letter}]}, {"add": [], "members": []}):
        assert client.patch(f"{BASE}/{new_workspace}/members", json=body).status_code == 422


def test_what_is_no_workspace_is_refused(client: Any, do: Run) -> None:
    for identity in (NOWHERE, page(do)):
        for answer in (
            client.get(f"{BASE}/{identity}"),
            client.patch(f"{BASE}/{identity}", json={"title": "x"}),
            client.delete(f"{BASE}/{identity}"),
            client.patch(f"{BASE}/{identity}/members", json={"remove_ids": ["a"]}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "workspace_not_found")
    for body in (
        {},
        {"title": ""},
        {"title": "x", "id": "y"},
        {"title": "x", "messages": [{"role": "judge", "content": ""}]},
    ):
        assert client.post(BASE, json=body).status_code == 422
    gone = client.post(BASE, json={"title": "x", "scoped_document_ids": [NOWHERE]})
    assert gone.status_code == 404


def test_what_is_said_stays_out_of_the_audit(library: Library, do: Run) -> None:
    do(
        "workspace.create",
        {"title": "x", "messages": [{"role": "user", "content": "a secret of the source"}]},
    )
    with library.db.read() as conn:
        assert "secret" not in str(raw_of(conn).execute("SELECT params FROM audit").fetchall())
