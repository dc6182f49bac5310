"""Writes kept exports: only what changed, never over other files, and without deleting anything; and tells which of their files
are older than their pages.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from sqlalchemy import Connection, Row, delete, select

from armarium.api import (
    ActionContext,
    JobContext,
    Library,
    NotFound,
    ServiceError,
    find_withheld,
    is_among,
    is_waiting,
    now,
    plain_name,
    raw_of,
)
from armarium_documents.api import ancestor_ids, subtree_ids
from armarium_exports.errors import folder_replaced, no_folder
from armarium_exports.pages import Unit, units_of
from armarium_exports.places import checksum_of, clear_leavings, whole_file
from armarium_exports.queries import C, K, files_of, kept_export
from armarium_exports.records import KeptJobArgs, changed_pages, kept_exports, kept_files
from armarium_exports.rendering.units import ending_of, render
from armarium_exports.selection import list_tops
from armarium_source_model.api import RestsOnText, StaleRow, segments

if TYPE_CHECKING:
    from io import BufferedReader


JOB = "export-kept"
IN_MEMORY = 8 << 20
"""Bytes: a larger file waits on disk until it is compared with the one that is there."""
OF_ALL = frozenset({"library.set", "source_setting.set", "source_setting.clear"})
"""Actions that may change the file of every page."""
OF_RIGHTS = frozenset({"rights.set", "rights.withdraw"})
"""Actions that name the documents they are about; none if they are about the whole project."""


def note_changes(ctx: ActionContext) -> None:
    """Record, in the step that changes them, what each kept export has to write again, and make sure that a
    job will.
    """
    export_ids = list(ctx.conn.execute(select(K.id)).scalars())
    if not export_ids:
        return
    changed = list(ctx.changes.get("document_ids", ()))
    parts = list(ctx.changes.get("segment_ids", ()))
    if parts:
        segment = segments.c
        changed += ctx.conn.execute(
            select(segment.document_id).where(is_among(segment.id, parts)).distinct()
        ).scalars()
    if OF_ALL & ctx.ran.keys() or (OF_RIGHTS & ctx.ran.keys() and not changed):
        changed += list_tops(ctx.conn)
    if not changed:
        return
    for export_id in export_ids:
        _note(ctx.conn, export_id, changed, ctx.audit_seq)
        queue_again(ctx, export_id)


def _note(conn: Connection, export_id: str, ids: Iterable[str], seq: int) -> None:
    raw_of(conn).executemany(
        f"INSERT INTO {changed_pages} (export_id, document_id, seq) VALUES (?, ?, ?)"
        " ON CONFLICT (export_id, document_id) DO UPDATE SET seq = excluded.seq",
        [(export_id, document_id, seq) for document_id in dict.fromkeys(ids)],
    )


def queue_again(ctx: ActionContext, export_id: str) -> None:
    """Make sure that a job writes what is recorded as changed."""
    if not is_waiting(ctx.conn, JOB, export_id=export_id):
        title = f"Write a kept export again: {Path(kept_export(ctx.conn, export_id).folder).name}"
        ctx.enqueue(JOB, {"export_id": export_id}, title=title)


@dataclass
class _Work:
    """One run over a kept export."""

    kept: Row[Any]
    files: dict[str, Row[Any]]
    taken: set[str]


def write_kept(job: JobContext) -> dict[str, Any]:
    """Write each unit that was recorded as changed; killed anywhere and run again, it writes the remaining ones.

    Counts: files written, unchanged, in the way, without a pass, withheld.
    """
    args: KeptJobArgs = job.args
    counts = dict.fromkeys(("written", "unchanged", "in_the_way", "nothing_to_write", "withheld"), 0)
    counts |= job.checkpoint
    with job.library.db.read() as conn:
        if conn.execute(select(K.id).where(K.id == args.export_id)).first() is None:
            return counts
        export = kept_export(conn, args.export_id)
        noted = _read_notes(conn, args.export_id)
        units = _select_changed(conn, units_of(conn, export.per), noted)
        work = _Work(export, dict(files_of(conn, args.export_id)), set())
    work.taken = {row.path for row in work.files.values()}
    if not Path(export.folder).is_dir():
        raise no_folder(export.folder)
    if os.path.realpath(export.folder) != export.folder:
        raise folder_replaced(export.folder)
    clear_leavings(Path(export.folder))
    for number, unit in enumerate(units, 1):
        job.check()
        outcome, row = _write_unit(job, work, unit)
        counts[outcome] += 1
        noted_here = {
            identity: noted[identity] for identity in (unit.id, *unit.page_ids) if identity in noted
        }
        job.save(counts, done=number, total=len(units), along=_make_writer(args.export_id, row, noted_here))
    # Folders, and documents that no longer are pages, are recorded too.
    job.save(counts, along=_make_writer(args.export_id, None, noted))
    return counts


def _make_writer(
    export_id: str, row: dict[str, Any] | None, done: Mapping[str, int]
) -> Callable[[Connection], None]:
    def write(conn: Connection) -> None:
        _save(conn, row)
        _forget(conn, export_id, done)

    return write


def _read_notes(conn: Connection, export_id: str) -> dict[str, int]:
    query = select(C.document_id, C.seq).where(C.export_id == export_id)
    return {row.document_id: row.seq for row in conn.execute(query)}


def _select_changed(conn: Connection, units: list[Unit], noted: Iterable[str]) -> list[Unit]:
    """Return the units that contain what is *noted*, or are contained in it."""
    all_of_them = set(subtree_ids(conn, list(noted)))
    return [unit for unit in units if unit.id in all_of_them or not all_of_them.isdisjoint(unit.page_ids)]


def _forget(conn: Connection, export_id: str, noted: Mapping[str, int]) -> None:
    """Remove the records of what was written, unless it was changed again meanwhile."""
    for document_id, seq in noted.items():
        conn.execute(
            delete(changed_pages).where(C.export_id == export_id, C.document_id == document_id, C.seq <= seq)
        )


def _write_unit(job: JobContext, work: _Work, unit: Unit) -> tuple[str, dict[str, Any] | None]:
    """Return the outcome for a unit, and the row that records it; None if nothing is to be recorded."""
    barred = find_withheld(job.library, job.principal, [unit.id, *unit.page_ids], "export")
    pages = tuple(page_id for page_id in unit.page_ids if page_id not in barred)
    if unit.id in barred or not pages:
        return "withheld", None
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as content:
        return _write_pages(job, work, Unit(unit.id, unit.title, pages), cast("BinaryIO", content))


def _write_pages(
    job: JobContext, work: _Work, unit: Unit, content: BinaryIO
) -> tuple[str, dict[str, Any] | None]:
    before = work.files.get(unit.id)
    try:
        render(job.engine, job.library, unit, work.kept.format, content)
    except NotFound:
        return "nothing_to_write", None
    except ServiceError as refusal:
        job.log("warning", refusal.detail, document_id=unit.id)
        return "nothing_to_write", None
    path = (
        Path(before.path)
        if before is not None
        else _path_for(work, unit, ending_of(job.engine, work.kept.format))
    )
    work.taken.add(str(path))
    row: dict[str, Any] = {
        "export_id": work.kept.id,
        "document_id": unit.id,
        "path": str(path),
        "checksum": None if before is None else before.checksum,
        "written_at": None if before is None else before.written_at,
        "in_the_way": None,
    }
    on_disk = checksum_of(path)
    content.seek(0)
    digest = hashlib.file_digest(cast("BufferedReader", content), "sha256").hexdigest()
    why = _in_the_way(path, on_disk, row["checksum"])
    if why is not None and on_disk != digest:
        return "in_the_way", row | {"in_the_way": why}
    if on_disk == digest:
        return "unchanged", row | {"checksum": digest, "written_at": row["written_at"] or now()}
    content.seek(0)
    with whole_file(path) as file:
        shutil.copyfileobj(content, file)
    return "written", row | {"checksum": digest, "written_at": now()}


def _in_the_way(path: Path, on_disk: str | None, ours: str | None) -> str | None:
    """Return why the file at *path* is left alone; None if it may be written."""
    if on_disk is None:
        return (
            "There is something there that is not a regular file."
            if path.is_symlink() or path.exists()
            else None
        )
    if ours is None:
        return "There is a file there that this export did not write."
    return None if on_disk == ours else "The file has been changed since this export wrote it."


def _path_for(work: _Work, unit: Unit, ending: str) -> Path:
    """Return a path that no other unit of the export has: the title, and as much of the id as makes it unique."""
    folder, name = Path(work.kept.folder), plain_name(unit.title)
    short = folder / f"{name}--{unit.id[-8:]}{ending}"
    return short if str(short) not in work.taken else folder / f"{name}--{unit.id}{ending}"


def _save(conn: Connection, row: dict[str, Any] | None) -> None:
    if row is not None:
        conn.execute(kept_files.insert().prefix_with("OR REPLACE").values(row))


def note_all(conn: Connection, export_id: str, seq: int) -> None:
    """Record that every page or document is to be written."""
    units = units_of(conn, conn.execute(select(kept_exports.c.per).where(K.id == export_id)).scalar_one())
    _note(conn, export_id, (unit.id for unit in units), seq)


WHY = "The file was written before its page changed; a job will write it again, or write the kept export now."


class RestingExports(RestsOnText):
    """The files of kept exports. A row's id is that of its export; its text is the file's name."""

    kinds = ("export",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return the files that contain one of these pages and are to be written again."""
        kept_file, changed_page = kept_files.c, changed_pages.c
        rows: list[StaleRow] = []
        for page in document_ids:
            waiting = (
                select(kept_file.export_id, kept_file.path)
                .join(kept_exports, kept_exports.c.id == kept_file.export_id)
                .join(
                    changed_pages,
                    (changed_page.export_id == kept_file.export_id) & (changed_page.document_id == page),
                )
                .where(
                    is_among(kept_file.document_id, ancestor_ids(conn, page)), kept_file.checksum.is_not(None)
                )
                .order_by(kept_file.path)
            )
            rows += [
                StaleRow("export", row.export_id, page, None, Path(row.path).name, "redo", WHY)
                for row in conn.execute(waiting)
            ]
        return rows
