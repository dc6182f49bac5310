"""Descriptions of documents as the rows of a table, in the order of the tree or of a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection

from armarium.api import name_key, raw_of
from armarium_documents.cells import write_cell
from armarium_documents.flags import FLAGS
from armarium_documents.queries.metadata.matching import beneath
from armarium_documents.queries.tree import id_list
from armarium_documents.schemas.metadata import OWN, SETTABLE, SHOWN
from armarium_documents.sheets import TableFormat, write_sheet

_ALWAYS = ("name", "prototype_key", "page_label", "date_original", "date_iso")
"""Own fields that stand in every table; others where some document states them."""
_EMPTY = ("unknown", "", "0")


def metadata_table(
    conn: Connection, format_name: TableFormat, parent_id: str | None, ids: Sequence[str] | None = None
) -> Iterator[bytes]:
    """Yield the table of the live documents in a folder, or of those with *ids* in that order, as a file."""
    raw = raw_of(conn)
    start, scope = beneath(conn, parent_id)
    parameters: dict[str, Any] = {**scope}
    from_clause, order = "down w", ""
    if ids is not None:
        parameters["ids"] = id_list(ids)
        from_clause, order = "json_each(:ids) j JOIN down w ON w.id = j.value", "ORDER BY j.key"
    # With a plain join SQLite may begin with the documents, and their order would be that of an index.
    source = (
        f"FROM {from_clause} CROSS JOIN document d ON d.id = w.id WHERE d.node_kind IN ('document', 'note')"
    )
    others = [field for field in SETTABLE if field not in _ALWAYS]
    filled = raw.execute(
        f"{start} SELECT {', '.join(f'max(CAST(COALESCE(d.{field}, ?) AS TEXT) NOT IN {_EMPTY})' for field in others)} {source}".replace(
            "?", "''"
        ),
        parameters,
    ).fetchone()
    own = [*_ALWAYS, *(field for field, is_filled in zip(others, filled, strict=True) if is_filled)]
    attributes = [
        row[0]
        for row in raw.execute(
            f"{start} SELECT DISTINCT a.key {source.replace(' WHERE', ', json_each(d.attributes) a WHERE')}",
            parameters,
        )
    ]
    for (declared,) in raw.execute(
        f"SELECT declarations FROM classification WHERE key IN ({start} SELECT d.prototype_key {source})",
        parameters,
    ):
        attributes += [declaration["key"] for declaration in orjson.loads(declared)]
    attributes = sorted({*attributes, "tags"}, key=name_key)
    columns = ", ".join(f"d.{field}" for field in own)
    rows = raw.execute(
        f"{start} SELECT d.id, w.path, d.doc_type, {columns}, d.attributes {source} {order}", parameters
    )
    flags = [field in FLAGS for field in (*SHOWN, *own)]

    def cells() -> Iterator[list[Any]]:
        for row in rows:
            described = orjson.loads(row[-1])
            yield [
                *(
                    value == 1 if flag else write_cell(value)
                    for value, flag in zip(row[:-1], flags, strict=True)
                ),
                *(write_cell(described.get(attribute)) for attribute in attributes),
            ]

    yield from write_sheet([*(OWN + field for field in (*SHOWN, *own)), *attributes], cells(), format_name)
