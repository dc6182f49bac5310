"""The query-only connections: few, shared by both ways of reading, never reused with an open snapshot or after an
error.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from armarium.store import readers
from armarium.store.database import Database, raw_of
from armarium.store.readers import READERS_AT_ONCE, READERS_KEPT


@pytest.fixture
def db(tmp_path: Path) -> Database:
    db = Database(tmp_path / "some.sqlite", create=True)
    with db.write() as conn:
        conn.execute(text("CREATE TABLE line (words TEXT)"))
    return db


def lines(conn: sqlite3.Connection) -> int:
    (number,) = conn.execute("SELECT count(*) FROM line").fetchone()
    return int(number)


def test_both_kinds_of_reading_share_one_connection(db: Database) -> None:
    with db.read() as conn:
        first = raw_of(conn)
    with db.read() as conn:
        raw = raw_of(conn)
        assert raw is first
    with db.read() as conn:
        assert raw_of(conn) is first
    db.close()


def test_each_reading_sees_what_was_written_before_it(db: Database) -> None:
    for number in range(4):
        with db.read() as conn:
            assert conn.execute(text("SELECT count(*) FROM line")).scalar_one() == number
            with db.write() as writer:
                writer.execute(text("INSERT INTO line VALUES ('one more')"))
            # One block is one snapshot, for statements of SQLAlchemy and raw ones.
            assert lines(raw_of(conn)) == number
        with db.read() as conn:
            raw = raw_of(conn)
            assert lines(raw) == number + 1
    db.close()


def test_few_stay_open_when_many_have_read(db: Database) -> None:
    with ExitStack() as many:
        readers = {raw_of(many.enter_context(db.read())) for _ in range(READERS_KEPT + 3)}
        assert len(readers) == READERS_KEPT + 3
    assert still_open(readers) == READERS_KEPT
    # Some seconds after a burst only the connections stay open that are needed regularly.
    db.give_memory_back()
    assert still_open(readers) == READERS_AT_ONCE
    with ExitStack() as many:
        assert all(lines(raw_of(many.enter_context(db.read()))) == 0 for _ in range(READERS_KEPT))
    db.close()


def still_open(readers: set[sqlite3.Connection]) -> int:
    found = 0
    for reader in readers:
        with suppress(sqlite3.ProgrammingError):
            lines(reader)
            found += 1
    return found


def test_a_returned_reader_is_waited_for_before_a_further_one_is_opened(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "PATIENCE", 60.0)
    met: list[sqlite3.Connection] = []

    def wait() -> None:
        with db.read() as conn:
            raw = raw_of(conn)
            met.append(raw)

    with ExitStack() as others:
        for _ in range(READERS_AT_ONCE - 1):
            others.enter_context(db.read())
        with db.read() as conn:
            raw = raw_of(conn)
            waiting = threading.Thread(target=wait)
            waiting.start()
            while not db._readers._waiting:
                waiting.join(0.001)
        waiting.join()
    assert met == [raw]
    db.close()


def test_a_further_reader_is_opened_when_none_is_returned(db: Database) -> None:
    with ExitStack() as many:
        readers = {raw_of(many.enter_context(db.read())) for _ in range(READERS_AT_ONCE + 1)}
    assert len(readers) == READERS_AT_ONCE + 1
    db.close()


def test_a_reader_that_met_an_error_is_not_reused(db: Database) -> None:
    def ask_nowhere() -> None:
        nonlocal met
        with db.read() as conn:
            met = raw_of(conn)
            met.execute("SELECT * FROM nowhere")

    met: sqlite3.Connection | None = None
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        ask_nowhere()
    with db.read() as conn:
        next_one = raw_of(conn)
        assert next_one is not met
        assert lines(next_one) == 0

    # A refusal is not a database error: the reader stays open.
    def refuse() -> None:
        nonlocal refused
        with db.read() as conn:
            refused = raw_of(conn)
            raise LookupError

    refused: sqlite3.Connection | None = None
    with pytest.raises(LookupError):
        refuse()
    with db.read() as conn:
        second_raw = raw_of(conn)
        assert second_raw is refused is next_one
    db.close()


def test_idle_readers_free_memory_and_stay_usable(db: Database) -> None:
    with ExitStack() as many:
        readers = [raw_of(many.enter_context(db.read())) for _ in range(3)]
    db.give_memory_back()
    with ExitStack() as many:
        again = [raw_of(many.enter_context(db.read())) for _ in range(3)]
        # They are lent in the same order as before.
        assert [readers.index(item) for item in again] == [0, 1, 2]
        assert [lines(item) for item in again] == [0, 0, 0]
        db.give_memory_back()
    db.close()


def test_a_reader_returned_after_closing_is_closed(db: Database) -> None:
    with db.read() as conn:
        late = raw_of(conn)
        db.close()
        assert lines(late) == 0
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lines(late)


def test_a_database_is_closed_though_the_disk_refuses_its_last_transaction(db: Database) -> None:
    with db.write() as conn:
        writer = raw_of(conn)
    # As on a failing disk, no statement comes to its end.
    writer.set_progress_handler(lambda: 1, 1)
    db.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lines(writer)
