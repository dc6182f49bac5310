"""The WAL restarts even under constant reading: every read searches it, so it must not grow without limit."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from armarium.store import database as db_module
from armarium.store.database import Database, raw_of

ROWS = 400


def wal_of_a_busy_database(folder: Path, monkeypatch: pytest.MonkeyPatch, *, long: int) -> int:
    """Return the size of the WAL after many writes beside overlapping reads, so that somebody is always reading."""
    monkeypatch.setattr(db_module, "CHECKPOINT_PAGES", 10 * db_module.STEP_PAGES)
    monkeypatch.setattr(db_module, "LONG_WAL", long)
    folder.mkdir()
    database = Database(folder / "x.sqlite", create=True)
    with database.write() as conn:
        conn.exec_driver_sql("CREATE TABLE word (n INTEGER PRIMARY KEY, text TEXT)")
    over = threading.Event()

    def read(late: float) -> None:
        time.sleep(late)
        while not over.is_set():
            with database.read() as conn:
                conn.exec_driver_sql("SELECT count(*) FROM word").scalar_one()
                time.sleep(0.02)

    readers = [threading.Thread(target=read, args=(n * 0.005,)) for n in range(4)]
    for reader in readers:
        reader.start()
    for n in range(ROWS):
        with database.write() as conn:
            raw_of(conn).execute("INSERT INTO word VALUES (?, ?)", (n, "x" * 3000))
        time.sleep(0.001)
    length = (folder / "x.sqlite-wal").stat().st_size
    over.set()
    for reader in readers:
        reader.join()
    with database.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM word").scalar_one() == ROWS
    database.close()
    return length


def test_a_wal_that_is_always_read_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wal = wal_of_a_busy_database(tmp_path / "kept", monkeypatch, long=50)
    remaining_wal = wal_of_a_busy_database(tmp_path / "left", monkeypatch, long=10**9)
    assert wal < remaining_wal / 2, (wal, remaining_wal)
