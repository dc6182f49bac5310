"""The chosen rows of a transfer: as counts, as rows of the target, and read back from there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from armarium.api import Library, quote_name, rules_of, steps
from armarium_documents.hookspecs import Vocabulary
from armarium_documents.queries.carrying.choosing import Choice, sel
from armarium_documents.queries.carrying.tables import CarriedTable
from armarium_documents.queries.tree import id_list

CHUNK = 500
"""Rows handed out at once."""

CHUNK_BYTES = 8 * 1024 * 1024
"""Characters of long texts handed out at once."""

_QUOTED_ID = re.compile('"([0-9a-f]{32})"')


class Selection(Choice):
    """What is carried from *source*. A context manager that releases the snapshot and the scratch file."""

    def counts(self) -> dict[str, int]:
        """Return the number of carried rows by table; tables without any are left out."""
        count_by_table = {
            table.name: int(self.db.execute(f"SELECT count(*) FROM {sel(table)}").fetchone()[0])
            for table in self.tables
        }
        return {name: count for name, count in count_by_table.items() if count}

    def new_id_of(self, old: str) -> str:
        """Return the id of a carried row's copy."""
        return str(self.renewal(old))

    def new_ids(self, table: str) -> list[str]:
        """Return the ids of the copies of a table's rows."""
        return [
            row[0]
            for row in self.db.execute(f"SELECT renewed(id) FROM {quote_name(f'sel_{table}')} ORDER BY n")
        ]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the carried rows of a table as they are in the source."""
        table = next((table for table in self.tables if table.name == name), None)
        if table is None:
            return []
        cursor = self.db.execute(f"SELECT t.* FROM {self.rows_of(table)} ORDER BY s.n")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def documents(self) -> list[str]:
        """Return the old ids of the carried documents, parents first."""
        return [row[0] for row in self.db.execute("SELECT id FROM sel_document ORDER BY n")]

    def digests(self) -> list[str]:
        """Return the files that the chosen rows name."""
        files: set[str] = set()
        for table in self.tables:
            for column in (column.name for column in table.table.columns if column.info.get("object")):
                files |= {
                    row[0]
                    for row in self.db.execute(
                        f"SELECT DISTINCT t.{quote_name(column)} FROM {self.rows_of(table)}"
                        f" WHERE t.{quote_name(column)} IS NOT NULL"
                    )
                }
        return sorted(files)

    def named_by(self, digests: Sequence[str]) -> list[tuple[str, str]]:
        """Return (document, digest) for each of these files that a row of a document names."""
        pairs: list[tuple[str, str]] = []
        for table in self.tables if digests else ():
            for column in (column.name for column in table.table.columns if column.info.get("object")):
                if table.owner is not None:
                    pairs += self.db.execute(
                        f"SELECT DISTINCT t.{quote_name(table.owner)}, t.{quote_name(column)} FROM {self.rows_of(table)}"
                        f" WHERE t.{quote_name(column)} IN (SELECT value FROM json_each(?))",
                        (id_list(digests),),
                    ).fetchall()
        return sorted(set(pairs))

    def expressions(self, table: CarriedTable, special: Mapping[str, str]) -> dict[str, str]:
        """Return column → SQL of its value in the copy, before ids inside JSON are replaced."""
        always = {column for column, _ in table.required} | {table.identity}
        sometimes = {column for column, _ in table.optional} | set(table.soft)
        sql_by_column = {}
        for column in table.columns:
            value = f"t.{quote_name(column)}"
            if column in special:
                sql_by_column[column] = special[column]
            elif column in always:
                sql_by_column[column] = f"renewed({value})"
            elif column in sometimes:
                sql_by_column[column] = self._reference(table, column, value)
            else:
                sql_by_column[column] = value
        return sql_by_column

    def _reference(self, table: CarriedTable, column: str, value: str) -> str:
        """Return the SQL of a column that may name a row that stays, or (if no foreign key) anything else."""
        inside, outside = self.survey(table)[column]
        if not outside:
            return f"renewed({value})"
        soft = column in table.soft
        fallback = f"CASE WHEN {value} NOT IN (SELECT v FROM outside) THEN {value} END" if soft else "NULL"
        if not inside:
            return fallback
        return f"CASE WHEN {value} IN (SELECT id FROM carried) THEN renewed({value}) ELSE {fallback} END"

    def copies(
        self, table: CarriedTable, special: Mapping[str, str], parameters: Mapping[str, Any]
    ) -> Iterator[tuple[list[tuple[Any, ...]], int]]:
        """Yield copies of *table*'s rows in chunks, each with its size: tuples in order of `columns`."""
        values = self.expressions(table, special)
        cursor = self.db.execute(
            f"SELECT {', '.join(values.values())} FROM {self.rows_of(table)} ORDER BY s.n", dict(parameters)
        )
        places = [index for index, name in enumerate(values) if name in table.json and name not in special]
        long = [i for i, name in enumerate(table.columns) if name in rules_of(table.table).large]
        rows: list[tuple[Any, ...]] = []
        size = 0
        for row in cursor:
            rows.append(row)
            for place in long:
                if row[place] is not None:
                    size += len(row[place])
            if len(rows) >= CHUNK or size >= CHUNK_BYTES:
                yield self._with_new_ids(rows, places), size
                rows, size = [], 0
        if rows:
            yield self._with_new_ids(rows, places), size

    def _with_new_ids(self, rows: list[tuple[Any, ...]], places: list[int]) -> list[tuple[Any, ...]]:
        ids: set[str] = set()
        for place in places:
            for row in rows:
                text = row[place]
                if text is not None and len(text) > 33:
                    ids.update(_QUOTED_ID.findall(text))
        new_ids = self.renewed_ids(ids) if ids else {}
        if not new_ids:
            return rows
        changed = []
        for row in rows:
            values = list(row)
            for place in places:
                text = values[place]
                if text is not None and len(text) > 33:
                    values[place] = _replace_ids(text, new_ids)
            changed.append(tuple(values))
        return changed

    def read_back(self, target: Library, special: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
        """Return by table how many of the copies exist in *target* and equal the source's rows."""
        self.db.execute("ATTACH ? AS target", (str(target.db.path),))
        counts = {}
        for table in self.tables:
            values = self.expressions(table, {})
            keys = (
                [table.identity]
                if table.identity
                else [column.name for column in table.table.primary_key.columns]
            )
            same_key = " AND ".join(f"c.{quote_name(key)} = {values[key]}" for key in keys)
            own = set(special.get(table.name, ()))
            plain = [
                column
                for column in table.columns
                if values[column] == f"t.{quote_name(column)}" and column not in (*table.json, *own)
            ]
            says = "".join(f" AND c.{quote_name(column)} IS t.{quote_name(column)}" for column in plain)
            (count,) = self.db.execute(
                f"SELECT count(*) FROM {self.rows_of(table)} JOIN target.{quote_name(table.name)} c ON {same_key}{says}"
            ).fetchone()
            if count:
                counts[table.name] = int(count)
        return counts

    def words(self, vocabulary: Vocabulary) -> list[str]:
        """Return the keys of *vocabulary* that the chosen rows name, and those they inherit from."""
        words_used: set[str] = set()
        carried = {table.name: table for table in self.tables}
        for name, column in vocabulary.used_by:
            if name in carried:
                words_used |= {
                    row[0]
                    for row in self.db.execute(
                        f"SELECT DISTINCT t.{quote_name(column)} FROM {self.rows_of(carried[name])}"
                        f" WHERE t.{quote_name(column)} IS NOT NULL"
                    )
                }
        table, key = quote_name(vocabulary.table), quote_name(vocabulary.key)
        up = (
            f" UNION SELECT v.{quote_name(vocabulary.parent)} FROM up JOIN source.{table} v ON v.{key} = up.k"
            f" WHERE v.{quote_name(vocabulary.parent)} IS NOT NULL"
            if vocabulary.parent
            else ""
        )
        rows = self.db.execute(
            f"WITH RECURSIVE up(k) AS (SELECT value FROM json_each(?){up})"
            f" SELECT v.{key} FROM up JOIN source.{table} v ON v.{key} = up.k ORDER BY 1",
            (id_list(sorted(words_used)),),
        )
        return [row[0] for row in rows]

    def word_rows(self, vocabulary: Vocabulary, columns: Sequence[str], keys: Sequence[str]) -> list[Any]:
        """Return the source's rows of these keys."""
        listed = ", ".join(quote_name(column) for column in columns)
        return self.db.execute(
            f"SELECT {listed} FROM source.{quote_name(vocabulary.table)}"
            f" WHERE {quote_name(vocabulary.key)} IN (SELECT value FROM json_each(?))",
            (id_list(keys),),
        ).fetchall()

    def marks(self, tables: Sequence[Any]) -> dict[str, int]:
        """Return the position of the source's history in this snapshot, to detect later changes."""
        (last,) = self.db.execute(f"SELECT max(seq) FROM source.{steps}").fetchone()
        positions = {"audit": int(last or 0)}
        for table in tables:
            kind = rules_of(table).kind
            name = f"{table.name}__history" if kind == "tracked" else table.name
            if kind in ("tracked", "append-only"):
                (last,) = self.db.execute(f"SELECT max(rowid) FROM source.{quote_name(name)}").fetchone()
                positions[str(table.name)] = int(last or 0)
        return positions


def _replace_ids(text: str, new_ids: Mapping[str, str]) -> str:
    """Replace the strings in *text* that name a carried row with the ids of the copies."""
    return _QUOTED_ID.sub(lambda match: f'"{new_ids.get(match[1], match[1])}"', text)
