"""What was changed since a step, net: each row as it was then and as it is now, whatever happened to it in between.

The earliest image that a history table holds of a row since that step says what the row was; the live row says what it
is. Nothing here writes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import Table

from armarium.history.capture import history_name, key_columns, quote_name
from armarium.history.row_images import image_before, same_key
from armarium.history.spans import first_after
from armarium.store.tables import rules_of

Key = tuple[Any, ...]
Values = tuple[Any, ...]
"""A row as it is stored, in the order of its table's columns."""


@dataclass(frozen=True, slots=True)
class TouchedRow:
    """A row that steps after some step touched."""

    before: Values | None
    """What it was after that step; None where it did not exist."""
    steps: tuple[int, ...]
    """The numbers of the steps that touched it since."""


@lru_cache(maxsize=1024)
def places(table: Table) -> dict[str, int]:
    """Return the position of each column of *table*."""
    return {column.name: at for at, column in enumerate(table.columns)}


@lru_cache(maxsize=1024)
def compared_columns(table: Table) -> tuple[tuple[int, str], ...]:
    """Return position and name of the columns whose values count; those that only grow do not."""
    monotonic = rules_of(table).monotonic
    return tuple((at, column.name) for at, column in enumerate(table.columns) if column.name not in monotonic)


def is_equal(table: Table, left: Values | None, right: Values | None) -> bool:
    """Return whether two states of a row of *table* are the same, apart from columns that only grow."""
    if left is None or right is None:
        return left is right
    return all(left[at] == right[at] for at, _ in compared_columns(table))


def touched_since(raw: sqlite3.Connection, table: Table, audit_seq: int) -> dict[Key, TouchedRow]:
    """Return the rows of *table* that a step after step *audit_seq* touched, by their keys."""
    first = first_after(raw, table, audit_seq)
    if first is None:
        return {}
    history, keys = quote_name(history_name(table)), key_columns(table)
    listed = ", ".join(quote_name(key) for key in keys)
    # An insert's image holds the key alone, and there was no row before it.
    before = ", ".join(
        f"CASE WHEN f.op = 'I' THEN NULL ELSE {image_before(table, column.name, 'f')} END"
        for column in table.columns
    )
    found = raw.execute(
        f"WITH s AS (SELECT {listed}, min(seq) AS first, group_concat(DISTINCT audit_seq) AS steps FROM {history}"
        f" WHERE seq >= ? GROUP BY {listed})"
        f" SELECT {', '.join(f's.{quote_name(key)}' for key in keys)}, s.steps, f.op, {before}"
        f" FROM s JOIN {history} f ON f.seq = s.first AND {same_key(table, 'f', 's')} ORDER BY s.first",
        (first,),
    )
    width = len(keys)
    return {
        row[:width]: TouchedRow(
            None if row[width + 1] == "I" else row[width + 2 :],
            tuple(sorted(map(int, row[width].split(",")))),
        )
        for row in found
    }


def live_rows(raw: sqlite3.Connection, table: Table, keys: Collection[Key]) -> dict[Key, Values]:
    """Return the rows *keys* of *table* that exist now."""
    names = key_columns(table)
    at = [places(table)[name] for name in names]
    listed = ", ".join(quote_name(column.name) for column in table.columns)
    asked = f"SELECT {listed} FROM {quote_name(table.name)} WHERE "
    rows: Iterable[Values]
    if len(names) == 1:
        among = orjson.dumps([key[0] for key in keys]).decode()
        rows = raw.execute(f"{asked}{quote_name(names[0])} IN (SELECT value FROM json_each(?))", (among,))
    else:
        where = " AND ".join(f"{quote_name(name)} = ?" for name in names)
        rows = (row for key in keys for row in raw.execute(asked + where, key))
    if len(at) == 1:
        return {(row[at[0]],): row for row in rows}
    return {tuple(row[one] for one in at): row for row in rows}


def steps_of(raw: sqlite3.Connection, table: Table, key: Key, audit_seq: int) -> list[int]:
    """Return the numbers of the steps after step *audit_seq* that touched the row *key*."""
    where = " AND ".join(f"{quote_name(name)} = ?" for name in key_columns(table))
    found = raw.execute(
        f"SELECT DISTINCT audit_seq FROM {quote_name(history_name(table))} WHERE {where} AND audit_seq > ?"
        " ORDER BY audit_seq",
        (*key, audit_seq),
    )
    return [row[0] for row in found]
