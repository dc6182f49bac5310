"""What the database itself guarantees: no tracked write outside an action, whoever writes, and exact images."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

import pytest
from sqlalchemy.exc import IntegrityError

from armarium.engine import Engine
from armarium.history import capture
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.projects.packages import DATABASE
from armarium.store.database import raw_of
from armarium_testing.shelf import books


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO shelf VALUES ('x', 'n')",
        "INSERT OR IGNORE INTO shelf VALUES ('x', 'n')",
        "INSERT OR REPLACE INTO shelf SELECT id, 'n' FROM shelf",
        "UPDATE shelf SET name = 'n'",
        "UPDATE OR IGNORE shelf SET name = 'n'",
        "DELETE FROM shelf",
        "DELETE FROM audit",
        "UPDATE audit SET params = '{}'",
        "UPDATE shelf__history SET op = 'D'",
        "DELETE FROM shelf__history",
        "UPDATE shelf_remark SET text = ''",
        "DELETE FROM shelf_remark",
    ],
)
def test_another_program_cannot_write_a_tracked_row(run, shelf_library: Library, statement: str) -> None:
    run("shelf.create", name="A")
    run("shelf.remark", name="B")
    other = sqlite3.connect(shelf_library.path / DATABASE)
    with pytest.raises(sqlite3.IntegrityError, match=r"only by an action|never changed"):
        other.execute(statement)
    other.rollback()
    assert other.execute("SELECT name FROM shelf").fetchall() == [("B",)]
    other.close()


def test_the_engines_own_write_transaction_cannot_write_one_either(run, shelf_library: Library) -> None:
    run("shelf.create", name="A")
    with pytest.raises(Exception, match="only by an action"), shelf_library.db.write() as conn:
        conn.exec_driver_sql("UPDATE shelf SET name = 'n'")


def test_a_refusal_that_is_passed_over_ends_the_whole_transaction(run, shelf_library: Library) -> None:
    run("shelf.create", name="A")

    def careless() -> None:
        with shelf_library.db.write() as conn:
            conn.exec_driver_sql("UPDATE audit_current SET purging = 1")
            with suppress(IntegrityError):
                conn.exec_driver_sql("UPDATE shelf SET name = 'n'")

    with pytest.raises(RuntimeError, match="rolled everything back"):
        careless()
    run("shelf.create", name="B")
    with shelf_library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT purging FROM audit_current").scalar() == 0
        assert [row[0] for row in conn.exec_driver_sql("SELECT name FROM shelf ORDER BY name")] == ["A", "B"]


def test_readers_cannot_write(shelf_library: Library) -> None:
    with pytest.raises(Exception, match="cannot be written"), shelf_library.db.read() as conn:
        conn.exec_driver_sql("DELETE FROM shelf_remark")


def test_the_key_of_a_row_never_changes(run, shelf_engine: Engine, shelf_library: Library) -> None:
    identity = run("shelf.create", name="A").result["id"]

    def rename_key(ctx) -> None:
        ctx.conn.exec_driver_sql("UPDATE shelf SET id = 'other'")

    with pytest.raises(Exception, match="never changes"):
        shelf_engine.run(shelf_library, "shelf.create", {"name": "B"}, LOCAL_OWNER, in_transaction=rename_key)
    with shelf_library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT id FROM shelf").scalars().all() == [identity]


def test_a_large_column_is_kept_only_when_it_changed(run, shelf_library: Library) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=shelf, title="One", notes="long").result["id"]
    run("shelf.change", id=book, title="Two")
    run("shelf.change", id=book, notes="other")
    with shelf_library.db.read() as conn:
        rows = conn.exec_driver_sql("SELECT op, notes FROM shelf_book__history ORDER BY seq").all()
        states = capture.versions(conn, books, book)
    assert [tuple(row) for row in rows] == [("I", None), ("U", None), ("U", '"long"')]
    assert [(s["values"]["title"], s["values"]["notes"]) for s in states] == [
        ("One", '"long"'),
        ("Two", '"long"'),
        ("Two", '"other"'),
    ]


def test_a_change_that_changes_nothing_leaves_no_image(
    run, shelf_engine: Engine, shelf_library: Library
) -> None:
    run("shelf.create", name="A")

    def again(ctx) -> None:
        ctx.conn.exec_driver_sql("UPDATE shelf SET name = name")

    shelf_engine.run(shelf_library, "shelf.create", {"name": "B"}, LOCAL_OWNER, in_transaction=again)
    with shelf_library.db.read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM shelf__history").scalar() == 2


def test_writes_are_refused_with_a_sentence_when_a_trigger_is_gone(
    make_engine, shelf_engine: Engine, shelf_library: Library
) -> None:
    from armarium.errors import Conflict
    from armarium_testing.shelf import shelf_plugin

    path = shelf_library.path
    shelf_engine.libraries.release(path)
    other = sqlite3.connect(path / DATABASE)
    other.execute("DROP TRIGGER shelf__history_update")
    other.commit()
    other.close()
    engine = make_engine(plugins=[shelf_plugin()])
    library = engine.libraries.get(path)
    with pytest.raises(Conflict, match="shelf__history_update"):
        engine.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER)


def test_purged_rows_leave_no_image_and_their_steps_are_gone(
    run, shelf_engine: Engine, shelf_library: Library
) -> None:
    from armarium.errors import ServiceError

    result = run("shelf.create", name="A")
    kept_shelf = run("shelf.create", name="B")

    def purge(ctx) -> None:
        raw, image = raw_of(ctx.conn), "FROM shelf__history WHERE id = ?"
        gone = (result.result["id"],)
        raw.execute("DELETE FROM shelf WHERE id = ?", gone)
        raw.execute(f"UPDATE audit SET gone = 1 WHERE seq IN (SELECT audit_seq {image})", gone)
        with capture.purging(ctx.conn):
            raw.execute(f"DELETE {image}", gone)
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            raw.execute(f"DELETE {image}", (kept_shelf.result["id"],))

    shelf_engine.run(shelf_library, "shelf.burn", {"name": "C"}, LOCAL_OWNER, in_transaction=purge)
    with shelf_library.db.read() as conn:
        rows = conn.exec_driver_sql("SELECT DISTINCT id FROM shelf__history").scalars().all()
    assert rows == [kept_shelf.result["id"]]
    with pytest.raises(ServiceError) as refused:
        shelf_engine.undo(shelf_library, [result.audit_id], LOCAL_OWNER)
    assert refused.value.fields["reason"] == "gone"


def test_a_read_sees_one_snapshot_with_bare_statements_too(run, shelf_library: Library) -> None:
    run("shelf.create", name="A")
    with shelf_library.db.read() as conn:
        raw = raw_of(conn)
        before = raw.execute("SELECT count(*) FROM shelf").fetchone()
        run("shelf.create", name="B")
        assert raw.execute("SELECT count(*) FROM shelf").fetchone() == before
    with shelf_library.db.read() as conn:
        assert raw_of(conn).execute("SELECT count(*) FROM shelf").fetchone() == (2,)
