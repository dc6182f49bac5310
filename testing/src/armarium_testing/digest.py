"""A digest of a project's content: every tracked row, without the columns that only grow. Undo must restore it."""

from __future__ import annotations

import hashlib
import marshal
from functools import lru_cache

from sqlalchemy import Table

from armarium.history.capture import quote_name
from armarium.history.schema import Schema
from armarium.store.database import Database, raw_of
from armarium.store.tables import rules_of


def table_digests(db: Database, schema: Schema) -> dict[str, str]:
    """Return each tracked table with a digest of its rows (in the order of their keys, without monotonic columns).

    Two equal digests mean equal content, bit for bit, floats included.
    """
    with db.read() as conn:
        raw = raw_of(conn)
        # Equal values of different types, and the two zeros, are different bytes.
        return {
            table.name: hashlib.sha256(marshal.dumps(raw.execute(_rows_of(table)).fetchall(), 2)).hexdigest()
            for table in schema.tracked
        }


@lru_cache(maxsize=4096)
def _rows_of(table: Table) -> str:
    """Return the statement that reads the rows of *table*."""
    columns = [column.name for column in table.columns if column.name not in rules_of(table).monotonic]
    keys = ", ".join(quote_name(column.name) for column in table.primary_key.columns)
    return f"SELECT {', '.join(map(quote_name, columns))} FROM {quote_name(table.name)} ORDER BY {keys}"


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the tables whose content differs."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
