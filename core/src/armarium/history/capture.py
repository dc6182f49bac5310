"""Capture: the history table and the three triggers of each tracked table, generated from its model.

The database itself copies the row's image before each change, with the number of the step that makes it; outside a step
the triggers refuse the write. So no program, ORM, bulk statement or cascade can change a tracked row unrecorded.

An image of an insert holds the key; of an update, the key and the columns that changed (`kept` names those that were
null before); of a deletion, the whole row. A column that an image does not hold has the value of the row's next image
that holds it, else of the live row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from sqlalchemy import Column, Connection, Integer, Table
from sqlalchemy.dialects import sqlite as sqlite_dialect

from armarium.store.database import raw_of
from armarium.store.database_errors import damaged_database
from armarium.store.tables import rules_of

_DIALECT = sqlite_dialect.dialect()

STEP_TABLES = (
    "CREATE TABLE IF NOT EXISTS audit_current (one INTEGER PRIMARY KEY CHECK (one = 1), audit_seq INTEGER,"
    " purging INTEGER NOT NULL DEFAULT 0)",
    "INSERT OR IGNORE INTO audit_current (one, audit_seq) VALUES (1, NULL)",
)
"""`audit_current`, one row: the step in progress, null between steps; `purging` while Empty Trash removes rows."""


OWN_COLUMNS = frozenset({"seq", "audit_seq", "op", "kept"})
"""Columns that a history table has in addition to those of its table."""


def history_name(table: Table | str) -> str:
    """Return the name of a tracked table's history table."""
    return f"{table if isinstance(table, str) else table.name}__history"


def quote_name(name: str) -> str:
    """Return *name* as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def key_columns(table: Table) -> list[str]:
    """Return the names of the primary key's columns."""
    return [column.name for column in table.primary_key.columns]


def differ(column: Column[Any], left: str, right: str) -> str:
    """SQL: two values of *column* differ, null included, byte for byte whatever its collation."""
    exactly = " COLLATE BINARY" if getattr(column.type, "collation", None) else ""
    return f"{left} IS NOT {right}{exactly}"


def holds(column: Column[Any], image: str) -> str:
    """SQL: the history row *image*, of an update or a deletion, holds *column*."""
    if column.primary_key:
        return "1"
    return (
        f"({image}.{quote_name(column.name)} IS NOT NULL OR {image}.op = 'D' "
        f"OR IFNULL(instr({image}.kept, {_quoted_key(column.name)}), 0))"
    )


def _quoted_key(name: str, before: str = ",") -> str:
    """Return *name* as `kept` lists it, as an SQL string."""
    return "'" + f"{before}{name},".replace("'", "''") + "'"


def is_counter(column: Column[Any]) -> bool:
    """Return whether a monotonic column is a counter (grows by one) rather than a time."""
    return isinstance(column.type, Integer)


def history_ddl(table: Table) -> list[str]:
    """Return the statements that create *table*'s history table and its index.

    There is no index on the step: one writer appends, so a step's rows are adjacent and `spans.span` finds them by
    bisection; such an index made bulk writes a tenth slower. Nothing here is NOT NULL: see `_tracked_triggers`.
    """
    name = quote_name(history_name(table))
    columns = [
        f"{quote_name(column.name)} {column.type.compile(dialect=_DIALECT)}" for column in table.columns
    ]
    keys = ", ".join(quote_name(key) for key in key_columns(table))
    return [
        f"CREATE TABLE IF NOT EXISTS {name} (seq INTEGER PRIMARY KEY, audit_seq INTEGER, op TEXT,"
        f" kept TEXT, {', '.join(columns)})",
        f"CREATE INDEX IF NOT EXISTS {quote_name('ix_' + history_name(table) + '_key')} ON {name} ({keys})",
        *history_index_ddl(table),
    ]


def history_index_ddl(table: Table) -> list[str]:
    """Return the statement that indexes *table*'s history by the document that rows were deleted or moved from.

    Images of inserts and of most updates do not hold it and are not in the index.
    """
    document, name = rules_of(table).document, quote_name(history_name(table))
    if document is None or document in key_columns(table):
        return []
    column = quote_name(document)
    called = quote_name(f"ix_{history_name(table)}_document")
    return [f"CREATE INDEX IF NOT EXISTS {called} ON {name} ({column}) WHERE {column} IS NOT NULL"]


@lru_cache(maxsize=1024)
def trigger_ddl(table: Table) -> MappingProxyType[str, str]:
    """Return trigger name to statement, according to the kind of *table* (none for operational and derived)."""
    kind = rules_of(table).kind
    if kind == "tracked":
        return MappingProxyType(_tracked_triggers(table) | _append_only_triggers(history_name(table), []))
    if kind == "append-only":
        return MappingProxyType(_append_only_triggers(table.name, []))
    return MappingProxyType({})


def audit_triggers(columns: Iterable[str]) -> dict[str, str]:
    """Return the triggers of the audit log: of its *columns* only the marks of undo and purge ever change."""
    return _append_only_triggers("audit", [column for column in columns if column not in ("undone", "gone")])


def step_triggers() -> dict[str, str]:
    """Return the triggers that tie `audit_current` to the log: it can name only the next step.

    Otherwise anybody at an SQL prompt could make a change in the name of an old step, and no row of the log would show
    it: a step ends only with its audit row.
    """
    triggers = {
        "audit_current__begins": (
            "UPDATE OF audit_seq",
            "NEW.audit_seq IS NOT NULL AND NEW.audit_seq IS NOT (SELECT COALESCE(max(seq), 0) + 1 FROM audit)",
            "a step has the number after the last of the audit log",
        ),
        "audit_current__ends": (
            "UPDATE OF audit_seq",
            "NEW.audit_seq IS NULL AND OLD.audit_seq IS NOT NULL"
            " AND NOT EXISTS (SELECT 1 FROM audit WHERE seq = OLD.audit_seq)",
            "a step ends with its row in the audit log",
        ),
        "audit_current__made": (
            "INSERT",
            "NEW.audit_seq IS NOT NULL OR NEW.purging",
            "a step is begun by an action",
        ),
    }
    return {
        name: f"CREATE TRIGGER {name} BEFORE {event} ON audit_current WHEN {when} "
        f"BEGIN SELECT RAISE(ABORT, '{words}'); END"
        for name, (event, when, words) in triggers.items()
    }


def _tracked_triggers(table: Table) -> dict[str, str]:
    name, history = quote_name(table.name), quote_name(history_name(table))
    keys = key_columns(table)
    columns = [column.name for column in table.columns]
    rules = rules_of(table)
    label = rules.label or table.name
    # RAISE rather than a NOT NULL of the history's column: a statement's own OR IGNORE would swallow that. And ROLLBACK
    # rather than ABORT: for ABORT, SQLite copies each page that a statement changes in order to revert that statement
    # alone; with it a deletion by key took nearly twice as long. A write outside a step is a bug and ends its
    # transaction.
    current = (
        "COALESCE((SELECT audit_seq FROM audit_current), "
        f"RAISE(ROLLBACK, '{table.name} is a tracked table: a {label} is changed only by an action'))"
    )
    key_list = ", ".join(quote_name(key) for key in keys)
    column_list = ", ".join(quote_name(column) for column in columns)
    new_keys = ", ".join(f"NEW.{quote_name(key)}" for key in keys)
    moved = {
        column.name: differ(column, f"OLD.{quote_name(column.name)}", f"NEW.{quote_name(column.name)}")
        for column in table.columns
    }
    # Columns that nearly every change modifies are compared first, long values last.
    changed = " OR ".join(
        moved[column]
        for column in sorted(
            columns, key=lambda column: (column not in rules.monotonic, column in rules.large)
        )
    )
    old_all = ", ".join(f"OLD.{quote_name(column)}" for column in columns)
    old_moved = ", ".join(
        f"OLD.{quote_name(column)}"
        if column in keys
        else f"CASE WHEN {moved[column]} THEN OLD.{quote_name(column)} END"
        for column in columns
    )
    nulls = [column.name for column in table.columns if column.nullable and not column.primary_key]
    on_insert, on_update, on_delete, on_key_change = (
        f"{table.name}__history_{verb}" for verb in ("insert", "update", "delete", "key")
    )
    key_changed = " OR ".join(moved[k] for k in keys)
    return {
        on_insert: f"CREATE TRIGGER {quote_name(on_insert)} AFTER INSERT ON {name} BEGIN "
        f"INSERT INTO {history} (audit_seq, op, {key_list}) VALUES ({current}, 'I', {new_keys}); END",
        on_update: f"CREATE TRIGGER {quote_name(on_update)} AFTER UPDATE ON {name} WHEN {changed} BEGIN "
        f"INSERT INTO {history} (audit_seq, op, kept, {column_list}) "
        f"VALUES ({current}, 'U', {_moved_from_null(nulls, 'OLD', 'NEW')}, {old_moved}); END",
        on_delete: f"CREATE TRIGGER {quote_name(on_delete)} AFTER DELETE ON {name} BEGIN "
        f"INSERT INTO {history} (audit_seq, op, {column_list}) VALUES ({current}, 'D', {old_all}); END",
        on_key_change: f"CREATE TRIGGER {quote_name(on_key_change)} BEFORE UPDATE OF {key_list} ON {name} WHEN {key_changed} BEGIN "
        f"SELECT RAISE(ABORT, '{table.name} is a tracked table: the key of a {label} never changes'); END",
    }


def _moved_from_null(columns: Sequence[str], old: str, new: str) -> str:
    """Return SQL for `kept`: the names of *columns* that were null and no longer are, or null where there are none."""
    if not columns:
        return "NULL"
    moved = {
        column: f"{old}.{quote_name(column)} IS NULL AND {new}.{quote_name(column)} IS NOT NULL"
        for column in columns
    }
    names = " || ".join(
        f"CASE WHEN {moved[column]} THEN {_quoted_key(column, '')} ELSE '' END" for column in columns
    )
    return (
        f"CASE WHEN {' OR '.join(f'({condition})' for condition in moved.values())} THEN ',' || {names} END"
    )


def rename_kept(raw: sqlite3.Connection, history: str, before: list[str], after: list[str]) -> None:
    """Rename columns in the images of the table *history* from the names *before* to those *after*."""
    renamed = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
    if len(before) != len(after) or any(old in after or new in before for old, new in renamed):
        return
    for old, new in renamed:
        # The opening that migrates recreates them.
        raw.execute(f"DROP TRIGGER IF EXISTS {quote_name(f'{history}__no_update')}")
        raw.execute(
            f"UPDATE {quote_name(history)} SET kept = replace(kept, {_quoted_key(old)}, {_quoted_key(new)})"
        )


def _append_only_triggers(name: str, guarded: Sequence[str]) -> dict[str, str]:
    """Return triggers that keep rows unchanged; *guarded* names the columns that never change (none: all)."""
    update, delete = f"{name}__no_update", f"{name}__no_delete"
    of = f" OF {', '.join(map(quote_name, guarded))}" if guarded else ""
    words = f"rows of {name} are never changed"
    return {
        update: f"CREATE TRIGGER {quote_name(update)} BEFORE UPDATE{of} ON {quote_name(name)} "
        f"BEGIN SELECT RAISE(ABORT, '{words}'); END",
        delete: f"CREATE TRIGGER {quote_name(delete)} BEFORE DELETE ON {quote_name(name)} "
        f"WHEN (SELECT purging FROM audit_current) = 0 BEGIN SELECT RAISE(ABORT, '{words}'); END",
    }


def begin_step(raw: sqlite3.Connection, audit_seq: int) -> None:
    """Attribute the writes from here on to step *audit_seq*."""
    begun = raw.execute(
        "UPDATE audit_current SET audit_seq = ? WHERE audit_seq IS NULL", (audit_seq,)
    ).rowcount
    if begun != 1:
        raise damaged_database(
            "the row that says which step is being made is gone, or another program left one open"
        )


def end_step(raw: sqlite3.Connection) -> None:
    """End the step: tracked writes are refused again."""
    raw.execute("UPDATE audit_current SET audit_seq = NULL WHERE one = 1")


def versions(conn: Connection, table: Table, key: str) -> list[dict[str, Any]]:
    """Return every state of the row *key* of *table* (single-column key), oldest first.

    Each is `{"values": {column: stored value}, "audit_seq", "audit_id", "deleted"}`: the values after that step. Values
    are as stored (JSON columns are text). A row never touched by a step gives an empty list.
    """
    raw = raw_of(conn)
    columns = [column.name for column in table.columns]
    (key_name,) = key_columns(table)
    listed = ", ".join(f"h.{quote_name(column)}" for column in columns)
    rows = raw.execute(
        f"SELECT h.audit_seq, a.id, h.op, COALESCE(h.kept, ''), {listed} FROM {quote_name(history_name(table))} h "
        f"LEFT JOIN audit a ON a.seq = h.audit_seq WHERE h.{quote_name(key_name)} = ? ORDER BY h.seq",
        (key,),
    ).fetchall()
    listed = ", ".join(quote_name(column) for column in columns)
    live = raw.execute(
        f"SELECT {listed} FROM {quote_name(table.name)} WHERE {quote_name(key_name)} = ?", (key,)
    ).fetchone()
    following: dict[str, Any] | None = dict(zip(columns, live, strict=True)) if live else None
    states: list[dict[str, Any]] = []
    # Walk backwards: the state after a change is the image before the next one, else the live row.
    for audit_seq, audit_id, op, kept, *image in reversed(rows):
        if op == "D":
            last = dict(zip(columns, image, strict=True))
            states.append({"values": last, "audit_seq": audit_seq, "audit_id": audit_id, "deleted": True})
        elif following is not None:
            states.append(
                {"values": following, "audit_seq": audit_seq, "audit_id": audit_id, "deleted": False}
            )
        if op == "I":
            following = None
            continue
        before = dict(zip(columns, image, strict=True))
        if op == "U" and following is not None:
            for column, value in before.items():
                if value is None and f",{column}," not in kept:
                    before[column] = following[column]
        following = before
    states.reverse()
    return states


def make_permanent(conn: Connection, table: Table, where: str) -> None:
    """Mark the steps that left the images of *table* under the SQL condition *where*: they can no longer be undone."""
    images = f"SELECT audit_seq FROM {quote_name(history_name(table))} WHERE {where}"
    raw_of(conn).execute(f"UPDATE audit SET gone = 1 WHERE seq IN ({images})")


@contextmanager
def purging(conn: Connection) -> Iterator[None]:
    """Allow the deletion of append-only rows and history images within the block: for Empty Trash and nothing else."""
    raw = raw_of(conn)
    raw.execute("UPDATE audit_current SET purging = 1 WHERE one = 1")
    try:
        yield
    finally:
        raw.execute("UPDATE audit_current SET purging = 0 WHERE one = 1")
