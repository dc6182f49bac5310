"""Row images of a step: what a row was before it, and setting rows back to that by set-based SQL (architecture 4).

The part of undo that writes; whether a step may be taken back is decided in `armarium.undo`. A row that clashes with
another ends the transaction (OR ROLLBACK), which spares SQLite a copy of every page: see `history._tracked_triggers`.
"""

from __future__ import annotations

import sqlite3

from sqlalchemy import Table

from armarium.history import history_name, is_counter, key_columns, large_columns, quoted
from armarium.tables import rules_of


def keys_of(table: Table, alias: str) -> str:
    """SQL: the columns of the primary key, of *alias*."""
    return ", ".join(f"{alias}.{quoted(key)}" for key in key_columns(table))


def same_key(table: Table, left: str, right: str) -> str:
    """SQL: two aliases name the same row."""
    return " AND ".join(f"{left}.{quoted(k)} = {right}.{quoted(k)}" for k in key_columns(table))


def image_before(table: Table, column: str, alias: str) -> str:
    """SQL for the value of *column* before history row *alias*, large columns that were not kept included.

    A large column that did not change is not in the image: its value is that of the next image that has it,
    else the live row's.
    """
    large = large_columns(table)
    name = quoted(column)
    if column not in large:
        return f"{alias}.{name}"
    bit = 1 << large.index(column)
    later = (
        f"FROM {quoted(history_name(table))} x WHERE {same_key(table, 'x', alias)} "
        f"AND x.seq >= {alias}.seq AND (COALESCE(x.kept, 0) & {bit})"
    )
    return (
        f"CASE WHEN COALESCE({alias}.kept, 0) & {bit} THEN {alias}.{name} "
        f"WHEN EXISTS (SELECT 1 {later}) THEN (SELECT x.{name} {later} ORDER BY x.seq LIMIT 1) "
        f"ELSE (SELECT l.{name} FROM {quoted(table.name)} l WHERE {same_key(table, 'l', alias)}) END"
    )


def delete_inserted(raw: sqlite3.Connection, table: Table, where: tuple[int, int], ops: set[str]) -> None:
    """Delete the rows that the step made: those whose first image in it is an insert's; *ops* is `ops_of` it."""
    if "I" not in ops:
        return
    history = quoted(history_name(table))
    key_list = ", ".join(quoted(key) for key in key_columns(table))
    # Without a deletion in the step, no insert can come after another image of its row.
    first, given = _is_first(table, where) if "D" in ops else ("1", ())
    raw.execute(
        f"DELETE FROM {quoted(table.name)} WHERE ({key_list}) IN "
        f"(SELECT {keys_of(table, 'e')} FROM {history} e WHERE e.seq BETWEEN ? AND ? AND e.op = 'I' "
        f"AND {first})",
        (*where, *given),
    )


def ops_of(raw: sqlite3.Connection, table: Table, where: tuple[int, int]) -> set[str]:
    """What the step did to rows of *table*: I, U, D."""
    return {
        row[0]
        for row in raw.execute(
            f"SELECT DISTINCT op FROM {quoted(history_name(table))} WHERE seq BETWEEN ? AND ?", where
        )
    }


def _is_first(table: Table, where: tuple[int, int]) -> tuple[str, tuple[int, ...]]:
    """SQL: *e* is its row's first image in the step; and its parameters."""
    return (
        f"NOT EXISTS (SELECT 1 FROM {quoted(history_name(table))} f WHERE {same_key(table, 'f', 'e')} "
        "AND f.seq >= ? AND f.seq < e.seq)"
    ), (where[0],)


def write_back(
    raw: sqlite3.Connection, table: Table, where: tuple[int, int], ops: set[str], now: str
) -> None:
    """Put the rows that the step changed or deleted back to what they were before its first touch."""
    history, live = quoted(history_name(table)), quoted(table.name)
    # A row deleted in a step that only deletes has one image in it.
    first, given_first = _is_first(table, where) if ops != {"D"} else ("1", ())
    chosen = f"e.seq BETWEEN ? AND ? AND e.op <> 'I' AND {first}"
    keys = key_columns(table)
    monotonic = rules_of(table).monotonic
    if "U" in ops or ops >= {"I", "D"}:
        still = _still(raw, table, where)
        sets, values = [], []
        for column in table.columns:
            name = quoted(column.name)
            if column.name in keys or column.name in still:
                continue
            if column.name in monotonic and is_counter(column):
                sets.append(f"{name} = {live}.{name} + 1")
            elif column.name in monotonic:
                sets.append(f"{name} = ?")
                values.append(now)
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
        columns, values, given = [], [], []
        for column in table.columns:
            name = quoted(column.name)
            columns.append(name)
            if column.name in monotonic and is_counter(column) and ops == {"D"} and later is None:
                values.append(f"COALESCE(e.{name}, 0) + 1")
            elif column.name in monotonic and is_counter(column):
                # A row that is not there was deleted last: its newest image holds the counter it had then.
                newest = (
                    f"(SELECT g.{name} FROM {history} g WHERE {same_key(table, 'g', 'e')} "
                    "ORDER BY g.seq DESC LIMIT 1)"
                )
                values.append(f"max(COALESCE({newest}, 0), COALESCE(e.{name}, 0)) + 1")
            elif column.name in monotonic:
                values.append("?")
                given.append(now)
            else:
                values.append(image_before(table, column.name, "e"))
        raw.execute(
            f"INSERT OR ROLLBACK INTO {live} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {history} e "
            f"WHERE {chosen} AND NOT EXISTS (SELECT 1 FROM {live} t WHERE {same_key(table, 't', 'e')})",
            (*given, *where, *given_first),
        )


def _still(raw: sqlite3.Connection, table: Table, where: tuple[int, int]) -> set[str]:
    """Columns that need not be set: those in an index, which setting would rewrite, and large ones, where none moved.

    A column in an index moved when some live row differs from its images in the step; a large one when it was kept.
    """
    large = large_columns(table)
    monotonic = rules_of(table).monotonic
    indexed = {c.name for index in table.indexes for c in index.columns} - {*key_columns(table), *monotonic}
    tests = {name: f"max(COALESCE(e.kept, 0) & {1 << bit})" for bit, name in enumerate(large)}
    tests |= {name: f"max(e.{quoted(name)} IS NOT t.{quoted(name)})" for name in indexed - set(large)}
    if not tests:
        return set()
    found = raw.execute(
        f"SELECT {', '.join(tests.values())} FROM {quoted(history_name(table))} e "
        f"JOIN {quoted(table.name)} t ON {same_key(table, 't', 'e')} WHERE e.seq BETWEEN ? AND ? AND e.op <> 'I'",
        where,
    ).fetchone()
    return {name for name, differs in zip(tests, found, strict=True) if not differs}
