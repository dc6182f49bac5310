"""Undo of rows that refer to others without a foreign key: refused only where a later step removed what they refer to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Column, MetaData, Table, Text

from armarium.api import ActionContext, Conflict, Engine, Library, Params, Plugin, action, raw_of, tracked
from armarium.principals import LOCAL_OWNER

metadata = MetaData()
Table(
    "stall_kind",
    metadata,
    Column("key", Text, primary_key=True),
    info=tracked(label="kind", used_by=(("stall_ware", "kind"),)),
)
Table(
    "stall_ware",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text),
    Column("name", Text),
    info=tracked(label="ware"),
)


class Statement(Params):
    sql: str


@action("stall.write", params=Statement, summary="Run a statement")
def write(ctx: ActionContext, p: Statement) -> dict[str, Any]:
    raw_of(ctx.conn).execute(p.sql)
    return {}


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(
        plugins=[Plugin(name="stall", summary="Wares of a stall", metadata=metadata, actions=(write,))]
    )


@pytest.fixture
def do(engine: Engine, library: Library) -> Callable[[str], str]:
    """Run a statement in a step, and return the step's id."""
    return lambda sql: engine.run(library, "stall.write", {"sql": sql}, LOCAL_OWNER).audit_id


@pytest.fixture
def undo(engine: Engine, library: Library) -> Callable[..., list[str]]:
    return lambda *steps: list(engine.undo(library, list(steps), LOCAL_OWNER)["audit_ids"])


def test_what_a_later_step_removed_is_named_and_comes_back_with_it(
    do: Callable[[str], str], undo: Callable[..., list[str]]
) -> None:
    do("INSERT INTO stall_kind VALUES ('wool')")
    do("INSERT INTO stall_ware VALUES ('a', 'wool', 'Bale')")
    freed = do("UPDATE stall_ware SET kind = NULL")
    removed = do("DELETE FROM stall_kind")
    with pytest.raises(Conflict) as refused:
        undo(freed)
    assert (refused.value.fields["reason"], refused.value.fields["later_audit_id"]) == ("changed", removed)
    undo(freed, removed)


def test_what_was_missing_before_the_step_stays_so(
    do: Callable[[str], str], undo: Callable[..., list[str]], library: Library
) -> None:
    do("INSERT INTO stall_kind VALUES ('wool')")
    do("INSERT INTO stall_ware VALUES ('a', 'wool', 'Bale')")
    do("DELETE FROM stall_kind")
    renamed = do("UPDATE stall_ware SET name = 'Sack'")
    (back,) = undo(renamed)
    undo(back)
    with library.db.read() as conn:
        assert raw_of(conn).execute("SELECT kind, name FROM stall_ware").fetchall() == [("wool", "Sack")]
