"""Reads of exports: kept exports, with what each wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, Row, func, or_, select

from armarium.api import Library, Principal, find_withheld, is_among, query
from armarium_documents.api import documents, pages_under, subtree_ids
from armarium_exports.folders import KeptFolder
from armarium_exports.pages import units_of
from armarium_exports.records import (
    KeptExport,
    KeptExports,
    PublishedSite,
    PublishedSites,
    changed_pages,
    kept_exports,
    kept_files,
    sites,
)
from armarium_exports.selection import as_answered, list_tops
from armarium_rights.api import records as rights_records
from armarium_rights.api import seen_along

K, F, C = kept_exports.c, kept_files.c, changed_pages.c


def kept_export(conn: Connection, export_id: str) -> Row[Any]:
    """Return the row of a kept export; NotFound."""
    return KeptExport.rows.row(conn, export_id)


@query(
    "/api/export/kept",
    summary="The project's kept exports, and what each wrote",
    answer=KeptExports,
    refusals=(),
)
def list_kept(conn: Connection, library: Library) -> dict[str, Any]:
    """Return the oldest first, with the files written, those left alone, and what is to be written again."""
    rows = KeptExport.rows.all(conn, order=(K.created_at, K.id))
    barred = _find_barred(conn, library) if rows else {}
    exports = [{**row, **_state(conn, row["id"], row["per"], barred)} for row in rows]
    return {"exports": exports, "count": len(exports)}


@query(
    "/api/export/sites", summary="The published sites, the newest first", answer=PublishedSites, refusals=()
)
def list_sites(
    conn: Connection,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=10**12)] = 0,
) -> dict[str, Any]:
    """Return each with its folder; whether the files still exist is not checked."""
    newest = (sites.c.created_at.desc(), sites.c.id.desc())
    return PublishedSite.rows.page(conn, order=newest, limit=limit, offset=offset)


def _find_barred(conn: Connection, library: Library) -> dict[str, str]:
    """Return the live documents that rights exclude from exports, found from the records, of which there are few."""
    record = rights_records.c
    limits = conn.execute(
        select(record.target_kind, record.document_id).where(
            record.withdrawn_at.is_(None), or_(record.restricted, record.model_use == "none")
        )
    ).all()
    document = documents.c
    if any(kind == "library" for kind, _ in limits):
        roots = set(list_tops(conn))
    else:
        roots = {document_id for _, document_id in limits}
        # A part of a page that has a record of its own is seen on the page as well, and that of the page on a part elsewhere.
        roots |= seen_along(conn, {root for root in roots if root is not None})
    live = conn.execute(
        select(document.id).where(is_among(document.id, roots), document.deleted_at.is_(None))
    ).scalars()
    return find_withheld(library, EXPORTER, subtree_ids(conn, list(live)), "export")


def _state(conn: Connection, export_id: str, per: str, barred: Mapping[str, str]) -> dict[str, Any]:
    rows = conn.execute(select(kept_files).where(F.export_id == export_id).order_by(F.path)).all()
    about = {row.document_id for row in rows}
    document = documents.c
    live = set(
        conn.execute(
            select(document.id).where(is_among(document.id, about), document.deleted_at.is_(None))
        ).scalars()
    )
    if per == "page":
        # What was split is not a page; its parts are written.
        live &= set(pages_under(conn, sorted(live)))
    else:
        # A document or folder without a page that may be written is no longer written either.
        live &= {unit.id for unit in units_of(conn, per) if not barred.keys() >= set(unit.page_ids)}
    gone_ids = {row.document_id for row in rows if row.document_id not in live or row.document_id in barred}
    written_rows = [row for row in rows if row.written_at is not None]
    waiting = select(func.count()).select_from(changed_pages).where(C.export_id == export_id)
    return {
        "files": [_file(row) for row in written_rows if row.document_id not in gone_ids],
        "left_behind": [_file(row) for row in written_rows if row.document_id in gone_ids],
        "in_the_way": [
            {"path": row.path, "document_id": row.document_id, "why": row.in_the_way}
            for row in rows
            if row.in_the_way is not None
        ],
        "withheld": as_answered(barred),
        "pending": conn.execute(waiting).scalar_one(),
        "last_written": max((row.written_at for row in written_rows), default=None),
    }


def _file(row: Row[Any]) -> dict[str, Any]:
    return {"path": row.path, "document_id": row.document_id, "written_at": row.written_at}


EXPORTER = Principal(kind="machine", name="export", role="owner")
"""The caller used to decide what may be exported: the answer is the same for everyone."""


def files_of(conn: Connection, export_id: str) -> Mapping[str, Row[Any]]:
    """Return what a kept export wrote, by page or document."""
    rows = conn.execute(select(kept_files).where(F.export_id == export_id))
    return {row.document_id: row for row in rows}


def same_folder(conn: Connection, folder: KeptFolder, format_name: str) -> bool:
    """Return whether an export of that format is already kept in *folder*."""
    same_export = (K.folder == str(folder.real), K.format == format_name)
    return conn.execute(select(K.id).where(*same_export)).first() is not None
