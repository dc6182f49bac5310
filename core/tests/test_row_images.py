"""What the images of the history hold, and that those an older engine wrote are still taken back exactly."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Float, ForeignKey, Integer, MetaData, Table, Text

from armarium import history
from armarium.db import raw_of
from armarium.engine import Engine
from armarium.history import quoted
from armarium.libraries import Library
from armarium.packages import DATABASE
from armarium.plugins import Migration
from armarium.principals import LOCAL_OWNER
from armarium.schema import alter_tracked
from armarium.tables import rules_of, tracked
from armarium.testing import shelf
from armarium.testing.digest import table_digests
from armarium.testing.shelf import books, shelf_plugin


def older_triggers(table: Table) -> dict[str, str]:
    """The triggers of capture version 1: every column but the large ones that stayed, and a bit for each that moved."""
    name, own = quoted(table.name), quoted(history.history_name(table))
    columns = [column.name for column in table.columns]
    keys = history.key_columns(table)
    large = [c for c in columns if c in rules_of(table).large]
    step = "COALESCE((SELECT audit_seq FROM audit_current), RAISE(ROLLBACK, 'only by an action'))"
    listed = ", ".join(quoted(c) for c in columns)
    whole = ", ".join(f"OLD.{quoted(c)}" for c in columns)
    moved = {c: f"OLD.{quoted(c)} IS NOT NEW.{quoted(c)}" for c in columns}
    kept = ", ".join(
        f"CASE WHEN {moved[c]} THEN OLD.{quoted(c)} END" if c in large else f"OLD.{quoted(c)}"
        for c in columns
    )
    bits = " | ".join(f"(({moved[c]}) << {n})" for n, c in enumerate(large)) or "NULL"
    ai, au, ad = (f"{table.name}__history_{verb}" for verb in ("insert", "update", "delete"))
    return {
        ai: f"CREATE TRIGGER {ai} AFTER INSERT ON {name} BEGIN INSERT INTO {own} (audit_seq, op, "
        f"{', '.join(map(quoted, keys))}) VALUES ({step}, 'I', {', '.join(f'NEW.{quoted(k)}' for k in keys)}); END",
        au: f"CREATE TRIGGER {au} AFTER UPDATE ON {name} WHEN {' OR '.join(moved.values())} BEGIN INSERT INTO {own} "
        f"(audit_seq, op, kept, {listed}) VALUES ({step}, 'U', {bits}, {kept}); END",
        ad: f"CREATE TRIGGER {ad} AFTER DELETE ON {name} BEGIN INSERT INTO {own} (audit_seq, op, kept, {listed}) "
        f"VALUES ({step}, 'D', {(1 << len(large)) - 1}, {whole}); END",
    }


def shelves_with(home: Column[Any], notes: Column[Any]) -> MetaData:
    """The tables of the family `shelf` with two columns of its books as given."""
    found = MetaData()
    for table in shelf.metadata.sorted_tables:
        if table is not books and rules_of(table).follows is None:
            table.to_metadata(found).info.update(table.info)
    Table(
        "shelf_book",
        found,
        Column("id", Text, primary_key=True),
        home,
        Column("title", Text, nullable=False),
        Column("weight", Float),
        notes,
        Column("version", Integer, nullable=False),
        Column("updated_at", Text),
        info=tracked(label="book", monotonic=("version", "updated_at")),
    )
    return found


class Past:
    """A package that an engine of capture version 1 wrote: its steps, and what there was before each."""

    def __init__(
        self, make_engine: Callable[..., Engine], path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.path = path
        ddl = history.history_ddl
        with monkeypatch.context() as older:
            older.setattr(history, "CAPTURE_VERSION", 1)
            older.setattr(history, "_tracked_triggers", older_triggers)
            older.setattr(
                history, "history_ddl", lambda t: [s.replace("kept TEXT", "kept INTEGER") for s in ddl(t)]
            )
            engine = make_engine(plugins=[shelf_plugin()])
            engine.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
            library = engine.libraries.get(path)
            self.steps: list[tuple[str, dict[str, str]]] = []
            self.books: list[tuple[Any, ...]] = []
            self._live(engine, library)
            self.now = table_digests(library.db, engine.library_schema)
            engine.libraries.release(path)
        with sqlite3.connect(path / DATABASE) as raw:
            assert raw.execute("SELECT typeof(kept) FROM shelf_book__history WHERE op = 'U'").fetchone() == (
                "integer",
            )
            raw.execute("DELETE FROM schema_version WHERE family LIKE 'capture of %'")
            raw.execute("UPDATE schema_version SET version = 2 WHERE family = 'core'")
        raw.close()

    def _live(self, engine: Engine, library: Library) -> None:
        def do(action: str, **params: Any) -> Any:
            before = table_digests(library.db, engine.library_schema)
            made = engine.run(library, action, params, LOCAL_OWNER)
            self.steps.append((made.audit_id, before))
            with library.db.read() as conn:
                raw = raw_of(conn)
                self.books.append(raw.execute("SELECT title, weight, notes FROM shelf_book").fetchone())
            return made.result

        home = do("shelf.create", name="A")["id"]
        self.book = do("shelf.add", shelf_id=home, title="One")["id"]
        do("shelf.change", id=self.book, title="Two")
        do("shelf.change", id=self.book, notes="first")
        do("shelf.change", id=self.book, weight=0.1 + 0.2)
        do("shelf.change", id=self.book, title="Three", notes="second")
        do("shelf.lend", book_id=self.book, reader="a", days=3)
        do("shelf.lend", book_id=self.book, reader="a", days=4)
        do("shelf.change", id=self.book, weight=7.5)
        do("shelf.clear", id=home)

    def open(self, engine: Engine) -> Library:
        """The package in an engine of today, which has lost nothing of it."""
        library = engine.libraries.get(self.path)
        assert library.db.refusal is None
        assert table_digests(library.db, engine.library_schema) == self.now
        return library

    def take_back(self, engine: Engine, library: Library) -> None:
        """Every step, newest first: each leaves what there was before it."""
        for audit_id, before in reversed(self.steps):
            engine.undo(library, [audit_id], LOCAL_OWNER)
            assert table_digests(library.db, engine.library_schema) == before


@pytest.fixture
def past(make_engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Past:
    return Past(make_engine, tmp_path / "Past.library", monkeypatch)


def test_steps_of_an_older_engine_are_taken_back_exactly(make_engine, past: Past) -> None:
    engine = make_engine(plugins=[shelf_plugin()])
    library = past.open(engine)
    with library.db.read() as conn:
        states = history.versions(conn, books, past.book)
    seen = [tuple(s["values"][c] for c in ("title", "weight", "notes")) for s in states if not s["deleted"]]
    assert seen == [past.books[n] for n in (1, 2, 3, 4, 5, 8)]
    past.take_back(engine, library)


def test_steps_of_then_and_now_are_taken_back_together(make_engine, past: Past) -> None:
    engine = make_engine(plugins=[shelf_plugin()])
    library = past.open(engine)
    engine.undo(library, [past.steps.pop()[0]], LOCAL_OWNER)
    for change in ({"notes": "third"}, {"weight": 0.3, "title": "Four"}, {"notes": "fourth"}):
        before = table_digests(library.db, engine.library_schema)
        made = engine.run(library, "shelf.change", {"id": past.book, **change}, LOCAL_OWNER)
        past.steps.append((made.audit_id, before))
    engine.libraries.release(past.path)
    past.take_back(engine, engine.libraries.get(past.path))


def test_a_family_that_was_away_when_images_changed_is_brought_up_when_it_is_back(
    make_engine, past: Past
) -> None:
    without = make_engine(plugins=[])
    assert without.libraries.get(past.path).db.refusal is None
    without.libraries.release(past.path)
    engine = make_engine(plugins=[shelf_plugin()])
    past.take_back(engine, past.open(engine))


def test_a_column_that_is_renamed_is_renamed_in_the_images(make_engine, past: Past) -> None:
    engine = make_engine(plugins=[shelf_plugin()])
    library = past.open(engine)
    engine.undo(library, [past.steps[-1][0]], LOCAL_OWNER)
    bare = engine.run(library, "shelf.create", {"name": "B"}, LOCAL_OWNER).result["id"]
    book = engine.run(library, "shelf.add", {"shelf_id": bare, "title": "t"}, LOCAL_OWNER).result["id"]
    noted = engine.run(library, "shelf.change", {"id": book, "notes": "n"}, LOCAL_OWNER)
    engine.libraries.release(past.path)
    newer = shelves_with(Column("shelf_id", Text, nullable=False), Column("words", Text))

    def upgrade(op: Any) -> None:
        alter_tracked(op, "shelf_book", lambda name: op.alter_column(name, "notes", new_column_name="words"))

    plugin = replace(shelf_plugin(), metadata=newer, version=2, migrations=(Migration(2, "words", upgrade),))
    engine = make_engine(plugins=[plugin])
    library = engine.libraries.get(past.path)
    assert library.db.refusal is None
    engine.undo(library, [noted.audit_id], LOCAL_OWNER)
    for audit_id, _ in reversed(past.steps[3:-1]):
        engine.undo(library, [audit_id], LOCAL_OWNER)
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT words FROM shelf_book").fetchall() == [(None,), (None,)]


def test_columns_that_moved_places_are_not_taken_for_renamed() -> None:
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE TABLE h (kept TEXT)")
    raw.execute("INSERT INTO h VALUES (',b,')")
    history.rename_kept(raw, "h", ["a", "b", "c"], ["a", "c", "d"])
    history.rename_kept(raw, "h", ["a", "b", "c"], ["a", "c"])
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
        found = raw.execute(
            "SELECT op, kept, shelf_id, title, weight FROM shelf_book__history ORDER BY seq"
        ).fetchall()
    assert found == [
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
        *history.STEP_TABLES,
        *history.history_ddl(table),
        *history.trigger_ddl(table).values(),
    ):
        raw.execute(statement)
    history.begin_step(raw, 1)
    raw.execute("INSERT INTO word VALUES ('x', 'Wine')")
    raw.execute("UPDATE word SET text = 'wine'")
    assert raw.execute("SELECT op, text FROM word__history").fetchall() == [("I", None), ("U", "Wine")]
    raw.close()


@pytest.mark.parametrize("seed", range(12))
def test_a_step_that_writes_rows_often_and_unlike_each_other_comes_back(
    shelf_engine: Engine, shelf_library: Library, seed: int
) -> None:
    """Rows changed twice, in other columns, to and from null, deleted after a change, made anew after a deletion."""
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
        made = shelf_engine.run(
            shelf_library, "shelf.create", {"name": "B"}, LOCAL_OWNER, in_transaction=writes
        )
        steps.append(made.audit_id)
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
    # The shelf goes before the book has left it.
    engine.undo(library, [moved.audit_id], LOCAL_OWNER)
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT shelf_id FROM shelf_book").fetchall() == [(first,)]


def test_an_undo_has_no_statement_compiled_anew(run, shelf_engine: Engine, shelf_library: Library) -> None:
    assert shelf_engine.library_schema.defers
    made = run("shelf.create", name="A")
    seen: list[str] = []
    with shelf_library.db.write() as conn:
        raw_of(conn).set_trace_callback(seen.append)
    shelf_engine.undo(shelf_library, [made.audit_id], LOCAL_OWNER)
    with shelf_library.db.write() as conn:
        raw_of(conn).set_trace_callback(None)
    assert not [one for one in seen if "defer_foreign_keys" in one]
