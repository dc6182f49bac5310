"""A plugin may declare its tables as SQLModel classes: they are tables like any other, with history, undo and answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Text
from sqlalchemy.orm import registry
from sqlmodel import Field, SQLModel

from armarium.api import ActionContext, Message, Params, Plugin, Rows, action, answer_of, new_id, tracked
from armarium.engine import Engine
from armarium.errors import Conflict
from armarium.plugins.faults import faults_of
from armarium.principals import LOCAL_OWNER
from armarium_testing.conformance import exercise_plugin


class Base(SQLModel, registry=registry()):
    """Tables of this plugin only: SQLModel's own class would share one MetaData with every other plugin."""


class Card(Base, table=True):
    __tablename__ = "box_card"
    __table_args__ = {"info": tracked(label="card")}

    id: str = Field(primary_key=True, sa_type=Text)
    words: str = Field(sa_type=Text)
    weight: float | None = None


cards = Card.metadata.tables["box_card"]


@answer_of(cards)
class CardAnswer(Message):
    """A card in an answer."""


CARDS = Rows(cards)


class Keep(Params):
    words: str
    id: str | None = None


@action(
    "box.keep", params=Keep, result=CardAnswer, summary="Keep a card", example=lambda ex: {"words": "Sir"}
)
def keep(ctx: ActionContext, p: Keep) -> dict[str, Any]:
    """Insert a card, or change the words of an existing one."""
    identity = p.id or new_id()
    if p.id is None:
        card = Card(id=identity, words=p.words)
        ctx.conn.execute(cards.insert().values(card.model_dump()))
    else:
        ctx.conn.execute(cards.update().where(cards.c.id == identity).values(words=p.words))
    ctx.target(identity)
    return CARDS.require(ctx.conn, identity)


def box() -> Plugin:
    return Plugin(name="box", summary="Cards in a box", metadata=Card.metadata, actions=(keep,))


def test_its_actions_conform(make_engine: Callable[..., Engine], tmp_path: Path) -> None:
    assert faults_of(box()) == []
    assert exercise_plugin(make_engine(plugins=[box()]), "box", tmp_path / "kit") == []


def test_a_card_is_written_undone_and_refused_where_it_changed(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine(plugins=[box()])
    engine.run(None, "library.create", {"path": str(tmp_path / "B.library")}, LOCAL_OWNER)
    library = engine.libraries.get(tmp_path / "B.library")
    first = engine.run(library, "box.keep", {"words": "Sir"}, LOCAL_OWNER)
    identity = (first.result or {})["id"]
    second = engine.run(library, "box.keep", {"words": "Madam", "id": identity}, LOCAL_OWNER)
    with pytest.raises(Conflict):
        engine.undo(library, [first.audit_id], LOCAL_OWNER)
    engine.undo(library, [second.audit_id], LOCAL_OWNER)
    with library.db.read() as conn:
        assert CARDS.all(conn) == [{"id": identity, "words": "Sir", "weight": None}]
