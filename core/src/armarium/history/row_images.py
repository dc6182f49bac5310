"""Row images of a step: what a row was before it, and restoring rows to that by set-based SQL.

The part of undo that writes; whether a step may be undone is decided in `armarium.actions.undo`. A row that conflicts
with another ends the transaction (OR ROLLBACK), which spares SQLite copying every page: see
`capture._tracked_triggers`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Table

from armarium.history.capture import history_name, holds, is_counter, key_columns, quote_name
from armarium.store.tables import rules_of


def keys_of(table: Table, alias: str) -> str:
    """SQL: the columns of the primary key, of *alias*."""
    return ", ".join(f"{alias}.{quote_name(key)}" for key in key_columns(table))


def same_key(table: Table, left: str, right: str) -> str:
    """SQL: two aliases name the same row."""
    return " AND ".join(f"{left}.{quote_name(k)} = {right}.{quote_name(k)}" for k in key_columns(table))


def image_before(table: Table, column: str, alias: str, of: str = "") -> str:
    """SQL for the value of *column* before history row *alias*: its own, else of the next image that holds it, else the
    live one. *of*: the database of both tables with a dot, where their names alone would mean others.
    """
    name = quote_name(column)
    declared = table.c[column]
    if declared.primary_key:
        return f"{alias}.{name}"
    later = (
        f"FROM {of}{quote_name(history_name(table))} x WHERE {same_key(table, 'x', alias)} "
        f"AND x.seq > {alias}.seq AND {holds(declared, 'x')}"
    )
    return (
        f"CASE WHEN {holds(declared, alias)} THEN {alias}.{name} "
        f"WHEN EXISTS (SELECT 1 {later}) THEN (SELECT x.{name} {later} ORDER BY x.seq LIMIT 1) "
        f"ELSE (SELECT l.{name} FROM {of}{quote_name(table.name)} l WHERE {same_key(table, 'l', alias)}) END"
    )


@dataclass(frozen=True, slots=True)
class ImageContents:
    """What some images hold, taken together."""

    images: int
    once: bool
    """Each image is of another row."""
    columns: Mapping[str, bool]
    """The columns besides the key that any of them holds, and whether every image of an update holds them."""


def contents_of(raw: sqlite3.Connection, table: Table, images: str, given: Sequence[object]) -> ImageContents:
    """Return what *images* hold: SQL from FROM on, for the history rows *x*, ending within its WHERE; *given*: its
    parameters.
    """
    keys = [f"x.{quote_name(key)}" for key in key_columns(table)]
    row = keys[0] if len(keys) == 1 else " || ',' || ".join(f"quote({key})" for key in keys)
    columns = [column.name for column in table.columns if not column.primary_key]
    counts = "".join(f", count(x.{quote_name(column)})" for column in columns)
    count, rows, updates, deletions, kept, *column_counts = raw.execute(
        f"SELECT count(*), count(DISTINCT {row}), count(*) FILTER (WHERE x.op = 'U'),"
        f" count(*) FILTER (WHERE x.op = 'D'), max(x.kept){counts} {images}",
        given,
    ).fetchone()
    once = count == rows
    if deletions:
        return ImageContents(count, once, dict.fromkeys(columns, False))
    values = {
        column: number == updates for column, number in zip(columns, column_counts, strict=True) if number
    }
    if kept is not None:
        # Those that changed from null have no value to count.
        kept_names = raw.execute(f"SELECT DISTINCT x.kept {images} AND x.kept IS NOT NULL", given).fetchall()
        column_names = {name for (names,) in kept_names for name in names.split(",")}
        values |= {column: False for column in columns if column in column_names and column not in values}
    return ImageContents(count, once, values)


def delete_inserted(raw: sqlite3.Connection, table: Table, where: tuple[int, int], ops: set[str]) -> None:
    """Delete the rows that the step inserted: those whose first image in it is an insert's; *ops* is the result of
    `ops_of`.
    """
    if "I" not in ops:
        return
    history = quote_name(history_name(table))
    key_list = ", ".join(quote_name(key) for key in key_columns(table))
    # Without a deletion in the step, no insert can follow another image of its row.
    first, arguments = _is_first(table, where) if "D" in ops else ("1", ())
    raw.execute(
        f"DELETE FROM {quote_name(table.name)} WHERE ({key_list}) IN "
        f"(SELECT {keys_of(table, 'e')} FROM {history} e WHERE e.seq BETWEEN ? AND ? AND e.op = 'I' "
        f"AND {first})",
        (*where, *arguments),
    )


def ops_of(raw: sqlite3.Connection, table: Table, where: tuple[int, int]) -> set[str]:
    """Return what the step did to rows of *table*: I, U, D."""
    return {
        row[0]
        for row in raw.execute(
            f"SELECT DISTINCT op FROM {quote_name(history_name(table))} WHERE seq BETWEEN ? AND ?", where
        )
    }


def _is_first(table: Table, where: tuple[int, int]) -> tuple[str, tuple[int, ...]]:
    """SQL: *e* is its row's first image in the step; with its parameters."""
    return (
        f"NOT EXISTS (SELECT 1 FROM {quote_name(history_name(table))} f WHERE {same_key(table, 'f', 'e')} "
        "AND f.seq >= ? AND f.seq < e.seq)"
    ), (where[0],)


def write_back(
    raw: sqlite3.Connection, table: Table, where: tuple[int, int], ops: set[str], now: str
) -> None:
    """Restore the rows that the step changed or deleted to what they were before it."""
    if ops == {"I"}:
        return
    history, live = quote_name(history_name(table)), quote_name(table.name)
    keys = key_columns(table)
    monotonic = rules_of(table).monotonic
    if ops == {"D"}:
        # A row deleted in a step that only deletes has one image in it.
        part = ImageContents(0, True, {})
    else:
        part = contents_of(raw, table, f"FROM {history} x WHERE x.seq BETWEEN ? AND ?", where)
    first, given_first = ("1", ()) if part.once else _is_first(table, where)
    chosen = f"e.seq BETWEEN ? AND ? AND e.op <> 'I' AND {first}"
    if "U" in ops or ops >= {"I", "D"}:
        # A column that is not set costs no index update and no check of the rows it refers to.
        sets, values = [], []
        for column in table.columns:
            name = quote_name(column.name)
            if column.name in keys:
                continue
            if column.name in monotonic and is_counter(column):
                sets.append(f"{name} = {live}.{name} + 1")
            elif column.name in monotonic:
                sets.append(f"{name} = ?")
                values.append(now)
            elif column.name not in part.columns:
                continue
            elif part.columns[column.name] and part.once:
                sets.append(f"{name} = e.{name}")
            elif part.once:
                # What the step did not touch is as it was: the row has not changed since (`undo_checks.check`).
                sets.append(f"{name} = CASE WHEN {holds(column, 'e')} THEN e.{name} ELSE {live}.{name} END")
            else:
                sets.append(f"{name} = {image_before(table, column.name, 'e')}")
        if sets:
            raw.execute(
                f"UPDATE OR ROLLBACK {live} SET {', '.join(sets)} FROM {history} e "
                f"WHERE {same_key(table, live, 'e')} AND {chosen}",
                (*values, *where, *given_first),
            )
    if "D" in ops:
        later = raw.execute(f"SELECT 1 FROM {history} WHERE seq > ? LIMIT 1", (where[1],)).fetchone()
        columns, values, arguments = [], [], []
        for column in table.columns:
            name = quote_name(column.name)
            columns.append(name)
            if column.name in monotonic and is_counter(column) and ops == {"D"} and later is None:
                values.append(f"COALESCE(e.{name}, 0) + 1")
            elif column.name in monotonic and is_counter(column):
                # A missing row was deleted last: its newest image holds the counter it had then.
                newest = (
                    f"(SELECT g.{name} FROM {history} g WHERE {same_key(table, 'g', 'e')} "
                    "ORDER BY g.seq DESC LIMIT 1)"
                )
                values.append(f"max(COALESCE({newest}, 0), COALESCE(e.{name}, 0)) + 1")
            elif column.name in monotonic:
                values.append("?")
                arguments.append(now)
            elif ops == {"D"}:
                values.append(f"e.{name}")
            else:
                values.append(image_before(table, column.name, "e"))
        absent = f" AND NOT EXISTS (SELECT 1 FROM {live} t WHERE {same_key(table, 't', 'e')})"
        raw.execute(
            f"INSERT OR ROLLBACK INTO {live} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {history} e "
            f"WHERE {chosen}{absent if ops != {'D'} else ''}",
            (*arguments, *where, *given_first),
        )
