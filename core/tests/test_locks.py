"""Locks and rights over rows: the core checks every step of any plugin, whether done, undone, redone or nested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Column, ForeignKey, Integer, MetaData, Table, Text

from armarium.actions import ActionContext, Params, action
from armarium.api import (
    Engine,
    Forbidden,
    Invalid,
    Library,
    Plugin,
    RowRule,
    Tree,
    append_only,
    raw_of,
    tracked,
)
from armarium.principals import LOCAL_OWNER, Principal
from armarium_testing.rights import AGENT, EDITOR, VIEWER

metadata = MetaData()


def _key(target: str) -> ForeignKey:
    return ForeignKey(target, deferrable=True, initially="DEFERRED")


rooms = Table(
    "nook",
    metadata,
    Column("id", Text, primary_key=True),
    Column("inside", Text, _key("nook.id")),
    Column("title", Text, nullable=False, default="A room"),
    Column("shut", Boolean, nullable=False, default=False),
    Column("place", Integer, nullable=False, default=0),
    info=tracked(label="room", tree=Tree(parent="inside", locked="shut", name="title", order="place")),
)
chests = Table(
    "nook_chest",
    metadata,
    Column("id", Text, primary_key=True),
    Column("room_id", Text),
    Column("sealed", Boolean, nullable=False, default=False),
    info=tracked(label="chest", document="room_id"),
)
letters = Table(
    "nook_letter",
    metadata,
    Column("id", Text, primary_key=True),
    Column("chest_id", Text, _key("nook_chest.id"), nullable=False),
    Column("answers", Text, _key("nook_letter.id")),
    Column("text", Text),
    info=tracked(label="letter"),
)
remarks = Table(
    "nook_remark",
    metadata,
    Column("id", Text, primary_key=True),
    Column("room_id", Text, _key("nook.id")),
    Column("on_remark", Text, _key("nook_remark.id")),
    info=tracked(label="remark"),
)
counts = Table(
    "nook_count",
    metadata,
    Column("id", Text, primary_key=True),
    Column("room_id", Text, _key("nook.id"), nullable=False),
    info=tracked(label="count", heeds_locks=False),
)
words = Table("nook_word", metadata, Column("id", Text, primary_key=True), info=tracked(label="word"))


class Statements(Params):
    """Statements to run, and the targets to name."""

    sql: list[str]
    names: list[str] = []


def _perform(ctx: ActionContext, p: Statements) -> dict[str, Any]:
    for statement in p.sql:
        raw_of(ctx.conn).execute(statement)
    ctx.target(*p.names)
    return {}


write = action("nook.write", params=Statements, summary="Run statements")(_perform)
queue = action("nook.queue", params=Statements, summary="Name targets", guards_targets=True)(_perform)
judge = action("nook.judge", params=Statements, summary="Do what only a person may", person_only=True)(
    _perform
)


class Unsealed(Invalid):
    def __init__(self) -> None:
        super().__init__("Only a person seals a chest.", code="seal_needs_a_person")


seal: Any = action(
    "nook.seal",
    params=Statements,
    summary="Seal a chest or open it",
    rules=(
        RowRule(
            "nook_chest",
            "person",
            when=lambda before, after: bool(after and after["sealed"] and not (before and before["sealed"])),
            refusal=Unsealed,
            sent=lambda p: "seal" in p.names,
        ),
    ),
)(_perform)


@action("nook.nested", params=Statements, summary="Run another action inside this one")
def run_nested(ctx: ActionContext, p: Statements) -> dict[str, Any]:
    """Run the first action of *names* inside this one."""
    ctx.run(p.names[0], {"sql": p.sql, "names": p.names[1:]})
    return {}


def nook_plugin() -> Plugin:
    return Plugin(
        name="nook",
        summary="Rooms with chests of letters",
        metadata=metadata,
        actions=(write, queue, judge, seal, run_nested),
    )


class House:
    """Rooms in which somebody writes: an attic in a house, and a barn."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.do(
            "INSERT INTO nook (id, inside, title, shut, place) VALUES ('house', NULL, 'House', 0, 1),"
            " ('attic', 'house', 'Attic', 0, 1), ('barn', NULL, 'Barn', 0, 2)",
            "INSERT INTO nook_chest VALUES ('old', 'attic', 0), ('new', 'barn', 0)",
            "INSERT INTO nook_letter VALUES ('a', 'old', NULL, 'x'), ('b', 'new', 'a', 'y')",
            "INSERT INTO nook_remark VALUES ('r', 'attic', NULL), ('s', NULL, 'r'), ('t', NULL, NULL)",
            "INSERT INTO nook_count VALUES ('c', 'attic')",
            "INSERT INTO nook_word VALUES ('w')",
        )

    def do(self, *sql: str, who: Principal = LOCAL_OWNER, name: str = "nook.write", names: Any = ()) -> str:
        given = {"sql": list(sql), "names": list(names)}
        return self.engine.run(self.library, name, given, who).audit_id

    def undo(self, step: str, who: Principal = LOCAL_OWNER) -> str:
        return str(self.engine.undo(self.library, [step], who)["audit_ids"][0])

    def set_lock(self, room: str, shut: bool = True) -> None:
        self.do(f"UPDATE nook SET shut = {int(shut)} WHERE id = '{room}'")


@pytest.fixture
def house(make_engine: Callable[..., Engine], tmp_path: Path) -> House:
    engine = make_engine(plugins=[nook_plugin()])
    place = tmp_path / "House.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    return House(engine, engine.libraries.get(place))


def find_refusal(work: Callable[[], Any]) -> str | None:
    with pytest.raises((Forbidden, Invalid)) as refusal:
        work()
    return refusal.value.code


UNDER = [
    "UPDATE nook SET title = 'Loft' WHERE id = 'attic'",
    "INSERT INTO nook (id, inside, title, shut, place) VALUES ('new', 'attic', '', 0, 0)",
    "UPDATE nook SET inside = 'attic' WHERE id = 'barn'",
    "UPDATE nook SET inside = NULL WHERE id = 'attic'",
    "UPDATE nook SET place = 7 WHERE id = 'attic'",
    "INSERT INTO nook_chest VALUES ('more', 'attic', 0)",
    "UPDATE nook_chest SET sealed = 1 WHERE id = 'old'",
    "UPDATE nook_chest SET room_id = 'attic' WHERE id = 'new'",
    "UPDATE nook_chest SET room_id = 'barn' WHERE id = 'old'",
    "UPDATE nook_letter SET text = 'z' WHERE id = 'a'",
    "INSERT INTO nook_letter VALUES ('c', 'old', NULL, NULL)",
    "UPDATE nook_letter SET chest_id = 'new' WHERE id = 'a'",
    "DELETE FROM nook_remark WHERE id = 's'",
    "UPDATE nook_remark SET on_remark = 's' WHERE id = 't'",
]
"""Changes of what belongs to the attic or is moved into or out of it; the last ones through one or two other rows."""

ELSEWHERE = [
    "UPDATE nook SET title = 'Stable' WHERE id = 'barn'",
    "UPDATE nook SET place = 7 WHERE id = 'house'",
    "UPDATE nook_chest SET sealed = 1 WHERE id = 'new'",
    # This letter answers one in the attic, but is in the barn.
    "UPDATE nook_letter SET text = 'z' WHERE id = 'b'",
    "UPDATE nook_remark SET on_remark = NULL WHERE id = 't'",
    "INSERT INTO nook_count VALUES ('d', 'attic')",
    "DELETE FROM nook_word",
]


@pytest.mark.parametrize("statement", UNDER)
def test_a_lock_high_up_keeps_an_editor_from_every_row_beneath_it(house: House, statement: str) -> None:
    house.set_lock("house")
    assert find_refusal(lambda: house.do(statement, who=EDITOR)) == "node_locked"
    house.set_lock("house", False)
    house.do(statement, who=EDITOR)


@pytest.mark.parametrize("statement", UNDER)
def test_a_machine_may_not_undo_or_redo_it_either(house: House, statement: str) -> None:
    # The house is moved first, so that the lock changes no row that the step changed.
    house.do("INSERT INTO nook (id, inside, title, shut, place) VALUES ('street', NULL, 'Street', 0, 0)")
    house.do("UPDATE nook SET inside = 'street' WHERE id = 'house'")
    done = house.do(statement)
    house.set_lock("street")
    assert find_refusal(lambda: house.undo(done, EDITOR)) == "node_locked"
    undone = house.undo(done)
    assert find_refusal(lambda: house.undo(undone, EDITOR)) == "node_locked"
    house.undo(undone)


@pytest.mark.parametrize("statement", ELSEWHERE)
def test_a_lock_does_not_affect_other_documents(house: House, statement: str) -> None:
    house.set_lock("attic")
    done = house.do(statement, who=EDITOR)
    house.undo(house.undo(done, EDITOR), EDITOR)


def test_reordering_siblings_counts_as_changing_their_parent(house: House) -> None:
    """A locked sibling does not prevent the others from being reordered."""
    house.set_lock("attic")
    house.do("UPDATE nook SET place = 3 WHERE id = 'attic'", who=EDITOR)
    assert find_refusal(
        lambda: house.do("UPDATE nook SET place = 3, title = 'x' WHERE id = 'attic'", who=EDITOR)
    )


def test_only_the_owner_locks_whatever_action_it_is_by(house: House) -> None:
    shut = "UPDATE nook SET shut = 1 WHERE id = 'barn'"
    made = "INSERT INTO nook (id, inside, title, shut, place) VALUES ('safe', NULL, 'Safe', 1, 0)"
    for statement in (shut, made):
        assert find_refusal(lambda sql=statement: house.do(sql, who=EDITOR)) == "owner_only"  # type: ignore[misc]
    done = house.do(shut)
    assert find_refusal(lambda: house.undo(done, EDITOR)) in ("owner_only", "node_locked")
    undone = house.undo(done)
    assert find_refusal(lambda: house.undo(undone, EDITOR)) == "owner_only"
    house.do(made)
    assert find_refusal(lambda: house.do("DELETE FROM nook WHERE id = 'safe'", who=EDITOR)) == "node_locked"


def test_what_moves_out_and_is_changed_on_the_way_was_locked(house: House) -> None:
    house.set_lock("house")
    away = "UPDATE nook SET inside = 'barn' WHERE id = 'attic'"
    for statement in (
        "UPDATE nook_letter SET text = '' WHERE id = 'a'",
        "DELETE FROM nook_letter WHERE id = 'a'",
    ):
        assert find_refusal(lambda sql=statement: house.do(away, sql, who=EDITOR)) == "node_locked"  # type: ignore[misc]


def test_work_is_not_put_in_the_queue_for_what_is_locked(house: House) -> None:
    result = house.do(name="nook.queue", names=["attic"])
    house.set_lock("house")
    assert find_refusal(lambda: house.do(name="nook.queue", names=["attic"], who=EDITOR)) == "node_locked"
    assert (
        find_refusal(lambda: house.do(name="nook.nested", names=["nook.queue", "attic"], who=EDITOR))
        == "node_locked"
    )
    house.do(name="nook.queue", names=["barn", "no room"], who=EDITOR)
    house.do(name="nook.write", names=["attic"], who=EDITOR)
    assert find_refusal(lambda: house.undo(result, EDITOR)) == "node_locked"


SEAL, UNSEAL = (f"UPDATE nook_chest SET sealed = {n} WHERE id = 'old'" for n in (1, 0))


def test_a_right_over_rows_is_checked_on_do_undo_and_redo(house: House) -> None:
    def by(who: Principal, sql: str, *names: str) -> str:
        return house.do(sql, name="nook.seal", who=who, names=names)

    assert find_refusal(lambda: by(AGENT, SEAL)) == "seal_needs_a_person"
    # Naming it in the parameters needs the right, even if no row would change by it.
    assert find_refusal(lambda: by(AGENT, UNSEAL, "seal")) == "seal_needs_a_person"
    sealed = by(EDITOR, SEAL)
    assert find_refusal(lambda: house.undo(sealed, AGENT)) == "seal_needs_a_person"
    opened = by(AGENT, UNSEAL)
    assert find_refusal(lambda: house.undo(opened, AGENT)) == "seal_needs_a_person"
    undone = house.undo(opened, EDITOR)
    assert find_refusal(lambda: house.undo(undone, AGENT)) == "seal_needs_a_person"


@pytest.mark.parametrize(
    ("inner", "code"), [("nook.seal", "seal_needs_a_person"), ("nook.judge", "person_only")]
)
def test_an_action_inside_another_keeps_its_rights(house: House, inner: str, code: str) -> None:
    assert find_refusal(lambda: house.do(SEAL, name="nook.nested", names=[inner], who=AGENT)) == code
    done = house.do(SEAL, name="nook.nested", names=[inner], who=EDITOR)
    assert find_refusal(lambda: house.undo(done, AGENT)) == code
    undone = house.undo(done, EDITOR)
    assert find_refusal(lambda: house.undo(undone, AGENT)) == code
    again = house.undo(undone, EDITOR)
    assert find_refusal(lambda: house.undo(again, AGENT)) == code
    assert find_refusal(lambda: house.undo(again, VIEWER)) == "library_access_denied"
    house.undo(again, EDITOR)


def test_a_set_is_undone_whole_or_not_at_all(house: House) -> None:
    steps = [house.do("UPDATE nook_letter SET text = 'n' WHERE id = 'b'"), house.do(UNDER[9])]
    house.set_lock("house")
    with pytest.raises(Forbidden):
        house.engine.undo(house.library, steps, EDITOR)
    with house.library.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT text FROM nook_letter ORDER BY id").fetchall() == [("z",), ("n",)]


def test_nothing_locked_costs_no_look_at_the_rows(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    from armarium.history.locks import Locks

    def fail(*args: Any) -> None:
        raise AssertionError("the rows were looked at")

    monkeypatch.setattr(Locks, "refuse_step", fail)
    house.do(SEAL, who=EDITOR)
    house.set_lock("barn")
    house.do(UNSEAL)


def test_a_plugin_whose_rights_name_no_table_is_not_let_in(make_engine: Callable[..., Engine]) -> None:
    astray = replace(seal, name="astray.seal", rules=(RowRule("nowhere", "person", when=lambda a, b: True),))
    engine = make_engine(plugins=[Plugin(name="astray", summary="Asks of nothing", actions=(astray,))])
    (told,) = engine.plugins.refused
    assert "nowhere" in told.why


def test_rows_that_no_undo_removes_hold_none_that_one_does(make_engine: Callable[..., Engine]) -> None:
    own = MetaData()
    Table("held", own, Column("id", Text, primary_key=True), info=tracked(label="thing"))
    Table(
        "held_note",
        own,
        Column("id", Text, primary_key=True),
        Column("thing_id", Text, ForeignKey("held.id")),
        info=append_only(),
    )
    engine = make_engine(plugins=[Plugin(name="held", summary="Holds on", metadata=own)])
    (told,) = engine.plugins.refused
    assert "held_note" in told.why
    assert "foreign key" in told.why
