"""Work across two projects: conducted actions, steps undone together, and what is completed when one is opened."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, MetaData, Table, Text

from armarium.actions import ActionContext, Outcome, Params, action
from armarium.actions.conducting import Conductor
from armarium.engine import Engine
from armarium.errors import Conflict, Forbidden, ServiceError, Unavailable
from armarium.history.audit import select_rows
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import operational, tracked
from armarium_testing.digest import table_digests

metadata = MetaData()
coins = Table(
    "coin",
    metadata,
    Column("id", Text, primary_key=True),
    Column("face", Text, nullable=False),
    info=tracked(label="coin"),
)
pairs = Table(
    "coin_pair",
    metadata,
    Column("audit_id", Text, primary_key=True),
    Column("other_uuid", Text, nullable=False),
    Column("other_audit_id", Text, nullable=False),
    info=operational(),
)


class Toss(Params):
    id: str
    face: str = "heads"


class TossBoth(Toss):
    other: str


def _partner(engine: Engine, library: Library, audit_id: str) -> tuple[Library, str] | None:
    with library.db.read() as conn:
        raw = raw_of(conn)
        row = raw.execute(
            "SELECT other_uuid, other_audit_id FROM coin_pair WHERE audit_id = ?", (audit_id,)
        ).fetchone()
    if row is None:
        return None
    for other in engine.libraries.open_now():
        if other.uuid == row[0]:
            return other, row[1]
    raise Conflict("The other project is closed.", code="undo_refused", reason="not-undoable")


@action("coin.toss", params=Toss, summary="Toss one coin", partner=_partner)
def toss(ctx: ActionContext, p: Toss) -> dict[str, Any]:
    ctx.conn.execute(coins.insert().values(id=p.id, face=p.face))
    return {}


def _toss_both(conductor: Conductor, p: TossBoth) -> Outcome:
    engine = conductor.engine
    with engine.lock_across():
        theirs = engine.libraries.get(p.other)
        conductor.part("readied", lambda ctx: ctx.target(p.id), {"id": p.id})
        other_outcome = engine.run(theirs, "coin.toss", {"id": p.id, "face": p.face}, conductor.principal)
        outcome = conductor.step(p)
        ours = conductor.library
        assert ours is not None
        for library, own, away, away_id in (
            (ours, outcome.audit_id, theirs, other_outcome.audit_id),
            (theirs, other_outcome.audit_id, ours, outcome.audit_id),
        ):
            with library.db.write() as conn:
                conn.execute(
                    pairs.insert().values(audit_id=own, other_uuid=away.uuid, other_audit_id=away_id)
                )
    return Outcome({"other": other_outcome.audit_id}, outcome.audit_id)


@action(
    "coin.toss_both", params=TossBoth, summary="Toss in two projects", conduct=_toss_both, partner=_partner
)
def toss_both(ctx: ActionContext, p: TossBoth) -> dict[str, Any]:
    ctx.conn.execute(coins.insert().values(id=p.id, face=p.face))
    return {}


@action("coin.turn", params=Toss, summary="Turn a coin over")
def turn(ctx: ActionContext, p: Toss) -> dict[str, Any]:
    ctx.conn.execute(coins.update().where(coins.c.id == p.id).values(face=p.face))
    return {}


opened: list[str] = []


def _note(engine: Engine, library: Library) -> None:
    opened.append(library.path.name)
    if library.path.name.startswith("Bad"):
        raise ValueError("it cannot be looked at")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    plugin = Plugin(
        name="coin", summary="Coins", metadata=metadata, actions=(toss, toss_both, turn), on_open=(_note,)
    )
    return make_engine(plugins=[plugin])


@pytest.fixture
def other(engine: Engine, tmp_path: Path) -> Library:
    engine.run(None, "library.create", {"path": str(tmp_path / "Other.library")}, LOCAL_OWNER)
    return engine.libraries.get(tmp_path / "Other.library")


def faces(library: Library) -> dict[str, str]:
    with library.db.read() as conn:
        raw = raw_of(conn)
        return dict(raw.execute("SELECT id, face FROM coin").fetchall())


def both(engine: Engine, library: Library, other: Library, who: Principal = LOCAL_OWNER) -> Outcome:
    return engine.run(library, "coin.toss_both", {"id": "a", "other": str(other.path)}, who)


def test_a_conducted_action_leaves_its_parts_and_one_step(
    engine: Engine, library: Library, other: Library
) -> None:
    outcome = both(engine, library, other)
    with library.db.read() as conn:
        rows, _ = select_rows(conn, limit=2)
    assert [row["action_name"] for row in rows] == ["coin.toss_both", "coin.toss_both_readied"]
    assert [row["undoable"] for row in rows] == [True, False]
    assert rows[0]["id"] == outcome.audit_id
    with pytest.raises(ServiceError) as refused:
        engine.undo(library, [rows[1]["id"]], LOCAL_OWNER)
    assert refused.value.fields["reason"] == "not-undoable"
    assert engine.verify_audit(library) is None


def test_a_step_is_undone_and_redone_on_both_sides_from_either(
    engine: Engine, library: Library, other: Library
) -> None:
    outcome = both(engine, library, other)
    assert outcome.result is not None
    sides = [(library, outcome.audit_id), (other, outcome.result["other"])]
    digests = [table_digests(side.db, engine.library_schema) for side, _ in sides]
    for side, audit_id in (*sides, *sides):
        undone = engine.undo(side, [audit_id], LOCAL_OWNER)
        assert faces(library) == faces(other) == {}
        assert len(undone["audit_ids"]) == 1
        engine.undo(side, undone["audit_ids"], LOCAL_OWNER)
        assert [table_digests(x.db, engine.library_schema) for x, _ in sides] == digests
    # Undone from one side, redone from the other.
    engine.undo(library, [outcome.audit_id], LOCAL_OWNER)
    with other.db.read() as conn:
        (row,), _ = select_rows(conn, limit=1)
    engine.undo(other, [row["id"]], LOCAL_OWNER)
    assert faces(library) == faces(other) == {"a": "heads"}


def test_a_refusal_on_the_other_side_leaves_both(engine: Engine, library: Library, other: Library) -> None:
    outcome = both(engine, library, other)
    engine.run(other, "coin.turn", {"id": "a", "face": "tails"}, LOCAL_OWNER)
    with pytest.raises(Conflict) as refused:
        engine.undo(library, [outcome.audit_id], LOCAL_OWNER)
    assert refused.value.fields["reason"] == "changed"
    assert refused.value.fields["audit_id"] == outcome.audit_id
    assert "its other half" in refused.value.detail
    assert (faces(library), faces(other)) == ({"a": "heads"}, {"a": "tails"})


def test_a_set_with_a_refused_step_leaves_the_other_side(
    engine: Engine, library: Library, other: Library
) -> None:
    first = engine.run(library, "coin.toss", {"id": "b"}, LOCAL_OWNER)
    outcome = both(engine, library, other)
    engine.run(library, "coin.turn", {"id": "b", "face": "tails"}, LOCAL_OWNER)
    with pytest.raises(Conflict):
        engine.undo(library, [outcome.audit_id, first.audit_id], LOCAL_OWNER)
    assert faces(other) == {"a": "heads"}


def test_a_token_that_does_not_reach_the_other_side_undoes_nothing(
    engine: Engine, library: Library, other: Library
) -> None:
    outcome = both(engine, library, other)
    bound = Principal("person", "guest", "editor", libraries=frozenset({str(library.path)}))
    with pytest.raises(Forbidden):
        engine.undo(library, [outcome.audit_id], bound)
    assert faces(library) == faces(other) == {"a": "heads"}


def test_undos_from_both_sides_at_once_do_not_wait_for_each_other(
    engine: Engine, library: Library, other: Library
) -> None:
    outcome = both(engine, library, other)
    assert outcome.result is not None
    refused: list[str] = []

    def take_back(side: Library, audit_id: str) -> None:
        try:
            engine.undo(side, [audit_id], LOCAL_OWNER)
        except ServiceError as error:
            refused.append(str(error.fields["reason"]))

    threads = [
        threading.Thread(target=take_back, args=args)
        for args in ((library, outcome.audit_id), (other, outcome.result["other"]))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert refused == ["already-undone"]
    assert faces(library) == faces(other) == {}


def test_work_across_is_one_at_a_time(engine: Engine) -> None:
    told: list[str] = []

    def second() -> None:
        try:
            with engine.lock_across(wait=0.01):
                told.append("both at once")
        except Unavailable as error:
            told.append(str(error.code))

    with engine.lock_across():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(60)
    assert told == ["busy"]


def test_plugins_hear_of_a_project_that_is_opened(engine: Engine, tmp_path: Path) -> None:
    opened.clear()
    for name in ("One", "Bad"):
        engine.run(None, "library.create", {"path": str(tmp_path / f"{name}.library")}, LOCAL_OWNER)
        engine.libraries.get(tmp_path / f"{name}.library")
    assert opened == ["One.library", "Bad.library"]
    engine.libraries.release(tmp_path / "One.library")
    engine.libraries.get(tmp_path / "One.library")
    assert opened[-1] == "One.library"
