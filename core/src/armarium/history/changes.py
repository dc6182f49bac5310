"""What one step changed, row by row, read from the history tables (GET /api/actions/audit/{audit_id})."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from sqlalchemy import Boolean, Column, Connection, Table

from armarium.history.capture import history_name, key_columns, quote_name
from armarium.history.row_images import image_before, keys_of, same_key
from armarium.history.schema import Schema
from armarium.history.spans import spans
from armarium.store.database import raw_of
from armarium.store.tables import Json, rules_of

_WORDS = {"I": "insert", "U": "update", "D": "delete"}


def changes_of(
    conn: Connection, schema: Schema, seq: int, *, limit: int, offset: int
) -> tuple[list[dict[str, Any]], int]:
    """Return (changes, total) of step *seq*: for each row, what it was before and after that step.

    An update lists the columns that differ, an insert and a delete the whole row. Rows are counted table by table, so
    the cost depends on the rows shown, not on those touched.
    """
    raw = raw_of(conn)
    changes: list[dict[str, Any]] = []
    total = 0
    for table, changed_span in spans(raw, schema.tracked, seq).items():
        history = quote_name(history_name(table))
        keys = ", ".join(quote_name(key) for key in key_columns(table))
        (count,) = raw.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {history} WHERE seq BETWEEN ? AND ? GROUP BY {keys})",
            changed_span,
        ).fetchone()
        skip = max(0, offset - total)
        room = limit - len(changes)
        if count > skip and room > 0:
            changes += _table_changes(raw, table, changed_span, room, skip)
        total += count
    return changes, total


def images(
    raw: sqlite3.Connection, table: Table, where: tuple[int, int]
) -> Iterator[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    """Yield each row of *table* that the step with the history rows *where* changed: its values before and after.

    None: the row did not exist. Values are Python values.
    """
    for _, before, after in _rows(raw, table, where, -1, 0):
        yield before, after


def _table_changes(
    raw: sqlite3.Connection, table: Table, where: tuple[int, int], limit: int, offset: int
) -> list[dict[str, Any]]:
    label = rules_of(table).label or table.name
    return [
        _change(table.name, label, key, was, is_) for key, was, is_ in _rows(raw, table, where, limit, offset)
    ]


def _rows(
    raw: sqlite3.Connection, table: Table, where: tuple[int, int], limit: int, offset: int
) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any] | None]]:
    history, live = quote_name(history_name(table)), quote_name(table.name)
    keys = key_columns(table)
    key_list = ", ".join(quote_name(key) for key in keys)
    columns = list(table.columns)
    before = ", ".join(image_before(table, column.name, "f") for column in columns)
    after = ", ".join(
        f"CASE WHEN n.seq IS NULL THEN t.{quote_name(column.name)} ELSE {image_before(table, column.name, 'n')} END"
        for column in columns
    )
    rows = raw.execute(
        f"WITH s AS (SELECT {key_list}, min(seq) AS first, max(seq) AS last FROM {history} WHERE seq BETWEEN ? AND ? "
        f"GROUP BY {key_list} ORDER BY first LIMIT ? OFFSET ?) "
        f"SELECT f.op, CASE WHEN n.seq IS NULL THEN t.{quote_name(keys[0])} IS NOT NULL ELSE n.op <> 'I' END, "
        f"{keys_of(table, 's')}, {before}, {after} FROM s JOIN {history} f ON f.seq = s.first "
        f"LEFT JOIN {history} n ON n.seq = (SELECT min(h.seq) FROM {history} h WHERE {same_key(table, 'h', 's')} AND h.seq > s.last) "
        f"LEFT JOIN {live} t ON {same_key(table, 't', 's')} ORDER BY s.first",
        (*where, limit, offset),
    ).fetchall()
    for op, exists, *values in rows:
        values_by_key = dict(zip(map(str, keys), values[: len(keys)], strict=True))
        columns_before_and_after = values[len(keys) :]
        was = values_of(columns, columns_before_and_after[: len(columns)]) if op != "I" else None
        is_ = values_of(columns, columns_before_and_after[len(columns) :]) if exists else None
        yield values_by_key, was, is_


def _change(
    table: str, label: str, key: dict[str, Any], was: dict[str, Any] | None, is_: dict[str, Any] | None
) -> dict[str, Any]:
    op = "U" if was is not None and is_ is not None else "D" if is_ is None else "I"
    if was is not None and is_ is not None:
        differing = [name for name in was if was[name] != is_[name]]
        was, is_ = {name: was[name] for name in differing}, {name: is_[name] for name in differing}
    return {"table": table, "label": label, "op": _WORDS[op], "key": key, "before": was, "after": is_}


def values_of(columns: Sequence[Column[Any]], stored: Sequence[Any]) -> dict[str, Any]:
    """Return the stored values of a row by column, as Python values."""
    return {str(column.name): value_of(column, value) for column, value in zip(columns, stored, strict=True)}


def value_of(column: Column[Any], value: Any) -> Any:
    """Return a stored value as a Python value."""
    if value is None:
        return None
    if isinstance(column.type, Json):
        return orjson.loads(value)
    if isinstance(column.type, Boolean):
        return bool(value)
    return value.hex() if isinstance(value, bytes) else value
