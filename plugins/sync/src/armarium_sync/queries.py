"""Reads of synced folders: their state, what would come in, what would be moved, which files are duplicates."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, func, select

from armarium.api import Library, find_withheld, is_among, query
from armarium_documents.api import documents, pages_under
from armarium_sync.arranging import plan_of
from armarium_sync.disk import Disk, Unusable
from armarium_sync.duplicates import duplicates_of
from armarium_sync.errors import folder_gone
from armarium_sync.looking import look
from armarium_sync.principal import KEEPER
from armarium_sync.records import Arrangement, Duplicates, Folder, Folders, Intake, files, folders, pending
from armarium_sync.rows import disk_of, files_of, imported_among, in_conflict

HELD = "sync.watch"
"""The name under which an open project stores the watch of its folders."""

GONE = "Its page is in the Trash or was removed."
DIVIDED = "Its page was split, and the files of the parts are written instead."


@query(
    "/api/sync-folders",
    summary="The synced folders and the state of their files",
    answer=Folders,
    refusals=(),
)
def list_folders(conn: Connection, library: Library) -> dict[str, Any]:
    """Return each folder's path, formats, mode, last write, what is pending, what was written, and what was
    found changed.
    """
    return {"folders": [entry_of(conn, library, row) for row in tied_folders(conn)]}


def entry_of(
    conn: Connection, library: Library, folder: Row[Any], hidden: Collection[str] = ()
) -> dict[str, Any]:
    """Return a synced folder as answered, without files of the documents *hidden*: a file's name holds the title of
    its page. A connection that was lent for a caller leaves them out itself.
    """
    disk = disk_of(library, folder)
    is_there = disk.is_there()
    rows = [row for row in files_of(conn, folder.id) if row.document_id not in hidden]
    layouts = [row for row in rows if row.role == "layout"]
    ours = [row for row in layouts if row.digest is not None]
    digests = {row.id: _read_digest(disk, row) if is_there else row.seen for row in ours}
    conflicts = in_conflict(conn, folder.id)
    written_times = [row.written_at for row in ours if row.written_at is not None]
    barred = _find_left(conn, library, {row.document_id for row in ours if row.document_id is not None})
    pictures = [row for row in rows if row.role == "other" and row.state == "tried"]
    ids_by_path = _documents_at(conn, folder, [row.path for row in pictures])
    watch = library.held.get(HELD)
    taken_in = [row for row in layouts if row.state == "taken-in"]
    imported_ids = imported_among(conn, taken_in)
    undone = {row.id for row in taken_in} - imported_ids
    return {
        **(Folder.rows.get(conn, folder.id) or {}),
        "there": is_there,
        "watched": None if watch is None else watch.describe(folder.id),
        "last_written": max(written_times, default=None),
        "pending": conn.execute(
            select(func.count()).select_from(pending).where(pending.c.folder_id == folder.id)
        ).scalar_one(),
        "files": [
            {name: getattr(row, name) for name in ("path", "document_id", "format", "written_at")}
            for row in ours
            if row.document_id is not None
        ],
        "in_the_way": [row.path for row in rows if row.state == "in-the-way"],
        "conflicts": [
            {"document_id": row.document_id, "path": row.path, "pass_id": conflicts[row.id]}
            for row in layouts
            if row.id in conflicts
        ],
        "changed_outside": [
            row.path for row in ours if digests[row.id] not in (None, row.digest) or row.id in undone
        ],
        "deleted_outside": [row.path for row in ours if digests[row.id] is None],
        "taken_in": [
            {"path": row.path, "document_id": row.document_id} for row in taken_in if row.id in imported_ids
        ]
        + [{"path": path, "document_id": document_id} for path, document_id in ids_by_path.items()],
        "not_read_back": [
            {"path": row.path, "why": row.why}
            for row in rows
            if row.why is not None and row.state != "in-the-way" and row.path not in ids_by_path
        ],
        "left_behind": [
            {"path": row.path, "document_id": row.document_id, "why": barred[row.document_id]}
            for row in ours
            if row.document_id in barred and digests[row.id] is not None
        ],
    }


def _read_digest(disk: Disk, row: Row[Any]) -> str | None:
    """Return the digest of the present content, read only if the disk says that something happened."""
    try:
        stamp = disk.stamp(row.path)
        if stamp is None or stamp == row.stamp:
            return None if stamp is None else str(row.seen)
        return disk.digest(row.path)
    except Unusable:
        return str(row.seen) if row.seen is not None else None


def _find_left(conn: Connection, library: Library, ids: Collection[str]) -> dict[str, str]:
    """Return those of the pages with files that are no longer written, and why. Rights answer the same for every caller."""
    live = select(documents.c.id).where(is_among(documents.c.id, ids), documents.c.deleted_at.is_(None))
    live_ids = set(conn.execute(live).scalars())
    pages = pages_under(conn, sorted(live_ids))
    reasons = {
        document_id: DIVIDED if document_id in live_ids else GONE for document_id in {*ids}.difference(pages)
    }
    return reasons | find_withheld(library, KEEPER, pages, "export")


def _documents_at(conn: Connection, folder: Row[Any], paths: list[str]) -> dict[str, str]:
    """Return the live documents whose own file is at these places."""
    full = {os.path.join(folder.path, *path.split("/")): path for path in paths}
    statement = select(documents.c.path, documents.c.id).where(
        is_among(documents.c.path, full), documents.c.deleted_at.is_(None)
    )
    return {
        full[path]: document_id
        for path, document_id in conn.execute(statement.order_by(documents.c.id.desc()))
    }


@query(
    "/api/sync-folders/{folder_id}/intake",
    summary="Whether files come in from a synced folder, and what would come in now",
    answer=Intake,
)
def preview_intake(conn: Connection, library: Library, folder_id: str) -> dict[str, Any]:
    """Scan the folder as it is now. NotFound; Conflict if the folder is missing."""
    folder = Folder.rows.row(conn, folder_id)
    # Only numbers are returned; a picture that the caller may not see does not count as a new one.
    with library.db.read_all() as whole:
        sight = look(library, whole, folder, disk_of(library, folder))
    if not sight.there:
        raise folder_gone(folder.path)
    counts = Counter(
        row.format for row, _, _ in sight.changed if row.role == "layout" and row.state != "refused"
    )
    # A file may have been moved and changed.
    counts.update(row.format for row, stranger in sight.moved if stranger.digest != row.digest)
    return {"on": folder.intake, "would_bring_in": dict(counts), "images": len(sight.images)}


@query(
    "/api/sync-folders/{folder_id}/arrangement",
    summary="Which files would be moved so that a folder matches its project folder; nothing is moved",
    answer=Arrangement,
)
def preview_arrangement(conn: Connection, library: Library, folder_id: str) -> dict[str, Any]:
    """Compare with the folder as it is now. NotFound; Conflict if the folder is missing."""
    folder = Folder.rows.row(conn, folder_id)
    disk = disk_of(library, folder)
    if not disk.is_there():
        raise folder_gone(folder.path)
    plan = plan_of(conn, folder, disk)
    return {
        "mode": folder.mode,
        "moves": [move.as_answered() for move in plan.moves],
        "refused": [{"path": path, "why": why} for path, why in plan.refused],
    }


@query(
    "/api/sync-folders/duplicates",
    summary="Files that several live documents have: which document is kept, and which would be removed",
    answer=Duplicates,
    refusals=(),
)
def list_duplicates(conn: Connection) -> dict[str, Any]:
    """Return them without changing anything."""
    groups = duplicates_of(conn)
    return {"groups": groups, "count": len(groups)}


def tied_folders(conn: Connection) -> list[Row[Any]]:
    """Return every synced folder, the oldest first."""
    return list(conn.execute(select(folders).order_by(folders.c.created_at, folders.c.id)))


def row_of_file(conn: Connection, folder_id: str, path: str) -> Row[Any] | None:
    """Return what is known of a file by its place."""
    return conn.execute(select(files).where(files.c.folder_id == folder_id, files.c.path == path)).first()
