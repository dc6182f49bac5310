"""Reads and writes the rows of synced folders, without access to the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Row, or_, select

from armarium.api import json_text, new_id, raw_of
from armarium_documents.api import documents, representations
from armarium_source_model.api import passes, segments
from armarium_sync.disk import Disk
from armarium_sync.records import conflicts, files, pending, versions_known

if TYPE_CHECKING:
    from armarium.api import Library

OURS = ("layout", "loss")

NEVER_WRITTEN = "never-written"
"""The mark of a page that differs from its adopted file and was not written to it."""


class DocumentFile(NamedTuple):
    """A document whose own file is in the folder; `path` is relative to it."""

    document_id: str
    path: str
    checksum: str | None
    live: bool


def disk_of(library: Library, folder: Row[Any] | Mapping[str, Any]) -> Disk:
    """Return the folder on disk."""
    row = folder if isinstance(folder, Mapping) else folder._mapping
    return Disk(row["path"], row["id"][-12:], library.is_closed)


def files_of(conn: Connection, folder_id: str, roles: Sequence[str] | None = None) -> list[Row[Any]]:
    """Return the known files of the folder, by path."""
    asked = select(files).where(files.c.folder_id == folder_id).order_by(files.c.path)
    return list(conn.execute(asked if roles is None else asked.where(files.c.role.in_(roles))))


def file_by_id(conn: Connection, file_id: str) -> Row[Any] | None:
    """Return the row of a file."""
    return conn.execute(select(files).where(files.c.id == file_id)).first()


def documents_in(conn: Connection, folder: str) -> list[DocumentFile]:
    """Return the documents, also in the Trash, whose file is in *folder* (a full path)."""
    prefix = folder.rstrip(os.sep) + os.sep
    rows = raw_of(conn).execute(
        f"SELECT id, path, json_extract(metadata, '$.checksum'), deleted_at IS NULL FROM {documents}"
        " WHERE path IS NOT NULL AND substr(path, 1, ?) = ? ORDER BY id",
        (len(prefix), prefix),
    )
    return [
        DocumentFile(one, path[len(prefix) :].replace(os.sep, "/"), checksum, bool(live))
        for one, path, checksum, live in rows
    ]


def find_owned(conn: Connection, digests: Iterable[str]) -> dict[str, str]:
    """Return those of *digests* that are a document's own file, live or in the Trash, each with the document."""
    rows = raw_of(conn).execute(
        f"SELECT json_extract(metadata, '$.checksum') AS own, min(id) FROM {documents}"
        " WHERE own IN (SELECT value FROM json_each(?)) GROUP BY own",
        (json_text(list(digests)),),
    )
    return dict(rows.fetchall())


def file_at(conn: Connection, folder_id: str, path: str) -> Row[Any]:
    """Return the row of the file at *path*, which is known."""
    return conn.execute(select(files).where(files.c.folder_id == folder_id, files.c.path == path)).one()


def is_known(conn: Connection, folder_id: str, digest: str) -> bool:
    """Return whether a version was written to the folder or taken in from it before."""
    row = raw_of(conn).execute(
        f"SELECT 1 FROM {versions_known} WHERE folder_id = ? AND digest = ?", (folder_id, digest)
    )
    return row.fetchone() is not None


def is_placed(row: Row[Any], document_id: str) -> bool:
    """Return whether a file is where the engine put it, so that it is renamed along with its page."""
    folder, _, name = row.path.rpartition("/")
    return bool(folder == row.format and f"--{document_id}." in name)


def is_as_imported(conn: Connection, pass_id: str, digest: str) -> bool:
    """Return whether a pass is the one read from the file with that *digest*, with nothing changed in it since."""
    p, s, r = passes.c, segments.c, representations.c
    asked = select(p.created_at).where(p.id == pass_id, p.import_checksum == digest)
    read_at = conn.execute(asked).scalar()
    if read_at is None:
        return False
    redrawn = select(s.id).where(
        s.pass_id == pass_id, or_(s.version > 1, s.deleted_at.is_not(None), s.created_at > read_at)
    )
    reread = (
        select(r.id)
        .join(segments, s.id == r.segment_id)
        .where(s.pass_id == pass_id, or_(r.retracted, r.created_at > read_at))
    )
    return all(conn.execute(one.limit(1)).first() is None for one in (redrawn, reread))


def know(conn: Connection, folder_id: str, digests: Iterable[str], kind: str) -> None:
    """Record versions: if one turns up again, it is not a new edit."""
    raw_of(conn).executemany(
        f"INSERT OR IGNORE INTO {versions_known} (folder_id, digest, kind) VALUES (?, ?, ?)",
        [(folder_id, one, kind) for one in digests],
    )


def put_file(conn: Connection, folder_id: str, path: str, **values: Any) -> None:
    """Record what is known of the file at *path*, known before or not; *values* name its role."""
    names = ", ".join(values)
    changed = ", ".join(f"{name} = excluded.{name}" for name in values)
    raw_of(conn).execute(
        f"INSERT INTO {files} (id, folder_id, path, {names}) VALUES (?, ?, ?{', ?' * len(values)})"
        f" ON CONFLICT (folder_id, path) DO UPDATE SET {changed}",
        (new_id(), folder_id, path, *values.values()),
    )


def change_file(conn: Connection, file_id: str, **values: Any) -> None:
    """Change what is known of a file."""
    if values:
        conn.execute(files.update().where(files.c.id == file_id).values(values))


def move_row(conn: Connection, row: Row[Any], path: str, **values: Any) -> None:
    """Record that a file is at another place; the row of that place described this very file."""
    conn.execute(files.delete().where(files.c.folder_id == row.folder_id, files.c.path == path))
    change_file(conn, row.id, path=path, **values)


def forget_files(conn: Connection, ids: Iterable[str]) -> None:
    """Delete what is known of files."""
    raw_of(conn).executemany(f"DELETE FROM {files} WHERE id = ?", [(one,) for one in ids])


def forget_at(conn: Connection, folder_id: str, path: str) -> None:
    """Delete what is known of the file at *path*."""
    conn.execute(files.delete().where(files.c.folder_id == folder_id, files.c.path == path))


def wait_for(conn: Connection, folder_id: str, ids: Iterable[str], changed_at: int) -> None:
    """Record that pages changed at that millisecond; 0 has them written at once."""
    raw_of(conn).executemany(
        f"INSERT INTO {pending} (folder_id, document_id, changed_at) VALUES (?, ?, ?)"
        " ON CONFLICT (folder_id, document_id) DO UPDATE SET changed_at = excluded.changed_at",
        [(folder_id, one, changed_at) for one in ids],
    )


def waiting(conn: Connection, folder_id: str) -> list[tuple[str, int]]:
    """Return (document, millisecond of its last change) of what is to be written, the longest waiting first."""
    asked = select(pending.c.document_id, pending.c.changed_at).where(pending.c.folder_id == folder_id)
    return [(row[0], row[1]) for row in conn.execute(asked.order_by(pending.c.changed_at))]


def is_waiting(conn: Connection, folder_id: str, document_id: str) -> bool:
    """Return whether the page changed since its files were written."""
    named = (pending.c.folder_id == folder_id, pending.c.document_id == document_id)
    return conn.execute(select(pending.c.changed_at).where(*named)).first() is not None


def done_with(conn: Connection, folder_id: str, ids: Iterable[tuple[str, int]]) -> None:
    """Record that these pages were written as they were at that millisecond; later changes remain pending."""
    raw_of(conn).executemany(
        f"DELETE FROM {pending} WHERE folder_id = ? AND document_id = ? AND changed_at = ?",
        [(folder_id, one, at) for one, at in ids],
    )


def in_conflict(conn: Connection, folder_id: str) -> dict[str, str]:
    """Return the files of the folder in conflict, each with the newest pass made from the folder's version."""
    asked = (
        select(conflicts.c.file_id, conflicts.c.pass_id)
        .join(files, files.c.id == conflicts.c.file_id)
        .where(conflicts.c.folder_id == folder_id, files.c.state == "conflict")
        .order_by(conflicts.c.created_at, conflicts.c.id)
    )
    return {row[0]: row[1] for row in conn.execute(asked)}
