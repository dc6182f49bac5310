"""A family for measurements: one tracked table, an action that writes one row, three that write many.

It is a family like any other, so its cost is that of the bus, the history and the audit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from sqlalchemy import Column, Float, Index, Integer, MetaData, Table, Text, text
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from armarium.api import (
    ActionContext,
    JobContext,
    JobKind,
    Json,
    Params,
    Plugin,
    act,
    action,
    json_text,
    new_id,
    raw_of,
    tracked,
)

metadata = MetaData()

items = Table(
    "bench_item",
    metadata,
    Column("id", Text, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("pass_id", Text, nullable=False),
    Column("parent_id", Text),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("anchor", Json, nullable=False),
    Column("baseline", Json),
    Column("confidence", Float),
    Column("position", Integer, nullable=False),
    Column("x", Float, nullable=False),
    Column("y", Float, nullable=False),
    Column("w", Float, nullable=False),
    Column("h", Float, nullable=False),
    Column("version", Integer, nullable=False),
    Column("provenance_kind", Text, nullable=False),
    Column("created_by", Text),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Index("ix_bench_item_pass", "pass_id", "id"),
    Index("ix_bench_item_document", "document_id", "id"),
    Index("ix_bench_item_parent", "parent_id", sqlite_where=text("parent_id IS NOT NULL")),
    info=tracked(label="item", monotonic=("version", "updated_at"), large=("anchor", "baseline")),
)
"""A line with its place on the page, with as many columns and indexes as lines have in the source model."""

COLUMNS = tuple(column.name for column in items.columns)
INSERT = f"INSERT INTO bench_item ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
UPDATE = "UPDATE bench_item SET text = ?, confidence = ?, updated_at = ?, version = version + 1 WHERE id = ?"
UPDATE_ALL = "UPDATE bench_item SET text = text || '.', updated_at = ?, version = version + 1"
DELETE = "DELETE FROM bench_item WHERE id = ?"
DELETE_ALL = "DELETE FROM bench_item"
LINES_A_PAGE = 40
PLACE = (new_id(), new_id(), new_id())


def bare_table() -> list[str]:
    """Return the statements that create the same table and indexes in a bare database."""
    dialect = sqlite_dialect.dialect()
    indexes = sorted(items.indexes, key=lambda index: str(index.name))
    made: list[CreateTable | CreateIndex] = [CreateTable(items), *(CreateIndex(index) for index in indexes)]
    return [str(statement.compile(dialect=dialect)) for statement in made]


class PutParams(Params):
    """One item's text."""

    text: str
    position: int = 0


class ItemOut(BaseModel):
    """The id of the new item."""

    id: str


class FillParams(Params):
    """How many items; their rows are generated before the clock starts (see ``rows``)."""

    count: int


class ChangeParams(Params):
    """How: row by row, each with its own values, or all in one statement."""

    by_row: bool = True


def row_of(
    identity: str, place: tuple[str, str, str], position: int, text: str, now: str
) -> tuple[object, ...]:
    """Return one item as a tuple in the order of COLUMNS; *place* is its document, pass and parent."""
    y = round(position % LINES_A_PAGE / LINES_A_PAGE, 4)
    shape = [[0.1, y], [0.35, y + 0.001], [0.6, y], [0.9, y + 0.002], [0.9, y + 0.02], [0.1, y + 0.021]]
    anchor = json_text({"rect": [0.1, y, 0.8, 0.021], "polygon": shape})
    baseline = json_text([[0.1, y + 0.018], [0.5, y + 0.017], [0.9, y + 0.018]])
    return (
        identity,
        *place,
        "line",
        text,
        anchor,
        baseline,
        0.5,
        position,
        0.1,
        y,
        0.8,
        0.021,
        1,
        "agent",
        "bench",
        now,
        now,
    )


def rows_of(count: int) -> list[tuple[object, ...]]:
    """Return items in the number given, forty a page, with ids as the engine makes them."""
    rows = []
    for number in range(count):
        if number % LINES_A_PAGE == 0:
            place = (new_id(), new_id(), new_id())
        rows.append(row_of(new_id(), place, number, f"line {number} of a page", "2026-01-01T00:00:00.000Z"))
    return rows


class Stock:
    """Rows and keys generated outside the timed part, which the bulk actions write."""

    rows: list[tuple[object, ...]] = []
    times = count(1)

    @classmethod
    def changes(cls) -> Iterator[tuple[object, ...]]:
        """Return new values for every row: a change that changes nothing would leave no history."""
        time = next(cls.times)
        return ((f"{row[5]}, reading {time}", 0.9, "2026-01-02T00:00:00.000Z", row[0]) for row in cls.rows)

    @classmethod
    def keys(cls) -> Iterator[tuple[object, ...]]:
        """Return every row's key."""
        return ((row[0],) for row in cls.rows)


@action("bench.put", params=PutParams, result=ItemOut, summary="Write one item.")
def put(ctx: ActionContext, p: PutParams) -> dict[str, Any]:
    """Insert one row, named in the audit row and in the change event."""
    identity = new_id()
    raw_of(ctx.conn).execute(INSERT, row_of(identity, PLACE, p.position, p.text, ctx.now))
    ctx.target(identity)
    ctx.note_changes(document_ids=[identity])
    return {"id": identity}


@action("bench.fill", params=FillParams, summary="Write many items.")
def fill(ctx: ActionContext, p: FillParams) -> dict[str, Any]:
    """Insert many rows by bulk insert."""
    return {"count": ctx.bulk_insert(items, COLUMNS, Stock.rows[: p.count])}


@action("bench.change", params=ChangeParams, summary="Change every item.")
def change(ctx: ActionContext, p: ChangeParams) -> None:
    """Change every row, each by its key or all at once."""
    raw = raw_of(ctx.conn)
    if p.by_row:
        raw.executemany(UPDATE, Stock.changes())
    else:
        raw.execute(UPDATE_ALL, (ctx.now,))


@action("bench.clear", params=ChangeParams, summary="Delete every item.")
def clear(ctx: ActionContext, p: ChangeParams) -> None:
    """Delete every row, each by its key or all at once."""
    raw = raw_of(ctx.conn)
    if p.by_row:
        raw.executemany(DELETE, Stock.keys())
    else:
        raw.execute(DELETE_ALL)


router = APIRouter(prefix="/api/bench", tags=["bench"])


@router.post("/items", response_model=ItemOut)
def post_item(request: Request, body: PutParams) -> Response:
    """Run the action over HTTP."""
    return act(request, "bench.put", body)


def nothing(job: JobContext) -> None:
    """Do nothing, as a job."""


def plugin() -> Plugin:
    """Return the family, for ``Engine(plugins=[…])``."""
    return Plugin(
        name="bench",
        summary="Items to be measured.",
        metadata=metadata,
        actions=(put, fill, change, clear),
        routers=(router,),
        jobs=(JobKind(name="bench-nothing", lane="database", summary="Does nothing.", run=nothing),),
    )
