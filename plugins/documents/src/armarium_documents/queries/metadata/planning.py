"""What an import of a table would do: row by row, compared with the documents as they are."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from pydantic import ValidationError
from sqlalchemy import Connection

from armarium.api import Invalid, raw_of
from armarium_documents.cells import CellType, Unfit, is_written_so, read_cell, read_day, read_truth, text_of
from armarium_documents.errors import not_a_table
from armarium_documents.flags import FLAGS
from armarium_documents.queries.classifications import chain_of, merge_chain
from armarium_documents.queries.metadata.columns import Column, columns_of
from armarium_documents.queries.metadata.matching import find_documents, key_of
from armarium_documents.queries.tree import id_list, subtree_ids
from armarium_documents.schemas.documents import CLEARED, UpdateParams
from armarium_documents.schemas.fields import check_json
from armarium_documents.schemas.metadata import SETTABLE, MetadataParams
from armarium_documents.sheets import Unreadable, read_sheet
from armarium_documents.tables import NotATable

LISTED = 500
"""Rows, and refused values, that a plan lists."""
_AT_ONCE = 5_000
_FIELDS = (*SETTABLE, "attributes")


@dataclass
class Plan:
    """Counts and first rows for the answer; *updates* are the new values by document."""

    columns: list[Column]
    note: str | None
    counts: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    updates: dict[str, dict[str, Any]] = field(default_factory=dict)

    def answer(self) -> dict[str, Any]:
        """Return it as `MetadataPlan`."""
        names = ("new", "changed", "equal", "unmatched", "ambiguous", "refused_values")
        return {
            "counts": {name: self.counts[name] for name in names},
            "note": self.note,
            "columns": [
                {"heading": column.heading, "use": column.use, "target": column.target, "why": column.why}
                for column in self.columns
            ],
            "rows": self.rows,
            "refused": self.refused,
        }

    def problems(self) -> tuple[int, str]:
        """Return how many columns, rows and values cannot be taken, and the first of them in words."""
        columns = [column for column in self.columns if column.use == "refused"]
        number = len(columns) + self.counts["refused_values"] + self.counts["ambiguous"]
        first = ""
        if columns:
            first = f"the column {columns[0].heading}: {columns[0].why}."
        elif self.refused:
            refusal = self.refused[0]
            first = f"line {refusal['line']}, {refusal['column']}, {refusal['value']!r}: {refusal['why']}."
        elif number:
            row = next(row for row in self.rows if row["state"] == "ambiguous")
            first = f"line {row['line']}, {row['key']!r}: {row['why']}."
        return number, first

    def list_row(
        self,
        line: int,
        state: str,
        key: str,
        *,
        about: Mapping[str, Any] | None = None,
        why: str | None = None,
        values: Sequence[dict[str, Any]] = (),
    ) -> None:
        """Count a row, and list it if it is among the first, or the first of its state; what is equal is only counted."""
        self.counts[state] += 1
        if state != "equal" and (len(self.rows) < LISTED or self.counts[state] == 1):
            document = about or {"id": None, "name": None}
            row = {"line": line, "state": state, "document_id": document["id"], "name": document["name"]}
            self.rows.append({**row, "key": key, "why": why, "values": list(values)})

    def refuse(self, line: int, column: str, cell: Any, why: str) -> None:
        """Count a value that cannot be taken, and list it if it is among the first."""
        self.counts["refused_values"] += 1
        if len(self.refused) < LISTED:
            text = cell.shown if isinstance(cell, Unreadable) else text_of(cell)
            self.refused.append({"line": line, "column": column, "value": text[:100], "why": why})


def plan_import(
    conn: Connection, p: MetadataParams, *, hidden: Collection[str], lists: dict[str, bool], owner: bool
) -> Plan:
    """Compare the table with the documents that *conn* shows, without those *hidden*; an *owner* may write below locks. *lists*: the
    `attributes_of` what the caller may see.

    Raises Invalid for what is not a table, or has no column that names documents.
    """
    try:
        sheet = read_sheet(base64.b64decode(p.table))
        rows = list(sheet.rows)
    except NotATable as fault:
        raise not_a_table(f"{fault}") from fault
    columns = columns_of(sheet.headings, p, lists)
    plan = Plan(columns, sheet.note)
    key_column = next(column for column in columns if column.use == "match")
    keys = [key_of(cells[key_column.at]) if key_column.at < len(cells) and cells[key_column.at] is not None else "" for _, cells in rows]  # fmt: skip
    documents_by_key = find_documents(conn, key_column, keys, p.parent_id, hidden)
    about: list[tuple[int, Sequence[Any], str, str]] = []
    matches = [documents_by_key.find(key) if key else set[str]() for key in keys]
    often = Counter(next(iter(ids)) for ids in matches if len(ids) == 1)
    for (line, cells), key, ids in zip(rows, keys, matches, strict=True):
        if not ids:
            plan.list_row(
                line, "unmatched", key, why="no document is called so" if key else "the cell is empty"
            )
        elif len(ids) > 1:
            plan.list_row(line, "ambiguous", key, why=f"{len(ids)} documents are called so")
        elif often[document_id := next(iter(ids))] > 1:
            plan.list_row(line, "ambiguous", key, why="another row is about the same document")
        else:
            about.append((line, cells, key, document_id))
    comparer = _Comparer(conn, p, plan, sheet.separator, lists, _list_locked(conn) if not owner else set())
    for start in range(0, len(about), _AT_ONCE):
        batch = about[start : start + _AT_ONCE]
        documents = _documents(conn, [row[3] for row in batch])
        for line, cells, key, identity in batch:
            comparer.compare(line, cells, key, identity, documents[identity])
    return plan


def attributes_of(conn: Connection) -> dict[str, bool]:
    """Return the attributes that live documents which *conn* shows have, each with whether some document has several values there."""
    rows = raw_of(conn).execute(
        "SELECT j.key, max(j.type = 'array') FROM document d, json_each(d.attributes) j WHERE d.deleted_at IS NULL GROUP BY 1"
    )
    attributes = {key: many == 1 for key, many in rows}
    for (declared,) in raw_of(conn).execute("SELECT declarations FROM classification"):
        for declaration in orjson.loads(declared):
            attributes.setdefault(declaration["key"], False)
    return attributes


def _list_locked(conn: Connection) -> set[str]:
    rows = raw_of(conn).execute("SELECT id FROM document WHERE is_locked").fetchall()
    return set(subtree_ids(conn, [row[0] for row in rows])) if rows else set()


def _documents(conn: Connection, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    names = ("id", "system_key", *_FIELDS)
    rows = raw_of(conn).execute(
        f"SELECT {', '.join(f'd.{name}' for name in names)} FROM json_each(?) j JOIN document d ON d.id = j.value",
        (id_list(ids),),
    )
    documents = {}
    for row in rows:
        document = dict(zip(names, row, strict=True))
        document["attributes"] = orjson.loads(document["attributes"])
        document |= {name: document[name] == 1 for name in FLAGS}
        documents[document["id"]] = document
    return documents


class _Comparer:
    """Compares rows with their documents and enters into the plan what changes."""

    def __init__(
        self,
        conn: Connection,
        p: MetadataParams,
        plan: Plan,
        separator: str | None,
        lists: dict[str, bool],
        locked: set[str],
    ) -> None:
        self._conn, self._p, self._plan, self._separator, self._locked = conn, p, plan, separator, locked
        self._attributes = [column for column in plan.columns if column.use == "attribute"]
        self._own = [column for column in plan.columns if column.use == "field"]
        self._many = {name for name, many in lists.items() if many} | set(p.many)
        self._kinds: dict[str | None, dict[str, CellType]] = {}

    def compare(
        self, line: int, cells: Sequence[Any], key: str, identity: str, document: dict[str, Any]
    ) -> None:
        if identity in self._locked:
            self._plan.refuse(line, "", key, "the document is locked, and only an owner changes it")
            return
        values: list[dict[str, Any]] = []
        fields = self._compare_fields(line, cells, document, values)
        attributes = self._compare_attributes(line, cells, fields, document, values)
        if attributes is not None:
            fields["attributes"] = attributes
        if not values:
            self._plan.list_row(line, "equal", key)
            return
        state = (
            "new"
            if all(change["before"] in (None, "", [], False, "unknown") for change in values)
            else "changed"
        )
        self._plan.list_row(line, state, key, about=document, values=values)
        self._plan.updates[identity] = fields

    def _list_cells(
        self, columns: Sequence[Column], cells: Sequence[Any]
    ) -> Iterator[tuple[Column, Any, bool]]:
        """Yield the cells that state something, and with `clear_empty` those that are empty."""
        for column in columns:
            cell = cells[column.at] if column.at < len(cells) else None
            empty = cell is None or cell == ""
            if not empty or self._p.clear_empty:
                yield column, cell, empty

    def _compare_fields(
        self, line: int, cells: Sequence[Any], document: dict[str, Any], values: list[dict[str, Any]]
    ) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for column, cell, empty in self._list_cells(self._own, cells):
            name, before = column.name, document[column.name]
            if is_written_so(before, None if empty else cell):
                continue
            try:
                if isinstance(cell, Unreadable):
                    raise Unfit(cell.why)
                after = CLEARED.get(name) if empty else self._own_value(name, cell)
                if name == "name" and empty:
                    raise Unfit("a document needs a name")
                if name == "name" and document["system_key"] == "sources":
                    raise Unfit("the folder Sources keeps its name")
                if name == "prototype_key" and after is not None:
                    self._types_of(after)
            except (Unfit, Invalid) as fault:
                self._plan.refuse(line, column.heading, cell, str(fault))
                continue
            if after != before:
                fields[name] = after
                values.append({"column": column.heading, "before": before, "after": after})
        return fields

    def _own_value(self, name: str, cell: Any) -> Any:
        value = read_truth(cell) if name in FLAGS else read_day(cell) if name == "date_iso" else text_of(cell)
        try:
            return getattr(UpdateParams.model_validate({"document_id": "x", name: value}), name)
        except ValidationError as fault:
            raise Unfit(fault.errors()[0]["msg"].removeprefix("Value error, ")) from None

    def _compare_attributes(
        self,
        line: int,
        cells: Sequence[Any],
        fields: dict[str, Any],
        document: dict[str, Any],
        values: list[dict[str, Any]],
    ) -> dict[str, Any] | None:
        """Return the document's attributes with what the row states; None if it states nothing else."""
        try:
            types = self._types_of(fields.get("prototype_key", document["prototype_key"]))
        except Invalid:
            # The chain of what is there does not resolve; then nothing is declared.
            types = {}
        attributes, changed = dict(document["attributes"]), []
        for column, cell, empty in self._list_cells(self._attributes, cells):
            before = attributes.get(column.name)
            if is_written_so(before, None if empty else cell):
                continue
            try:
                after = None if empty else self._value(column.name, cell, types, before)
            except Unfit as fault:
                self._plan.refuse(line, column.heading, cell, str(fault))
                continue
            if after == before and isinstance(after, bool) == isinstance(before, bool):
                continue
            changed.append({"column": column.heading, "before": before, "after": after})
            if empty:
                del attributes[column.name]
            else:
                attributes[column.name] = after
        if not changed:
            return None
        try:
            check_json(attributes)
        except ValueError as fault:
            self._plan.refuse(line, str(changed[0]["column"]), "", str(fault))
            return None
        values += changed
        return attributes

    def _value(self, name: str, cell: Any, types: dict[str, CellType], before: Any) -> Any:
        declared = types.get(name)
        if declared is None:
            declared = CellType(many=name in self._many)
        return read_cell(cell, declared, before, self._separator)

    def _types_of(self, key: str | None) -> dict[str, CellType]:
        """Return what the prototype *key* declares; Invalid if it does not resolve."""
        if key not in self._kinds:
            declared = merge_chain(chain_of(self._conn, key))[0] if key is not None else []
            self._kinds[key] = {
                declaration["key"]: CellType(declaration["type"], declaration["options"])
                for declaration in declared
            }
        return self._kinds[key]
