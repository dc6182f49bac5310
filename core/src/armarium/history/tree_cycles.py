"""Detects what an undo must not create: a row beneath itself, in tables whose rows refer to rows of the same table.

An action refuses such a move itself. Undoing steps in another order than they were made can close a cycle although no
row was touched twice: B's move into A is undone, A is put into B, and then the undo is undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sqlalchemy import Table

from armarium.history.capture import history_name, holds, key_columns, quote_name
from armarium.store.tables import rules_of


@dataclass(frozen=True)
class Circle:
    """Why a step cannot be undone, and the later step that prevents it."""

    why: str
    later: str | None


def newest(raw: sqlite3.Connection, tables: Iterable[Table]) -> dict[Table, int]:
    """Return, for those of *tables* whose rows refer to rows of the same table, the last number of the history."""
    return {
        table: raw.execute(f"SELECT COALESCE(max(seq), 0) FROM {quote_name(history_name(table))}").fetchone()[
            0
        ]
        for table in tables
        if _own_references(table)
    }


def made_since(
    raw: sqlite3.Connection, table: Table, since: int, step: int, title_of: Callable[[str], str]
) -> Circle | None:
    """Return a cycle that the changes after history row *since* closed while step number *step* is undone, or None."""
    (key,) = (quote_name(name) for name in key_columns(table))
    history, live = quote_name(history_name(table)), quote_name(table.name)
    for name in _own_references(table):
        column = quote_name(name)
        # Only a row whose parent changed can close one.
        row = raw.execute(
            f"WITH RECURSIVE up(start, at) AS (SELECT t.{key}, t.{column} FROM {history} h JOIN {live} t"
            f" ON t.{key} = h.{key} WHERE h.seq > ? AND h.op = 'U' AND {holds(table.c[name], 'h')}"
            f" AND t.{column} IS NOT h.{column}"
            f" UNION SELECT up.start, t.{column} FROM up JOIN {live} t ON t.{key} = up.at)"
            " SELECT start FROM up WHERE at = start LIMIT 1",
            (since,),
        ).fetchone()
        if row is None:
            continue
        later = raw.execute(
            f"WITH RECURSIVE ring(at) AS (VALUES (?) UNION SELECT t.{column} FROM ring JOIN {live} t"
            f" ON t.{key} = ring.at) SELECT a.action_name, a.id FROM ring JOIN {history} h ON h.{key} = ring.at"
            " JOIN audit a ON a.seq = h.audit_seq WHERE h.seq <= ? AND a.seq > ? AND a.undone = 0"
            " ORDER BY h.seq DESC LIMIT 1",
            (row[0], since, step),
        ).fetchone()
        label = rules_of(table).label or table.name
        later_step = f" ({title_of(later[0])}, {later[1]})" if later else ""
        return Circle(
            f"a {label} would come to lie beneath itself, because of a later step still in effect{later_step}",
            later[1] if later else None,
        )
    return None


def _own_references(table: Table) -> list[str]:
    """Return the columns of *table* that refer to rows of *table*; none where a row's key has several columns."""
    if len(key_columns(table)) != 1:
        return []
    columns_in_use = [column for user, column in rules_of(table).used_by if user == table.name]
    return columns_in_use + [
        key.parent.name for key in table.foreign_keys if key.column.table.name == table.name
    ]
