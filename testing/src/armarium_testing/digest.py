"""A digest of a project's content: every tracked row, without the columns that only grow. Undo must restore it."""

from __future__ import annotations

import hashlib

from armarium.history.capture import quote_name
from armarium.history.schema import Schema
from armarium.store.database import Database, raw_of
from armarium.store.tables import rules_of


def table_digests(db: Database, schema: Schema) -> dict[str, str]:
    """Return each tracked table with a digest of its rows (in the order of their keys, without monotonic columns).

    Two equal digests mean equal content, bit for bit, floats included.
    """
    found: dict[str, str] = {}
    with db.read() as conn:
        raw = raw_of(conn)
        for table in schema.tracked:
            monotonic = rules_of(table).monotonic
            columns = [column.name for column in table.columns if column.name not in monotonic]
            keys = ", ".join(quote_name(column.name) for column in table.primary_key.columns)
            digest = hashlib.sha256()
            for row in raw.execute(
                f"SELECT {', '.join(quote_name(c) for c in columns)} FROM {quote_name(table.name)} ORDER BY {keys}"
            ):
                digest.update(repr(row).encode())
            found[table.name] = digest.hexdigest()
    return found


def differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the tables whose content differs."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
