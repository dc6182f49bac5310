"""The laws of an action hold after every step that it ran in, done, undone or redone, for any caller."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Column, MetaData, Table, Text

from armarium.api import ActionContext, Conflict, Params, Plugin, RowLaw, action, raw_of, tracked
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library

metadata = MetaData()
seats = Table(
    "hall_seat",
    metadata,
    Column("id", Text, primary_key=True),
    Column("holder", Text),
    info=tracked(label="seat"),
)


def _sits_twice(raw: sqlite3.Connection, row: Mapping[str, Any]) -> Conflict | None:
    other_row = raw.execute(
        "SELECT id FROM hall_seat WHERE holder = ? AND id <> ?", (row["holder"], row["id"])
    ).fetchone()
    return (
        None
        if other_row is None
        else Conflict(f"{row['holder']} sits on {other_row[0]} already.", code="sits")
    )


class Statement(Params):
    sql: str


@action("hall.write", params=Statement, summary="Run a statement", laws=(RowLaw("hall_seat", _sits_twice),))
def write(ctx: ActionContext, p: Statement) -> dict[str, Any]:
    raw_of(ctx.conn).execute(p.sql)
    return {}


@action("hall.nested", params=Statement, summary="Do it inside another")
def run_nested(ctx: ActionContext, p: Statement) -> dict[str, Any]:
    ctx.run("hall.write", p)
    return {}


def plugin() -> Plugin:
    return Plugin(name="hall", summary="Seats in a hall", metadata=metadata, actions=(write, run_nested))


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(plugins=[plugin()])


def do(engine: Engine, library: Library, sql: str, name: str = "hall.write") -> str:
    return engine.run(library, name, {"sql": sql}, LOCAL_OWNER).audit_id


def list_seats(library: Library) -> list[tuple[str, str]]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return raw.execute("SELECT id, holder FROM hall_seat ORDER BY id").fetchall()


@pytest.mark.parametrize("name", ["hall.write", "hall.nested"])
def test_a_law_is_checked_on_do_undo_and_redo(engine: Engine, library: Library, name: str) -> None:
    first = do(engine, library, "INSERT INTO hall_seat VALUES ('a', 'Ana')", name)
    with pytest.raises(Conflict, match="Ana sits on a already"):
        do(engine, library, "INSERT INTO hall_seat VALUES ('b', 'Ana')", name)
    (audit_id,) = engine.undo(library, [first], LOCAL_OWNER)["audit_ids"]
    do(engine, library, "INSERT INTO hall_seat VALUES ('b', 'Ana')", name)
    with pytest.raises(Conflict, match="Ana sits on b already"):
        engine.undo(library, [audit_id], LOCAL_OWNER)
    moved = do(engine, library, "UPDATE hall_seat SET holder = 'Eva' WHERE id = 'b'", name)
    engine.undo(library, [audit_id], LOCAL_OWNER)
    with pytest.raises(Conflict, match="Ana sits on a already"):
        engine.undo(library, [moved], LOCAL_OWNER)
    assert list_seats(library) == [("a", "Ana"), ("b", "Eva")]


def test_laws_are_laws_and_name_a_table(make_engine: Callable[..., Engine]) -> None:
    for laws, words in (("x", "no RowLaw"), ((RowLaw("nowhere", _sits_twice),), "nowhere")):
        odd = replace(write, name="odd.write", laws=laws)  # type: ignore[arg-type]
        engine = make_engine(plugins=[Plugin(name="odd", summary="Odd", actions=(odd,))])
        (told,) = engine.plugins.refused
        assert words in told.why
