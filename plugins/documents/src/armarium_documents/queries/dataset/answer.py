"""The answer to a dataset query: SQL over what is small, the project's columns over what is large (A 4.2).

SQL reads every attribute of every row from its JSON, which is quick for a thousand rows and slow for a hundred
thousand; columns cost one reading of the whole project first. Both give the same answer to the byte.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import orjson

from armarium.api import Library, raw_of
from armarium_documents.errors import unknown_document
from armarium_documents.queries.classifications import defaults_by_prototype
from armarium_documents.queries.dataset.statements import ROW, found_by_sql, row_value
from armarium_documents.schemas.dataset import DatasetQuery

if TYPE_CHECKING:
    from armarium_documents.queries.dataset.table import DocumentTable

SMALL = 1_000
"""Rows up to which SQL is the quicker way."""

_HELD = "documents.table"


def dataset(library: Library, query: DatasetQuery) -> dict[str, Any]:
    """The answer to *query*; NotFound for an unknown folder."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        if query.parent_id is not None:
            known = raw.execute("SELECT 1 FROM document WHERE id = ?", (query.parent_id,)).fetchone()
            if known is None:
                raise unknown_document(query.parent_id)
        if _is_small(raw, query):
            return _complete(raw, query, found_by_sql(raw, query))
    return dataset_in_columns(library, query)


def dataset_in_columns(library: Library, query: DatasetQuery) -> dict[str, Any]:
    """The answer from the columns, whatever the size; by SQL when they would not fit into memory."""
    # numpy is loaded when the first large folder is asked for, not when the engine starts.
    from armarium_documents.queries.dataset.selection import found_in_columns
    from armarium_documents.queries.dataset.table import TooMuch

    with library.db.read() as conn:
        raw, held = raw_of(conn), table_of(library)
        with held.lock:
            # The first statement, which takes the snapshot, is made under the lock: it never sees less than the columns
            # hold already.
            try:
                found = found_in_columns(raw, held, query)
            except TooMuch:
                found = None
        if found is None:
            return _complete(raw, query, found_by_sql(raw, query))
        return _complete(raw, query, {**found, "rows": _rows_named(raw, found.pop("ids"))})


def table_of(library: Library) -> DocumentTable:
    """The project's columns, empty the first time; let go when the project is."""
    from armarium_documents.queries.dataset.table import DocumentTable

    found = library.held.setdefault(_HELD, DocumentTable())
    assert isinstance(found, DocumentTable)
    return found


def _is_small(raw: sqlite3.Connection, query: DatasetQuery) -> bool:
    """Whether the query goes over few rows, asked without counting more than that."""
    if query.parent_id is None:
        within = "SELECT 1 FROM document" + ("" if query.recursive else " WHERE parent_id IS NULL")
    elif query.recursive:
        within = (
            "WITH RECURSIVE down(id) AS (SELECT id FROM document WHERE parent_id = :parent AND deleted_at IS NULL"
            " UNION SELECT c.id FROM down JOIN document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL)"
            " SELECT 1 FROM down"
        )
    else:
        within = "SELECT 1 FROM document WHERE parent_id = :parent AND deleted_at IS NULL"
    (number,) = raw.execute(
        f"SELECT count(*) FROM ({within} LIMIT :most)", {"parent": query.parent_id, "most": SMALL + 1}
    ).fetchone()
    return bool(number <= SMALL)


def _rows_named(raw: sqlite3.Connection, ids: list[str]) -> list[dict[str, Any]]:
    found = raw.execute(
        f"SELECT {ROW} FROM json_each(?) j JOIN document d ON d.id = j.value ORDER BY j.key",
        (orjson.dumps(ids).decode(),),
    )
    return [row_value(row) for row in found]


def _complete(raw: sqlite3.Connection, query: DatasetQuery, found: dict[str, Any]) -> dict[str, Any]:
    keys = dict.fromkeys(row["prototype_key"] for row in found["rows"] if row["prototype_key"] is not None)
    return {
        "total": found["total"],
        "limit": query.limit,
        "offset": query.offset,
        "rows": found["rows"],
        "bins": found["bins"],
        "facets": found["facets"],
        "defaults_by_prototype": defaults_by_prototype(raw, list(keys)),
    }
