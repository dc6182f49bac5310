"""The query-only connections to one SQLite file: few, kept open, lent to one thread at a time."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

READERS_KEPT = 8
"""Readers that stay open when they come back, those beyond READERS_AT_ONCE for some seconds. Each keeps the schema (0.9 MB,
nine tenths of it triggers), its statements and what it read last, 2.5 MB at most; to open one more takes 4 ms."""

READERS_AT_ONCE, PATIENCE = 4, 0.02
"""Readers that are opened as soon as they are wanted; and the seconds that one more is waited for before it is opened:
one that comes back meanwhile is there sooner, and a crowd does not leave as many open as it had threads for a moment."""


class Readers:
    """Readers made by *engine*, which has no pool of its own.

    The one used last is lent next, whatever kind of reading it is for, so that as few as do the work hold something.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[tuple[Connection, sqlite3.Connection]] = []
        self._closed = False
        self._open = 0
        self._waiting = 0
        self._came_back = threading.Condition()

    @contextmanager
    def lend(self) -> Iterator[tuple[Connection, sqlite3.Connection]]:
        """A reader nobody else has, as SQLAlchemy's connection and as the bare one under it; outside a transaction."""
        try:
            reader = self._idle.pop()
        except IndexError:
            reader = self._wait_for_one() or self._open_one()
        sound = False
        try:
            yield reader
            sound = True
        except (DBAPIError, sqlite3.Error):
            raise
        except BaseException:
            # Not the database's fault: a refusal, or an answer that nobody waits for any more.
            sound = True
            raise
        finally:
            if sound and self._rolled_back(*reader) and len(self._idle) < READERS_KEPT:
                self._put_back(reader)
            else:
                self._close(reader[0])

    def give_memory_back(self) -> None:
        """Let go of the pages of the file that readers at rest keep: they are of no use after the next write.

        Of more than READERS_AT_ONCE those at rest are closed: a crowd wanted them for a moment.
        """
        for _ in range(len(self._idle)):
            # From the far end, where those lie that are lent least.
            try:
                reader = self._idle.pop(0)
            except IndexError:
                return
            if self._open > READERS_AT_ONCE:
                self._close(reader[0])
                continue
            with suppress(sqlite3.Error):
                reader[1].execute("PRAGMA shrink_memory")
            self._put_back(reader)

    def close(self) -> None:
        """Close those that nobody has, now; the others when they are given back."""
        self._closed = True
        # Another thread may be closing them too.
        with suppress(IndexError):
            while True:
                self._close(self._idle.pop()[0])

    def _put_back(self, reader: tuple[Connection, sqlite3.Connection]) -> None:
        self._idle.append(reader)
        if self._closed:
            # Looked at after it was put there, so that none stays behind when all are closed just now.
            self.close()
        elif self._waiting:
            with self._came_back:
                self._came_back.notify()

    def _wait_for_one(self) -> tuple[Connection, sqlite3.Connection] | None:
        """One that another thread gave back, or None when one more should be opened."""
        deadline = time.monotonic() + PATIENCE
        with self._came_back:
            self._waiting += 1
            try:
                while self._open >= READERS_AT_ONCE:
                    if self._idle:
                        # Who asks just now may be quicker: it pops without this lock.
                        with suppress(IndexError):
                            return self._idle.pop()
                    elif not self._came_back.wait(max(0.0, deadline - time.monotonic())):
                        return None
                return None
            finally:
                self._waiting -= 1

    def _open_one(self) -> tuple[Connection, sqlite3.Connection]:
        conn = self._engine.connect()
        raw = conn.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        with self._came_back:
            self._open += 1
        return conn, raw

    @staticmethod
    def _rolled_back(conn: Connection, raw: sqlite3.Connection) -> bool:
        try:
            if conn.in_transaction():
                conn.rollback()
            if raw.in_transaction:
                raw.rollback()
        except (DBAPIError, sqlite3.Error):
            return False
        return True

    def _close(self, conn: Connection) -> None:
        with self._came_back:
            self._open -= 1
            self._came_back.notify()
        # What it read from may be broken.
        with suppress(DBAPIError, sqlite3.Error):
            conn.close()
