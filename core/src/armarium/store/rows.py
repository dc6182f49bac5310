"""Rows read by what their table says: the columns of an answer, its model, a row by its id, all rows, a page of rows.

A table is declared once, and what is answered of it derives from it:

    @answer_of(items)
    class Item(Message):                             # a field for each column; only what its type does not tell is stated
        kind: Literal["note", "link"]

    ITEMS = Rows(items, missing=unknown_item)
    ITEMS.require(conn, item_id)                     # a dict, or the refusal
    ITEMS.page(conn, items.c.folder_id == folder_id, order=(items.c.created_at,), limit=100, offset=0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from typing import Any, TypeVar

from pydantic import create_model
from pydantic.fields import FieldInfo
from sqlalchemy import Column, ColumnElement, Connection, Row, Select, Table, bindparam, func, select
from sqlalchemy.types import Boolean, Float, Integer

from armarium.errors import ServiceError
from armarium.ids import new_id
from armarium.messages import Message
from armarium.store.tables import Json, json_text

HIDDEN = {"hidden": True}
"""`info` of a column that no answer shows."""

M = TypeVar("M", bound=Message)
F = TypeVar("F")


def shown_columns(table: Table) -> list[Column[Any]]:
    """Return the columns of *table* that its answers show."""
    return [column for column in table.columns if not column.info.get("hidden")]


def is_among(column: ColumnElement[Any], values: Iterable[Any]) -> ColumnElement[bool]:
    """SQL: *column* holds one of *values*, of which there may be very many: they are one parameter."""
    # SQLite's JSON ends a text at a null character, which no stored name contains.
    listed = json_text([value for value in values if not (isinstance(value, str) and "\0" in value)])
    return column.in_(select(func.json_each(listed).table_valued("value").c.value))


class Rows:
    """The rows of *table* as dicts of the shown columns; *missing* makes the refusal for an unknown id.

    *computed* are further columns of the answers, by their names: a count of what a row holds, say.
    """

    def __init__(
        self,
        table: Table,
        *,
        missing: Callable[[str], ServiceError] | None = None,
        **computed: ColumnElement[Any],
    ) -> None:
        self.table = table
        self._missing = missing
        self._computed = computed

    @cached_property
    def select(self) -> Select[Any]:
        """The SELECT of all rows."""
        return select(
            *shown_columns(self.table), *(what.label(name) for name, what in self._computed.items())
        )

    @cached_property
    def _has_id(self) -> ColumnElement[bool]:
        (key,) = self.table.primary_key.columns
        return key == bindparam("identity")

    @cached_property
    def _by_id(self) -> Select[Any]:
        return self.select.where(self._has_id)

    @cached_property
    def _select_all(self) -> Select[Any]:
        return select(self.table).where(self._has_id)

    def get(self, conn: Connection, identity: str) -> dict[str, Any] | None:
        """Return the row with this id, or None."""
        row = conn.execute(self._by_id, {"identity": identity}).first()
        return None if row is None else row._asdict()

    def require(self, conn: Connection, identity: str) -> dict[str, Any]:
        """Return the row with this id; raises the refusal where there is none."""
        return self._require_row(self.get(conn, identity), identity)

    def row(self, conn: Connection, identity: str) -> Row[Any]:
        """Like `require`, with every column of the table as an attribute, including those that no answer shows."""
        return self._require_row(conn.execute(self._select_all, {"identity": identity}).first(), identity)

    def _require_row(self, row: F | None, identity: str) -> F:
        if row is None:
            assert self._missing is not None
            raise self._missing(identity)
        return row

    def all(
        self, conn: Connection, *where: ColumnElement[bool], order: Iterable[Any] = ()
    ) -> list[dict[str, Any]]:
        """Return every row for which all of *where* holds, in *order*."""
        return [row._asdict() for row in conn.execute(self.select.where(*where).order_by(*order))]

    def list_all(
        self, conn: Connection, *where: ColumnElement[bool], order: Iterable[Any] = ()
    ) -> dict[str, Any]:
        """Like `all`, as the answer of a route: the rows and their count; its model is `listed`."""
        items = self.all(conn, *where, order=order)
        return {"items": items, "count": len(items)}

    def page(
        self,
        conn: Connection,
        *where: ColumnElement[bool],
        order: Iterable[Any],
        limit: int,
        offset: int,
        all_but: ColumnElement[bool] | None = None,
    ) -> dict[str, Any]:
        """Like `all`, *limit* rows from *offset* on, and the total; its model is `paged`.

        *all_but*: the rows that *where* leaves out of the table, where these are few. They are counted instead:
        SQLite counts a whole table without looking at its rows. Nothing is counted if the page holds the last row.
        """
        rows = conn.execute(self.select.where(*where).order_by(*order).limit(limit).offset(offset))
        items = [row._asdict() for row in rows]
        count = select(func.count()).select_from(self.table)
        if len(items) < limit and (items or not offset):
            total = offset + len(items)
        elif all_but is None:
            total = conn.execute(count.where(*where)).scalar_one()
        else:
            total = conn.execute(count).scalar_one() - conn.execute(count.where(all_but)).scalar_one()
        return {"items": items, "count": len(items), "total": total, "limit": limit, "offset": offset}

    def insert(self, conn: Connection, values: Mapping[str, Any]) -> dict[str, Any]:
        """Insert a row, with a new id if *values* has none, and return it as it is answered."""
        (key,) = self.table.primary_key.columns
        row = {key.name: new_id(), **values}
        conn.execute(self.table.insert().values(row))
        return self.require(conn, row[key.name])

    def change(self, conn: Connection, identity: str, values: Mapping[str, Any]) -> None:
        """Change columns of the row with this id; nothing where there are no *values*."""
        if values:
            conn.execute(self.table.update().where(self._has_id).values(values), {"identity": identity})

    def delete(self, conn: Connection, identity: str) -> None:
        """Delete the row with this id; the refusal where there is none."""
        self.require(conn, identity)
        conn.execute(self.table.delete().where(self._has_id), {"identity": identity})


def answer_of(table: Table) -> Callable[[type[M]], type[M]]:
    """Give the decorated model a field for each shown column of *table*; fields it states itself stay as they are."""

    def complete(declared: type[M]) -> type[M]:
        return answer_model(declared, table, declared.model_fields, {}, declared.__bases__)

    return complete


def answer_model(
    stated: type[M], table: Table, own: Mapping[str, FieldInfo], kinds: Mapping[str, Any], bases: Any
) -> type[M]:
    """Return the model *stated* with a field for each shown column of *table*: one of its *own*, or of one of *kinds*, or of
    the kind that the column says. Further ones of its own come last.
    """
    fields: dict[str, Any] = {
        column.name: (kinds.get(column.name, kind_of(column)), ...) for column in shown_columns(table)
    }
    fields |= {name: (field.annotation, field) for name, field in own.items()}
    model: type[M] = create_model(
        stated.__name__, __base__=bases, __module__=stated.__module__, __doc__=stated.__doc__, **fields
    )
    return model


def kind_of(column: Column[Any]) -> Any:
    """Return the type of what an answer shows of *column*."""
    python_types = ((Boolean, bool), (Integer, int), (Float, float), (Json, dict[str, Any]))
    kind = next((kind for stored, kind in python_types if isinstance(column.type, stored)), str)
    return kind | None if column.nullable else kind


@cache
def listed(item: type[Message], name: str | None = None, doc: str | None = None) -> type[Message]:
    """Return the model of what `Rows.list_all` answers for *item*; its *name* is the item's with `List` by default."""
    return _make_list_model(name or f"{item.__name__}List", doc, item, count=(int, ...))


@cache
def paged(item: type[Message], name: str | None = None, doc: str | None = None) -> type[Message]:
    """Return the model of `Rows.page` for *item*; its *name* is the item's with `Page` by default."""
    numbers = dict.fromkeys(("count", "total", "limit", "offset"), (int, ...))
    return _make_list_model(name or f"{item.__name__}Page", doc, item, **numbers)


def _make_list_model(name: str, doc: str | None, item: type[Message], **numbers: Any) -> type[Message]:
    fields: dict[str, Any] = {"items": (list[item], ...), **numbers}  # type: ignore[valid-type]
    return create_model(name, __base__=Message, __module__=item.__module__, __doc__=doc, **fields)
