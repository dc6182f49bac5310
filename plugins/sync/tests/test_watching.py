"""Folders that the disk reports nothing of are scanned at intervals, and their entry says why; folders of very many files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sync_desk import SyncDesk

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_sync import watching
from armarium_testing.fixtures import http_client


@pytest.fixture
def awake(
    make_engine: Callable[..., Engine], families: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SyncDesk]:
    """A desk whose jobs run by themselves."""
    monkeypatch.setattr("armarium_sync.writing.QUIET", 0.05)
    engine = make_engine(plugins=families, jobs=True)
    engine.run(None, "library.create", {"path": str(tmp_path / "W.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "W.library")
    (tmp_path / "watched").mkdir()
    clients = http_client(engine, library)
    yield SyncDesk(engine, library, next(clients), tmp_path / "watched")
    clients.close()


def until(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def out_of_watches(*_: Any, **__: Any) -> Any:
    raise OSError(28, "inotify watch limit reached")


@pytest.mark.parametrize("why", ["no watches are left", "a network disk"])
def test_without_events_of_the_disk_the_folder_is_scanned_and_says_so(
    awake: SyncDesk, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(watching, "SCAN_EVERY", 0.1)
    monkeypatch.setattr(watching, "ROUND", 0.05)
    if why == "a network disk":
        monkeypatch.setattr(watching, "_is_remote", lambda path: True)
    else:
        monkeypatch.setattr("watchfiles.watch", out_of_watches)
    page = awake.page()
    folder_id = awake.tie()
    until(lambda: bool(list(awake.folder.rglob("*.loss.json"))))
    awake.do("sync.intake", {"folder_id": folder_id, "on": True})
    until(lambda: "scans every" in (awake.entry(folder_id)["watched"] or ""))
    watched = awake.entry(folder_id)["watched"]
    assert ("network disk" if why == "a network disk" else "watch limit") in watched
    awake.edit(awake.file(page), "Dear Madam")
    until(lambda: len(awake.passes(page)) == 2)


@pytest.mark.parametrize(
    ("kind", "remote"), [("nfs4", True), ("cifs", True), ("fuse.sshfs", True), ("ext4", False)]
)
def test_disks_of_other_machines_are_known(monkeypatch: pytest.MonkeyPatch, kind: str, remote: bool) -> None:
    mounts = f"1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:9 / /mnt/my\\040share rw - {kind} server:/x rw\n"
    real = open

    def fake(path: Any, *given: Any, **more: Any) -> Any:
        import io

        return io.StringIO(mounts) if path == "/proc/self/mountinfo" else real(path, *given, **more)

    monkeypatch.setattr("builtins.open", fake)
    assert watching._is_remote("/mnt/my share/letters") is remote
    assert watching._is_remote("/mnt/my share") is remote
    assert watching._is_remote("/mnt/my shared") is False


@pytest.mark.slow
def test_a_folder_of_a_hundred_thousand_files_is_listed_and_none_is_touched(desk: SyncDesk) -> None:
    page = desk.page()
    for box in range(100):
        inner = desk.folder / f"box {box}"
        inner.mkdir()
        for number in range(1_000):
            (inner / f"{number}.txt").touch()
    folder_id = desk.tie()
    desk.do("sync.intake", {"folder_id": folder_id, "on": True})
    desk.settle(folder_id)
    entry = desk.entry(folder_id)
    assert [file["document_id"] for file in entry["files"]] == [page]
    assert len(entry["not_read_back"]) == 100_000
    assert desk.passes(page) == ["PAGE XML: a.xml"]
