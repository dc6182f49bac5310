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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import orjson
from sqlalchemy import Column, Connection, Table
from sqlalchemy.dialects import sqlite as sqlite_dialect

from armarium.history.capture import history_name, holds, key_columns, quote_name
from armarium.history.row_images import contents_of, image_before, keys_of, same_key
from armarium.history.spans import newest_steps, seq_after
from armarium.history.visible_rows import PAGES, VisibleRows, has_temporary
from armarium.store.database import Database, raw_of
from armarium.store.tables import json_text, rules_of

if TYPE_CHECKING:
    from armarium.history.schema import Schema

_DIALECT = sqlite_dialect.dialect()
_INDEXED = 100
"""Rows of a table from which the collected ones get its indexes: fewer are found as fast without."""

Row = list[object]
_LATER = "armarium_touched_later"
"""Under this name a connection keeps what it was last answered, with the version of the file as it saw it and the step."""


@dataclass(frozen=True)
class Past:
    """*db* after its step *seq*; with *documents*, only what lies on these and on what they lie in."""

    db: Database
    seq: int
    documents: Collection[str] | None = None
    named: object = None
    """The moment, as whoever asked for it knows it."""

    @contextmanager
    def lay(self, conn: Connection) -> Iterator[None]:
        """Make the views, and drop them at the end of the block; its failure drops them with the transaction.

        They are dropped, not rolled back: that would have SQLite parse the whole schema again.
        """
        raw = raw_of(conn)
        later = self._touched_later(conn, raw)
        if not later:
            yield
            return
        rows = self.db.visibility.rows if self.db.visibility and has_temporary(raw, PAGES) else None
        laid = _Overlay(raw)
        if self.documents is None or rows is not None:
            for table, since in later.items():
                self._lay_view(laid, table, rows_then(table, since), rows)
            for table in self._notes:
                self._lay_view(laid, table, self._notes_then(table), rows)
        else:
            listed = json_text(_with_what_they_lie_in(raw, self._tree, later, list(self.documents)))
            for table, since in later.items():
                if rules_of(table).document is None:
                    laid.view(table, rows_then(table, since))
                else:
                    _collect(raw, laid, table, since, listed)
            for table in self._notes:
                if _has_later_notes(raw, table, listed, self.seq):
                    laid.view(table, self._notes_then(table))
        laid.close()
        yield
        laid.drop()

    @cached_property
    def _tree(self) -> Table | None:
        return None if self.db.schema.locks is None else self.db.schema.locks.tree

    @cached_property
    def _notes(self) -> list[Table]:
        """The tables whose rows are never changed and name the step that wrote them."""
        return _tables_of(self.db.schema, None)[1]

    def _touched_later(self, conn: Connection, raw: sqlite3.Connection) -> dict[Table, int]:
        """Return the tables that a later step touched, parents first, each with the first row of its history that is of
        such a step.
        """
        # Fixes the snapshot, of which the version then is; asking every history again is most of a small read.
        raw.execute("SELECT 1 FROM main.sqlite_schema LIMIT 1").fetchone()
        of = (*raw.execute("PRAGMA main.data_version").fetchone(), self.seq)
        later_counts: tuple[object, dict[Table, int]] | None = conn.info.get(_LATER)
        if later_counts is None or later_counts[0] != of:
            tables = _tables_of(self.db.schema, self.db.visibility and self.db.visibility.kept_by)[0]
            later = {
                table: seq_after(raw, table, self.seq)
                for table, newest in zip(tables, newest_steps(raw, tables), strict=True)
                if newest is not None and newest > self.seq
            }
            later_counts = conn.info[_LATER] = of, later
        return later_counts[1]

    def _notes_then(self, table: Table) -> str:
        step = f"(SELECT a.id FROM main.audit a WHERE a.id = l.audit_id AND a.seq <= {self.seq})"
        return f"SELECT l.* FROM main.{quote_name(table.name)} l WHERE l.audit_id = {step}"

    def _lay_view(self, laid: _Overlay, table: Table, selected: str, rows: VisibleRows | None) -> None:
        """Make a view of a table's rows as the SQL given selects them; with *rows*, of those its caller may see."""
        if rows is None or table.name not in rows.conditions:
            laid.view(table, selected)
            return
        # As the caller's own view of today leaves rows out; what was moved to where it is hidden is hidden too.
        visible = " AND ".join([*rows.conditions[table.name], "1"])
        keys = keys_of(table, "m")
        hidden = f"SELECT {keys} FROM main.{quote_name(table.name)} m WHERE NOT ({visible})"
        document = rules_of(table).document
        whole = (
            f" AND m.{quote_name(document)} NOT IN (SELECT id FROM temp.{PAGES})"
            if document is not None and table is not self._tree
            else ""
        )
        laid.view(
            table, f"SELECT * FROM ({selected}) m WHERE {visible}{whole} AND ({keys}) NOT IN ({hidden})"
        )


@lru_cache(maxsize=64)
def _tables_of(schema: Schema, rights: str | None) -> tuple[list[Table], list[Table]]:
    """Return the tracked tables but those of the plugin *rights*; and those of notes, which name their step."""
    return (
        [table for table in schema.tracked if schema.home[table.name] != rights],
        [table for table in schema.tables if rules_of(table).kind == "append-only" and "audit_id" in table.c],
    )


class _Overlay:
    """What is laid over the tables in one transaction."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw
        self._drops: list[str] = []
        self._before: list[str] = []
        self._writable = False

    def make(self, kind: str, name: str, what: str) -> None:
        """Create a temporary object."""
        if not self._writable:
            self.raw.execute("PRAGMA query_only=OFF")
            self._writable = True
        self.raw.execute(f"CREATE TEMP {kind} {quote_name(name)} {what}")
        self._drops.append(f"DROP {kind} temp.{quote_name(name)}")

    def close(self) -> None:
        """Let nothing more be made. A connection on which nothing was made is left alone: every pragma of the kind would
        have SQLite compile each statement anew.
        """
        if self._writable:
            self.raw.execute("PRAGMA query_only=ON")

    def view(self, table: Table, selected: str) -> None:
        """Let *table* show what the SQL selects, instead of what a view of today may show."""
        today = self.raw.execute(
            "SELECT sql FROM sqlite_temp_schema WHERE name = ?", (table.name,)
        ).fetchone()
        if today is not None:
            self.raw.execute("PRAGMA query_only=OFF")
            self.raw.execute(f"DROP VIEW temp.{quote_name(table.name)}")
            # As it is kept, the statement does not say that the view is temporary.
            self._before.append(today[0].replace("CREATE VIEW", "CREATE TEMP VIEW", 1))
        self.make("VIEW", table.name, f"AS {selected}")

    def drop(self) -> None:
        """Let the tables show what they did before, and end the transaction."""
        if not self._drops:
            return
        self.raw.execute("PRAGMA query_only=OFF")
        for statement in (*reversed(self._drops), *self._before):
            self.raw.execute(statement)
        self.raw.execute("COMMIT")
        self.raw.execute("PRAGMA query_only=ON")


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


def _with_what_they_lie_in(
    raw: sqlite3.Connection, tree: Table | None, later: Mapping[Table, int], documents: list[str]
) -> list[str]:
    rules = None if tree is None else rules_of(tree).tree
    if tree is None or rules is None:
        return documents
    parent = tree.c[rules.parent]
    above = (
        value_then(tree, parent, "up.id", later[tree])
        if tree in later
        else f"(SELECT l.{quote_name(parent.name)} FROM main.{quote_name(tree.name)} l"
        f" WHERE l.{quote_name(key_columns(tree)[0])} = up.id)"
    )
    rows = raw.execute(
        f"WITH RECURSIVE up(id) AS (SELECT value FROM json_each(?) UNION SELECT {above} FROM up"
        " WHERE up.id IS NOT NULL) SELECT id FROM up WHERE id IS NOT NULL",
        (json_text(documents),),
    )
    return [row[0] for row in rows]


def _collect(raw: sqlite3.Connection, laid: _Overlay, table: Table, since: int, listed: str) -> None:
    """Shadow *table*, if a later step touched any of its rows on the documents *listed*, by these rows as they were."""
    document, name = quote_name(rules_of(table).document or ""), quote_name(table.name)
    history, key_names = f"main.{quote_name(history_name(table))}", key_columns(table)

    first = f"(SELECT h.op FROM {history} h WHERE {{}} AND h.seq >= ?2 ORDER BY h.seq LIMIT 1)"
    touched = raw.execute(
        f"SELECT * FROM (SELECT {first.format(same_key(table, 'h', 'm'))} AS op, {keys_of(table, 'm')} FROM json_each(?1) j"
        f" CROSS JOIN main.{name} m ON m.{document} = j.value) WHERE op IS NOT NULL"
        f" UNION SELECT {first.format(same_key(table, 'h', 'x'))}, {keys_of(table, 'x')} FROM json_each(?1) j"
        f" CROSS JOIN {history} x ON x.{document} = j.value WHERE x.seq >= ?2",
        (listed, since),
    ).fetchall()
    if not touched:
        return
    columns = [column.name for column in table.columns]
    untouched = (
        f"SELECT {', '.join(f'm.{quote_name(column)}' for column in columns)} FROM {{}} WHERE NOT EXISTS"
        f" (SELECT 1 FROM {history} h WHERE {same_key(table, 'h', 'm')} AND h.seq >= {since})"
    )
    changed = [key for op, *key in touched if op != "I"]
    if not changed:
        # Nothing but rows to leave out: the table's own indexes serve whoever reads it.
        laid.view(table, untouched.format(f"main.{name} m"))
        return
    among, then = f"{table.name}__touched", f"{table.name}__then"
    key_list = ", ".join(map(quote_name, key_names))
    laid.make("TABLE", among, f"({key_list}, PRIMARY KEY ({key_list})) WITHOUT ROWID")
    raw.executemany(
        f"INSERT INTO temp.{quote_name(among)} VALUES ({', '.join('?' * len(key_names))})", changed
    )
    declared = ", ".join(
        f"{quote_name(column.name)} {column.type.compile(dialect=_DIALECT)}" for column in table.columns
    )
    laid.make("TABLE", then, f"({declared}, PRIMARY KEY ({key_list}))")
    into = f"INSERT INTO temp.{quote_name(then)}"
    of_documents = f"json_each(?) j CROSS JOIN main.{name} m ON m.{document} = j.value"
    count = raw.execute(f"{into} {untouched.format(of_documents)}", (listed,)).rowcount
    place, document_ids = columns.index(str(rules_of(table).document)), set(orjson.loads(listed))
    rows = [
        row for row in _rewind(raw, table, since, f"temp.{quote_name(among)}") if row[place] in document_ids
    ]
    raw.executemany(f"{into} VALUES ({', '.join('?' * len(columns))})", rows)
    for number, index in enumerate(table.indexes if count + len(rows) > _INDEXED else ()):
        by = ", ".join(quote_name(column.name) for column in index.columns)
        raw.execute(f"CREATE INDEX temp.{quote_name(f'{then}_{number}')} ON {quote_name(then)} ({by})")
    laid.view(table, f"SELECT * FROM temp.{quote_name(then)}")


def _rewind(raw: sqlite3.Connection, table: Table, since: int, touched: str) -> list[Row]:
    """Return the rows whose keys are in *touched* as they were: from the live ones back, image by image."""
    images = (
        f"FROM {touched} k CROSS JOIN main.{quote_name(history_name(table))} x"
        f" ON {same_key(table, 'x', 'k')} WHERE x.seq >= ?"
    )
    columns = [column.name for column in table.columns]
    changed = contents_of(raw, table, images, (since,)).columns
    own = [columns.index(key) for key in key_columns(table)]
    live = ", ".join(f"m.{quote_name(name)}" for name in columns)
    rows_by_key: dict[tuple[object, ...], Row | None] = {
        tuple(row[at] for at in own): list(row)
        for row in raw.execute(
            f"SELECT {live} FROM {touched} k CROSS JOIN main.{quote_name(table.name)} m"
            f" ON {same_key(table, 'm', 'k')}"
        )
    }
    places = [columns.index(name) for name in changed]
    values = "".join(f", x.{quote_name(name)}" for name in changed)
    for op, kept, *rest in raw.execute(
        f"SELECT x.op, x.kept, {keys_of(table, 'x')}{values} {images} ORDER BY x.seq DESC", (since,)
    ):
        key = tuple(rest[: len(own)])
        values_held = rest[len(own) :]
        if op == "I":
            rows_by_key[key] = None
            continue
        row = rows_by_key.get(key)
        if op == "D" or row is None:
            row = rows_by_key[key] = [None] * len(columns)
            for at, value in zip(own, key, strict=True):
                row[at] = value
        null = kept.split(",") if kept else ()
        for at, value in zip(places, values_held, strict=True):
            if value is not None or op == "D" or columns[at] in null:
                row[at] = value
    return [row for row in rows_by_key.values() if row is not None]


def _has_later_notes(raw: sqlite3.Connection, table: Table, listed: str, seq: int) -> bool:
    document = rules_of(table).document
    if document is None:
        return True
    query = (
        f"SELECT 1 FROM json_each(?) j CROSS JOIN main.{quote_name(table.name)} m ON m.{quote_name(document)} = j.value"
        " CROSS JOIN main.audit a ON a.id = m.audit_id WHERE a.seq > ? LIMIT 1"
    )
    return raw.execute(query, (listed, seq)).fetchone() is not None


def is_shadowed(conn: Connection, table: Table) -> bool:
    """Return whether *conn* shows a view instead of *table*, of which a statement can name no index."""
    return has_temporary(raw_of(conn), table.name)


def places_of(raw: sqlite3.Connection, table: Table, ids: Sequence[str]) -> list[str]:
    """Return the documents on which rows of *table* lie or once lay."""
    document, (key,) = quote_name(rules_of(table).document or ""), map(quote_name, key_columns(table))
    listed = json_text(list(ids))
    query = "SELECT DISTINCT {} FROM {} WHERE {} IN (SELECT value FROM json_each(?)) AND {} IS NOT NULL"
    now, then = (quote_name(name) for name in (table.name, history_name(table)))
    documents = [row[0] for row in raw.execute(query.format(document, now, key, document), (listed,))]
    return documents or [
        row[0] for row in raw.execute(query.format(document, then, key, document), (listed,))
    ]


def steps_since(conn: Connection, seq: int, rows: Iterable[tuple[Table, str, Sequence[str]]]) -> list[int]:
    """Return the steps after *seq* that touched rows of a table whose column (of its key, or one that never changes) has
    one of the ids, oldest first: of the rows and steps that *conn* shows.
    """
    raw, steps = raw_of(conn), set[int]()
    for table, column, ids in rows:
        history, name = quote_name(history_name(table)), quote_name(table.name)
        among = f"{quote_name(column)} IN (SELECT value FROM json_each(?))"
        if column in key_columns(table):
            query = f"SELECT DISTINCT h.audit_seq FROM {history} h WHERE h.audit_seq > ? AND h.{among}"
            steps |= {row[0] for row in raw.execute(query, (seq, json_text(list(ids))))}
            continue
        # Images of inserts and most updates hold only the key: theirs are found by the rows that are there.
        by_row = (
            f"SELECT DISTINCT h.audit_seq FROM {name} m JOIN {history} h ON {same_key(table, 'h', 'm')}"
            f" WHERE m.{among} AND h.audit_seq > ?"
        )
        steps |= {row[0] for row in raw.execute(by_row, (json_text(list(ids)), seq))}
        steps_gone = f"SELECT DISTINCT h.audit_seq FROM {history} h WHERE h.seq >= ? AND h.{among}"
        if (newest := newest_steps(raw, [table])[0]) is not None and newest > seq:
            steps |= {
                row[0] for row in raw.execute(steps_gone, (seq_after(raw, table, seq), json_text(list(ids))))
            }
    return sorted(steps)
