"""Random rows in the tables of every family, written without knowing any: made, changed and removed as references allow.

The histories of the families show what users do; these reach every column of every table, also those that no random
history touches. What is written keeps references whole and makes no circle, and no more is true of it.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Column, Float, Integer, LargeBinary, Table

from armarium.actions import ActionContext, Params, action
from armarium.history.capture import key_columns, quote_name
from armarium.history.merging import references
from armarium.plugin import Plugin
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.store.tables import Json, rules_of

Place = tuple[Table, tuple[Any, ...]]


class ScribbleParams(Params):
    """How many random writes, and to which tables; null writes that many new rows to each."""

    seed: int
    rows: int
    tables: list[str] | None = None


@action(
    "scribble.write",
    params=ScribbleParams,
    summary="Write random rows to tables of every family",
    example=lambda ex: {"seed": 1, "rows": 1},
)
def write(ctx: ActionContext, p: ScribbleParams) -> None:
    """In one step."""
    pen = _Pen(ctx.project, raw_of(ctx.conn), random.Random(p.seed))
    raw_of(ctx.conn).execute("PRAGMA defer_foreign_keys=ON")
    for table in pen.tables if p.tables is None else ():
        for _ in range(p.rows):
            pen.insert(table)
    chosen = [table for table in pen.tables if table.name in (p.tables or ())]
    for _ in range(p.rows if chosen else 0):
        does = pen.chance.choice((pen.insert, pen.update, pen.update, pen.update, pen.remove))
        does(pen.chance.choice(chosen))


def scribble_plugin() -> Plugin:
    return Plugin(name="scribble", summary="Writes random rows", actions=(write,))


def carried_tables(library: Library) -> list[Table]:
    """Return the tables whose rows a merge carries, those that others refer to first."""
    return [table for table in library.schema.tracked if not rules_of(table).stays_here]


class _Pen:
    """Writes to one project within a step."""

    def __init__(self, library: Library, raw: sqlite3.Connection, chance: random.Random) -> None:
        self.raw, self.chance, self.objects = raw, chance, library.objects
        self.tables = carried_tables(library)
        self._refers = {
            table.name: {name: parent for name, _, parent in references(library.schema)[table.name]}
            for table in self.tables
        }
        for used, user, column in library.schema.uses:
            self._refers[user.name].setdefault(column, used)

    def insert(self, table: Table) -> None:
        names = [column.name for column in table.columns]
        key = f"r{self.chance.randrange(10**6):06}"
        values = [self._value(table, column, key) for column in table.columns]
        document = rules_of(table).document
        if document is not None:
            values[names.index(document)] = self._find_page(table, dict(zip(names, values, strict=True)))
        if any(
            value is None and not column.nullable for value, column in zip(values, table.columns, strict=True)
        ):
            return
        self._try(
            f"INSERT INTO {quote_name(table.name)} ({', '.join(map(quote_name, names))})"
            f" VALUES ({', '.join('?' * len(names))})",
            values,
        )

    def _find_page(self, table: Table, row: dict[str, Any]) -> Any:
        """Return the document of a new row; made anew, a row with the key of another is on the same page as that one."""
        document = str(rules_of(table).document)
        for key in key_columns(table):
            parent = self._refers[table.name].get(key)
            document_there = None if parent is None else rules_of(parent).document
            if parent is not None and document_there is not None and key != document:
                (name,) = map(quote_name, key_columns(parent))
                statement = (
                    f"SELECT {quote_name(document_there)} FROM {quote_name(parent.name)} WHERE {name} = ?"
                )
                found = self.raw.execute(statement, (row[key],)).fetchone()
                return None if found is None else found[0]
        return row[document]

    def update(self, table: Table) -> None:
        place = self._row(table)
        document = rules_of(table).document
        # A row stays with its page.
        fixed = [*key_columns(table), *([document] if document and not table.c[document].nullable else [])]
        columns = [column for column in table.columns if column.name not in fixed]
        if place is None or not columns:
            return
        some = self.chance.sample(columns, min(len(columns), self.chance.randrange(1, 4)))
        values = {column.name: self._value(table, column, str(place[1][0])) for column in some}
        for column in some:
            if values[column.name] is None and not column.nullable:
                del values[column.name]
        if values:
            sets = ", ".join(f"{quote_name(name)} = ?" for name in values)
            self._try(
                f"UPDATE {quote_name(table.name)} SET {sets} WHERE {_is_row(table)}",
                [*values.values(), *place[1]],
            )

    def remove(self, table: Table) -> None:
        """Remove a row with all that hangs on it, if that is not much."""
        place = self._row(table)
        hanging: list[Place] = [] if place is None else [place]
        for row in hanging:
            hanging += [user for user in self._users(*row) if user not in hanging]
            if len(hanging) > 12:
                return
        for other, key in reversed(hanging):
            self._try(f"DELETE FROM {quote_name(other.name)} WHERE {_is_row(other)}", key)

    def _try(self, statement: str, values: Sequence[Any]) -> None:
        # Another row has its unique values.
        with suppress(sqlite3.IntegrityError):
            self.raw.execute(statement, values)

    def _row(self, table: Table) -> Place | None:
        """Return a random row that was written here; those that the engine made itself are left alone."""
        listed = ", ".join(map(quote_name, key_columns(table)))
        first = quote_name(key_columns(table)[0])
        rows = self.raw.execute(
            f"SELECT {listed} FROM {quote_name(table.name)} WHERE {first} GLOB 'r[0-9]*' ORDER BY {listed}"
        ).fetchall()
        return (table, self.chance.choice(rows)) if rows else None

    def _users(self, parent: Table, key: tuple[Any, ...]) -> list[Place]:
        return [
            (child, user_key)
            for child in self.tables
            for column, used in self._refers[child.name].items()
            if used is parent
            for user_key in self.raw.execute(
                f"SELECT {', '.join(map(quote_name, key_columns(child)))} FROM {quote_name(child.name)}"
                f" WHERE {quote_name(column)} = ?",
                key[:1],
            )
        ]

    def _value(self, table: Table, column: Column[Any], key: str) -> Any:
        chance, parent = self.chance, self._refers[table.name].get(column.name)
        if column.nullable and chance.random() < 0.3:
            return None
        if parent is not None:
            (name,) = map(quote_name, key_columns(parent))
            below = f" AND {name} < '{key}'" if parent is table else ""
            keys = self.raw.execute(
                f"SELECT {name} FROM {quote_name(parent.name)} WHERE {name} GLOB 'r[0-9]*'{below} ORDER BY {name}"
            ).fetchall()
            return chance.choice(keys)[0] if keys else None
        if column.primary_key:
            return key
        if column.info.get("object"):
            return self.objects.put_bytes(b"%d" % chance.randrange(9))
        if isinstance(column.type, Json):
            return chance.choice(("[]", "{}", '{"a":1}'))
        if isinstance(column.type, Integer):
            return chance.randrange(3)
        if isinstance(column.type, Float):
            return chance.choice((0.1, 0.5))
        if isinstance(column.type, LargeBinary):
            return chance.choice((b"a", b"b"))
        return chance.choice("abcdefghi")


def _is_row(table: Table) -> str:
    return " AND ".join(f"{quote_name(key)} = ?" for key in key_columns(table))
