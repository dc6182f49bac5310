"""Reads and writes the rows of synced folders, without access to the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, or_, select

from armarium.api import Library, is_among, json_text, new_id, raw_of
from armarium_documents.api import documents, representations
from armarium_source_model.api import passes, read_lines, segments
from armarium_sync.disk import Disk
from armarium_sync.records import conflicts, files, folders, pending, versions_known

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
    query = select(files).where(files.c.folder_id == folder_id).order_by(files.c.path)
    return list(conn.execute(query if roles is None else query.where(files.c.role.in_(roles))))


def folder_by_id(conn: Connection, folder_id: str) -> Row[Any] | None:
    """Return the row of a synced folder; None if it is no longer tied."""
    return conn.execute(select(folders).where(folders.c.id == folder_id)).first()


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
        DocumentFile(document_id, path[len(prefix) :].replace(os.sep, "/"), checksum, bool(live))
        for document_id, path, checksum, live in rows
    ]


def find_owned(conn: Connection, digests: Iterable[str]) -> dict[str, str]:
    """Return those of *digests* that are a document's own file, live or in the Trash, each with the document."""
    rows = raw_of(conn).execute(
        f"SELECT json_extract(metadata, '$.checksum') AS own, min(id) FROM {documents}"
        " WHERE own IN (SELECT value FROM json_each(?)) GROUP BY own",
        (json_text(list(digests)),),
    )
    return dict(rows.fetchall())


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
    page_pass, segment, reading = passes.c, segments.c, representations.c
    query = select(page_pass.created_at).where(page_pass.id == pass_id, page_pass.import_checksum == digest)
    read_at = conn.execute(query).scalar()
    if read_at is None:
        return False
    # All that a step writes has its time; another time is another step's, an earlier one too where a clock was set back.
    redrawn = select(segment.id).where(
        segment.pass_id == pass_id,
        or_(segment.version > 1, segment.deleted_at.is_not(None), segment.created_at != read_at),
    )
    reread = (
        select(reading.id)
        .join(segments, segment.id == reading.segment_id)
        .where(segment.pass_id == pass_id, or_(reading.retracted, reading.created_at != read_at))
    )
    return all(conn.execute(statement.limit(1)).first() is None for statement in (redrawn, reread))


def imported_among(conn: Connection, rows: Sequence[Row[Any]]) -> set[str]:
    """Return the ids of those files, as they were last seen, that a live pass of their page was read from."""
    page_pass = passes.c
    query = select(page_pass.document_id, page_pass.import_checksum).where(
        is_among(page_pass.import_checksum, {row.digest for row in rows}), page_pass.deleted_at.is_(None)
    )
    live = {tuple(row) for row in conn.execute(query)}
    return {row.id for row in rows if (row.document_id, row.digest) in live}


def pass_taken_in(conn: Connection, row: Row[Any]) -> str | None:
    """Return the live pass that was read from a file as it was last seen."""
    page_pass = passes.c
    query = select(page_pass.id).where(
        page_pass.document_id == row.document_id,
        page_pass.import_checksum == row.digest,
        page_pass.deleted_at.is_(None),
    )
    return conn.execute(query.order_by(page_pass.id.desc())).scalar()


def says_the_same(conn: Connection, row: Row[Any], pass_id: str) -> bool:
    """Return whether a file that was taken in still says what the pass *pass_id* does, so that it need not be written.

    One edit may come back in several formats, a pass each; two machines would write them to each other for ever.
    """
    own_pass = pass_taken_in(conn, row)
    if own_pass is None or not is_as_imported(conn, own_pass, row.digest):
        return False
    return own_pass == pass_id or have_same_words(conn, row.document_id, own_pass, pass_id)


def have_same_words(conn: Connection, document_id: str, this_pass: str, other_pass: str) -> bool:
    """Return whether the lines of two passes of a page say the same, in their order."""

    def words(pass_id: str) -> list[str]:
        page = read_lines(conn, document_id, pass_id)
        texts = page.line_texts()
        return [texts[line.id].text for line in page.in_order("line") if line.id in texts]

    return words(this_pass) == words(other_pass)


def know(conn: Connection, folder_id: str, digests: Iterable[str], kind: str) -> None:
    """Record versions: if one turns up again, it is not a new edit."""
    raw_of(conn).executemany(
        f"INSERT OR IGNORE INTO {versions_known} (folder_id, digest, kind) VALUES (?, ?, ?)",
        [(folder_id, digest, kind) for digest in digests],
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
    raw_of(conn).executemany(f"DELETE FROM {files} WHERE id = ?", [(file_id,) for file_id in ids])


def forget_at(conn: Connection, folder_id: str, path: str) -> None:
    """Delete what is known of the file at *path*."""
    conn.execute(files.delete().where(files.c.folder_id == folder_id, files.c.path == path))


def wait_for(conn: Connection, folder_id: str, ids: Iterable[str], changed_at: int) -> None:
    """Record that pages changed at that millisecond; 0 has them written at once."""
    raw_of(conn).executemany(
        f"INSERT INTO {pending} (folder_id, document_id, changed_at) VALUES (?, ?, ?)"
        " ON CONFLICT (folder_id, document_id) DO UPDATE SET changed_at = excluded.changed_at",
        [(folder_id, document_id, changed_at) for document_id in ids],
    )


def waiting(conn: Connection, folder_id: str) -> list[tuple[str, int]]:
    """Return (document, millisecond of its last change) of what is to be written, the longest waiting first; of those
    changed at once, the document that was made first.
    """
    query = select(pending.c.document_id, pending.c.changed_at).where(pending.c.folder_id == folder_id)
    return [
        (row[0], row[1]) for row in conn.execute(query.order_by(pending.c.changed_at, pending.c.document_id))
    ]


def is_waiting(conn: Connection, folder_id: str, document_id: str) -> bool:
    """Return whether the page changed since its files were written."""
    named = (pending.c.folder_id == folder_id, pending.c.document_id == document_id)
    return conn.execute(select(pending.c.changed_at).where(*named)).first() is not None


def done_with(conn: Connection, folder_id: str, ids: Iterable[tuple[str, int]]) -> None:
    """Record that these pages were written as they were at that millisecond; later changes remain pending."""
    raw_of(conn).executemany(
        f"DELETE FROM {pending} WHERE folder_id = ? AND document_id = ? AND changed_at = ?",
        [(folder_id, document_id, at) for document_id, at in ids],
    )


def in_conflict(conn: Connection, folder_id: str) -> dict[str, str]:
    """Return the files of the folder in conflict, each with the newest pass made from the folder's version."""
    query = (
        select(conflicts.c.file_id, conflicts.c.pass_id)
        .join(files, files.c.id == conflicts.c.file_id)
        .where(conflicts.c.folder_id == folder_id, files.c.state == "conflict")
        .order_by(conflicts.c.created_at, conflicts.c.id)
    )
    return {row[0]: row[1] for row in conn.execute(query)}
