"""Chooses the rows of a transfer in one snapshot of the source, and gives them new ids.

The lists of rows and ids are in a scratch database on disk, so that memory does not grow with the amount
carried. It is one of SQLite's own temporary files, which has no name: a kill leaves nothing of it.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Self

from sqlalchemy import Table

from armarium.api import Library, new_id, quote_name, rules_of
from armarium_documents.queries.carrying.tables import CarriedTable
from armarium_documents.queries.tree import id_list

_ID = re.compile("[0-9a-f]{32}")
_IS_ID = "length({0}) = 32 AND {0} NOT GLOB '*[^0-9a-f]*'"

SCRATCH = ("journal_mode=OFF", "synchronous=OFF", "temp_store=FILE", "cache_size=-16000")
"""How the scratch database is kept: nothing of it need outlive the transfer."""


class Choice:
    """What is carried from *source*. A context manager that releases the snapshot and the scratch file."""

    def __init__(
        self,
        source: Library,
        tables: Sequence[CarriedTable],
        *,
        companions: Sequence[str] = (),
        named: Sequence[str] = (),
        parts: Sequence[str] = (),
        everything: Sequence[Table] = (),
    ) -> None:
        self.tables = list(tables)
        self.everything = list(everything)
        self.companions = [table for table in self.tables if table.name in companions]
        self.named = set(named)
        self.parts = set(parts)
        self.left_behind: list[dict[str, Any]] = []
        self.edges_cut: list[dict[str, Any]] = []
        self.db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in SCRATCH:
            self.db.execute(f"PRAGMA {statement}")
        self.db.execute("ATTACH ? AS source", (str(source.db.path),))
        self.db.execute("BEGIN")
        self.db.execute("CREATE TABLE carried (id TEXT PRIMARY KEY) WITHOUT ROWID")
        self.db.execute("CREATE TABLE outside (v TEXT PRIMARY KEY) WITHOUT ROWID")
        for table in self.tables:
            self.db.execute(
                f"CREATE TABLE {sel(table)} (n INTEGER PRIMARY KEY, k UNIQUE, id TEXT, root TEXT)"
            )
        self._surveys: dict[str, dict[str, tuple[bool, bool]]] = {}
        self.renewal = Renewal()
        self.db.create_function("renewed", 1, self.renewal, deterministic=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()

    def choose(self, tops: Sequence[str]) -> None:
        """Choose the live subtrees of *tops* and every row that belongs to their documents."""
        documents = next(table for table in self.tables if table.name == "document")
        self.db.execute(
            "INSERT INTO sel_document (k, id, root) WITH RECURSIVE down(id, root, level, place) AS ("
            " SELECT j.value, j.value, 0, j.key FROM json_each(?) j"
            " UNION ALL SELECT c.id, down.root, down.level + 1, c.rowid FROM down"
            " JOIN source.document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL AND down.level < 1000)"
            " SELECT d.rowid, d.id, down.root FROM down JOIN source.document d ON d.id = down.id"
            " ORDER BY down.level, down.place",
            (id_list(tops),),
        )
        self._leave_aliases()
        self._note_ids(documents)
        for table in self.tables:
            if table is not documents and table not in self.companions:
                self._choose_rows(table)
        self._choose_companions()
        # Rows that depend on a companion come with it, and bring the companions that they in turn require.
        for table in self.tables:
            if table.owner is None and table not in self.companions:
                self._choose_rows(table)
        self._choose_companions()
        self._find_outside()
        leaving = True
        while leaving:
            for table in self.tables:
                self._leave_dependents(table)
            leaving = self._leave_those_that_must_name()
        self._cut_references()
        for table in self.tables:
            self._cut_parts(table)
        for table in self.tables:
            self._put_parents_first(table)

    def _leave_aliases(self) -> None:
        """Leave out aliases whose target is not carried (aliases stay within a project)."""
        aliases = self.db.execute(
            "SELECT s.n, d.id, d.name FROM sel_document s JOIN source.document d ON d.rowid = s.k"
            " WHERE d.node_kind = 'alias' AND (d.alias_target_id IS NULL"
            " OR d.alias_target_id NOT IN (SELECT id FROM sel_document))"
        ).fetchall()
        for number, identity, name in aliases:
            self.db.execute("DELETE FROM sel_document WHERE n = ?", (number,))
            why = f"The alias “{name}” points at something that stays behind; aliases stay within a project."
            self.left_behind.append({"kind": "alias", "id": identity, "why": why})

    def _note_ids(self, table: CarriedTable) -> None:
        """Record the ids of the chosen rows of *table*: references to them will name the copies."""
        if table.identity is not None:
            self.db.execute(f"INSERT OR IGNORE INTO carried SELECT id FROM {sel(table)} ORDER BY id")

    def _choose_rows(self, table: CarriedTable) -> None:
        told_apart = [f"t.{quote_name(column.name)}" for column in table.table.primary_key.columns]
        identity = f"t.{quote_name(table.identity)}" if table.identity else " || '/' || ".join(told_apart)
        select = f"INSERT OR IGNORE INTO {sel(table)} (k, id) SELECT t.{table.row_key}, {identity}"
        if table.owner is not None:
            self.db.execute(
                f"{select} FROM sel_document s JOIN source.{quote_name(table.name)} t ON t.{quote_name(table.owner)} = s.id"
                f" ORDER BY t.{table.row_key}"
            )
        else:
            for column, parent in table.required:
                if parent != table.name and any(parent == other.name for other in self.tables):
                    self.db.execute(
                        f"{select} FROM {quote_name(f'sel_{parent}')} s JOIN source.{quote_name(table.name)} t"
                        f" ON t.{quote_name(column)} = s.id ORDER BY t.{table.row_key}"
                    )
        self._note_ids(table)

    def _choose_companions(self) -> None:
        """Choose the rows without a document that chosen rows require or name (`Carrier.named`), and so on from these."""
        for companion in self.companions:
            identity = companion.identity
            if identity is None:
                continue
            for table in self.tables:
                naming = table.optional if companion.name in self.named else ()
                for column, parent in (*table.required, *naming):
                    if parent == companion.name:
                        self.db.execute(
                            f"INSERT OR IGNORE INTO {sel(companion)} (k, id)"
                            f" SELECT p.{companion.row_key}, p.{quote_name(identity)} FROM {self.rows_of(table)}"
                            f" JOIN source.{quote_name(parent)} p ON p.{quote_name(identity)} = t.{quote_name(column)}"
                        )
            self._note_ids(companion)

    def rows_of(self, table: CarriedTable) -> str:
        """Return SQL: the chosen rows of *table* as t, with their place s."""
        return f"{sel(table)} s JOIN source.{quote_name(table.name)} t ON t.{table.row_key} = s.k"

    def survey(self, table: CarriedTable) -> dict[str, tuple[bool, bool]]:
        """Return, for each column that may name a row, whether it names carried rows, and others."""
        if table.name not in self._surveys:
            columns = [column for column, _ in table.required if column != table.owner]
            columns += [*(column for column, _ in table.optional), *table.soft]
            tests = [
                f"max(t.{quote_name(column)} {how} (SELECT id FROM carried))"
                for column in columns
                for how in ("IN", "NOT IN")
            ]
            # The rows are wide: a single scan answers for all columns.
            row = self.db.execute(f"SELECT {', '.join(tests) or '1'} FROM {self.rows_of(table)}").fetchone()
            self._surveys[table.name] = {
                column: (bool(row[2 * place]), bool(row[2 * place + 1]))
                for place, column in enumerate(columns)
            }
        return self._surveys[table.name]

    def _leave_dependents(self, table: CarriedTable) -> None:
        """Leave out the rows that require a row that stays behind."""
        while True:
            rows_left_out: dict[int, tuple[Any, ...]] = {}
            for column, parent in table.required:
                if column == table.owner or not self.survey(table)[column][1]:
                    continue
                for number, identity, points_at in self.db.execute(
                    f"SELECT s.n, s.id, t.{quote_name(column)} FROM {self.rows_of(table)}"
                    f" WHERE t.{quote_name(column)} NOT IN (SELECT id FROM carried)"
                ):
                    if number not in rows_left_out:
                        why = f"This {table.label} belongs to the {parent} {points_at}, which stays behind."
                        self.left_behind.append({"kind": table.label, "id": identity or "", "why": why})
                    rows_left_out[number] = (number, identity)
            if not rows_left_out:
                return
            self._drop(table, list(rows_left_out.values()))

    def _drop(self, table: CarriedTable, rows: Sequence[tuple[Any, ...]]) -> None:
        self._surveys.clear()
        self.db.executemany(f"DELETE FROM {sel(table)} WHERE n = ?", [(row[0],) for row in rows])
        if table.identity is not None:
            ids = [(row[1],) for row in rows]
            self.db.executemany("DELETE FROM carried WHERE id = ?", ids)
            self.db.executemany("INSERT OR IGNORE INTO outside VALUES (?)", ids)

    def _find_outside(self) -> None:
        """Find the ids, in columns without a foreign key, of rows of the project that stay behind."""
        self.db.execute("CREATE TABLE loose (v TEXT PRIMARY KEY) WITHOUT ROWID")
        for table in self.tables:
            for column in (column for column in table.soft if self.survey(table)[column][1]):
                value = f"t.{quote_name(column)}"
                self.db.execute(
                    f"INSERT OR IGNORE INTO loose SELECT DISTINCT {value} FROM {self.rows_of(table)}"
                    f" WHERE {value} IS NOT NULL AND {_IS_ID.format(value)} AND {value} NOT IN (SELECT id FROM carried)"
                )
        for other in self.everything:
            keys = [column.name for column in other.primary_key.columns]
            if rules_of(other).kind == "tracked" and len(keys) == 1:
                self.db.execute(
                    f"INSERT OR IGNORE INTO outside SELECT v FROM loose JOIN source.{quote_name(other.name)} t"
                    f" ON t.{quote_name(keys[0])} = loose.v"
                )

    def _pointing_outside(self, table: CarriedTable, column: str) -> list[tuple[Any, ...]]:
        if not self.survey(table)[column][1]:
            return []
        return self.db.execute(
            f"SELECT s.n, s.id, t.{quote_name(column)} FROM {self.rows_of(table)}"
            f" WHERE t.{quote_name(column)} IN (SELECT v FROM outside)"
        ).fetchall()

    def _leave_those_that_must_name(self) -> bool:
        """Leave out the rows that must name, without a foreign key, a row that stays behind."""
        dropped = False
        for table in self.tables:
            for column in (column for column in table.soft if not table.nullable(column)):
                rows = self._pointing_outside(table, column)
                for _, identity, points_at in rows:
                    self._cut(table, column, identity, points_at, stays=True)
                if rows:
                    self._drop(table, rows)
                    dropped = True
        return dropped

    def _cut_references(self) -> None:
        """Report carried rows that no longer name a row that stays behind."""
        for table in self.tables:
            for column, _ in table.optional:
                if (table.name, column) != ("document", "parent_id") and self.survey(table)[column][1]:
                    for identity, points_at in self.db.execute(
                        f"SELECT s.id, t.{quote_name(column)} FROM {self.rows_of(table)}"
                        f" WHERE t.{quote_name(column)} IS NOT NULL"
                        f" AND t.{quote_name(column)} NOT IN (SELECT id FROM carried)"
                    ).fetchall():
                        self._cut(table, column, identity, points_at, stays=False)
            for column in (column for column in table.soft if table.nullable(column)):
                for _, identity, points_at in self._pointing_outside(table, column):
                    self._cut(table, column, identity, points_at, stays=False)

    def _cut_parts(self, table: CarriedTable) -> None:
        """Report the rows of *table* that stay although they are parts of a carried companion."""
        if table.name not in self.parts or table.identity is None:
            return
        others = [table.owner, *(column for column, _ in table.optional if column != table.owner)]
        about = ", ".join(f"t.{quote_name(column)}" for column in others if column is not None)
        carried = {companion.name for companion in self.companions}
        for column, parent in table.required:
            if parent not in carried:
                continue
            rows = self.db.execute(
                f"SELECT s.id, coalesce({about}, '') FROM {quote_name(f'sel_{parent}')} s"
                f" JOIN source.{quote_name(table.name)} t ON t.{quote_name(column)} = s.id"
                f" WHERE t.{quote_name(table.identity)} NOT IN (SELECT id FROM {sel(table)}) ORDER BY t.{table.row_key}"
            ).fetchall()
            for identity, points_at in rows:
                why = f"Its {table.label} {points_at} stays behind; the {parent} comes without it."
                self.edges_cut.append(
                    {"kind": table.label, "from_id": identity, "to_id": points_at, "why": why}
                )

    def _cut(
        self, table: CarriedTable, column: str, identity: str | None, points_at: str, *, stays: bool
    ) -> None:
        outcome = "stays with it" if stays else "comes without it"
        why = f"Its {column} names {points_at}, which stays behind; the {table.label} {outcome}."
        self.edges_cut.append(
            {"kind": table.label, "from_id": identity or "", "to_id": points_at, "why": why}
        )

    def _put_parents_first(self, table: CarriedTable) -> None:
        """Number the chosen rows so that each comes after the rows of its table that it refers to."""
        keys = table.own_keys
        if not keys or table.name == "document":
            return
        has_key = " OR ".join(f"t.{quote_name(key)} IS NOT NULL" for key in keys)
        if self.db.execute(f"SELECT 1 FROM {self.rows_of(table)} WHERE {has_key} LIMIT 1").fetchone() is None:
            return
        self.db.execute("CREATE TABLE placed (n INTEGER PRIMARY KEY, k UNIQUE, id TEXT UNIQUE, root TEXT)")
        ready = " AND ".join(
            f"(t.{quote_name(key)} IS NULL OR t.{quote_name(key)} NOT IN (SELECT id FROM carried)"
            f" OR t.{quote_name(key)} IN (SELECT id FROM placed))"
            for key in keys
        )
        insert = f"INSERT INTO placed (k, id, root) SELECT s.k, s.id, s.root FROM {self.rows_of(table)}"
        unplaced = "s.k NOT IN (SELECT k FROM placed)"
        while self.db.execute(f"{insert} WHERE {unplaced} AND {ready} ORDER BY s.n").rowcount > 0:
            pass
        self.db.execute(f"{insert} WHERE {unplaced} ORDER BY s.n")
        self.db.execute(f"DROP TABLE {sel(table)}")
        self.db.execute(f"ALTER TABLE placed RENAME TO {sel(table)}")

    def renewed_ids(self, ids: Iterable[str]) -> dict[str, str]:
        """Return those of *ids* that name carried rows, each with the id of its copy."""
        return {
            row[0]: str(self.renewal(row[0]))
            for row in self.db.execute(
                "SELECT id FROM carried WHERE id IN (SELECT value FROM json_each(?))", (id_list(ids),)
            )
        }


def sel(table: CarriedTable) -> str:
    """Return the scratch table of the chosen rows of *table*, as an SQL identifier."""
    return quote_name(f"sel_{table.name}")


class Renewal:
    """Computes the new id from each old one, shifted in time, so that the copies keep their order.

    A version 7 UUID begins with a 48-bit time and a counter; the rest is random. The time is shifted by the
    same amount for every row of a transfer, and the last 32 bits are masked alike. A key composed of ids is
    composed of new ones.
    """

    def __init__(self) -> None:
        self._back = secrets.randbits(20)
        self._mask = secrets.randbits(32)
        self._moved: dict[str, str] = {}
        self._shift: int | None = None

    def __call__(self, old: str | None) -> str | None:
        """Return the id of the copy of *old*; None for None."""
        if old is None:
            return None
        try:
            moment = self._moved.get(old[:12]) or self._move(old[:12])
            if len(old) == 32:
                return f"{moment}{old[12:24]}{int(old[24:], 16) ^ self._mask:08x}"
        except ValueError:
            pass
        new = _ID.sub(lambda match: str(self(match[0])), old)
        return new if new != old else f"{old}~{self._mask:08x}"

    def _move(self, moment: str) -> str:
        then = int(moment, 16)
        if self._shift is None:
            # About the current time, so that the copies sort among new rows; never the same twice.
            self._shift = int(new_id()[:12], 16) - self._back - then
        if len(self._moved) > 100_000:
            self._moved.clear()
        moved = f"{(then + self._shift) % 2**48:012x}"
        self._moved[moment] = moved
        return moved
