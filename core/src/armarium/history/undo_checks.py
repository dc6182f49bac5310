"""Whether a step may be undone: its rows must be as it left them, and no later row may lose what it refers to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table

from armarium.errors import Conflict
from armarium.history.capture import differ, history_name, key_columns, quote_name
from armarium.history.row_images import contents_of, image_before, keys_of, same_key
from armarium.history.schema import Schema
from armarium.history.spans import span
from armarium.store.tables import rules_of


@dataclass(frozen=True, slots=True)
class Row:
    """A step as recorded in the audit log."""

    seq: int
    id: str
    action_name: str
    inverse_of: str | None
    undoable: bool
    undone: bool
    gone: bool
    params: dict[str, Any]
    target_ids: list[str]
    changed: dict[str, list[str]]


def refusal(reason: str, audit_id: str, why: str, **fields: Any) -> Conflict:
    """Return the refusal to undo step *audit_id*: its *reason* and *why* in words.

    *why* may be another refusal's sentence.
    """
    why = why.removesuffix(" Nothing was changed.").rstrip(".")
    return Conflict(
        f"This step cannot be undone: {why}. Nothing was changed.",
        code="undo_refused",
        reason=reason,
        audit_id=audit_id,
        **fields,
    )


def check(
    raw: sqlite3.Connection, table: Table, row: Row, where: tuple[int, int], title_of: Callable[[str], str]
) -> None:
    """Refuse when some row is no longer as the step left it: a later step still in effect touched it, which the refusal
    names by the title that *title_of* gives its action.
    """
    history, live = quote_name(history_name(table)), quote_name(table.name)
    if not raw.execute(f"SELECT 1 FROM {history} WHERE seq > ? LIMIT 1", (where[1],)).fetchone():
        return
    keys = key_columns(table)
    key_list = ", ".join(quote_name(key) for key in keys)
    touched = f"(SELECT {key_list}, max(seq) AS last FROM {history} WHERE seq BETWEEN ? AND ? GROUP BY {key_list}) s"
    since = contents_of(
        raw,
        table,
        f"FROM {touched} JOIN {history} x ON {same_key(table, 'x', 's')} AND x.seq > s.last WHERE 1",
        where,
    )
    if not since.images:
        return
    # Only a column held by a later image can differ from what the step left.
    plain = since.columns.keys() - rules_of(table).monotonic
    equal = " AND ".join(
        f"NOT ({differ(table.c[column], f't.{quote_name(column)}', image_before(table, column, 'n'))})"
        for column in sorted(plain)
    )
    next_seq = f"(SELECT min(h.seq) FROM {history} h WHERE {same_key(table, 'h', 's')} AND h.seq > s.last)"
    changed = raw.execute(
        f"SELECT n.seq, {keys_of(table, 's')} FROM {touched} JOIN {history} n ON n.seq = {next_seq} "
        f"LEFT JOIN {live} t ON {same_key(table, 't', 's')} "
        f"WHERE NOT (CASE WHEN n.op = 'I' THEN t.{quote_name(keys[0])} IS NULL "
        f"ELSE t.{quote_name(keys[0])} IS NOT NULL AND {equal or '1'} END) LIMIT 1",
        where,
    ).fetchone()
    if changed is None:
        return
    first_seq, *key = changed
    matches = " AND ".join(f"h.{quote_name(k)} = ?" for k in keys)
    later = raw.execute(
        f"SELECT a.id, a.action_name FROM {history} h JOIN audit a ON a.seq = h.audit_seq "
        f"WHERE {matches} AND h.seq >= ? AND a.undone = 0 "
        f"ORDER BY a.inverse_of IS NOT NULL, h.seq DESC LIMIT 1",
        (*key, first_seq),
    ).fetchone()
    raise _changed_conflict(row, table, later, title_of)


def check_uses(raw: sqlite3.Connection, schema: Schema, row: Row, title_of: Callable[[str], str]) -> None:
    """Refuse where a restored row refers to one that a later step removed, and no foreign key would detect it."""
    for used, user, column in schema.uses:
        changed_span = span(raw, user, row.seq)
        if changed_span is None:
            continue
        (target,) = (quote_name(key) for key in key_columns(used))
        name, keys = quote_name(column), ", ".join(quote_name(key) for key in key_columns(user))
        later = raw.execute(
            f"SELECT a.id, a.action_name FROM {quote_name(user.name)} t JOIN {quote_name(history_name(used))} h"
            f" ON h.{target} = t.{name} AND h.op = 'D' JOIN audit a ON a.seq = h.audit_seq"
            f" WHERE a.seq > ? AND ({keys_of(user, 't')}) IN"
            f" (SELECT {keys} FROM {quote_name(history_name(user))} WHERE seq BETWEEN ? AND ?)"
            f" AND NOT EXISTS (SELECT 1 FROM {quote_name(used.name)} u WHERE u.{target} = t.{name})"
            " ORDER BY h.seq DESC LIMIT 1",
            (row.seq, *changed_span),
        ).fetchone()
        if later is not None:
            raise _changed_conflict(row, used, later, title_of)


def _changed_conflict(
    row: Row, table: Table, later: tuple[str, str] | None, title_of: Callable[[str], str]
) -> Conflict:
    label = rules_of(table).label or table.name
    if later is None:
        return refusal("changed", row.id, f"a later step changed the same {label}", later_audit_id=None)
    return refusal(
        "changed",
        row.id,
        f"a later step still in effect ({title_of(later[1])}, {later[0]}) touched the same {label}; undo that one first",
        later_audit_id=later[0],
    )


def check_references(
    raw: sqlite3.Connection,
    schema: Schema,
    table: Table,
    row: Row,
    where: tuple[int, int],
    title_of: Callable[[str], str],
) -> None:
    """Refuse when a row that a later step inserted would be left without the row it refers to."""
    history = quote_name(history_name(table))
    keys = key_columns(table)
    if len(keys) != 1:
        return
    touched = f"SELECT DISTINCT h.{quote_name(keys[0])} FROM {history} h WHERE h.seq BETWEEN ? AND ?"
    for child, column, target in schema.children_of(table):
        if target != keys[0] or rules_of(child).kind != "tracked":
            continue
        child_keys = ", ".join(f"c.{quote_name(k)}" for k in key_columns(child))
        orphan = raw.execute(
            f"SELECT {child_keys} FROM ({touched}) k JOIN {quote_name(child.name)} c "
            f"ON c.{quote_name(column)} = k.{quote_name(keys[0])} "
            f"WHERE NOT EXISTS (SELECT 1 FROM {quote_name(table.name)} t WHERE t.{quote_name(target)} = c.{quote_name(column)}) "
            "LIMIT 1",
            where,
        ).fetchone()
        if orphan is not None:
            matches = " AND ".join(f"h.{quote_name(k)} = ?" for k in key_columns(child))
            later = raw.execute(
                f"SELECT a.id, a.action_name FROM {quote_name(history_name(child))} h "
                f"JOIN audit a ON a.seq = h.audit_seq WHERE {matches} AND a.seq > ? AND a.undone = 0 "
                "ORDER BY h.seq DESC LIMIT 1",
                (*orphan, row.seq),
            ).fetchone()
            raise _changed_conflict(row, child, later, title_of)
