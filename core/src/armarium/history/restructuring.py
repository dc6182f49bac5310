"""Conflicts of structure: one side withdrew, joined or split something while the other changed it or what hangs on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Table

from armarium.history.capture import key_columns
from armarium.history.net_differences import Key, Values, is_equal, live_rows, places, touched_since
from armarium.history.schema import Schema
from armarium.store.tables import rules_of

Place = tuple[str, Key]


def is_only_when(name: str, theirs: object, ours: object) -> bool:
    """Return whether a column says when or by whom something was done that both sides did."""
    return name.endswith(("_at", "_by")) and theirs is not None and ours is not None


def is_restructured(table: Table, before: Values | None, after: Values | None) -> bool:
    """Return whether *after* has another structure than *before*, both being states of a row."""
    structure = rules_of(table).structure
    if structure is None or before is None or after is None:
        return False
    return any(
        before[at] != after[at] and not is_only_when(name, before[at], after[at])
        for name in structure.columns
        for at in (places(table)[name],)
    )


def step_of(table: Table, row: Values | None) -> object:
    """Return by which step a row was joined or split last, as its table says."""
    structure = rules_of(table).structure
    if row is None or structure is None or structure.step is None:
        return None
    return row[places(table)[structure.step]]


def net_changes(
    tables: Iterable[Table], raw: sqlite3.Connection, since: int, other: sqlite3.Connection
) -> Iterator[tuple[Table, Key, Values | None, Values | None, Values | None]]:
    """Yield what was changed since a step and is not so in the *other* copy: table, key, the row before, now, and there."""
    for table in tables:
        if rules_of(table).stays_here or not (touched := touched_since(raw, table, since)):
            continue
        now, there = (live_rows(copy, table, touched.keys()) for copy in (raw, other))
        for key, row in touched.items():
            after, beside = now.get(key), there.get(key)
            if not is_equal(table, row.before, after) and not is_equal(table, after, beside):
                yield table, key, row.before, after, beside


class Above:
    """Finds what rows hang on: the rows with a structure that they refer to, directly or through others."""

    def __init__(
        self,
        schema: Schema,
        references: Mapping[str, Sequence[tuple[str, int, Table]]],
        copies: Sequence[sqlite3.Connection],
    ) -> None:
        self._schema, self._references, self._copies = schema, references, copies
        self._found: dict[Place, frozenset[Place]] = {}

    def of(self, table: Table, key: Key, row: Values | None) -> frozenset[Place]:
        """Return the places of what the *row* hangs on, its own among them."""
        found: set[Place] = {(table.name, key)}
        for _, at, parent in self._references[table.name] if row is not None else ():
            if row is not None and row[at] is not None:
                found |= self._follow(parent, (row[at],))
        return frozenset(found)

    def _follow(self, table: Table, key: Key) -> frozenset[Place]:
        place = (table.name, key)
        if place not in self._found:
            # What refers to itself in a circle ends here.
            self._found[place] = frozenset()
            rows = (live_rows(raw, table, [key]).get(key) for raw in self._copies)
            self._found[place] = self.of(table, key, next((row for row in rows if row is not None), None))
        return self._found[place]


def with_structure(schema: Schema) -> list[Table]:
    """Return the tables whose rows have a structure."""
    return [table for table in schema.tracked if rules_of(table).structure and len(key_columns(table)) == 1]
