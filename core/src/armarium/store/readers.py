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
"""Readers that stay open when returned; further ones are closed after some seconds. Each caches the schema (0.9 MB,
nine tenths of it triggers), its statements and the pages it read last, 2.5 MB at most; opening one takes 4 ms.
"""

READERS_AT_ONCE, PATIENCE = 4, 0.02
"""Readers that are opened as soon as they are needed; and the seconds to wait for one to be returned before a further
one is opened. With this wait many simultaneous reads are 1.76 times faster: one is usually returned sooner, and a burst
does not leave a reader open for each thread it had.
"""


class Readers:
    """Readers opened by *engine*, which has no pool of its own.

    The one used last is lent next, for whatever kind of reading, so that as few as possible cache pages.
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
        """Lend a reader nobody else has, as SQLAlchemy's connection and as the bare one under it; outside a
        transaction.
        """
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
        """Free the pages that idle readers cache: they are of no use after the next write.

        Of more than READERS_AT_ONCE, idle ones are closed: only a burst needed them.
        """
        for _ in range(len(self._idle)):
            # From the end with the readers that are lent least.
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
        """Close idle readers now; the others when they are returned."""
        self._closed = True
        # Another thread may be closing them too.
        with suppress(IndexError):
            while True:
                self._close(self._idle.pop()[0])

    def _put_back(self, reader: tuple[Connection, sqlite3.Connection]) -> None:
        self._idle.append(reader)
        if self._closed:
            # Checked after it was put back, so that none stays open when all are being closed.
            self.close()
        elif self._waiting:
            with self._came_back:
                self._came_back.notify()

    def _wait_for_one(self) -> tuple[Connection, sqlite3.Connection] | None:
        """Return one that another thread put back, or None when one more should be opened."""
        deadline = time.monotonic() + PATIENCE
        with self._came_back:
            self._waiting += 1
            try:
                while self._open >= READERS_AT_ONCE:
                    if self._idle:
                        # A thread that asks at this moment may be faster: it pops without this lock.
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
        # The snapshot it read may be broken.
        with suppress(DBAPIError, sqlite3.Error):
            conn.close()
