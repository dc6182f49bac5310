"""The answer to a dataset query: the matching rows of one page with their defaults, and the counts."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import Connection

from armarium.api import Library, raw_of, withheld_nodes
from armarium_documents.queries.classifications import defaults_by_prototype
from armarium_documents.queries.tree import count_withheld, require_document
from armarium_documents.schemas.dataset import DatasetQuery

if TYPE_CHECKING:
    from armarium_documents.queries.dataset.keeper import Keeper

EXCERPT = 280

MOST_THREADS = 4

_ALL = 2**62

_HELD = "documents.dataset"
_ROW = (
    "d.id, d.name, d.prototype_key, d.node_kind, d.doc_type, d.parent_id, d.attributes,"
    f" substr(COALESCE(d.page_content, ''), 1, {EXCERPT}), d.date_original, d.date_iso,"
    " EXISTS (SELECT 1 FROM thumbnail t WHERE t.document_id = d.id), d.is_starred, d.is_locked, d.page_label, d.language,"
    " d.script, d.direction, (SELECT count(*) FROM document c WHERE c.parent_id = d.id AND c.deleted_at IS NULL),"
    " d.created_at, d.updated_at"
)
_NAMES = ("id", "name", "prototype_key", "node_kind", "doc_type", "parent_id", "attributes", "excerpt",
          "date_original", "date_iso", "has_thumbnail", "is_starred", "is_locked", "page_label", "language", "script",
          "direction", "child_count", "created_at", "updated_at")  # fmt: skip
_FLAGS = ("has_thumbnail", "is_starred", "is_locked")


def dataset(library: Library, query: DatasetQuery) -> dict[str, Any]:
    """Answer *query* from a single snapshot; NotFound for an unknown folder."""
    with library.db.read() as conn:
        raw = raw_of(conn)
        result = _find(library, conn, query)
        if query.parent_id is not None:
            require_document(conn, query.parent_id)
        rows = _rows_named(raw, result.pop("ids"))
        keys = dict.fromkeys(row["prototype_key"] for row in rows if row["prototype_key"] is not None)
        return {
            "total": result["total"],
            "limit": query.limit,
            "offset": query.offset,
            "rows": rows,
            "bins": result["bins"],
            "facets": result["facets"],
            "defaults_by_prototype": defaults_by_prototype(conn, list(keys)),
            "withheld": count_withheld(conn, query.parent_id, recursive=query.recursive),
        }


def matching_ids(library: Library, query: DatasetQuery) -> list[str]:
    """Return all documents that *query* finds, in its order; NotFound for an unknown folder."""
    with library.db.read() as conn:
        if query.parent_id is not None:
            require_document(conn, query.parent_id)
        unlimited = query.model_copy(update={"limit": _ALL, "offset": 0, "facets": [], "bins": None})
        ids: list[str] = _find(library, conn, unlimited)["ids"]
        return ids


def _find(library: Library, conn: Connection, query: DatasetQuery) -> dict[str, Any]:
    """Run *query* over the columns, for the caller for whom *conn* was lent."""
    # Importing polars takes 0.1 s and 30 MB, paid by the first dataset query instead of the engine's start.
    # It starts a thread per core, each with memory of its own; a query is no faster with more than a few.
    os.environ.setdefault("POLARS_MAX_THREADS", str(MOST_THREADS))
    from armarium_documents.queries.dataset.selection import find
    from armarium_documents.queries.dataset.store import Damaged

    # The columns hold all documents, whoever asks; hidden ones are filtered out of the result.
    with library.db.read_all() as everything:
        keeper, hidden = keeper_of(library), withheld_nodes(conn)
        try:
            return find(keeper.table(raw_of(everything)), query, hidden)
        except Damaged:
            # The file was removed or damaged after it was opened: read the columns from this snapshot again.
            return find(keeper.rebuild(raw_of(everything)), query, hidden)


def keeper_of(library: Library) -> Keeper:
    """Return the keeper of the project's columns; released when the project is closed."""
    from armarium_documents.queries.dataset.keeper import Keeper

    keeper = library.held.setdefault(_HELD, Keeper(library))
    assert isinstance(keeper, Keeper)
    return keeper


def columns_folder(library: Library) -> Path:
    """Return the folder of the project's columns; OSError if a link there leads out of the package."""
    folder = library.derived_folder / "dataset"
    if folder.resolve() != library.path.resolve() / "derived" / "dataset":
        raise OSError(f"{folder} leads out of the package")
    return folder


def forget_columns(library: Library) -> None:
    """Discard the project's columns in memory and on disk; nothing of removed documents must remain."""
    library.held.pop(_HELD, None)
    with suppress(OSError):
        shutil.rmtree(columns_folder(library), ignore_errors=True)


def _rows_named(raw: sqlite3.Connection, ids: list[str]) -> list[dict[str, Any]]:
    """Return the documents *ids* in that order, with their attributes as stored."""
    cursor = raw.execute(
        f"SELECT {_ROW} FROM json_each(?) j JOIN document d ON d.id = j.value ORDER BY j.key",
        (orjson.dumps(ids).decode(),),
    )
    rows = [dict(zip(_NAMES, row, strict=True)) for row in cursor]
    for row in rows:
        row["attributes"] = orjson.Fragment(row["attributes"])
        row |= {name: row[name] == 1 for name in _FLAGS}
    return rows
