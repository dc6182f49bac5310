"""Derives from the models which tables a transfer carries, in which order, and the role of each column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, Integer, Table, Text

from armarium.api import Json, quote_name, rules_of


@dataclass(frozen=True)
class CarriedTable:
    """A table whose rows may be carried."""

    table: Table
    owner: str | None
    """The column that names the document a row belongs to."""
    identity: str | None
    """The column of a row's own id, which the copy gets anew; None where other columns tell rows apart."""
    required: tuple[tuple[str, str], ...]
    """(column, table pointed at) of foreign keys that are never null."""
    optional: tuple[tuple[str, str], ...]
    soft: tuple[str, ...]
    """Columns that hold an id without a foreign key."""
    json: tuple[str, ...]
    columns: tuple[str, ...]
    """The columns that are written; a number the database gives is not among them."""

    @property
    def name(self) -> str:
        """Return the table's name."""
        return str(self.table.name)

    @property
    def label(self) -> str:
        """Return what a row is called in a sentence."""
        return rules_of(self.table).label or self.name

    @property
    def row_key(self) -> str:
        """Return SQL that identifies source rows in few bytes."""
        if self.table.dialect_options["sqlite"]["with_rowid"] is not False:
            return "rowid"
        keys = [quote_name(column.name) for column in self.table.primary_key.columns]
        return keys[0] if len(keys) == 1 else f"json_array({', '.join(keys)})"

    @property
    def own_keys(self) -> tuple[str, ...]:
        """Return the foreign keys from the table to itself: parents are written before their children."""
        return tuple(column for column, parent in (*self.required, *self.optional) if parent == self.name)

    def nullable(self, column: str) -> bool:
        """Return whether the column may be null."""
        return bool(self.table.c[column].nullable)


def carried_tables(
    tables: Sequence[Table], companions: Iterable[str], words: Iterable[str]
) -> list[CarriedTable]:
    """Return every table of *tables* that may be carried, referenced tables first.

    A table is carried if it names a document, or has a non-null foreign key to one that is carried.
    *companions* are tables that are carried though they name none; *words* are vocabularies, which are
    matched, not carried.
    """
    carriable = [table for table in tables if rules_of(table).kind in ("tracked", "append-only")]
    stay = set(words)
    chosen = {table.name for table in carriable if rules_of(table).document is not None} | set(companions)
    chosen -= stay
    while True:
        more = {
            table.name
            for table in carriable
            if table.name not in chosen | stay
            and any(not key.parent.nullable and key.column.table.name in chosen for key in table.foreign_keys)
        }
        if not more:
            break
        chosen |= more
    return _order_tables([_describe_table(table, stay) for table in carriable if table.name in chosen])


def _describe_table(table: Table, words: set[str]) -> CarriedTable:
    pointing = {key.parent.name: key.column.table.name for key in table.foreign_keys}
    keys = [column.name for column in table.primary_key.columns]
    identity: str | None = None
    rowid: str | None = None
    if len(keys) == 1 and isinstance(table.c[keys[0]].type, Integer):
        rowid = keys[0]
        if "id" in table.c and table.c.id.unique:
            identity = "id"
    elif len(keys) == 1 and keys[0] not in pointing:
        identity = keys[0]
    soft = tuple(
        column.name
        for column in table.columns
        if _holds_an_id(column) and column.name not in pointing and column.name != identity
    )
    real = {column: parent for column, parent in pointing.items() if parent not in words}
    return CarriedTable(
        table=table,
        owner=rules_of(table).document,
        identity=identity,
        required=tuple((column, parent) for column, parent in real.items() if not table.c[column].nullable),
        optional=tuple((column, parent) for column, parent in real.items() if table.c[column].nullable),
        soft=soft,
        json=tuple(column.name for column in table.columns if isinstance(column.type, Json)),
        columns=tuple(column.name for column in table.columns if column.name != rowid),
    )


def _holds_an_id(column: Column[object]) -> bool:
    return isinstance(column.type, Text) and column.name.endswith("_id")


def _order_tables(tables: list[CarriedTable]) -> list[CarriedTable]:
    """Put referenced tables first. Where tables refer to each other in a cycle, the given order decides."""
    waiting, ordered = list(tables), []
    placed: set[str] = set()
    names = {carried.name for carried in tables}
    while waiting:
        ready = next(
            (
                carried
                for carried in waiting
                if {parent for _, parent in (*carried.required, *carried.optional)} & names
                <= placed | {carried.name}
            ),
            waiting[0],
        )
        ordered.append(ready)
        placed.add(ready.name)
        waiting.remove(ready)
    return ordered
