"""Derived indexes: consistent with their rows whatever writes them, and rebuilt where they differ from the models."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Column, MetaData, Table, Text

from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.history import derived_indexes
from armarium.principals import LOCAL_OWNER
from armarium.projects import doctor
from armarium.projects.libraries import Library
from armarium.projects.packages import DATABASE
from armarium.store.database import raw_of
from armarium.store.tables import derived_index, tracked
from armarium_testing.digest import table_digests
from armarium_testing.shelf import metadata, shelf_plugin, weights

HEAVY = """
SELECT b.id FROM shelf_weight w JOIN shelf_book b ON b.rowid = w.number WHERE w.heaviest >= ? AND b.weight >= ?
"""


def heavy(library: Library, least: float) -> list[str]:
    """Return the books of at least this weight from the index, and check them against a scan of all rows."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        found = sorted(row[0] for row in raw.execute(HEAVY, (least, least)))
        plain = sorted(row[0] for row in raw.execute("SELECT id FROM shelf_book WHERE weight >= ?", (least,)))
    assert found == plain
    return found


def wrong(library: Library) -> int:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return derived_indexes.disagreements(raw, weights)


DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["add", "many", "change", "clear", "undo", "undo", "redo"]),
        st.integers(0, 30),
        st.one_of(st.none(), st.floats(-10, 10)),
    ),
    min_size=2,
    max_size=25,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DEEDS)
def test_an_index_is_in_step_after_any_history(
    run, shelf_engine: Engine, shelf_library: Library, deeds: list[tuple[str, int, float | None]]
) -> None:
    shelves = [run("shelf.create", name=str(n)).result["id"] for n in range(2)]
    books: list[str] = []
    steps: list[str] = []
    taken: list[str] = []
    for what, which, weight in deeds:
        # An impossible write (a missing shelf, a step whose rows changed since) is refused and changes nothing.
        with suppress(Exception):
            shelf = shelves[which % len(shelves)]
            if what == "add":
                result = run("shelf.add", shelf_id=shelf, title="T", weight=weight)
                books.append(result.result["id"])
                steps.append(result.audit_id)
            elif what == "many":
                result = run("shelf.add_many", shelf_id=shelf, titles=["T"] * 3)
                books.extend(result.result["ids"])
                steps.append(result.audit_id)
            elif what == "change":
                steps.append(run("shelf.change", id=books[which % len(books)], weight=weight).audit_id)
            elif what == "clear":
                steps.append(run("shelf.clear", id=shelf).audit_id)
            else:
                log = taken if what == "redo" else steps
                name = log.pop(which % len(log))
                back = shelf_engine.undo(shelf_library, [name], LOCAL_OWNER)["audit_ids"]
                (steps if what == "redo" else taken).extend(back)
        assert wrong(shelf_library) == 0
        heavy(shelf_library, 0.05)


def test_the_history_and_the_digests_know_nothing_of_it(
    run, shelf_library: Library, shelf_engine: Engine
) -> None:
    assert "shelf_weight" not in table_digests(shelf_library.db, shelf_engine.library_schema)
    with shelf_library.db.read() as conn:
        raw = raw_of(conn)
        names = {row[0] for row in raw.execute("SELECT name FROM sqlite_master")}
    assert "shelf_weight" in names
    assert "shelf_weight__history" not in names


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE shelf_weight",
        "DROP TRIGGER shelf_weight__follows_update",
        "DROP TRIGGER shelf_weight__follows_insert; CREATE TRIGGER shelf_weight__follows_insert "
        "AFTER INSERT ON shelf_book WHEN 0 BEGIN SELECT 1; END",
        "DROP TABLE shelf_weight; CREATE VIRTUAL TABLE shelf_weight USING rtree(number, a, b)",
    ],
    ids=["no table", "no trigger", "another trigger", "another table"],
)
def test_an_index_that_differs_from_its_declaration_is_rebuilt_at_opening(
    run, shelf_engine: Engine, shelf_library: Library, damage: str
) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    book = run("shelf.add", shelf_id=shelf, title="T", weight=2.5).result["id"]
    path = shelf_library.path
    shelf_engine.libraries.release(path)
    other = sqlite3.connect(path / DATABASE)
    other.executescript(damage)
    other.close()
    library = shelf_engine.libraries.get(path)
    assert library.db.refusal is None
    assert heavy(library, 1.0) == [book]
    assert wrong(library) == 0


def test_a_package_made_before_the_index_gets_it_without_a_snapshot(make_engine, tmp_path: Path) -> None:
    without = MetaData()
    for table in metadata.sorted_tables:
        if table is not weights:
            table.to_metadata(without)
    older = make_engine(plugins=[replace(shelf_plugin(), metadata=without)], state="older")
    place = tmp_path / "Old.library"
    older.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = older.libraries.get(place)
    shelf = older.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER).result["id"]
    given = {"shelf_id": shelf, "title": "T", "weight": 3.25}
    book = older.run(library, "shelf.add", given, LOCAL_OWNER).result["id"]
    older.libraries.release(place)
    newer = make_engine(plugins=[shelf_plugin()], state="newer").libraries.get(place)
    assert heavy(newer, 1.0) == [book]
    assert not list((place / "snapshots").iterdir())


def test_the_doctor_reports_an_index_out_of_step_and_rebuilds_it_on_request(
    run, shelf_engine: Engine, shelf_library: Library
) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    for weight in (1.5, 2.5):
        run("shelf.add", shelf_id=shelf, title="T", weight=weight)
    with shelf_library.db.write() as conn:
        conn.exec_driver_sql("UPDATE shelf_weight SET heaviest = 90 WHERE lightest < 2")
        conn.exec_driver_sql("DELETE FROM shelf_weight WHERE lightest > 2")
        conn.exec_driver_sql("INSERT INTO shelf_weight VALUES (999, 1, 1)")
    report = doctor.examine(shelf_engine, shelf_library.path)
    (finding,) = report["findings"]
    assert "shelf_weight does not agree with the rows it follows in 3" in finding["what"]
    # Meanwhile it blocks no writes, and a leftover row is replaced.
    run("shelf.clear", id=shelf)
    assert doctor.examine(shelf_engine, shelf_library.path, rebuild=True)["healthy"]
    assert doctor.examine(shelf_engine, shelf_library.path)["healthy"]


def test_a_sqlite_without_the_module_is_refused_with_a_sentence(make_engine, tmp_path: Path) -> None:
    needy = MetaData()
    rows = Table("shelf", needy, Column("id", Text, primary_key=True), info=tracked(label="shelf"))
    derived_index("shelf_index", needy, rows, module="no_such", values={"a": "1"}, columns=("id",))
    engine = make_engine(plugins=[replace(shelf_plugin(), metadata=needy, actions=())])
    with pytest.raises(Conflict, match="built without no_such, which the index shelf_index needs"):
        engine.run(None, "library.create", {"path": str(tmp_path / "A.library")}, LOCAL_OWNER)
    assert not (tmp_path / "A.library").exists()
