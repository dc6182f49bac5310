"""Data are flushed to the disk itself, in the way of each operating system."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from armarium.store import durable
from armarium.store.database import Database, raw_of


class SystemCalls:
    """The system calls in their order, on a file system that may not know the command of macOS."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, macos: bool, known: bool = True) -> None:
        self.made: list[str] = []
        self.known = known
        fcntl = pytest.importorskip("fcntl")
        monkeypatch.setattr(durable, "_FULL", 51 if macos else None)
        monkeypatch.setattr(fcntl, "fcntl", self.command)
        monkeypatch.setattr(os, "fsync", lambda descriptor: self.made.append("fsync"))

    def command(self, descriptor: int, command: int, *more: Any) -> int:
        self.made.append(f"command {command}")
        if not self.known:
            raise OSError(errno.ENOTSUP, "not supported")
        return 0


@pytest.mark.parametrize(
    ("macos", "known", "made"),
    [(False, True, ["fsync"]), (True, True, ["command 51"]), (True, False, ["command 51", "fsync"])],
)
def test_a_file_is_flushed_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, macos: bool, known: bool, made: list[str]
) -> None:
    calls = SystemCalls(monkeypatch, macos=macos, known=known)
    durable.flush_path(tmp_path)
    assert calls.made == made


def test_an_error_of_the_disk_is_raised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuses(descriptor: int) -> None:
        raise OSError(errno.EIO, "input/output error")

    SystemCalls(monkeypatch, macos=True, known=False)
    monkeypatch.setattr(os, "fsync", refuses)
    with pytest.raises(OSError, match="input/output"):
        durable.flush_path(tmp_path)


def test_a_commit_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # other tests do not wait: `armarium_testing.ready_tables`
    monkeypatch.setattr("armarium.store.database.flush_commits", durable.flush_commits)
    database = Database(tmp_path / "x.sqlite", create=True)
    with database.write() as conn:
        raw: sqlite3.Connection = raw_of(conn)
        found = {
            name: raw.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "fullfsync", "checkpoint_fullfsync", "page_size")
        }
    database.close()
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "fullfsync": 1,
        "checkpoint_fullfsync": 1,
        "page_size": 8192,
    }


def test_an_older_file_keeps_the_size_of_its_pages(tmp_path: Path) -> None:
    plain = sqlite3.connect(tmp_path / "x.sqlite")
    plain.execute("PRAGMA page_size=4096")
    plain.execute("CREATE TABLE word (text TEXT)")
    plain.close()
    database = Database(tmp_path / "x.sqlite")
    with database.write() as conn:
        raw_of(conn).execute("INSERT INTO word VALUES (?)", ("x" * 50_000,))
        assert raw_of(conn).execute("PRAGMA page_size").fetchone() == (4096,)
    database.close()
    again = sqlite3.connect(tmp_path / "x.sqlite")
    assert again.execute("SELECT length(text) FROM word").fetchall() == [(50_000,)]
    assert again.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    again.close()
