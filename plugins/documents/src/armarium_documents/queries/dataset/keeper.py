"""Keeps a project's columns up to date: loaded from their file, then updated from the history."""

from __future__ import annotations

import sqlite3
import threading

import polars as pl

from armarium.api import Library, last_step, list_steps
from armarium_documents.queries.dataset.columns import Part, ReadPart, Table, read_documents
from armarium_documents.queries.dataset.store import Damaged, State, load, save

SAVED_ROWS = 2_000
"""Projects of fewer documents are read sooner than a file is opened: they have none."""

MOST_PARTS = 8
"""Parts of a table: each change that is asked after makes one more."""


class Keeper:
    """The columns of one project, updated by one thread at a time; a table, once returned, never changes."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._table: Table | None = None
        self._state: State | None = None

    def table(self, raw: sqlite3.Connection) -> Table:
        """Return the documents that *raw*'s transaction sees; it must not have read anything yet.

        Its first statement, which takes the snapshot, runs under the lock, so that it never sees less than
        the columns already hold.
        """
        with self._lock:
            step = last_step(raw)
            if self._table is None and (loaded := load(self._library)) is not None:
                part, state = loaded
                # After a restored snapshot, the same number may belong to another step.
                if (_step_hash(raw, state.step), _version(self._library)) == (state.hash, state.schema):
                    self._take(Table([part], _none_of(part)), state)
            if self._table is not None and self._state is not None:
                if self._state.step == step:
                    return self._table
                try:
                    table = self._follow_changes(raw, self._table, self._state)
                except Damaged:
                    table = None
                if table is not None:
                    return table
            self._read_anew(raw)
            assert self._table is not None
            return self._table

    def rebuild(self, raw: sqlite3.Connection) -> Table:
        """Like `table`, but from the database alone; *raw*'s transaction may have begun.

        It may see less than another query has seen meanwhile; the next query follows the history from there
        again. The result stays in memory, so that a file is not missed twice.
        """
        with self._lock:
            part = self._read_anew(raw)
            return Table([part], _none_of(part))

    def _read_anew(self, raw: sqlite3.Connection) -> ReadPart:
        self._table = self._state = None
        part = read_documents(raw)
        self._settle(part, _state_of(self._library, raw))
        return part

    def _settle(self, part: ReadPart, state: State) -> Table:
        """Make *part* the whole table, stored in a file if it is large enough and there is disk space."""
        file_part = save(self._library, part, state) if part.rows.height >= SAVED_ROWS else None
        return self._take(Table([file_part or part], _none_of(part)), state)

    def _take(self, table: Table, state: State) -> Table:
        self._table, self._state = table, state
        return table

    def _compact(self, table: Table, state: State) -> Table:
        """Reduce *table* to few parts: recent ones are merged, at times with the first."""
        first = table.parts[0].rows.height
        changed = len(table.ids) - first + int(table.gone[:first].sum())
        if changed > max(SAVED_ROWS, first // 20):
            return self._settle(table.merge_parts(), state)
        if len(table.parts) > MOST_PARTS:
            later = Table(table.parts[1:], table.gone[first:]).merge_parts()
            is_gone = pl.concat([table.gone[:first], _none_of(later)])
            table = Table([table.parts[0], later], is_gone)
        return self._take(table, state)

    def _follow_changes(self, raw: sqlite3.Connection, table: Table, before: State) -> Table | None:
        """Return the table with later changes applied; None if the history cannot provide them.

        Every change of a document leaves a row in its history. Empty Trash removes such rows, so the last
        change seen must still exist and the number of documents must be right.
        """
        last_change = raw.execute(
            "SELECT audit_seq FROM document__history WHERE seq = ?", (before.change,)
        ).fetchone()
        if last_change is None or last_change[0] != before.change_step:
            return None
        number = len(table.ids) - int(table.gone.sum())
        many = max(2_000, number // 4)
        # By rowid: the index on the keys would be read from end to end.
        rows = raw.execute(
            "SELECT id FROM document__history NOT INDEXED WHERE seq > ? LIMIT ?", (before.change, many + 1)
        ).fetchall()
        if len(rows) > many:
            return None
        if rows:
            changed = list(dict.fromkeys(row[0] for row in rows))
            fresh = read_documents(raw, changed)
            is_gone = table.gone | table.ids.is_in(pl.Series(values=changed).implode())
            table = Table([*table.parts, fresh], pl.concat([is_gone, _none_of(fresh)]))
        (total,) = raw.execute("SELECT count(*) FROM document").fetchone()
        if total != len(table.ids) - table.gone.sum():
            return None
        return self._compact(table, _state_of(self._library, raw))


def _none_of(part: Part) -> pl.Series:
    return pl.repeat(False, part.rows.height, dtype=pl.Boolean, eager=True)


def _state_of(library: Library, raw: sqlite3.Connection) -> State:
    step = last_step(raw)
    newest = raw.execute("SELECT seq, audit_seq FROM document__history ORDER BY seq DESC LIMIT 1").fetchone()
    return State(step, _step_hash(raw, step), _version(library), *(newest or (0, -1)))


def _step_hash(raw: sqlite3.Connection, step: int) -> str:
    """Return what distinguishes the step of that number from another one."""
    return next((entry.row_hash for entry in list_steps(raw, numbers=step)), "")


def _version(library: Library) -> int:
    """Return the version of the documents' tables: a migration changes rows without a step."""
    return next(family.version for family in library.schema.families if family.name == "documents")
