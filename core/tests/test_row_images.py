"""What the images of the history contain, and that they follow a column that a migration renames."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Float, ForeignKey, Integer, MetaData, Table, Text

from armarium.engine import Engine
from armarium.history import capture
from armarium.history.schema import alter_tracked
from armarium.plugin import Migration
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import rules_of, tracked
from armarium_testing import shelf
from armarium_testing.digest import table_digests
from armarium_testing.shelf import books, shelf_plugin


def shelves_with(home: Column[Any], notes: Column[Any] | None) -> MetaData:
    """Return the tables of the family `shelf`, with two columns of its books as given, the second optional."""
    metadata = MetaData()
    for table in shelf.metadata.sorted_tables:
        if table is not books and rules_of(table).follows is None:
            table.to_metadata(metadata).info.update(table.info)
    Table(
        "shelf_book",
        metadata,
        Column("id", Text, primary_key=True),
        home,
        Column("title", Text, nullable=False),
        Column("weight", Float),
        *([] if notes is None else [notes]),
        Column("version", Integer, nullable=False),
        Column("updated_at", Text),
        info=tracked(label="book", monotonic=("version", "updated_at")),
    )
    return metadata


def test_a_column_that_is_renamed_is_renamed_in_the_images(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    path = tmp_path / "Past.library"
    engine = make_engine(plugins=[shelf_plugin()])
    engine.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
    library = engine.libraries.get(path)

    def do(action: str, **params: Any) -> Any:
        return engine.run(library, action, params, LOCAL_OWNER)

    home = do("shelf.create", name="A").result["id"]
    book = do("shelf.add", shelf_id=home, title="One").result["id"]
    changes = ({"notes": "first"}, {"weight": 0.5, "notes": "second"}, {"title": "Two"}, {"notes": None})
    steps = [do("shelf.change", id=book, **change).audit_id for change in changes]
    steps.append(do("shelf.clear", id=home).audit_id)
    states = [(None, None), ('"first"', None), ('"second"', 0.5), ('"second"', 0.5), (None, 0.5)]
    engine.libraries.release(path)
    newer = shelves_with(Column("shelf_id", Text, nullable=False), Column("words", Text))

    def upgrade(op: Any) -> None:
        alter_tracked(op, "shelf_book", lambda name: op.alter_column(name, "notes", new_column_name="words"))

    plugin = replace(shelf_plugin(), metadata=newer, version=2, migrations=(Migration(2, "words", upgrade),))
    engine = make_engine(plugins=[plugin])
    library = engine.libraries.get(path)
    assert library.db.refusal is None
    for audit_id, before in reversed(list(zip(steps, states, strict=True))):
        engine.undo(library, [audit_id], LOCAL_OWNER)
        with library.db.read() as conn:
            assert raw_of(conn).execute("SELECT words, weight FROM shelf_book").fetchall() == [before]


def test_dropping_a_column_drops_the_triggers_that_name_it(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    path = tmp_path / "Past.library"
    engine = make_engine(plugins=[shelf_plugin()])
    engine.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
    library = engine.libraries.get(path)
    home = engine.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER).result["id"]
    engine.run(library, "shelf.add", {"shelf_id": home, "title": "One"}, LOCAL_OWNER)
    cleared = engine.run(library, "shelf.clear", {"id": home}, LOCAL_OWNER)
    engine.libraries.release(path)
    newer = shelves_with(Column("shelf_id", Text, nullable=False), None)

    def upgrade(op: Any) -> None:
        alter_tracked(op, "shelf_book", lambda name: op.drop_column(name, "notes"))

    plugin = replace(shelf_plugin(), metadata=newer, version=2, migrations=(Migration(2, "gone", upgrade),))
    engine = make_engine(plugins=[plugin])
    library = engine.libraries.get(path)
    assert library.db.refusal is None
    engine.undo(library, [cleared.audit_id], LOCAL_OWNER)
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT title FROM shelf_book").fetchall() == [("One",)]
        for table in ("shelf_book", "shelf_book__history"):
            assert "notes" not in {row[1] for row in raw.execute(f"PRAGMA table_info({table})")}


def test_columns_that_moved_places_are_not_taken_for_renamed() -> None:
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE TABLE h (kept TEXT)")
    raw.execute("INSERT INTO h VALUES (',b,')")
    capture.rename_kept(raw, "h", ["a", "b", "c"], ["a", "c", "d"])
    capture.rename_kept(raw, "h", ["a", "b", "c"], ["a", "c"])
    assert raw.execute("SELECT kept FROM h").fetchall() == [(",b,",)]
    raw.close()


def test_an_image_of_a_change_holds_the_columns_that_moved(run, shelf_library: Library) -> None:
    home = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=home, title="One").result["id"]
    run("shelf.change", id=book, title="Two", weight=0.5)
    run("shelf.change", id=book, weight=0.25)
    run("shelf.clear", id=home)
    with shelf_library.db.read() as conn:
        raw = raw_of(conn)
        rows = raw.execute(
            "SELECT op, kept, shelf_id, title, weight FROM shelf_book__history ORDER BY seq"
        ).fetchall()
    assert rows == [
        ("I", None, None, None, None),
        ("U", ",weight,", None, "One", None),
        ("U", None, None, None, 0.5),
        ("D", None, home, "Two", 0.25),
    ]


def test_a_change_of_case_alone_is_kept_whatever_the_collation() -> None:
    table = Table("word", MetaData(), Column("id", Text, primary_key=True), info=tracked(label="word"))
    table.append_column(Column("text", Text(collation="NOCASE"), nullable=False))
    raw = sqlite3.connect(":memory:", isolation_level=None)
    raw.execute("CREATE TABLE word (id TEXT PRIMARY KEY, text TEXT COLLATE NOCASE NOT NULL)")
    for statement in (
        *capture.STEP_TABLES,
        *capture.history_ddl(table),
        *capture.trigger_ddl(table).values(),
    ):
        raw.execute(statement)
    capture.begin_step(raw, 1)
    raw.execute("INSERT INTO word VALUES ('x', 'Wine')")
    raw.execute("UPDATE word SET text = 'wine'")
    assert raw.execute("SELECT op, text FROM word__history").fetchall() == [("I", None), ("U", "Wine")]
    raw.close()


@pytest.mark.parametrize("seed", range(12))
def test_a_step_that_writes_a_row_several_times_is_undone_exactly(
    shelf_engine: Engine, shelf_library: Library, seed: int
) -> None:
    """Rows changed twice, in other columns, to and from null, deleted after a change, inserted again after a deletion."""
    chance = random.Random(seed)
    home = shelf_engine.run(shelf_library, "shelf.create", {"name": "A"}, LOCAL_OWNER).result["id"]
    many = {"shelf_id": home, "titles": [f"{n}" for n in range(12)]}
    ids = shelf_engine.run(shelf_library, "shelf.add_many", many, LOCAL_OWNER).result["ids"]

    def writes(ctx: Any) -> None:
        raw = raw_of(ctx.conn)
        for _ in range(chance.choice((3, 30))):
            book = chance.choice(ids)
            column = chance.choice(("title", "weight", "notes"))
            value = chance.choice(
                {"title": "ab", "weight": (None, 0.5, 2.5), "notes": (None, '"p"', '"q"')}[column]
            )
            where = chance.choice(("id = ?", "id >= ?", "id <= ?"))
            kind = chance.random()
            if kind < 0.75:
                raw.execute(
                    f"UPDATE shelf_book SET {column} = ?, version = version + 1 WHERE {where}", (value, book)
                )
            elif kind < 0.9:
                raw.execute("DELETE FROM shelf_book WHERE id = ?", (book,))
            else:
                raw.execute(
                    f"INSERT OR IGNORE INTO shelf_book (id, shelf_id, title, {column}, version) VALUES (?, ?, 'n', ?, 1)"
                    if column != "title"
                    else "INSERT OR IGNORE INTO shelf_book (id, shelf_id, title, version) VALUES (?, ?, ?, 1)",
                    (book, home, value),
                )

    states = [table_digests(shelf_library.db, shelf_engine.library_schema)]
    steps = []
    for _ in range(4):
        result = shelf_engine.run(
            shelf_library, "shelf.create", {"name": "B"}, LOCAL_OWNER, in_transaction=writes
        )
        steps.append(result.audit_id)
        states.append(table_digests(shelf_library.db, shelf_engine.library_schema))
    undone = []
    for audit_id, before in zip(reversed(steps), reversed(states[:-1]), strict=True):
        undone += shelf_engine.undo(shelf_library, [audit_id], LOCAL_OWNER)["audit_ids"]
        assert table_digests(shelf_library.db, shelf_engine.library_schema) == before
    for audit_id, after in zip(reversed(undone), states[1:], strict=True):
        shelf_engine.undo(shelf_library, [audit_id], LOCAL_OWNER)
        assert table_digests(shelf_library.db, shelf_engine.library_schema) == after


def test_foreign_keys_that_do_not_wait_for_the_commit_are_made_to(make_engine, tmp_path: Path) -> None:
    home = Column("shelf_id", Text, ForeignKey("shelf.id"), nullable=False)
    plugin = replace(shelf_plugin(), metadata=shelves_with(home, Column("notes", Text)))
    engine = make_engine(plugins=[plugin])
    assert not engine.library_schema.defers
    engine.run(None, "library.create", {"path": str(tmp_path / "Strict.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "Strict.library")
    first = engine.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER).result["id"]
    engine.run(library, "shelf.add", {"shelf_id": first, "title": "One"}, LOCAL_OWNER)

    def move(ctx: Any) -> None:
        ctx.conn.exec_driver_sql("UPDATE shelf_book SET shelf_id = (SELECT id FROM shelf WHERE name = 'B')")

    moved = engine.run(library, "shelf.create", {"name": "B"}, LOCAL_OWNER, in_transaction=move)
    # The undo removes the shelf while the book is still on it.
    engine.undo(library, [moved.audit_id], LOCAL_OWNER)
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT shelf_id FROM shelf_book").fetchall() == [(first,)]


def test_an_undo_compiles_no_statement_again(run, shelf_engine: Engine, shelf_library: Library) -> None:
    assert shelf_engine.library_schema.defers
    result = run("shelf.create", name="A")
    seen: list[str] = []
    with shelf_library.db.write() as conn:
        raw_of(conn).set_trace_callback(seen.append)
    shelf_engine.undo(shelf_library, [result.audit_id], LOCAL_OWNER)
    with shelf_library.db.write() as conn:
        raw_of(conn).set_trace_callback(None)
    assert not [item for item in seen if "defer_foreign_keys" in item]
