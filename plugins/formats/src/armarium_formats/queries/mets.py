"""Reads of METS files that pages came in by (B 4.5)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from armarium.api import raw_of
from armarium_documents.api import folder_above, require_document
from armarium_formats.errors import NoSuchMets
from armarium_formats.models import mets_files
from armarium_formats.queries.exchange import Original

if TYPE_CHECKING:
    from armarium.api import Library


def mets_of(conn: Connection, document_id: str) -> dict[str, Any]:
    """The METS files that pages of a folder came in by, oldest first."""
    require_document(conn, document_id)
    rows = conn.execute(
        select(mets_files).where(mets_files.c.document_id == document_id).order_by(mets_files.c.id)
    )
    items = [
        {
            "id": row.id,
            "document_id": row.document_id,
            "filename": row.filename,
            "checksum": row.original,
            "title": row.title,
            "described": row.described,
            "pages": row.pages,
            "parts": row.parts,
            "kept": row.kept_counts,
            "notes": row.notes,
            "created_at": row.created_at,
        }
        for row in rows
    ]
    return {"items": items, "count": len(items)}


def original_mets(library: Library, document_id: str, mets_id: str) -> Original:
    """Where the original of a METS file lies; NotFound for one that is not of this folder."""
    with library.db.read() as conn:
        require_document(conn, document_id)
        row = conn.execute(
            select(mets_files.c.original, mets_files.c.filename).where(
                mets_files.c.id == mets_id, mets_files.c.document_id == document_id
            )
        ).first()
    if row is None:
        raise NoSuchMets(mets_id)
    library.objects.size(row[0])
    return Original(library.objects.path(row[0]), row[1], row[0], "mets")


def mets_known(raw: sqlite3.Connection, document_id: str, digest: str) -> str | None:
    """The id of the record of these very bytes with a live folder, None where there is none."""
    row = raw.execute(
        "SELECT m.id FROM format_mets m JOIN document d ON d.id = m.document_id"
        " WHERE m.document_id = ? AND m.original = ? AND d.deleted_at IS NULL ORDER BY m.id",
        (document_id, digest),
    ).fetchone()
    return None if row is None else str(row[0])


def says_nothing_new(
    conn: Connection, digest: str, document_ids: Sequence[str], is_new: Callable[[str], bool]
) -> bool:
    """Whether the METS file of these bytes is kept with the folder of its pages already and none of them *is_new*: then
    what people changed since stays as it is."""
    folder = folder_above(conn, document_ids)
    return (
        folder is not None
        and not any(map(is_new, document_ids))
        and mets_known(raw_of(conn), folder, digest) is not None
    )
