"""What was changed since a step, net: each row as it was then and as it is now, whatever happened to it in between.

The earliest image that a history table holds of a row since that step says what the row was; the live row says what it
is. Nothing here writes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Table

from armarium.history.capture import history_name, key_columns, quote_name
from armarium.history.row_images import image_before
from armarium.history.spans import first_after
from armarium.store.tables import rules_of

Key = tuple[Any, ...]
Values = tuple[Any, ...]
"""A row as it is stored, in the order of its table's columns."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two copies: its database, and the step after which its changes count."""

    raw: sqlite3.Connection
    since: int


class TouchedRow(NamedTuple):
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
    """Return the rows of *table* that a step after step *audit_seq* touched, by their keys, without those of this project alone."""
    first = first_after(raw, table, audit_seq)
    if first is None:
        return {}
    history = quote_name(history_name(table))
    images = raw.execute(
        f"SELECT seq, op, audit_seq, {', '.join(map(quote_name, key_columns(table)))} FROM {history} WHERE seq >= ?"
        " ORDER BY seq",
        (first,),
    )
    steps: dict[Key, tuple[int, ...]] = {}
    earlier: dict[int, Key] = {}
    for image in images:
        key, step = image[3:], image[2]
        known_steps = steps.get(key)
        if known_steps is None:
            steps[key] = (step,)
            # An insert's image holds the key alone, and there was no row before it.
            if image[1] != "I":
                earlier[image[0]] = key
        elif known_steps[-1] != step:
            steps[key] = (*known_steps, step)
    before: dict[Key, Values] = {}
    if earlier:
        columns = ", ".join(image_before(table, column.name, "f") for column in table.columns)
        rows = raw.execute(
            f"SELECT f.seq, {columns} FROM {history} f WHERE f.seq IN (SELECT value FROM json_each(?))",
            (orjson.dumps(list(earlier)).decode(),),
        )
        before = {earlier[row[0]]: row[1:] for row in rows}
    own = rules_of(table).own_keys
    return {key: TouchedRow(before.get(key), its) for key, its in steps.items() if key[0] not in own}


def steps_touched(side: Side, table: Table) -> dict[Key, int | None]:
    """Return the keys of `touched_since` the step of *side*, with the step by which a row came last that it did not have then; None for
    the others.
    """
    first = first_after(side.raw, table, side.since)
    if first is None:
        return {}
    listed = ", ".join(quote_name(key) for key in key_columns(table))
    rows = side.raw.execute(
        f"SELECT {listed}, CASE WHEN min(seq) IS min(CASE op WHEN 'I' THEN seq END)"
        " THEN max(CASE op WHEN 'I' THEN audit_seq END) END"
        f" FROM {quote_name(history_name(table))} WHERE seq >= ? GROUP BY {listed}",
        (first,),
    )
    own = rules_of(table).own_keys
    return {row[:-1]: row[-1] for row in rows if row[0] not in own}


def had_at(raw: sqlite3.Connection, table: Table, key: Key, audit_seq: int) -> bool:
    """Return whether the row *key* was there after step *audit_seq*."""
    where = " AND ".join(f"{quote_name(name)} = ?" for name in key_columns(table))
    image = raw.execute(
        f"SELECT op FROM {quote_name(history_name(table))} WHERE {where} AND audit_seq > ? ORDER BY seq LIMIT 1",
        (*key, audit_seq),
    ).fetchone()
    return key in live_rows(raw, table, [key]) if image is None else image[0] != "I"


def live_rows(raw: sqlite3.Connection, table: Table, keys: Collection[Key]) -> dict[Key, Values]:
    """Return the rows *keys* of *table* that exist now."""
    names = key_columns(table)
    at = [places(table)[name] for name in names]
    listed = ", ".join(quote_name(column.name) for column in table.columns)
    query = f"SELECT {listed} FROM {quote_name(table.name)} WHERE "
    rows: Iterable[Values]
    if len(names) == 1:
        among = orjson.dumps([key[0] for key in keys]).decode()
        rows = raw.execute(f"{query}{quote_name(names[0])} IN (SELECT value FROM json_each(?))", (among,))
    else:
        key_condition = " AND ".join(f"{quote_name(name)} = ?" for name in names)
        rows = (row for key in keys for row in raw.execute(query + key_condition, key))
    if len(at) == 1:
        return {(row[at[0]],): row for row in rows}
    return {tuple(row[position] for position in at): row for row in rows}


def steps_of(raw: sqlite3.Connection, table: Table, key: Key, audit_seq: int) -> list[int]:
    """Return the numbers of the steps after step *audit_seq* that touched the row *key*."""
    key_condition = " AND ".join(f"{quote_name(name)} = ?" for name in key_columns(table))
    rows = raw.execute(
        f"SELECT DISTINCT audit_seq FROM {quote_name(history_name(table))} WHERE {key_condition} AND audit_seq > ?"
        " ORDER BY audit_seq",
        (*key, audit_seq),
    )
    return [row[0] for row in rows]


def makers_of(raw: sqlite3.Connection, steps: Sequence[int]) -> list[dict[str, Any]]:
    """Return who made those of *steps* that are in effect, oldest first."""
    rows = raw.execute(
        "SELECT actor_kind, actor_name, id, action_name, created_at FROM audit"
        " WHERE seq IN (SELECT value FROM json_each(?)) AND NOT undone ORDER BY seq",
        (orjson.dumps(list(steps)).decode(),),
    )
    return [
        dict(zip(("kind", "name", "audit_id", "action_name", "created_at"), row, strict=True)) for row in rows
    ]


def digest_at(raw: sqlite3.Connection, step: int) -> str | None:
    """Return the hash of the log at *step*, or None where the log has no such step."""
    row = raw.execute("SELECT row_hash FROM audit WHERE seq = ?", (step,)).fetchone()
    return None if row is None else str(row[0])
