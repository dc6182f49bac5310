"""Reads the METS files with which pages were imported."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from armarium.api import Rows, query, raw_of
from armarium_documents.api import documents, folder_above, require_document
from armarium_formats.errors import unknown_mets
from armarium_formats.models import mets_files
from armarium_formats.queries.exchange import Original
from armarium_formats.schemas.mets import MetsFiles

if TYPE_CHECKING:
    from armarium.api import Library


_FILES = Rows(mets_files, checksum=mets_files.c.original, kept=mets_files.c.kept_counts)


@query(
    "/api/documents/{doc_id}/mets",
    summary="The METS files with which the pages of a folder were imported: description, pages, logical structure",
    answer=MetsFiles,
)
def mets_of(conn: Connection, doc_id: str) -> dict[str, Any]:
    require_document(conn, doc_id)
    items = _FILES.all(conn, mets_files.c.document_id == doc_id, order=(mets_files.c.id,))
    return {"items": items, "count": len(items)}


def original_mets(library: Library, document_id: str, mets_id: str) -> Original:
    """Return the original of a METS file; NotFound for one that is not of this folder."""
    with library.db.read() as conn:
        require_document(conn, document_id)
        row = conn.execute(
            select(mets_files.c.original, mets_files.c.filename).where(
                mets_files.c.id == mets_id, mets_files.c.document_id == document_id
            )
        ).first()
    if row is None:
        raise unknown_mets(mets_id)
    library.objects.size(row[0])
    return Original(library.objects.path(row[0]), row[1], row[0], "mets")


def mets_known(raw: sqlite3.Connection, document_id: str, digest: str) -> str | None:
    """Return the id of the record of these exact bytes with a live folder, or None."""
    row = raw.execute(
        f"SELECT m.id FROM format_mets m JOIN {documents} d ON d.id = m.document_id"
        " WHERE m.document_id = ? AND m.original = ? AND d.deleted_at IS NULL ORDER BY m.id",
        (document_id, digest),
    ).fetchone()
    return None if row is None else str(row[0])


def says_nothing_new(
    conn: Connection, digest: str, document_ids: Sequence[str], is_new: Callable[[str], bool]
) -> bool:
    """Return whether this METS file is already stored with the folder and no page *is_new*: then later
    changes by people are kept.
    """
    folder = folder_above(conn, document_ids)
    return (
        folder is not None
        and not any(map(is_new, document_ids))
        and mets_known(raw_of(conn), folder, digest) is not None
    )
