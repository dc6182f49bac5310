"""A small family for tests: shelves of books, with every kind of table and write that the core must support."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)

from armarium.actions import ActionContext, Example, Params, SourceText, action
from armarium.actions.undo import UndoContext
from armarium.errors import NotFound
from armarium.ids import new_id
from armarium.messages import Message
from armarium.plugin import Plugin
from armarium.store.tables import Json, append_only, derived_index, tracked

metadata = MetaData()

shelves = Table(
    "shelf",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    info=tracked(label="shelf"),
)

books = Table(
    "shelf_book",
    metadata,
    Column("id", Text, primary_key=True),
    Column(
        "shelf_id",
        Text,
        ForeignKey("shelf.id", deferrable=True, initially="DEFERRED"),
        nullable=False,
        index=True,
    ),
    Column("title", Text, nullable=False),
    Column("weight", Float),
    Column("notes", Json),
    Column("version", Integer, nullable=False, default=1),
    Column("updated_at", Text),
    info=tracked(label="book", monotonic=("version", "updated_at"), large=("notes",)),
)

weights = derived_index(
    "shelf_weight",
    metadata,
    books,
    module="rtree",
    values={"lightest": "{row}.weight", "heaviest": "{row}.weight"},
    where="{row}.weight IS NOT NULL",
    columns=("weight",),
)

loans = Table(
    "shelf_loan",
    metadata,
    Column(
        "book_id", Text, ForeignKey("shelf_book.id", deferrable=True, initially="DEFERRED"), primary_key=True
    ),
    Column("reader", Text, primary_key=True),
    Column("days", Integer, nullable=False),
    info=tracked(label="loan"),
)

remarks = Table(
    "shelf_remark",
    metadata,
    Column("id", Text, primary_key=True),
    Column("text", Text, nullable=False),
    info=append_only(),
)


class ShelfParams(Params):
    """A shelf to create."""

    name: str = Field(min_length=1, max_length=100)


class Made(Message):
    """The id of the new row."""

    id: str


class BookParams(Params):
    """A book to put on a shelf."""

    shelf_id: str
    title: str
    weight: float | None = None
    notes: SourceText | None = None


class ManyParams(Params):
    """Books to put on a shelf at once."""

    shelf_id: str
    titles: list[str]


class ChangeParams(Params):
    """Changes of a book."""

    id: str
    title: str | None = None
    weight: float | None = None
    notes: SourceText | None = None


class IdParams(Params):
    """Names one row."""

    id: str


class LoanParams(Params):
    """A loan to record."""

    book_id: str
    reader: str
    days: int = Field(ge=0)


def _shelf(ex: Example) -> str:
    return str(ex.run("shelf.create", {"name": "A"})["id"])


def _book(ex: Example) -> str:
    return str(ex.run("shelf.add", {"shelf_id": _shelf(ex), "title": "One", "notes": "kept"})["id"])


@action(
    "shelf.create", params=ShelfParams, result=Made, summary="Make a shelf", example=lambda ex: {"name": "B"}
)
def create(ctx: ActionContext, p: ShelfParams) -> dict[str, Any]:
    """Insert one row."""
    identity = new_id()
    ctx.conn.execute(insert(shelves).values(id=identity, name=p.name))
    ctx.target(identity)
    return {"id": identity}


@action(
    "shelf.add",
    params=BookParams,
    result=Made,
    summary="Put a book on a shelf",
    example=lambda ex: {"shelf_id": _shelf(ex), "title": "One"},
)
def add(ctx: ActionContext, p: BookParams) -> dict[str, Any]:
    """Insert one row that refers to another."""
    if ctx.conn.execute(select(shelves.c.id).where(shelves.c.id == p.shelf_id)).first() is None:
        raise NotFound(f"There is no shelf {p.shelf_id}.")
    identity = new_id()
    ctx.conn.execute(
        insert(books).values(
            id=identity,
            shelf_id=p.shelf_id,
            title=p.title,
            weight=p.weight,
            notes=p.notes,
            version=1,
            updated_at=ctx.now,
        )
    )
    ctx.target(identity)
    return {"id": identity}


@action(
    "shelf.add_many",
    params=ManyParams,
    summary="Put many books on a shelf",
    example=lambda ex: {"shelf_id": _shelf(ex), "titles": ["One", "Two"]},
)
def add_many(ctx: ActionContext, p: ManyParams) -> dict[str, Any]:
    """Insert many rows by executemany."""
    ids = [new_id() for _ in p.titles]
    ctx.bulk_insert(
        books,
        ("id", "shelf_id", "title", "weight", "version", "updated_at"),
        [(i, p.shelf_id, title, 0.1, 1, ctx.now) for i, title in zip(ids, p.titles, strict=True)],
    )
    return {"ids": ids}


@action(
    "shelf.change",
    params=ChangeParams,
    summary="Change a book",
    example=lambda ex: {"id": _book(ex), "title": "Two", "notes": "other"},
)
def change(ctx: ActionContext, p: ChangeParams) -> dict[str, Any]:
    """Change the columns that were sent, a counter and a time."""
    values = p.model_dump(exclude={"id"}, exclude_unset=True)
    updated = ctx.conn.execute(
        update(books)
        .where(books.c.id == p.id)
        .values(**values, version=books.c.version + 1, updated_at=ctx.now)
    )
    if updated.rowcount == 0:
        raise NotFound(f"There is no book {p.id}.")
    ctx.target(p.id)
    return {}


@action(
    "shelf.lend",
    params=LoanParams,
    summary="Note a loan",
    example=lambda ex: {"book_id": _book(ex), "reader": "Inés", "days": 3},
)
def lend(ctx: ActionContext, p: LoanParams) -> dict[str, Any]:
    """Write or replace a row with a key of two columns."""
    ctx.conn.exec_driver_sql(
        "INSERT OR REPLACE INTO shelf_loan (book_id, reader, days) VALUES (?, ?, ?)",
        (p.book_id, p.reader, p.days),
    )
    ctx.target(p.book_id)
    return {}


@action(
    "shelf.clear",
    params=IdParams,
    summary="Remove a shelf with its books",
    example=lambda ex: {"id": _shelf(ex)},
)
def clear(ctx: ActionContext, p: IdParams) -> dict[str, Any]:
    """Delete children first, as an action that removes a parent must."""
    of_shelf = select(books.c.id).where(books.c.shelf_id == p.id)
    ctx.conn.execute(delete(loans).where(loans.c.book_id.in_(of_shelf)))
    ctx.conn.execute(delete(books).where(books.c.shelf_id == p.id))
    ctx.conn.execute(delete(shelves).where(shelves.c.id == p.id))
    ctx.target(p.id)
    return {}


@action(
    "shelf.restock",
    params=ShelfParams,
    summary="Make a shelf with two books in one step",
    example=lambda ex: {"name": "C"},
)
def restock(ctx: ActionContext, p: ShelfParams) -> dict[str, Any]:
    """Run actions inside an action."""
    shelf = ctx.run("shelf.create", {"name": p.name})
    first = ctx.run("shelf.add", {"shelf_id": shelf["id"], "title": "First"})
    ctx.run("shelf.add", {"shelf_id": shelf["id"], "title": "Second"})
    ctx.run("shelf.change", {"id": first["id"], "title": "First, changed"})
    return {"id": shelf["id"]}


def _note(undone: UndoContext) -> None:
    undone.step.conn.execute(
        insert(remarks).values(id=new_id(), text="redone" if undone.redo else "taken back")
    )


@action(
    "shelf.remark",
    params=ShelfParams,
    summary="Rename every shelf and remark on it",
    example=lambda ex: {"name": "D"},
    after_undo=_note,
    undo_name="shelf.unremark",
)
def remark(ctx: ActionContext, p: ShelfParams) -> dict[str, Any]:
    """Append a note, which is never changed, beside tracked rows."""
    ctx.conn.execute(update(shelves).values(name=p.name))
    ctx.conn.execute(insert(remarks).values(id=new_id(), text="remarked"))
    return {}


@action(
    "shelf.burn",
    params=ShelfParams,
    summary="Rename every shelf for good",
    person_only=True,
    undoable=False,
    example=lambda ex: {"name": "E"},
)
def burn(ctx: ActionContext, p: ShelfParams) -> dict[str, Any]:
    """Write something that cannot be undone and that only a person may do."""
    ctx.conn.execute(update(shelves).values(name=p.name))
    return {}


def shelf_plugin() -> Plugin:
    """Return the family."""
    return Plugin(
        name="shelf",
        summary="Shelves and books, for tests",
        metadata=metadata,
        actions=(create, add, add_many, change, lend, clear, restock, remark, burn),
    )
