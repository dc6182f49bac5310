"""A project as it was after one of its steps: a connection in which every statement reads the rows of that moment.

Nothing is stored twice: the rows are worked out from the history tables. A temporary view takes precedence over the table
of its name, so whatever reads a project reads its past too, without a second way of reading. A row that no later step
touched is the live one; else each of its columns has the value of the first later image that holds it, and a row whose
first later image is an insert's was not there yet.

For some documents (`Past.documents`) their rows are collected once, by index, which costs what they and their changes are,
not what the project is. For all, and for a caller from whom something is withheld, the views read the history of each
table. What such a caller may see is decided as of now: a row that is hidden today, names something hidden, or lies on a
page of which a part is hidden is not shown of the past either. Tables of the plugin that keeps rights, derived ones and the engine's own
are always read as they are; what Empty Trash removed left no image.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import Column, Connection, Table
from sqlalchemy.dialects import sqlite as sqlite_dialect

from armarium.history.capture import history_name, holds, key_columns, quote_name
from armarium.history.row_images import contents_of, image_before, same_key
from armarium.history.spans import newest_steps, seq_after
from armarium.history.visible_rows import PAGES
from armarium.store.database import Database, raw_of
from armarium.store.tables import json_text, rules_of

_DIALECT = sqlite_dialect.dialect()
_INDEXED = 100
"""Rows of a table from which the collected ones get its indexes: fewer are found as fast without."""

Row = list[object]


@dataclass(frozen=True)
class Past:
    """*db* after its step *seq*; with *documents*, only what lies on these and on what they lie in."""

    db: Database
    seq: int
    documents: Collection[str] | None = None

    @contextmanager
    def lay(self, conn: Connection) -> Iterator[None]:
        """Make the views in the transaction of *conn*; they go with it."""
        raw = raw_of(conn)
        later = self._touched_later(raw)
        notes = self._notes() if later else {}
        if later:
            raw.execute("PRAGMA query_only=OFF")
            limited = self.db.visibility is not None and _is_limited(raw)
            if self.documents is None or limited:
                self._lay_views(
                    raw, {table: rows_then(table, since) for table, since in later.items()}, limited
                )
            else:
                _Collected(raw, later, self._tree).lay(self.documents)
            self._lay_views(raw, notes, limited)
            raw.execute("PRAGMA query_only=ON")
        yield

    @cached_property
    def _tree(self) -> Table | None:
        return None if self.db.schema.locks is None else self.db.schema.locks.tree

    def _touched_later(self, raw: sqlite3.Connection) -> dict[Table, int]:
        """Return the tables that a later step touched, parents first, each with the first row of its history that is of
        such a step.
        """
        schema, visibility = self.db.schema, self.db.visibility
        rights = None if visibility is None else visibility.kept_by
        tables = [table for table in schema.tracked if schema.home[table.name] != rights]
        return {
            table: seq_after(raw, table, self.seq)
            for table, newest in zip(tables, newest_steps(raw, tables), strict=True)
            if newest is not None and newest > self.seq
        }

    def _notes(self) -> dict[Table, str]:
        """Return the tables whose rows are never changed and name the step that wrote them, each with SQL of those there
        were.
        """
        tables = [
            table
            for table in self.db.schema.tables
            if rules_of(table).kind == "append-only" and "audit_id" in table.c
        ]
        step = f"(SELECT a.id FROM main.audit a WHERE a.id = l.audit_id AND a.seq <= {self.seq})"
        return {
            table: f"SELECT l.* FROM main.{quote_name(table.name)} l WHERE l.audit_id = {step}"
            for table in tables
        }

    def _lay_views(self, raw: sqlite3.Connection, rows_of: Mapping[Table, str], limited: bool) -> None:
        """Make a view of each table's rows as the SQL given selects them."""
        rows = self.db.visibility.rows if limited and self.db.visibility is not None else None
        for table, selected in rows_of.items():
            name = quote_name(table.name)
            shown = f"({selected}) m"
            if rows is not None and table.name in rows.conditions:
                # As the caller's own view of today leaves rows out; what was moved to where it is hidden is hidden too.
                visible = " AND ".join([*rows.conditions[table.name], "1"])
                keys = ", ".join(f"m.{quote_name(key)}" for key in key_columns(table))
                hidden = f"SELECT {keys} FROM main.{name} m WHERE NOT ({visible})"
                document = rules_of(table).document
                whole = (
                    f" AND m.{quote_name(document)} NOT IN (SELECT id FROM temp.{PAGES})"
                    if document is not None and table is not self._tree
                    else ""
                )
                shown += f" WHERE {visible}{whole} AND ({keys}) NOT IN ({hidden})"
                raw.execute(f"DROP VIEW IF EXISTS temp.{name}")
            columns = ", ".join(f"m.{quote_name(column.name)}" for column in table.columns)
            raw.execute(f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM {shown}")


def rows_then(table: Table, since: int) -> str:
    """SQL: the rows of *table* as they were before row *since* of its history."""
    history, live = f"main.{quote_name(history_name(table))}", f"main.{quote_name(table.name)}"
    columns = [column.name for column in table.columns]
    plain = ", ".join(f"l.{quote_name(name)}" for name in columns)
    then = ", ".join(f"{image_before(table, name, 'e', 'main.')} AS {quote_name(name)}" for name in columns)
    return (
        f"SELECT {plain} FROM {live} l WHERE NOT EXISTS"
        f" (SELECT 1 FROM {history} h WHERE {same_key(table, 'h', 'l')} AND h.seq >= {since})"
        f" UNION ALL SELECT {then} FROM {history} e WHERE e.seq >= {since} AND e.op <> 'I' AND NOT EXISTS"
        f" (SELECT 1 FROM {history} f WHERE {same_key(table, 'f', 'e')} AND f.seq >= {since} AND f.seq < e.seq)"
    )


def value_then(table: Table, column: Column[object], key: str, since: int) -> str:
    """SQL: *column* of the row of *table* whose only key is *key*, as it was before row *since* of its history."""
    (own,) = map(quote_name, key_columns(table))
    name = quote_name(column.name)
    later = (
        f"FROM main.{quote_name(history_name(table))} x WHERE x.{own} = {key} AND x.seq >= {since}"
        f" AND {holds(column, 'x')}"
    )
    return (
        f"CASE WHEN EXISTS (SELECT 1 {later}) THEN (SELECT x.{name} {later} ORDER BY x.seq LIMIT 1)"
        f" ELSE (SELECT l.{name} FROM main.{quote_name(table.name)} l WHERE l.{own} = {key}) END"
    )


class _Collected:
    """The rows of some documents, collected into temporary tables for a caller who sees all of them."""

    def __init__(self, raw: sqlite3.Connection, later: Mapping[Table, int], tree: Table | None) -> None:
        self.raw, self.later, self.tree = raw, later, tree
        self._laid: dict[str, Table] = {}

    def lay(self, documents: Collection[str]) -> None:
        """Shadow each table that changed: where rows belong to documents, by those of *documents* and all above them."""
        listed = json_text(self._with_what_they_lie_in(list(documents)))
        for table, since in self.later.items():
            document = rules_of(table).document
            if document is None:
                view = f"CREATE TEMP VIEW {quote_name(table.name)} AS {rows_then(table, since)}"
                self.raw.execute(view)
            else:
                self._collect(table, since, quote_name(document), listed)

    def _with_what_they_lie_in(self, documents: list[str]) -> list[str]:
        tree = self.tree
        rules = None if tree is None else rules_of(tree).tree
        if tree is None or rules is None:
            return documents
        parent = tree.c[rules.parent]
        above = (
            value_then(tree, parent, "up.id", self.later[tree])
            if tree in self.later
            else f"(SELECT l.{quote_name(parent.name)} FROM main.{quote_name(tree.name)} l"
            f" WHERE l.{quote_name(key_columns(tree)[0])} = up.id)"
        )
        rows = self.raw.execute(
            f"WITH RECURSIVE up(id) AS (SELECT value FROM json_each(?) UNION SELECT {above} FROM up"
            " WHERE up.id IS NOT NULL) SELECT id FROM up WHERE id IS NOT NULL",
            (json_text(documents),),
        )
        return [row[0] for row in rows]

    def _collect(self, table: Table, since: int, document: str, listed: str) -> None:
        name, history = quote_name(table.name), f"main.{quote_name(history_name(table))}"
        keys = [quote_name(key) for key in key_columns(table)]
        touched, then = quote_name(f"{table.name}__touched"), quote_name(f"{table.name}__then")

        def key(alias: str) -> str:
            return ", ".join(f"{alias}.{one}" for one in keys)

        self.raw.execute(f"CREATE TEMP TABLE {touched} ({', '.join(keys)}, PRIMARY KEY ({', '.join(keys)}))")
        self.raw.execute(
            f"INSERT OR IGNORE INTO temp.{touched} SELECT {key('m')} FROM json_each(?1) j CROSS JOIN main.{name} m"
            f" ON m.{document} = j.value WHERE EXISTS (SELECT 1 FROM {history} h WHERE {same_key(table, 'h', 'm')}"
            f" AND h.seq >= ?2) UNION SELECT {key('x')} FROM json_each(?1) j CROSS JOIN {history} x"
            f" ON x.{document} = j.value WHERE x.seq >= ?2",
            (listed, since),
        )
        if self.raw.execute(f"SELECT 1 FROM temp.{touched} LIMIT 1").fetchone() is None:
            return
        columns = [quote_name(column.name) for column in table.columns]
        types = (column.type.compile(dialect=_DIALECT) for column in table.columns)
        declared = ", ".join(f"{one} {kind}" for one, kind in zip(columns, types, strict=True))
        self.raw.execute(f"CREATE TEMP TABLE {then} ({declared}, PRIMARY KEY ({', '.join(keys)}))")
        among = "IN (SELECT value FROM json_each(?))"
        untouched = self.raw.execute(
            f"INSERT INTO temp.{then} SELECT {', '.join(f'm.{one}' for one in columns)} FROM main.{name} m"
            f" WHERE m.{document} {among} AND NOT EXISTS"
            f" (SELECT 1 FROM temp.{touched} t WHERE {same_key(table, 't', 'm')})",
            (listed,),
        ).rowcount
        rows = self._rewind(table, since, f"temp.{touched}")
        place = columns.index(document)
        there = set(self.raw.execute("SELECT value FROM json_each(?)", (listed,)).fetchall())
        rows = [row for row in rows if (row[place],) in there]
        marks = ", ".join("?" * len(columns))
        self.raw.executemany(f"INSERT INTO temp.{then} VALUES ({marks})", rows)
        if untouched + len(rows) > _INDEXED:
            for number, index in enumerate(table.indexes):
                by = ", ".join(quote_name(column.name) for column in index.columns)
                called = quote_name(f"{table.name}__then_{number}")
                self.raw.execute(f"CREATE INDEX temp.{called} ON {then} ({by})")
        self.raw.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM temp.{then}")

    def _rewind(self, table: Table, since: int, touched: str) -> list[Row]:
        """Return the rows whose keys are in *touched* as they were: from the live ones back, image by image."""
        images = (
            f"FROM {touched} k CROSS JOIN main.{quote_name(history_name(table))} x"
            f" ON {same_key(table, 'x', 'k')} WHERE x.seq >= ?"
        )
        columns = [column.name for column in table.columns]
        changed = contents_of(self.raw, table, images, (since,)).columns
        own = [columns.index(key) for key in key_columns(table)]
        live = ", ".join(f"m.{quote_name(name)}" for name in columns)
        found: dict[tuple[object, ...], Row | None] = {
            tuple(row[at] for at in own): list(row)
            for row in self.raw.execute(
                f"SELECT {live} FROM {touched} k CROSS JOIN main.{quote_name(table.name)} m"
                f" ON {same_key(table, 'm', 'k')}"
            )
        }
        places = [columns.index(name) for name in changed]
        values = "".join(f", x.{quote_name(name)}" for name in changed)
        keys = ", ".join(f"x.{quote_name(key)}" for key in key_columns(table))
        for op, kept, *rest in self.raw.execute(
            f"SELECT x.op, x.kept, {keys}{values} {images} ORDER BY x.seq DESC", (since,)
        ):
            key = tuple(rest[: len(own)])
            held = rest[len(own) :]
            if op == "I":
                found[key] = None
                continue
            row = found.get(key)
            if op == "D" or row is None:
                row = found[key] = [None] * len(columns)
                for at, value in zip(own, key, strict=True):
                    row[at] = value
            null = kept.split(",") if kept else ()
            for at, value in zip(places, held, strict=True):
                if value is not None or op == "D" or columns[at] in null:
                    row[at] = value
        return [row for row in found.values() if row is not None]


def _is_limited(raw: sqlite3.Connection) -> bool:
    there = raw.execute("SELECT 1 FROM sqlite_temp_schema WHERE name = ?", (PAGES,)).fetchone()
    return there is not None


def places_of(raw: sqlite3.Connection, table: Table, ids: Sequence[str]) -> list[str]:
    """Return the documents on which rows of *table* lie or once lay."""
    document, (key,) = quote_name(rules_of(table).document or ""), map(quote_name, key_columns(table))
    listed = json_text(list(ids))
    asked = "SELECT DISTINCT {} FROM {} WHERE {} IN (SELECT value FROM json_each(?)) AND {} IS NOT NULL"
    now, then = (quote_name(name) for name in (table.name, history_name(table)))
    found = [row[0] for row in raw.execute(asked.format(document, now, key, document), (listed,))]
    return found or [row[0] for row in raw.execute(asked.format(document, then, key, document), (listed,))]
