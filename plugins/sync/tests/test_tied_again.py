"""Ties that come about by an undo or a redo, and callers who may not reach a folder: the rules are those of tying it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sync_desk import PAGE, SyncDesk, picture

from armarium.api import ServiceError
from armarium.principals import LOCAL_OWNER

AGENT = replace(
    LOCAL_OWNER,
    kind="machine",
    role="editor",
    name="an agent",
    token_id="agent-1",
    token_kind="agent",
    folders=frozenset(),
)


def agent_headers(desk: SyncDesk, **more: Any) -> dict[str, str]:
    answer = desk.client.post("/api/tokens", json={"name": "an agent", "role": "editor", **more}).json()
    secret = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
    return {"Authorization": f"Bearer {secret}"}


def undo(desk: SyncDesk, audit_id: str, who: Any = LOCAL_OWNER) -> str:
    return str(desk.engine.undo(desk.library, [audit_id], who)["audit_ids"][0])


def test_what_changed_while_a_folder_was_untied_is_written_once_it_is_tied_again(desk: SyncDesk) -> None:
    page = desk.page()
    folder_id = desk.tie()
    desk.work()
    untied = desk.client.delete(f"/api/sync-folders/{folder_id}").json()["audit_id"]
    desk.correct(page, "Dear Madam")
    late = desk.page("Dear Doctor", "another letter")
    desk.work()
    assert "Dear Sir" in desk.file(page).read_text("utf-8")
    undo(desk, untied)
    desk.work()
    assert "Dear Madam" in desk.file(page).read_text("utf-8")
    assert "Dear Doctor" in desk.file(late).read_text("utf-8")


def test_a_tie_that_is_redone_writes_what_changed_since_it_was_undone(desk: SyncDesk) -> None:
    page = desk.page()
    answer = desk.client.post("/api/sync-folders", json={"path": str(desk.folder), "formats": ["pagexml"]})
    desk.work()
    undone = undo(desk, answer.json()["audit_id"])
    desk.correct(page, "Dear Madam")
    desk.work()
    assert "Dear Sir" in desk.file(page).read_text("utf-8")
    undo(desk, undone)
    desk.work()
    assert "Dear Madam" in desk.file(page).read_text("utf-8")


def test_an_undo_brings_no_tie_back_that_shares_files_with_another(desk: SyncDesk, tmp_path: Path) -> None:
    folder_id = desk.tie()
    (desk.folder / "inner").mkdir()
    untied = desk.client.delete(f"/api/sync-folders/{folder_id}").json()["audit_id"]
    body = {"path": str(desk.folder / "inner"), "formats": ["tei"]}
    inner = desk.client.post("/api/sync-folders", json=body).json()["id"]
    with pytest.raises(ServiceError, match="share files") as refused:
        undo(desk, untied)
    assert refused.value.fields["because"] == "already_tied"
    desk.client.delete(f"/api/sync-folders/{inner}")
    other_path = tmp_path / "Other.library"
    desk.engine.run(None, "library.create", {"path": str(other_path)}, LOCAL_OWNER)
    stranger = desk.engine.libraries.get(other_path)
    theirs = desk.engine.run(stranger, "sync.tie", body, LOCAL_OWNER).result or {}
    with pytest.raises(ServiceError, match="share files"):
        undo(desk, untied)
    desk.engine.run(stranger, "sync.untie", {"folder_id": theirs["id"]}, LOCAL_OWNER)
    undo(desk, untied)
    assert desk.entry(folder_id)["there"] is True


def test_a_token_without_the_folder_neither_ties_nor_brings_it_back_nor_has_files_read_or_moved(
    desk: SyncDesk,
) -> None:
    page = desk.page()
    headers = agent_headers(desk)
    body = {"path": str(desk.folder), "formats": ["pagexml"]}
    refused = desk.client.post("/api/sync-folders", json=body, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "path_not_allowed")
    folder_id = desk.tie()
    desk.settle(folder_id)
    desk.edit(desk.file(page), "Dear Madam")
    url = f"/api/sync-folders/{folder_id}"
    for path, change in (("intake", {"on": True}), ("mode", {"mode": "keep-arranged"})):
        refused = desk.client.put(f"{url}/{path}", json=change, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "path_not_allowed"), path
    ids = dict(desk.rows("SELECT path, id FROM sync_file"))
    for name, params in (
        ("sync.take_in", {"file_id": ids[f"pagexml/{desk.file(page).name}"]}),
        ("sync.follow", {"file_id": ids[f"pagexml/{desk.file(page).name}"]}),
        ("sync.arrange", {"folder_id": folder_id, "moves": []}),
    ):
        answer = desk.client.post(
            "/api/actions/invoke", json={"name": name, "params": params}, headers=headers
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "path_not_allowed"), name
    untied = desk.client.delete(url).json()["audit_id"]
    with pytest.raises(ServiceError) as barred:
        undo(desk, untied, AGENT)
    assert barred.value.code == "path_not_allowed"
    granted = agent_headers(desk, folders=[str(desk.folder)])
    assert desk.client.post("/api/sync-folders", json=body, headers=granted).status_code == 200


def test_a_folder_tied_to_be_kept_arranged_is_arranged(desk: SyncDesk) -> None:
    (desk.folder / "letters").mkdir()
    (desk.folder / "letters" / "0001.xml").write_text(PAGE.format(words="Dear Sir"), "utf-8")
    desk.scans("letters/0001.png")
    desk.do("document.update", {"document_id": desk.document_of("0001.png"), "name": "First.png"})
    desk.tie("pagexml", mode="keep-arranged")
    desk.work()
    assert (desk.folder / "letters" / "First.png").read_bytes() == picture(10)
    assert "Dear Sir" in (desk.folder / "letters" / "First.xml").read_text("utf-8")


def test_titles_of_pages_that_a_caller_may_not_see_are_not_listed(desk: SyncDesk) -> None:
    page, shut = desk.page(), desk.page("Secret", "the diary of Ann")
    folder_id = desk.tie()
    desk.settle(folder_id)
    desk.do("rights.set", {"target_kind": "document", "target_id": shut, "restricted": True})
    desk.edit(desk.file(shut), "Still secret")
    seen_answer = desk.client.get("/api/sync-folders", headers=agent_headers(desk))
    (entry,) = seen_answer.json()["folders"]
    assert "diary" not in seen_answer.text
    assert shut not in seen_answer.text
    assert [file["document_id"] for file in entry["files"]] == [page]
    (mine,) = desk.client.get("/api/sync-folders").json()["folders"]
    assert [one["document_id"] for one in mine["left_behind"]] == [shut]
    granted = agent_headers(desk, folders=[str(desk.folder)])
    answer = desk.client.put(f"/api/sync-folders/{folder_id}/intake", json={"on": False}, headers=granted)
    assert answer.status_code == 200, answer.text
    assert "diary" not in answer.text
