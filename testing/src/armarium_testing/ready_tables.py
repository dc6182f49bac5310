"""New databases of one process get their tables as a copy of the first: a test pays for its project, not for the DDL.

A test run creates hundreds of projects with the same tables. The first of each kind is created as a user's is; its
content at that point (tables, indexes, triggers, versions, no project yet) is kept in memory and copied, page by page,
into the next. Every opening still compares it with the models, tables that were found right before by their text. What
SQLAlchemy compiles is kept for all databases of the process, and nothing waits for the disk. Tests in processes of their own
(kills, faults, power cuts, the command line) create each project and flush each write as a user's engine does.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from sqlalchemy import Engine, create_engine

from armarium.history.schema import Schema
from armarium.store import database
from armarium.store.database import PAGE_BYTES, raw_of

if TYPE_CHECKING:
    from armarium.store.database import Database

KEPT = 6
"""How many sets of tables are kept, the most recently used: two for the databases of an engine, the others for tests
with plugins of their own.
"""


@contextmanager
def tables_made_once() -> Iterator[None]:
    """For the duration of the block, `Schema.ensure` copies tables into an empty database if this process created them
    before.
    """
    ensure, compare = Schema.ensure, Schema._compare
    right: dict[Hashable, Schema] = {}
    images: dict[Hashable, tuple[Schema, sqlite3.Connection]] = {}
    one_at_a_time = threading.Lock()

    def copy_tables(self: Schema, db: Database, *, before_change: Callable[[], None] | None = None) -> bool:
        if not _is_empty(db):
            return ensure(self, db, before_change=before_change)
        key = _what_is_asked(self)
        with one_at_a_time:
            if key in images:
                images[key] = images.pop(key)
                with closing(sqlite3.connect(db.path)) as file:
                    file.execute("PRAGMA synchronous = OFF")
                    images[key][1].backup(file)
        if not _is_empty(db):
            ensure(self, db, before_change=before_change)
            return True
        changed = ensure(self, db, before_change=before_change)
        image = sqlite3.connect(":memory:", check_same_thread=False)
        image.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        with closing(sqlite3.connect(db.path)) as file:
            file.backup(image)
        with one_at_a_time:
            # The schema is stored with the image: the key contains identities of objects, which must live as long as
            # the key.
            images[key] = self, image
            if len(images) > KEPT:
                images.pop(next(iter(images)))[1].close()
        return changed

    def compare_once(self: Schema, db: Database) -> None:
        with db.read() as conn:
            text = raw_of(conn).execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        key = (_what_is_asked(self), hash(tuple(text)))
        if key in right:
            db.refusal = None
            return
        compare(self, db)
        if db.refusal is None:
            right[key] = self
            if len(right) > 4 * KEPT:
                right.pop(next(iter(right)))

    with (
        patch.object(Schema, "ensure", copy_tables),
        patch.object(Schema, "_compare", compare_once),
        patch.object(database, "create_engine", _compiling_once()),
    ):
        yield
    for _, image in images.values():
        image.close()


@contextmanager
def nothing_flushed() -> Iterator[None]:
    """For the duration of the block, no write of this process waits for the disk: what only a power cut would tell."""

    def leave_commits(conn: sqlite3.Connection) -> None:
        conn.execute("PRAGMA synchronous=OFF")

    with (
        patch.object(os, "fsync", lambda descriptor: None),
        patch.object(database, "flush_commits", leave_commits),
    ):
        yield


def _compiling_once() -> Callable[..., Engine]:
    """Return a `create_engine` whose engines share what they compiled."""
    first = create_engine("sqlite+pysqlite://", query_cache_size=4000)

    def create(*args: Any, **named: Any) -> Engine:
        engine = create_engine(*args, **named)
        engine.dialect, engine._compiled_cache = first.dialect, first._compiled_cache
        return engine

    return create


def _is_empty(db: Database) -> bool:
    with db.read() as conn:
        return raw_of(conn).execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _what_is_asked(schema: Schema) -> Hashable:
    return (
        tuple((family.name, family.version, id(family.metadata)) for family in schema.families),
        tuple(id(table) for table in schema.tables),
    )
