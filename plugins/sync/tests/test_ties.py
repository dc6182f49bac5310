"""Tying folders: what is refused, what is undone, and the conformance kit."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sync_desk import SyncDesk

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_sync import jobs
from armarium_testing.conformance import exercise_plugin


def test_the_family_conforms(engine: Engine, tmp_path: Path) -> None:
    assert exercise_plugin(engine, "sync", tmp_path / "kit") == []


def tie_folder(desk: SyncDesk, path: Path | str, formats: tuple[str, ...] = ("pagexml",), **more: Any) -> Any:
    body = {"path": str(path), "formats": list(formats), **more}
    return desk.client.post("/api/sync-folders", json=body)


def test_what_may_not_be_tied_is_refused_in_words(desk: SyncDesk, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(desk.library.path)
    cases = [
        (tmp_path / "no" / "where", ("pagexml",), {}, 404, "path_not_found"),
        (tmp_path / "file", ("pagexml",), {}, 422, "not_a_folder"),
        (desk.folder, (), {}, 422, "no_formats"),
        (desk.folder, (), {"mode": "keep-arranged"}, 422, "no_project_folder"),
        (tmp_path, ("pagexml",), {}, 422, "holds_project"),
        (desk.library.path / "derived", ("pagexml",), {}, 403, "path_not_allowed"),
        (tmp_path / "link", ("pagexml",), {}, 403, "path_not_allowed"),
        ("/", ("pagexml",), {}, 403, "path_not_allowed"),
        ("relative", ("pagexml",), {}, 422, "bad_path"),
        (desk.folder, ("docx",), {}, 422, "unknown_format"),
        (desk.folder, ("pagexml",), {"other": 1}, 422, "invalid_request"),
    ]
    for path, formats, more, status, code in cases:
        answer = tie_folder(desk, path, formats, **more)
        assert (answer.status_code, answer.json().get("code")) == (status, code), (path, answer.text)
        assert len(answer.json()["detail"]) > 20
    assert desk.client.get("/api/sync-folders").json() == {"folders": []}


def test_two_ties_never_share_files(desk: SyncDesk, tmp_path: Path) -> None:
    folder_id = desk.tie()
    (desk.folder / "inner").mkdir()
    (tmp_path / "other name").symlink_to(desk.folder)
    for place in (desk.folder, desk.folder / "inner", tmp_path / "other name"):
        answer = tie_folder(desk, place)
        assert answer.status_code == 409
        assert answer.json()["code"] == "already_tied"
    other_path = tmp_path / "Other.library"
    desk.engine.run(None, "library.create", {"path": str(other_path)}, LOCAL_OWNER)
    params = {"path": str(desk.folder), "formats": ["tei"]}
    stranger = desk.engine.libraries.get(other_path)
    with pytest.raises(Exception, match="share files"):
        desk.engine.run(stranger, "sync.tie", params, LOCAL_OWNER)
    assert desk.client.delete(f"/api/sync-folders/{folder_id}").json()["status"] == "untied"
    assert tie_folder(desk, desk.folder / "inner").status_code == 200


def test_a_folder_that_may_only_be_read_is_refused(desk: SyncDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("armarium_sync.disk.Disk.mark", refuse)
        answer = tie_folder(desk, desk.folder)
    assert answer.status_code == 422
    assert answer.json()["code"] == "not_writable"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        assert tie_folder(desk, desk.folder / "new").json()["code"] == "not_writable"
    root = desk.scans("a.png")
    folder_id = desk.tie()
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *given, **more: False)
        answer = desk.client.put(f"/api/sync-folders/{folder_id}/mode", json={"mode": "keep-arranged"})
    assert answer.json()["code"] == "not_writable"
    assert root


def test_a_name_that_no_disk_takes_is_refused(desk: SyncDesk) -> None:
    answer = tie_folder(desk, desk.folder / ("n" * 300))
    assert answer.status_code == 422
    assert answer.json()["code"] == "not_writable"


def test_mode_needs_a_project_folder_and_something_to_do(desk: SyncDesk) -> None:
    folder_id = desk.tie()
    answer = desk.client.put(f"/api/sync-folders/{folder_id}/mode", json={"mode": "keep-arranged"})
    assert answer.status_code == 422
    assert answer.json()["code"] == "no_project_folder"
    desk.client.delete(f"/api/sync-folders/{folder_id}")
    desk.scans("a.png")
    answer = tie_folder(desk, desk.folder, (), mode="keep-arranged")
    assert answer.status_code == 200
    url = f"/api/sync-folders/{answer.json()['id']}/mode"
    assert desk.client.put(url, json={"mode": "index"}).json()["code"] == "no_formats"


def test_unknown_folders_and_files_are_named(desk: SyncDesk) -> None:
    for method, path in (
        ("DELETE", ""),
        ("GET", "/intake"),
        ("PUT", "/intake"),
        ("GET", "/arrangement"),
    ):
        body = {"on": True} if method == "PUT" else None
        answer = desk.client.request(method, f"/api/sync-folders/nobody{path}", json=body)
        assert answer.status_code == 404
        assert answer.json()["code"] == "unknown_sync_folder"
    assert desk.expect_refusal("sync.take_in", {"file_id": "nobody"}).code == "unknown_sync_file"


def test_files_that_are_not_to_be_taken_in_are_refused(desk: SyncDesk) -> None:
    page = desk.page()
    folder_id = desk.tie()
    desk.settle(folder_id)
    (desk.folder / "notes.txt").write_text("mine")
    desk.look(folder_id)
    ids = dict(desk.rows("SELECT path, id FROM sync_file"))
    own = f"pagexml/{desk.file(page).name}"
    for path, words in (("notes.txt", "does not keep this file"), (own, "already has this version")):
        refused = desk.expect_refusal("sync.take_in", {"file_id": ids[path]})
        assert refused.code == "not_read_back"
        assert words in refused.detail
    desk.file(page).unlink()
    assert "no longer exists" in desk.expect_refusal("sync.take_in", {"file_id": ids[own]}).detail
    assert desk.expect_refusal("sync.follow", {"file_id": ids["notes.txt"]}).code == "not_moved"
    (desk.folder / "notes.txt").unlink()
    (desk.folder / "notes.txt").mkdir()
    assert desk.expect_refusal("sync.follow", {"file_id": ids["notes.txt"]}).code == "not_read_back"
    desk.folder.rename(f"{desk.folder}-away")
    for name in ("take_in", "follow"):
        assert desk.expect_refusal(f"sync.{name}", {"file_id": ids[own]}).code == "folder_gone"


def test_untying_leaves_the_files_and_tied_again_they_are_known(desk: SyncDesk) -> None:
    page = desk.page()
    folder_id = desk.tie()
    desk.settle(folder_id)
    before = desk.file(page).read_bytes()
    answer = desk.client.delete(f"/api/sync-folders/{folder_id}").json()
    assert desk.file(page).read_bytes() == before
    desk.engine.undo(desk.library, [answer["audit_id"]], LOCAL_OWNER)
    assert [file["document_id"] for file in desk.entry(folder_id)["files"]] == [page]
    desk.client.delete(f"/api/sync-folders/{folder_id}")
    desk.correct(page, "Dear Madam")
    again = desk.tie()
    desk.settle(again)
    assert b"Dear Madam" in desk.file(page).read_bytes()
    assert desk.entry(again)["in_the_way"] == []


def test_a_file_of_somebody_elses_in_the_way_stays(desk: SyncDesk) -> None:
    page = desk.page()
    place = desk.folder / "pagexml" / f"a letter--{page}.xml"
    place.parent.mkdir()
    place.write_text("mine")
    folder_id = desk.tie()
    desk.settle(folder_id)
    assert place.read_text() == "mine"
    assert desk.entry(folder_id)["in_the_way"] == [f"pagexml/{place.name}"]
    assert desk.passes(page) == ["PAGE XML: a.xml"]
    place.unlink()
    desk.settle(folder_id)
    assert "Dear Sir" in place.read_text("utf-8")
    assert desk.entry(folder_id)["in_the_way"] == []


def test_a_retitled_page_takes_its_file_along(desk: SyncDesk) -> None:
    page = desk.page(name="draft")
    folder_id = desk.tie()
    desk.settle(folder_id)
    title = "A title of very many bytes " + "é" * 300
    desk.do("document.update", {"document_id": page, "name": title[:400]})
    desk.settle(folder_id)
    names = sorted(path.name for path in (desk.folder / "pagexml").iterdir())
    assert len(names) == 2
    assert all(len(name.encode()) <= 255 and page in name for name in names)
    assert names[0].startswith("A title of very many")
    assert desk.entry(folder_id)["deleted_outside"] == []


def test_work_waits_its_turn_and_the_quiet_period(
    desk: SyncDesk, monkeypatch: pytest.MonkeyPatch, families: list[Any]
) -> None:
    monkeypatch.setattr("armarium_sync.writing.QUIET", 0.3)
    page = desk.page()
    folder_id = desk.tie()
    desk.work()
    desk.correct(page, "Dear Madam")
    assert desk.entry(folder_id)["pending"] == 1
    desk.work()
    assert "Dear Madam" in desk.file(page).read_text("utf-8")
    states = desk.rows("SELECT kind, state FROM job WHERE kind IN ('write-to-folder', 'sync-look')")
    assert {state for _, state in states} == {"done"}
    lock = desk.library.held.setdefault(f"sync.lock.{folder_id}", threading.Lock())
    monkeypatch.setattr(jobs, "BUSY", 0.1)
    with lock:
        desk.correct(page, "Dear Doctor")
        desk.engine.jobs.run_until_idle(desk.library, 0.5)
        desk.engine.jobs.stop()
        assert "Dear Madam" in desk.file(page).read_text("utf-8")
    desk.work()
    assert "Dear Doctor" in desk.file(page).read_text("utf-8")


def test_a_full_disk_is_told_and_nothing_is_lost(desk: SyncDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    page = desk.page()
    folder_id = desk.tie()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("armarium_sync.disk.flush", full)
        with pytest.raises(Exception, match="No space left"):
            desk.write(folder_id)
    assert [path.name for path in desk.folder.rglob("*.xml")] == []
    assert not list(desk.folder.rglob("*.tmp"))
    desk.settle(folder_id)
    assert "Dear Sir" in desk.file(page).read_text("utf-8")


def test_a_watched_folder_keeps_the_engine_and_says_why(
    make_engine: Callable[..., Engine], families: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    from armarium_testing.fixtures import http_client

    monkeypatch.setattr("armarium_sync.writing.QUIET", 0.1)
    engine = make_engine(plugins=families, jobs=True)
    engine.run(None, "library.create", {"path": str(tmp_path / "W.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "W.library")
    folder = tmp_path / "watched"
    folder.mkdir()
    clients = http_client(engine, library)
    desk = SyncDesk(engine, library, next(clients), folder)
    page = desk.page()
    folder_id = desk.tie()
    engine.stay.rest_seconds = 0.001
    desk.do("sync.intake", {"folder_id": folder_id, "on": True})

    def until(what: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not what():
            assert time.monotonic() < end
            time.sleep(0.05)

    until(lambda: bool(list(folder.rglob("*.loss.json"))))
    until(lambda: desk.entry(folder_id)["watched"] == "events of the disk")
    until(lambda: not desk.rows("SELECT 1 FROM job WHERE state IN ('waiting', 'running')"))
    until(lambda: str(folder) in engine.stay.describe()["stays_because"])
    assert "It watches the folder" in engine.stay.describe()["stays_because"]
    assert not engine.stay.is_over()
    desk.edit(desk.file(page), "Dear Madam")
    until(lambda: len(desk.passes(page)) == 2)
    desk.do("sync.intake", {"folder_id": folder_id, "on": False})
    assert "watches" not in engine.stay.describe()["stays_because"]
