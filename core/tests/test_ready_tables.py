"""Tests copy the tables of a new database from the first of their process: the copy equals what a user's engine
creates.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from armarium.engine import Engine
from armarium.history.schema import Schema
from armarium.store.database import Database
from armarium_testing.ready_tables import tables_made_once


def _all_of(path: Path) -> tuple[list[tuple[object, ...]], ...]:
    with closing(sqlite3.connect(path)) as raw:
        return (
            raw.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall(),
            raw.execute("SELECT family, version FROM schema_version ORDER BY family").fetchall(),
            *(
                raw.execute(f"PRAGMA {name}").fetchall()
                for name in ("application_id", "user_version", "page_size", "journal_mode", "encoding")
            ),
        )


def test_copied_tables_are_those_an_engine_makes(engine: Engine, tmp_path: Path) -> None:
    schema, made, seen = engine.library_schema, [], []
    with tables_made_once():
        create = Schema._create
        Schema._create = lambda *given: (seen.append(1), create(*given))[1]  # type: ignore[method-assign,func-returns-value]
        try:
            for name in ("first", "second"):
                db = Database(tmp_path / name, create=True)
                assert schema.ensure(db) is True
                assert db.refusal is None
                db.close()
                made.append(_all_of(tmp_path / name))
        finally:
            Schema._create = create  # type: ignore[method-assign]
    assert made[0] == made[1]
    assert len(made[0][0]) > 300
    # Other tests may have created such tables before: the first of these two may be a copy of those, the second must be
    # a copy.
    assert len(seen) <= 1
