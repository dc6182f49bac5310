"""A project's documents as columns in memory: read once, then kept up by the history that every change leaves.

The rows stand in the order of their ids. A column is read when a query first names it, and the one longest unasked
goes when memory runs short. What is too much to hold is answered by SQL instead.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from armarium_documents.queries.dataset.column import Codes, Column, Ranks
from armarium_documents.queries.dataset.values import json_path

MOST_BYTES = 512 * 2**20
"""Memory that the columns of one project may take, estimated."""

MOST_ROWS = 3_000_000
"""Rows beyond which SQL answers."""

MOST_COLUMNS = 200
"""Columns held at once, so that one statement can read them all of a changed row."""

_AT_ONCE = 20_000
_BASE = "d.id, d.parent_id, d.deleted_at IS NULL, d.prototype_key, d.attributes <> '{}', d.sort_order"
_ROW_BYTES = 60

Mask = npt.NDArray[np.bool_]


class TooMuch(Exception):
    """The columns a query needs do not fit into the memory they may take."""


class DocumentTable:
    """The columns of one project. Used under `lock`, inside a read transaction that `refresh` begins."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.columns: dict[str, Column] = {}
        """By name, the one asked last at the end."""
        self._too_much: dict[str, int] = {}
        self._empty()

    def _empty(self) -> None:
        self.columns.clear()
        self._too_much.clear()
        self.ids: npt.NDArray[np.bytes_] = np.zeros(0, "S1")
        self.parents, self.prototypes = Column("document.parent_id"), Column("document.prototype_key")
        self.live: Mask = np.zeros(0, np.bool_)
        self.attributed: Mask = np.zeros(0, np.bool_)
        self.order: Ranks = np.zeros(0, np.int64)
        self._step, self._change, self._change_step = -1, 0, -1
        self._kept: dict[str, Any] = {}

    @property
    def memory(self) -> int:
        """Memory taken, estimated."""
        held = [self.parents, self.prototypes, *self.columns.values()]
        return len(self.ids) * (_ROW_BYTES + 4 * len(held)) + sum(column.bytes for column in held)

    # ------------------------------------------------------------------------------------------ keeping it true

    def refresh(self, raw: sqlite3.Connection) -> None:
        """Bring the columns to the state that *raw*'s transaction sees; TooMuch when there are too many rows.

        A step leaves a row in the audit log, a change of a document one in its history: the rows named there since
        the last time are read again. Empty Trash removes history, so the last change seen must still be there and
        the number of documents must be right, else everything is read afresh.
        """
        (step,) = raw.execute("SELECT COALESCE(max(seq), 0) FROM audit").fetchone()
        if step == self._step:
            return
        try:
            if self._step < 0 or not self._follow(raw):
                self._load(raw)
        except BaseException:
            # Half a change is worse than none.
            self._empty()
            raise
        newest = raw.execute(
            "SELECT seq, audit_seq FROM document__history ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        self._change, self._change_step = newest or (0, -1)
        self._step = step

    def _follow(self, raw: sqlite3.Connection) -> bool:
        """Take over what changed since the last time; False when that cannot be told from the history."""
        seen = raw.execute(
            "SELECT audit_seq FROM document__history WHERE seq = ?", (self._change,)
        ).fetchone()
        if seen is None or seen[0] != self._change_step:
            return False
        many = max(2_000, len(self.ids) // 4)
        # By its rowid: the index on the keys would have to be read from end to end.
        found = raw.execute(
            "SELECT id FROM document__history NOT INDEXED WHERE seq > ? LIMIT ?", (self._change, many + 1)
        ).fetchall()
        if len(found) > many:
            return False
        if found:
            self._change_rows(raw, list(dict.fromkeys(row[0] for row in found)))
        if max(self.parents.size, self.prototypes.size) > 2 * len(self.ids) + 1000:
            return False
        (number,) = raw.execute("SELECT count(*) FROM document").fetchone()
        return bool(number == len(self.ids))

    def _load(self, raw: sqlite3.Connection) -> None:
        self._empty()
        ids: list[bytes] = []
        parts: list[tuple[Any, ...]] = []
        cursor = raw.execute(f"SELECT {_BASE} FROM document d")
        while rows := cursor.fetchmany(_AT_ONCE):
            if len(ids) + len(rows) > MOST_ROWS:
                raise TooMuch
            ids += [row[0].encode() for row in rows]
            parts.append(self._base_of(rows))
        if not ids:
            return
        unsorted = np.array(ids)
        at = np.argsort(unsorted)
        self.ids = unsorted[at]
        self.parents.codes, self.live, self.prototypes.codes, self.attributed, self.order = (
            np.concatenate(column)[at] for column in zip(*parts, strict=True)
        )

    def _base_of(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
        _, parents, live, prototypes, attributed, order = zip(*rows, strict=True)
        return (
            self.parents.encode(parents),
            np.array(live, np.bool_),
            self.prototypes.encode(prototypes),
            np.array(attributed, np.bool_),
            np.array(order, np.int64),
        )

    def _change_rows(self, raw: sqlite3.Connection, ids: list[str]) -> None:
        named = list(self.columns.values())
        listed = "".join(f", {_expression(column.name, f'?{n}')}" for n, column in enumerate(named, 2))
        found = raw.execute(
            f"SELECT {_BASE}{listed} FROM json_each(?1) j JOIN document d ON d.id = j.value",
            (orjson.dumps(ids).decode(), *(_bound(column.name) for column in named)),
        ).fetchall()
        found.sort(key=lambda row: row[0].encode())
        there = {row[0] for row in found}
        self._remove([one for one in ids if one not in there])
        if not found:
            return
        at = self._insert([row[0].encode() for row in found])
        parents, live, prototypes, attributed, order = self._base_of([row[:6] for row in found])
        self.parents.codes[at], self.live[at], self.prototypes.codes[at] = parents, live, prototypes
        self.attributed[at], self.order[at] = attributed, order
        for number, column in enumerate(named, 6):
            column.codes[at] = column.encode([row[number] for row in found])
            # Values that no row has any longer are let go with the column.
            if column.size > 2 * len(self.ids) + 1000:
                del self.columns[column.name]
        self._kept.clear()

    def _arrays(self, change: Any) -> None:
        """Put `change(array)` in the place of every row's array."""
        self.live, self.attributed, self.order = (
            change(self.live),
            change(self.attributed),
            change(self.order),
        )
        for column in (self.parents, self.prototypes, *self.columns.values()):
            column.codes = change(column.codes)

    def _remove(self, ids: Iterable[str]) -> None:
        keep = np.ones(len(self.ids), np.bool_)
        for one in ids:
            at = self.slot(one)
            if at is not None:
                keep[at] = False
        if not keep.all():
            self.ids = self.ids[keep]
            self._arrays(lambda array: array[keep])
            self._kept.clear()

    def _insert(self, ids: list[bytes]) -> npt.NDArray[np.intp]:
        """Make room for those of *ids* (sorted) that are new; where each stands now."""
        given: npt.NDArray[np.bytes_] = np.array(ids)
        if given.dtype.itemsize > self.ids.dtype.itemsize:
            self.ids = self.ids.astype(given.dtype)
        at = np.searchsorted(self.ids, given)
        known = np.zeros(len(given), np.bool_)
        within = at < len(self.ids)
        known[within] = self.ids[at[within]] == given[within]
        if not known.all():
            places, new = at[~known], given[~known]
            self.ids = np.insert(self.ids, places, new)
            self._arrays(lambda array: np.insert(array, places, np.zeros(1, array.dtype)))
            at = np.searchsorted(self.ids, given)
        return at

    # ------------------------------------------------------------------------------------------ what is asked of it

    def slot(self, document_id: str) -> int | None:
        """Where the row of *document_id* stands, or None."""
        wanted = document_id.encode()
        at = int(np.searchsorted(self.ids, np.array(wanted)))
        return at if at < len(self.ids) and self.ids[at] == wanted else None

    def need(self, raw: sqlite3.Connection, names: Iterable[str]) -> None:
        """See that the columns *names* are held and read; TooMuch when they do not fit."""
        wanted = list(dict.fromkeys(names))
        if any(self._too_much.get(name, 1 << 62) <= len(self.ids) for name in wanted):
            raise TooMuch
        missing = [name for name in wanted if name not in self.columns]
        for name in wanted:
            if name in self.columns:
                self.columns[name] = self.columns.pop(name)
        if missing:
            self._read(raw, missing, wanted)
        for name in wanted:
            self.columns[name].read(raw)
        self._shrink(wanted)

    def _read(self, raw: sqlite3.Connection, missing: list[str], wanted: list[str]) -> None:
        listed = ", ".join(_expression(name, f"?{n}") for n, name in enumerate(missing, 1))
        cursor = raw.execute(f"SELECT d.id, {listed} FROM document d", [_bound(name) for name in missing])
        made = [Column(name) for name in missing]
        ids: list[bytes] = []
        parts: list[list[Codes]] = [[] for _ in made]
        while rows := cursor.fetchmany(_AT_ONCE):
            of_ids, *values = zip(*rows, strict=True)
            ids += [one.encode() for one in of_ids]
            for column, part, some in zip(made, parts, values, strict=True):
                part.append(column.encode(some))
            if sum(column.bytes for column in made) > MOST_BYTES:
                self._refuse(max(made, key=lambda column: column.bytes).name)
        at = np.argsort(np.array(ids)) if ids else np.zeros(0, np.intp)
        for column, part in zip(made, parts, strict=True):
            column.codes = np.concatenate(part)[at] if part else column.codes
            self.columns[column.name] = column
        self._shrink(wanted)
        if self.memory > MOST_BYTES:
            self._refuse(max(made, key=lambda column: column.bytes).name)

    def _refuse(self, name: str) -> None:
        """Let column *name* go and answer by SQL, also the next time unless the project has shrunk."""
        self.columns.pop(name, None)
        self._too_much[name] = len(self.ids)
        raise TooMuch

    def _shrink(self, wanted: Sequence[str]) -> None:
        """Let go what was longest unasked until the rest fits."""
        for name in [name for name in self.columns if name not in wanted]:
            if self.memory <= MOST_BYTES and len(self.columns) <= MOST_COLUMNS:
                return
            del self.columns[name]

    def name_order(self) -> Ranks:
        """Each row's place when all are sorted by name, then id; `document.name` is held."""
        known = self._kept.get("name order")
        if known is None:
            names = self.columns["document.name"]
            place = np.empty(len(self.ids), np.int64)
            place[np.argsort(names.ranks("text")[names.codes], kind="stable")] = np.arange(len(self.ids))
            self._kept["name order"] = known = place
        found: Ranks = known
        return found

    def children(self, parent_id: str | None) -> Mask:
        """The live rows that lie in *parent_id* (None: at the top)."""
        code = self.parents.code_of(parent_id)
        return self.live & (self.parents.codes == code) if code is not None else np.zeros_like(self.live)

    def beneath(self, parent_id: str | None) -> Mask:
        """The live rows that live rows lead down to from *parent_id*; of the top, every live row."""
        if parent_id is None:
            return self.live.copy()
        found, number = self.children(parent_id), len(self.ids)
        above = self._parent_slots()
        # Beyond the last row stands one that is never found: there ends the way up from the top and from the Trash.
        above = np.append(
            np.where(self.live & ~found & np.append(self.live, False)[above], above, number), number
        )
        reached = np.append(found, False)
        for _ in range(number.bit_length() + 1):
            if (above == number).all():
                break
            reached |= reached[above]
            above = above[above]
        return reached[:-1]

    def _parent_slots(self) -> npt.NDArray[np.int32]:
        """Where each row's parent stands; one beyond the last row for none."""
        known = self._kept.get("parents")
        if known is None:
            number = len(self.ids)
            slots = [self.slot(str(one)) if one is not None else None for one in self.parents.values()]
            place = np.array([number if slot is None else slot for slot in slots], np.int32)
            self._kept["parents"] = known = place[self.parents.codes]
        found: npt.NDArray[np.int32] = known
        return found


def _expression(name: str, parameter: str) -> str:
    """The SQL of a column's value: the JSON text of an attribute, the value of a field (one of FIELDS)."""
    if name.startswith("document."):
        # The parameter is there and says nothing, so that they count alike.
        return f'CASE WHEN {parameter} IS NULL THEN d."{name.removeprefix("document.")}" END'
    return f"d.attributes -> {parameter}"


def _bound(name: str) -> str | None:
    return None if name.startswith("document.") else json_path(name)
