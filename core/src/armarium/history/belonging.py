"""Which document a row belongs to, by what its table declares: its `document` column, else the references that locks follow."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from sqlalchemy import Table

from armarium.history.capture import quote_name
from armarium.history.schema import Schema
from armarium.store.tables import rules_of

MOST_STEPS = 8
"""How many references are followed from a row to its document."""


class Belonging:
    """Finds the documents of rows that may exist in one of several copies of a project, the first preferred."""

    def __init__(self, schema: Schema, copies: Sequence[sqlite3.Connection]) -> None:
        self._schema, self._copies = schema, copies
        self._found: dict[tuple[str, str, object], str | None] = {}

    def document_of(self, table: Table, row: Mapping[str, object], steps: int = 0) -> str | None:
        """Return the document that *row* of *table* belongs to (the first where there are several), or None."""
        own = rules_of(table).document
        if own is not None and row[own] is not None:
            return str(row[own])
        locks = self._schema.locks
        if locks is None or steps > MOST_STEPS:
            return None
        for link in locks.links.get(table, ()):
            value = row[link.column]
            if value is None:
                continue
            if link.table is locks.tree:
                return str(value)
            reference = (link.table.name, link.key, value)
            if reference not in self._found:
                self._found[reference] = self._follow(link.table, link.key, value, steps + 1)
            if (document := self._found[reference]) is not None:
                return document
        return None

    def _follow(self, table: Table, key: str, value: object, steps: int) -> str | None:
        names = [column.name for column in table.columns]
        query = (
            f"SELECT {', '.join(map(quote_name, names))} FROM {quote_name(table.name)}"
            f" WHERE {quote_name(key)} = ? LIMIT 1"
        )
        for raw in self._copies:
            row = raw.execute(query, (value,)).fetchone()
            if row is not None:
                return self.document_of(table, dict(zip(names, row, strict=True)), steps)
        return None
