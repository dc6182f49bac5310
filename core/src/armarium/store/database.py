"""One SQLite file: a single writer behind a queue, many query-only readers, and bulk writes.

Which tables exist and what a write means is not known here: see `history.schema`, `history` and `actions`.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, Table, create_engine, event
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.pool import NullPool

from armarium.errors import Conflict, Unavailable, left_out
from armarium.principals import caller
from armarium.store.database_errors import as_refusal, writer_busy
from armarium.store.durable import flush_commits, flush_path
from armarium.store.moments import past_of
from armarium.store.name_order import register_name_key
from armarium.store.readers import Readers
from armarium.store.write_queue import WriterQueue

if TYPE_CHECKING:
    from armarium.history.schema import Schema
    from armarium.history.visibility import Visibility

APPLICATION_ID = 0x41524D52
"""`ARMR`, in the file's header: identifies the application."""

PAGE_BYTES = 8_192
"""Page size of a new file in bytes. Each page in the WAL is a seek and two writes, so a change of many rows takes a
quarter less time than with SQLite's 4,096; a step of one row takes a twentieth more."""

CHECKPOINT_PAGES = 2_000
"""Estimated pages written before the WAL is checkpointed; 80 changed rows count as one page."""

STEP_PAGES = 8
"""Estimated pages that a small step writes: its audit row, the row it changes, and their indexes."""

REST_PAGES = 400
"""Estimated pages that the writer checkpoints itself, so that the WAL restarts (a few milliseconds)."""

LONG_WAL, READERS_PATIENCE = 5_000, 100
"""Pages from which the WAL is too long, since each read searches it; and milliseconds the writer then waits for its
readers."""

READER_CACHE_KIB, WRITER_CACHE_KIB = 400, 4_000
"""Page cache of a connection in memory; the operating system caches the file too. A writer with 16 MB was no faster."""

ROWS_AT_ONCE = 32
"""Rows that one statement of `bulk_insert` writes."""

WRITER_WAIT = 120.0
"""Seconds a write waits in the queue before it is refused."""


class Database:
    """A WAL-mode SQLite file with synchronous FULL: an acknowledged write survives a power cut.

    One process writes (the package's lock ensures that) through one connection, one thread at a time; so no request
    ever meets "database is locked". Readers see one snapshot each and cannot write.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if not create and not path.exists():
            raise FileNotFoundError(path)
        self.path = path
        self.refusal: str | None = None
        """A sentence when steps are refused (triggers or history differ from the models), else None."""
        self.schema: Schema
        """The tables it was opened with, once checked (`Schema.fit`)."""
        self.left_out: dict[str, str] = {}
        """The plugins that do not work in this database, each with the end of a sentence that says why."""
        self.visibility: Visibility | None = None
        """Which caller may see what of it; None where nothing in it can be restricted."""
        self.commits = 0
        """Writes committed since it was opened; nobody else writes to it."""
        self.queue = WriterQueue()
        self._pages = 0
        self._rows = 0
        self._checkpointing = threading.Lock()
        self._folded = False
        self._length = 0
        self._checkpointer: threading.Thread | None = None
        self._holder: int | None = None
        self._closed = False
        self._writer_engine = self._engine(reader=False)
        self._writer: Connection | None = None
        self._readers = Readers(self._engine(reader=True))
        self._open_writer()

    def _engine(self, *, reader: bool, connect: Callable[[], sqlite3.Connection] | None = None) -> Engine:
        def connect_plainly() -> sqlite3.Connection:
            return self._connect(reader=reader)

        # Error messages must not quote the values: they may be page text.
        engine = create_engine(
            "sqlite+pysqlite://", creator=connect or connect_plainly, hide_parameters=True, poolclass=NullPool
        )
        statement = "BEGIN" if reader else "BEGIN IMMEDIATE"

        @event.listens_for(engine, "begin")
        def begin(conn: Connection) -> None:
            # `read` and `write` have begun the transaction already; SQLAlchemy learns of it with its first statement.
            raw = raw_of(conn)
            if not raw.in_transaction:
                raw.execute(statement)

        return engine

    def _connect(self, *, reader: bool) -> sqlite3.Connection:
        conn = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10.0)
        try:
            if not reader:
                # Only a new file takes it; an existing one keeps its page size.
                conn.execute(f"PRAGMA page_size={PAGE_BYTES}")
                conn.execute("PRAGMA journal_mode=WAL")
                flush_commits(conn)
                conn.execute("PRAGMA recursive_triggers=ON")
                # Checkpoints are made by another thread (`_checkpoint_when_due`); this is only for when that fails.
                conn.execute("PRAGMA wal_autocheckpoint=16000")
            register_name_key(conn)
            conn.execute("PRAGMA foreign_keys=ON")
            conn.execute("PRAGMA temp_store=MEMORY")
            conn.execute(f"PRAGMA cache_size=-{READER_CACHE_KIB if reader else WRITER_CACHE_KIB}")
            if reader:
                conn.execute("PRAGMA query_only=ON")
        except BaseException:
            conn.close()
            raise
        return conn

    def _open_writer(self) -> Connection:
        self._writer = self._writer_engine.connect()
        return self._writer

    def readers(self, prepare: Callable[[sqlite3.Connection], None]) -> Readers:
        """Return further readers of this file, each passed to *prepare* when it is opened."""

        def connect() -> sqlite3.Connection:
            raw = self._connect(reader=True)
            prepare(raw)
            return raw

        return Readers(self._engine(reader=True, connect=connect))

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lend a query-only connection that sees one snapshot from its first query to the end of the block.

        Within a request or a job it shows what its caller may see; within `moments.reading`, the rows of that moment.
        """
        asks = None if self.visibility is None else caller()
        past = past_of(self)
        if asks is None or self.visibility is None or not self.visibility.limits(asks.principal):
            with self.read_all() as conn, nullcontext() if past is None else past.lay(conn):
                yield conn
            return
        asks.limited = True
        try:
            with (
                self.visibility.read(asks.principal) as conn,
                nullcontext() if past is None else past.lay(conn),
            ):
                yield conn
        except (StatementError, sqlite3.Error) as error:
            raise as_refusal(error, self.path, self._why_missed()) from error

    @contextmanager
    def read_all(self) -> Iterator[Connection]:
        """Like `read`, whoever asks: for what the engine keeps about all rows, and filters before a caller sees any of
        it.
        """
        try:
            with self._readers.lend() as (conn, raw):
                # Begun here, not by SQLAlchemy at its first statement, so that bare statements of one block see one
                # snapshot too.
                raw.execute("BEGIN")
                yield conn
        except (StatementError, sqlite3.Error) as error:
            raise as_refusal(error, self.path, self._why_missed()) from error

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Lend the one writer in a transaction: committed at the end of the block, rolled back when it raises.

        Only for operational, derived and append-only tables; a tracked table refuses a write outside an action. Raises
        Unavailable when the disk refuses, or when another write holds the queue too long.
        """
        if self._holder == threading.get_ident():
            raise RuntimeError("a write inside a write: use the connection that is already there")
        if not self.queue.acquire(timeout=WRITER_WAIT):
            raise writer_busy(WRITER_WAIT)
        self._holder = threading.get_ident()
        try:
            if self._closed:
                raise Unavailable(
                    "The project is being closed; try again, and it is opened again.", code="closed"
                )
            conn = self._writer or self._open_writer()
            try:
                raw = raw_of(conn)
                try:
                    raw.execute("BEGIN IMMEDIATE")
                    yield conn
                    if not raw.in_transaction:
                        raise RuntimeError(
                            "an error of a write was ignored: the database has rolled everything back"
                        )
                    # Where only bare statements were made, SQLAlchemy knows of no transaction.
                    (conn if conn.in_transaction() else raw).commit()
                    self.commits += 1
                except BaseException:
                    self._roll_back(conn)
                    raise
                self._checkpoint_when_due(raw)
            except (StatementError, sqlite3.Error) as error:
                raise as_refusal(error, self.path, self._why_missed()) from error
        finally:
            self._holder = None
            self.queue.release()

    def _checkpoint_when_due(self, raw: sqlite3.Connection) -> None:
        """Checkpoint a grown WAL in a thread of its own, so that no commit waits for it.

        With this thread, bulk writes are 1.25 times faster, single steps 1.03 times, and the slowest single write takes
        0.58 of the time without it. What is written meanwhile keeps the WAL from restarting; when that is little, it is
        checkpointed here. A commit that overwrites the WAL costs half of one that extends the file. Under constant
        reading it would never restart: when it is long, the writer waits for a moment without readers in it.
        """
        self._pages += STEP_PAGES + max(0, raw.total_changes - self._rows) // 80
        self._rows = raw.total_changes
        if self._folded:
            self._folded = False
            # The write has been committed even if the disk refuses the checkpoint.
            with suppress(sqlite3.Error):
                if self._length > LONG_WAL:
                    self._begin_wal_anew(raw)
                elif self._pages <= REST_PAGES:
                    raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if self._pages < CHECKPOINT_PAGES or not self._checkpointing.acquire(blocking=False):
            return
        self._pages = 0
        with suppress(sqlite3.Error):
            # Pages cached since the last time; the next steps find theirs in the system's cache.
            raw.execute("PRAGMA shrink_memory")
        thread = threading.Thread(target=self._checkpoint, name="checkpoint", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # No thread is available: the write is committed all the same, and the next one tries again.
            self._checkpointing.release()
            return
        self._checkpointer = thread

    @staticmethod
    def _begin_wal_anew(raw: sqlite3.Connection) -> None:
        """Checkpoint everything and wait briefly for readers in the WAL; later readers use the file."""
        (before,) = raw.execute("PRAGMA busy_timeout").fetchone()
        raw.execute(f"PRAGMA busy_timeout = {READERS_PATIENCE}")
        try:
            raw.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        finally:
            raw.execute(f"PRAGMA busy_timeout = {before}")

    def _checkpoint(self) -> None:
        try:
            conn = sqlite3.connect(self.path, timeout=0.0)
            try:
                flush_commits(conn)
                _, self._length, _ = conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self._folded = True
            finally:
                conn.close()
        except sqlite3.Error:
            # Nothing is lost: the rest stays in the WAL until the next time.
            return
        finally:
            self._checkpointing.release()

    def _why_missed(self) -> str | None:
        """Return why a table or column that a query names may be missing."""
        if self.refusal is not None or not self.left_out:
            return self.refusal
        return " ".join(left_out(name, why).detail for name, why in self.left_out.items())

    def refuse_left_out(self, plugin: str | None) -> None:
        """Raise Conflict for a step of a plugin whose tables could not be opened in this database."""
        if plugin is not None and plugin in self.left_out:
            raise left_out(plugin, self.left_out[plugin])

    def refuse_unless_sound(self) -> None:
        """Raise Conflict for a step while its history would not be kept; the job queue still works."""
        if self.refusal is not None:
            raise Conflict(self.refusal, code="writes_refused")

    def _roll_back(self, conn: Connection) -> None:
        """Roll back; after a full disk the rollback itself can raise, then the connection is replaced."""
        try:
            transaction = conn.get_transaction()
            if transaction is not None:
                transaction.rollback()
            raw = conn.connection.dbapi_connection
            if raw is not None and raw.in_transaction:
                raw.rollback()
        except (DBAPIError, sqlite3.Error):
            with suppress(Exception):
                conn.invalidate()
            with suppress(Exception):
                conn.close()
            self._writer = None

    def give_memory_back(self) -> None:
        """Free the pages that idle readers cache; the writer does so itself from time to time."""
        self._readers.give_memory_back()

    def backup(self, target: Path) -> None:
        """Write a consistent copy of this database to *target* (which must not exist) while work goes on."""
        with self._readers.lend() as (_, source):
            copy = sqlite3.connect(target)
            try:
                source.backup(copy, pages=2048)
                copy.execute("PRAGMA journal_mode=DELETE")
            finally:
                copy.close()
        flush_path(target)

    def close(self) -> None:
        """Wait for the write in progress, close every connection and checkpoint the WAL."""
        deadline = time.monotonic() + WRITER_WAIT
        acquired = self.queue.acquire(timeout=max(0.0, deadline - time.monotonic()))
        if self._checkpointer is not None:
            self._checkpointer.join(WRITER_WAIT)
        try:
            self._closed = True
            self._readers.close()
            if self.visibility is not None:
                self.visibility.close()
            if self._writer is not None:
                # The transaction is begun by SQLite's own call, whose errors SQLAlchemy does not wrap.
                with suppress(DBAPIError, sqlite3.Error):
                    self._writer.exec_driver_sql("SELECT 1")
                    self._writer.rollback()
                self._writer.close()
                self._writer = None
            self._writer_engine.dispose()
        finally:
            if acquired:
                self.queue.release()


def raw_of(conn: Connection) -> sqlite3.Connection:
    """Return the `sqlite3` connection under *conn*, for statements on the hot path."""
    raw = conn.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def bulk_insert(
    conn: Connection, table: Table, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> int:
    """Insert *rows* (tuples in the order of *columns*) with one executemany; return how many were written.

    The fast way for many rows: values go to SQLite as they are, so a `Json` column is given as text (`json_text`) and a
    Boolean as 0 or 1.
    """
    names = ", ".join(f'"{column}"' for column in columns)
    marks = f"({', '.join('?' * len(columns))})"
    insert = f'INSERT INTO "{table.name}" ({names}) VALUES {marks}'
    raw = raw_of(conn)
    source = iter(rows)
    batch = list(islice(source, ROWS_AT_ONCE))
    inserted = 0

    def full() -> Iterator[list[object]]:
        nonlocal batch
        while len(batch) == ROWS_AT_ONCE:
            yield list(chain.from_iterable(batch))
            batch = list(islice(source, ROWS_AT_ONCE))

    if len(batch) == ROWS_AT_ONCE:
        # Several rows per statement: the overhead of a statement is a third of the cost of a tracked row.
        inserted = raw.executemany(insert + f", {marks}" * (ROWS_AT_ONCE - 1), full()).rowcount
    return inserted + (raw.executemany(insert, batch).rowcount if batch else 0)
