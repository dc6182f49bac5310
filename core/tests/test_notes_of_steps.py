"""What a plugin records about a step exists if and only if the step does, also for an undo; a failing plugin prevents
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, insert

from armarium.api import ActionContext, Conflict, Params, Plugin, action, append_only, raw_of, tracked
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library

metadata = MetaData()
doors = Table("gate_door", metadata, Column("id", Text, primary_key=True), info=tracked(label="door"))
notes = Table(
    "gate_note",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("words", Text, nullable=False),
    info=append_only(),
)


class Door(Params):
    door_id: str


@action("gate.open", params=Door, summary="Open a door")
def open_door(ctx: ActionContext, p: Door) -> dict[str, Any]:
    ctx.conn.execute(insert(doors).values(id=p.door_id))
    if p.door_id == "stuck":
        raise Conflict("The door is stuck; push harder.")
    return {}


def note(ctx: ActionContext) -> None:
    there = raw_of(ctx.conn).execute("SELECT count(*) FROM gate_door").fetchone()[0]
    ctx.conn.execute(insert(notes).values(words=f"{ctx.action_name}: {there}"))
    if there == 2:
        raise RuntimeError("too many doors")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    plugin = Plugin(name="gate", summary="Doors", metadata=metadata, actions=(open_door,), on_step=(note,))
    return make_engine(plugins=[plugin])


def list_notes(library: Library) -> list[str]:
    with library.db.read() as conn:
        rows = raw_of(conn).execute("SELECT words FROM gate_note WHERE words LIKE 'gate.%' ORDER BY seq")
        return [row[0] for row in rows.fetchall()]


def test_notes_are_made_with_the_step(engine: Engine, library: Library) -> None:
    outcome = engine.run(library, "gate.open", {"door_id": "a"}, LOCAL_OWNER)
    with pytest.raises(Conflict):
        engine.run(library, "gate.open", {"door_id": "stuck"}, LOCAL_OWNER)
    engine.undo(library, [outcome.audit_id], LOCAL_OWNER)
    assert list_notes(library) == ["gate.open: 1", "gate.open: 0"]


def test_a_plugin_that_fails_leaves_no_note_and_the_step_remains(engine: Engine, library: Library) -> None:
    for door in ("a", "b"):
        engine.run(library, "gate.open", {"door_id": door}, LOCAL_OWNER)
    assert list_notes(library) == ["gate.open: 1"]
    with library.db.read() as conn:
        assert raw_of(conn).execute("SELECT count(*) FROM gate_door").fetchone() == (2,)
    assert [fault.name for fault in engine.plugins.faults] == ["gate"]


def test_an_engine_wide_step_in_a_projects_name_is_no_step_of_the_project(
    engine: Engine, library: Library
) -> None:
    """Its rows are in the engine's own database, where no plugin has tables of a project."""
    engine.run(library, "token.create", {"name": "A reader"}, LOCAL_OWNER)
    assert engine.plugins.faults == []
    assert list_notes(library) == []
