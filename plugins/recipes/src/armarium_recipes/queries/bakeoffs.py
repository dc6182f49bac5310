"""Reads of bake-offs, and of the readers of hands."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import Engine, Library, by_name, query
from armarium_paleography.api import hands
from armarium_recipes.bakeoffs.refusals import unknown_bakeoff
from armarium_recipes.bakeoffs.table import bakeoff_answer
from armarium_recipes.models_bakeoffs import bakeoffs, champions
from armarium_recipes.schemas.bakeoffs import Bakeoff, Bakeoffs, Champions


@query(
    "/api/recipes/project/bakeoffs", summary="The bake-offs, the newest first", answer=Bakeoffs, refusals=()
)
def list_bakeoffs(conn: Connection, engine: Engine, library: Library) -> dict[str, Any]:
    """Each with its complete table."""
    newest_first = select(bakeoffs).order_by(bakeoffs.c.started_at.desc(), bakeoffs.c.id.desc())
    items = [bakeoff_answer(conn, engine, library, row._asdict()) for row in conn.execute(newest_first)]
    return {"items": items, "count": len(items)}


@query("/api/recipes/project/bakeoffs/{bakeoff_id}", summary="One bake-off with its table", answer=Bakeoff)
def read_bakeoff(conn: Connection, engine: Engine, library: Library, bakeoff_id: str) -> dict[str, Any]:
    """Scores are read from the models' cards, so they outlive the job. NotFound for an unknown one."""
    return bakeoff_answer(conn, engine, library, bakeoff_row(conn, bakeoff_id))


def bakeoff_row(conn: Connection, bakeoff_id: str) -> dict[str, Any]:
    """Return the row of a bake-off; NotFound if there is none."""
    row = conn.execute(select(bakeoffs).where(bakeoffs.c.id == bakeoff_id)).first()
    if row is None:
        raise unknown_bakeoff(bakeoff_id)
    return dict(row._mapping)


@query(
    "/api/recipes/project/champions",
    summary="Which reader reads the lines of which hand",
    answer=Champions,
    refusals=(),
)
def list_champions(conn: Connection) -> dict[str, Any]:
    """Hands that were not withdrawn, in the order of their labels."""
    joined = (
        select(champions, hands.c.label)
        .join(hands, hands.c.id == champions.c.hand_id)
        .where(hands.c.withdrawn_at.is_(None))
        .order_by(by_name(hands.c.label), hands.c.id)
    )
    items = [champion_answer(dict(row._mapping)) for row in conn.execute(joined)]
    return {"items": items, "count": len(items)}


def champion_answer(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its hand's label as a Champion."""
    fields = ("hand_id", "label", "card", "name", "reader", "model", "bakeoff_id", "created_by", "created_at")
    return {key: row[key] for key in fields}
