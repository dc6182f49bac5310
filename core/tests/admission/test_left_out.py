"""A plugin that fails in one project is left out of that project, by name; the project opens and the rest works."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import CheckConstraint, Column, ForeignKey, MetaData, Table, Text, insert

from armarium.actions import ActionContext, NoParams, action
from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.ids import new_id
from armarium.plugin import Migration, Plugin
from armarium.plugins.registry import PluginRegistry, find_plugins
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.store.database import raw_of
from armarium.store.tables import tracked
from armarium_testing.shelf import shelf_plugin, shelves

ANNEX = MetaData()
rooms = Table(
    "annex_room",
    ANNEX,
    Column("id", Text, primary_key=True),
    Column("shelf_id", Text, ForeignKey(shelves.c.id, deferrable=True, initially="DEFERRED"), index=True),
    info=tracked(label="room"),
)


@action("annex.add", params=NoParams, summary="Add a room")
def add_room(ctx: ActionContext, p: NoParams) -> dict[str, Any]:
    row = {"id": new_id()}
    ctx.conn.execute(insert(rooms).values(row))
    return row


ANNEX_PLUGIN = Plugin(name="annex", summary="Rooms of shelves", metadata=ANNEX, actions=(add_room,))


def fail(operations: Any) -> None:
    operations.execute("CREATE TABLE annex_half_made (id TEXT)")
    raise ValueError("this project is not as I thought")


@pytest.fixture
def project(make_engine: Any, tmp_path: Path) -> Path:
    """A project with a shelf and a room, created before the plugin fails."""
    engine: Engine = make_engine(plugins=[shelf_plugin(), ANNEX_PLUGIN])
    place = tmp_path / "Letters.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    engine.run(library, "annex.add", {}, LOCAL_OWNER)
    engine.close()
    return place


def registry_of(*plugins: Plugin, strangers: tuple[str, ...] = ()) -> PluginRegistry:
    registry = find_plugins(None, plugins)
    registry.strangers |= set(strangers)
    return registry


def tables_of(library: Any) -> set[str]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def check_the_rest_works(engine: Engine, place: Path) -> None:
    library = engine.libraries.get(place)
    result = engine.run(library, "shelf.create", {"name": "A"}, LOCAL_OWNER)
    undone = engine.undo(library, [result.audit_id], LOCAL_OWNER)
    engine.undo(library, undone["audit_ids"], LOCAL_OWNER)
    found = examine(engine, place)
    assert found["healthy"]
    assert any(
        "The plugin annex does not work in this project" in finding["what"] for finding in found["findings"]
    )
    with pytest.raises(Conflict, match="annex does not work in this project") as refused:
        engine.run(library, "annex.add", {}, LOCAL_OWNER)
    assert refused.value.code == "plugin_left_out"
    assert [(fault.name, "Letters.library" in fault.why) for fault in engine.plugins.faults] == [
        ("annex", True)
    ]


def test_a_migration_that_fails_costs_its_plugin_and_not_the_project(make_engine: Any, project: Path) -> None:
    broken = replace(ANNEX_PLUGIN, version=2, migrations=(Migration(2, "breaks", fail),))
    engine: Engine = make_engine(plugins=[shelf_plugin(), broken])
    check_the_rest_works(engine, project)
    library = engine.libraries.get(project)
    assert "annex_room" in tables_of(library)
    assert "annex_half_made" not in tables_of(library)
    assert "ValueError: this project is not as I thought" in library.db.left_out["annex"]
    engine.close()
    mended: Engine = make_engine(plugins=[shelf_plugin(), ANNEX_PLUGIN])
    library = mended.libraries.get(project)
    assert mended.plugins.faults == []
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT count(*) FROM annex_room").fetchone() == (1,)


def test_a_third_party_plugin_with_newer_tables_or_without_a_column_is_left_out(
    make_engine: Any, project: Path
) -> None:
    newer: Engine = make_engine(plugins=[shelf_plugin(), replace(ANNEX_PLUGIN, version=3)])
    newer.libraries.get(project)
    newer.close()
    older: Engine = make_engine(plugins=registry_of(shelf_plugin(), ANNEX_PLUGIN, strangers=("annex",)))
    check_the_rest_works(older, project)
    assert "newer version" in older.libraries.get(project).db.left_out["annex"]
    older.close()
    grown = MetaData()
    Table(
        "annex_room",
        grown,
        Column("id", Text, primary_key=True),
        Column("floor", Text),
        info=tracked(label="r"),
    )
    unmigrated = replace(ANNEX_PLUGIN, version=3, metadata=grown)
    engine: Engine = make_engine(plugins=registry_of(shelf_plugin(), unmigrated, strangers=("annex",)))
    check_the_rest_works(engine, project)
    assert "a migration of it must bring them there" in engine.libraries.get(project).db.left_out["annex"]


def test_tables_that_cannot_be_created_leave_out_their_plugin_and_those_that_need_it(
    make_engine: Any, tmp_path: Path
) -> None:
    metadata = MetaData()
    base = Table(
        "cellar",
        metadata,
        Column("id", Text, primary_key=True),
        CheckConstraint("no_such_function(id)"),
        info=tracked(label="cellar"),
    )
    above = MetaData()
    Table(
        "annex_room",
        above,
        Column("id", Text, primary_key=True),
        Column("cellar_id", Text, ForeignKey(base.c.id, deferrable=True, initially="DEFERRED")),
        info=tracked(label="room"),
    )
    cellar = Plugin(name="cellar", summary="Beneath", metadata=metadata)
    engine: Engine = make_engine(plugins=[shelf_plugin(), cellar, replace(ANNEX_PLUGIN, metadata=above)])
    place = tmp_path / "Made.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    assert "no such function" in library.db.left_out["cellar"]
    assert library.db.left_out["annex"] == "it depends on the tables of cellar, which is left out too"
    assert {"shelf", "shelf__history"} <= tables_of(library)
    assert not {"cellar", "annex_room"} & tables_of(library)


def ends_the_step(ctx: ActionContext) -> None:
    with suppress(Exception):
        ctx.conn.exec_driver_sql("INSERT INTO shelf (id) VALUES (1)")


def exits(ctx: ActionContext) -> None:
    raise SystemExit("no")


@pytest.mark.parametrize("start", [ends_the_step, exits, lambda ctx: 1 / 0])
def test_a_failing_on_create_does_not_prevent_creating_a_project(
    make_engine: Any, tmp_path: Path, start: Any
) -> None:
    def name_it(ctx: ActionContext) -> None:
        ctx.conn.exec_driver_sql("INSERT INTO shelf (id, name) VALUES ('first', 'The first')")

    sound = Plugin(name="annex", summary="Names the first shelf", on_create=(name_it,))
    broken = Plugin(name="broken", summary="Cannot begin", on_create=(start,))
    engine: Engine = make_engine(plugins=[shelf_plugin(), broken, sound])
    place = tmp_path / "Made.library"
    engine.run(None, "library.create", {"path": str(place), "name": "Letters"}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    assert library.name == "Letters"
    with library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT name FROM shelf").fetchall() == [("The first",)]
    assert [fault.name for fault in engine.plugins.faults] == ["broken"]
    assert "could not be made in Made.library" in engine.plugins.faults[0].why
    assert engine.verify_audit(library) is None
