"""Derived indexes: virtual tables that follow a table by triggers, rebuilt when they differ from the models.

What an index holds is declared with `derived_index` in `tables`. It has no history and is in no digest: it follows the
rows, whoever writes them, so undo and purge update it without knowing of it.
"""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection, Table

from armarium.errors import Conflict
from armarium.history.capture import quote_name
from armarium.store.database import raw_of
from armarium.store.tables import Follows, rules_of


def trigger_ddl(table: Table) -> dict[str, str]:
    """Return trigger name to statement for a derived index; nothing for any other table."""
    follows = rules_of(table).follows
    if follows is None:
        return {}
    index, followed = quote_name(table.name), quote_name(follows.table.name)
    names = ", ".join(quote_name(column.name) for column in table.columns)
    watched = ", ".join(quote_name(column) for column in follows.columns)
    changed = " OR ".join(
        f"OLD.{quote_name(column)} IS NOT NEW.{quote_name(column)}" for column in follows.columns
    )
    stands, stood = follows.where.format(row="NEW"), follows.where.format(row="OLD")
    # OR REPLACE: a row left over in a damaged index must not block anybody's write.
    insert_row = f"INSERT OR REPLACE INTO {index} ({names}) SELECT {_row(follows, 'NEW')}"
    drop = f"DELETE FROM {index} WHERE number = OLD.rowid"
    if follows.of_words:
        listed = ", ".join(quote_name(name) for name in follows.values)
        insert_row = f"INSERT INTO {index} (rowid, {listed}) SELECT {_row(follows, 'NEW')}"
        # The index stores no texts: to remove a row it must be given the words that were in it.
        drop = f"INSERT INTO {index} ({index}, rowid, {listed}) SELECT 'delete', {_row(follows, 'OLD')} WHERE {stood}"
    on_insert, on_update, on_delete = (
        f"{table.name}__follows_{verb}" for verb in ("insert", "update", "delete")
    )
    return {
        on_insert: f"CREATE TRIGGER {quote_name(on_insert)} AFTER INSERT ON {followed} WHEN {stands} BEGIN {insert_row}; END",
        on_update: f"CREATE TRIGGER {quote_name(on_update)} AFTER UPDATE OF {watched} ON {followed} WHEN {changed} "
        f"BEGIN {drop}; {insert_row} WHERE {stands}; END",
        on_delete: f"CREATE TRIGGER {quote_name(on_delete)} AFTER DELETE ON {followed} WHEN {stood} BEGIN {drop}; END",
    }


def is_stale(raw: sqlite3.Connection, table: Table) -> bool:
    """Return whether the index is missing, or its table or a trigger of it differs from the models."""
    statements = dict(
        raw.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'trigger')").fetchall()
    )
    expected = {table.name: _ddl(table)} | trigger_ddl(table)
    return any(statements.get(name) != statement for name, statement in expected.items())


def rebuild(conn: Connection, table: Table) -> None:
    """Rebuild the index from the rows it follows, with its triggers; raises Conflict where SQLite lacks its module."""
    follows = rules_of(table).follows
    assert follows is not None, table.name
    raw = raw_of(conn)
    try:
        raw.execute(f"DROP TABLE IF EXISTS {quote_name(table.name)}")
        raw.execute(_ddl(table))
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):
            raise
        raise Conflict(
            f"The SQLite of this Python ({sqlite3.sqlite_version}) was built without {follows.module}, which the index "
            f"{table.name} needs. Use a Python whose SQLite has it (python.org, Homebrew, uv and Debian all do).",
            code="sqlite_lacks_module",
        ) from error
    if follows.of_words:
        listed = ", ".join(quote_name(name) for name in follows.values)
        raw.execute(f"INSERT INTO {quote_name(table.name)} (rowid, {listed}) {_contents(follows)}")
    else:
        raw.execute(f"INSERT INTO {quote_name(table.name)} {_contents(follows)}")
    for name, statement in trigger_ddl(table).items():
        raw.execute(f"DROP TRIGGER IF EXISTS {quote_name(name)}")
        raw.execute(statement)


def disagreements(raw: sqlite3.Connection, table: Table) -> int:
    """Return how many rows of the index differ from those of a rebuilt one; 0 when all is well.

    A full-text index only reports whether it agrees (0 or 1), and needs the writer's connection for that.
    """
    follows = rules_of(table).follows
    assert follows is not None, table.name
    if follows.of_words:
        index = quote_name(table.name)
        try:
            raw.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError:
            return 1
        return 0
    marks = ", ".join("?" * len(table.columns))
    anew = sqlite3.connect(":memory:")
    try:
        anew.execute(_ddl(table))
        anew.executemany(
            f"INSERT INTO {quote_name(table.name)} VALUES ({marks})", raw.execute(_contents(follows))
        )
        everything = f"SELECT * FROM {quote_name(table.name)}"
        expected = {row[0]: row for row in anew.execute(everything)}
    finally:
        anew.close()
    wrong = 0
    for row in raw.execute(everything):
        wrong += expected.pop(row[0], None) != row
    return wrong + len(expected)


def _ddl(table: Table) -> str:
    follows = rules_of(table).follows
    assert follows is not None, table.name
    names = [quote_name(column.name) for column in table.columns]
    if follows.of_words:
        followed = quote_name(follows.table.name)
        names = [*names, f"content={followed}", "content_rowid='rowid'"]
    arguments = ", ".join([*names, *follows.options])
    return f"CREATE VIRTUAL TABLE {quote_name(table.name)} USING {follows.module}({arguments})"


def _row(follows: Follows, row: str) -> str:
    return ", ".join([f"{row}.rowid", *(value.format(row=row) for value in follows.values.values())])


def _contents(follows: Follows) -> str:
    return f"SELECT {_row(follows, 'f')} FROM {quote_name(follows.table.name)} f WHERE {follows.where.format(row='f')}"
