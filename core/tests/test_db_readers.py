"""The query-only connections: few, shared by both kinds of reading, never given on with a snapshot or a fault."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from armarium import db_readers
from armarium.db import Database, raw_of
from armarium.db_readers import READERS_AT_ONCE, READERS_KEPT


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
    with db.read_raw() as raw:
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
            # One block is one snapshot, for SQLAlchemy's statements and for bare ones.
            assert lines(raw_of(conn)) == number
        with db.read_raw() as raw:
            assert lines(raw) == number + 1
            raw.execute("BEGIN")
            assert lines(raw) == number + 1
    db.close()


def test_few_stay_open_when_many_have_read(db: Database) -> None:
    with ExitStack() as many:
        readers = {many.enter_context(db.read_raw()) for _ in range(READERS_KEPT + 3)}
        assert len(readers) == READERS_KEPT + 3
    assert still_open(readers) == READERS_KEPT
    # The crowd is gone: after some seconds only those stay that are wanted day by day.
    db.give_memory_back()
    assert still_open(readers) == READERS_AT_ONCE
    with ExitStack() as many:
        assert all(lines(many.enter_context(db.read_raw())) == 0 for _ in range(READERS_KEPT))
    db.close()


def still_open(readers: set[sqlite3.Connection]) -> int:
    found = 0
    for reader in readers:
        with suppress(sqlite3.ProgrammingError):
            lines(reader)
            found += 1
    return found


def test_one_that_comes_back_is_waited_for_rather_than_one_more_opened(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db_readers, "PATIENCE", 60.0)
    met: list[sqlite3.Connection] = []

    def wait() -> None:
        with db.read_raw() as raw:
            met.append(raw)

    with ExitStack() as others:
        for _ in range(READERS_AT_ONCE - 1):
            others.enter_context(db.read_raw())
        with db.read_raw() as wanted:
            waiting = threading.Thread(target=wait)
            waiting.start()
            while not db._readers._waiting:
                waiting.join(0.001)
        waiting.join()
    assert met == [wanted]
    db.close()


def test_one_more_is_opened_when_none_comes_back(db: Database) -> None:
    with ExitStack() as many:
        readers = {many.enter_context(db.read_raw()) for _ in range(READERS_AT_ONCE + 1)}
    assert len(readers) == READERS_AT_ONCE + 1
    db.close()


def test_one_that_met_an_error_is_not_given_on(db: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), db.read_raw() as met:
        met.execute("SELECT * FROM nowhere")
    with db.read_raw() as next_one:
        assert next_one is not met
        assert lines(next_one) == 0
    # A refusal is no error of the database: the reader stays.
    with pytest.raises(LookupError), db.read_raw() as refused:
        raise LookupError
    with db.read_raw() as again:
        assert again is refused is next_one
    db.close()


def test_readers_at_rest_give_memory_back_and_read_on(db: Database) -> None:
    with ExitStack() as many:
        readers = [many.enter_context(db.read_raw()) for _ in range(3)]
    db.give_memory_back()
    with ExitStack() as many:
        again = [many.enter_context(db.read_raw()) for _ in range(3)]
        # In the order in which they were lent before.
        assert [readers.index(one) for one in again] == [0, 1, 2]
        assert [lines(one) for one in again] == [0, 0, 0]
        db.give_memory_back()
    db.close()


def test_one_given_back_after_the_end_is_closed(db: Database) -> None:
    with db.read_raw() as late:
        db.close()
        assert lines(late) == 0
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        lines(late)
