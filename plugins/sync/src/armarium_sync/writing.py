"""Writes pages to a synced folder: exported, stamped with their ids, and put in place with a report of losses.

A kill at any moment loses nothing: versions are recorded before they are written, and pages are pending until after.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, select

from armarium.api import NotFound, ServiceError, find_withheld, is_among, json_text, now
from armarium_documents.api import documents, pages_under
from armarium_formats.api import export_page
from armarium_sync.disk import Disk, Unusable
from armarium_sync.errors import disk_refuses, folder_gone
from armarium_sync.identifiers import lasting_id, stamp_content
from armarium_sync.names import REPORT, layout_name
from armarium_sync.records import files
from armarium_sync.rows import (
    NEVER_WRITTEN,
    change_file,
    disk_of,
    done_with,
    folder_by_id,
    forget_at,
    in_conflict,
    is_known,
    is_placed,
    know,
    move_row,
    put_file,
    says_the_same,
    wait_for,
    waiting,
)

if TYPE_CHECKING:
    from armarium.api import Engine, Library, Principal

QUIET = 5.0
"""Seconds after the last change of a page before its files are written."""

BATCH = 20
"""How many pages are written between two commits."""

HANDS = 4
"""How many files are written to disk at a time; most of it is waiting for the disk."""

AHEAD = 60.0
"""Seconds by which a change may be in the future before the clock is assumed to have been set back."""


@dataclass(slots=True)
class Draft:
    """A file that is to be written."""

    document_id: str
    format: str
    path: str
    data: bytes
    mark: str
    losses: bytes
    row: Row[Any] | None
    digest: str = field(init=False)
    loss_digest: str = field(init=False)

    def __post_init__(self) -> None:
        self.digest = hashlib.sha256(self.data).hexdigest()
        self.loss_digest = hashlib.sha256(self.losses).hexdigest()


Noting = Callable[[Connection], None]
"""What to record about a file, once its name is safely on disk."""


@dataclass(slots=True)
class _Batch:
    """Pages whose files are being written to disk."""

    pages: Sequence[tuple[str, int]]
    drafts: list[Draft]
    results: list[Future[Noting]]


def state_of(
    engine: Engine, library: Library, document_id: str, format_name: str
) -> tuple[str, str] | tuple[None, None]:
    """Return what tells a page as it would be written now from any other state, and the pass written; or nothing."""
    created = now()
    try:
        export = export_page(engine, library, document_id, format_name, created=created, cites=False)
    except ServiceError:
        return None, None
    return _mark(export["content"], created), export["choices"]["pass_id"]


def _mark(content: str, created: str) -> str:
    return hashlib.sha256(content.replace(created, "").encode()).hexdigest()


class Writer:
    """Writes what is pending for one folder. *check* is called between two pages and may stop it."""

    def __init__(
        self,
        engine: Engine,
        library: Library,
        folder_id: str,
        principal: Principal,
        *,
        check: Callable[[], None] = lambda: None,
        warn: Callable[[str], None] = lambda words: None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        self.engine, self.library, self.folder_id, self.principal = engine, library, folder_id, principal
        self.check, self.warn, self.progress = check, warn, progress
        self.written = 0

    def run(self, quiet: float | None = None) -> float | None:
        """Write what is due; return the seconds until more is due, None if nothing is pending."""
        quiet = QUIET if quiet is None else quiet
        with self.library.db.read_all() as conn:
            folder = folder_by_id(conn, self.folder_id)
        if folder is None:
            return None
        disk = disk_of(self.library, folder)
        if not disk.is_there():
            raise folder_gone(folder.path)
        self._spread(folder)
        with self.library.db.read_all() as conn:
            waits = waiting(conn, self.folder_id)
        moment = time.time() * 1000
        limit = moment - quiet * 1000
        due = [(document_id, at) for document_id, at in waits if at <= limit or at > moment + AHEAD * 1000]
        # While the disk takes one batch, the next is exported; recording the one and announcing the other is
        # a single commit. A kill leaves at most files known as ours and pages that remain pending.
        with ThreadPoolExecutor(HANDS, "armarium-sync-write") as hands:
            batch: _Batch | None = None
            for start in range(0, len(due), BATCH):
                try:
                    self.check()
                    chosen = due[start : start + BATCH]
                    drafts = self._drafts(folder, disk, chosen)
                except BaseException:
                    self._settle(disk, batch, ())
                    raise
                self._settle(disk, batch, drafts)
                results = [hands.submit(self._put, disk, draft) for draft in drafts]
                batch = _Batch(chosen, drafts, results)
                self.progress(start, len(due))
            self._settle(disk, batch, ())
            self.progress(len(due), len(due))
        due_ids = set(due)
        later = [at for document_id, at in waits if (document_id, at) not in due_ids]
        return max(0.05, (min(later) - limit) / 1000) if later else None

    def _spread(self, folder: Row[Any]) -> None:
        """Queue the pages below a changed folder, and drop what is not a page of this tie."""
        with self.library.db.read_all() as conn:
            waits = waiting(conn, self.folder_id)
            statement = select(documents.c.id).where(
                is_among(documents.c.id, [identity for identity, _ in waits]),
                documents.c.deleted_at.is_(None),
            )
            live = set(conn.execute(statement).scalars())
            pages = {identity: pages_under(conn, [identity]) for identity, _ in waits if identity in live}
            scope = None
            if folder.root_id is not None and folder.adopted:
                root = conn.execute(select(documents.c.id).where(documents.c.id == folder.root_id)).first()
                scope = set(pages_under(conn, [folder.root_id])) if root else set()
        drop: list[tuple[str, int]] = []
        with self.library.db.write() as conn:
            for document_id, at in waits:
                beneath = pages.get(document_id, [])
                inside = [page for page in beneath if scope is None or page in scope]
                if inside == [document_id]:
                    continue
                drop.append((document_id, at))
                wait_for(conn, self.folder_id, [page for page in inside if page != document_id], at)
                if document_id in inside:
                    drop.pop()
            if drop:
                done_with(conn, self.folder_id, drop)

    def _drafts(self, folder: Row[Any], disk: Disk, due: Sequence[tuple[str, int]]) -> list[Draft]:
        """Return the files of these pages that are to be written, as they are now."""
        ids = [identity for identity, _ in due]
        barred = find_withheld(self.library, self.principal, ids, "export")
        drafts: list[Draft] = []
        with self.library.db.read_all() as conn:
            titles = select(documents.c.id, documents.c.name).where(is_among(documents.c.id, ids))
            names = dict(conn.execute(titles).all())
            conflicts = set(in_conflict(conn, self.folder_id))
            rows = {
                (row.document_id, row.format): row
                for row in conn.execute(
                    select(files).where(
                        files.c.folder_id == self.folder_id,
                        files.c.role == "layout",
                        is_among(files.c.document_id, ids),
                    )
                )
            }
        for document_id in (identity for identity in ids if identity in names and identity not in barred):
            for format_name in folder.formats:
                row = rows.get((document_id, format_name))
                if row is not None and row.id in conflicts:
                    continue
                draft = self._draft(disk, document_id, names[document_id], format_name, row)
                if draft is not None:
                    drafts.append(draft)
        return drafts

    def _settle(self, disk: Disk, batch: _Batch | None, coming: Sequence[Draft]) -> None:
        """Record *batch* as written once it is on disk, and record the versions that are *coming* as known."""
        notings: list[Noting] = []
        failure: BaseException | None = None
        if batch is not None:
            for result in batch.results:
                try:
                    notings.append(result.result())
                except Exception as error:
                    failure = error
            disk.flush_folders(draft.path for draft in batch.drafts)
        with self.library.db.write() as conn:
            for note in notings:
                note(conn)
            if batch is not None and failure is None:
                done_with(conn, self.folder_id, batch.pages)
            if failure is None:
                digests = [digest for draft in coming for digest in (draft.digest, draft.loss_digest)]
                know(conn, self.folder_id, digests, "written")
        if failure is not None:
            raise failure

    def _draft(
        self, disk: Disk, document_id: str, title: str, format_name: str, row: Row[Any] | None
    ) -> Draft | None:
        created = now()
        try:
            export = export_page(
                self.engine, self.library, document_id, format_name, created=created, cites=False
            )
        except NotFound:
            return None  # a page that nobody has read yet
        except ServiceError as refusal:
            self.warn(f"{title} is not written as {format_name}: {refusal.detail}")
            return None
        mark = _mark(export["content"], created)
        filename = export["filename"]
        extension = filename[filename.rfind(".") :] if "." in filename else ".xml"
        own_path = f"{format_name}/{layout_name(title, document_id, extension)}"
        path = own_path if row is None or is_placed(row, document_id) else row.path
        if row is not None:
            try:
                stamp = disk.stamp(row.path)
            except Unusable:
                return None
            adopted = row.mark is None and row.written_at is None
            if row.digest is not None and row.mark != mark and (adopted or row.state == "taken-in"):
                # As long as it contains the page as it was imported, it is written when the page changes.
                with self.library.db.write() as conn:
                    if says_the_same(conn, row, export["choices"]["pass_id"]):
                        change_file(conn, row.id, mark=mark)
                        return None
            if stamp is not None and row.mark == mark and row.path == path and row.seen == row.digest:
                return None
        choices = export["choices"]
        about = {
            "service-source": document_id,
            "service-pass": choices["pass_id"],
            "service-order": choices["order_id"] or choices["order_name"],
            "service-reading-kind": choices["reading_kind"],
        }
        data = stamp_content(export["content"], format_name, about)
        losses = {
            "file": path.rpartition("/")[2],
            "format": format_name,
            "document_id": document_id,
            "pass_id": choices["pass_id"],
            "reading_kind": choices["reading_kind"],
            "losses": export["losses"],
            "notes": choices["notes"],
        }
        return Draft(document_id, format_name, path, data, mark, (json_text(losses) + "\n").encode(), row)

    def _put(self, disk: Disk, draft: Draft) -> Noting:
        """Write one file and its report; return what to record about it."""
        row = draft.row
        if row is not None and row.path != draft.path:
            if not self._rename_file(disk, row.path, draft.path):
                draft.path = row.path
            else:
                self._rename_file(disk, f"{row.path}{REPORT}", f"{draft.path}{REPORT}")
        try:
            stamp = disk.write(draft.path, draft.data, self._is_ours(row), settle=False)
        except Unusable as error:
            return self._noted_blocked(disk, draft, str(error))
        except OSError as error:
            raise disk_refuses(draft.path, error) from error
        loss_path, loss_stamp, loss_digest = f"{draft.path}{REPORT}", None, None
        try:
            loss_stamp = disk.write(loss_path, draft.losses, self._is_ours(None), settle=False)
            loss_digest = draft.loss_digest
        except Unusable as error:
            self.warn(f"{loss_path}: {error}")
        except OSError as error:
            raise disk_refuses(loss_path, error) from error
        self.written += 1
        written_at = now()

        def note(conn: Connection) -> None:
            about: dict[str, Any] = {"document_id": draft.document_id, "format": draft.format}
            values = {"role": "layout", **about, "digest": draft.digest, "mark": draft.mark}
            values |= {"seen": draft.digest, "stamp": stamp, "state": None, "why": None}
            if row is not None and row.path != draft.path:
                forget_at(conn, self.folder_id, f"{row.path}{REPORT}")
                move_row(conn, row, draft.path)
            put_file(conn, self.folder_id, draft.path, **values, written_at=written_at)
            if loss_stamp is not None:
                about |= {"role": "loss", "digest": loss_digest, "seen": loss_digest, "stamp": loss_stamp}
                put_file(conn, self.folder_id, loss_path, **about)

        return note

    def _rename_file(self, disk: Disk, before: str, after: str) -> bool:
        """Rename a file of ours to the present name of its page; return False if it keeps the old one."""
        try:
            if disk.stamp(before) is None:
                return True
            digest = disk.digest(before)
            if digest is None or not self._is_ours(None)(digest):
                return False
            disk.move(before, after)
        except Unusable:
            return False
        return True

    def _is_ours(self, row: Row[Any] | None) -> Callable[[str], bool]:
        def is_ours(digest: str) -> bool:
            if row is not None and digest == row.digest:
                return True
            with self.library.db.read_all() as conn:
                return is_known(conn, self.folder_id, digest)

        return is_ours

    def _noted_blocked(self, disk: Disk, draft: Draft, why: str) -> Callable[[Connection], None]:
        self.warn(f"{draft.path}: {why}")
        try:
            digest, stamp = disk.digest(draft.path), disk.stamp(draft.path)
            # Its content says whose it is; any file may have this name.
            carries = lasting_id(disk.read(draft.path), "")
        except (Unusable, OSError):
            digest = stamp = carries = None

        def note(conn: Connection) -> None:
            fields = {"document_id": draft.document_id, "seen": digest, "stamp": stamp}
            if draft.row is not None and draft.row.path == draft.path and draft.row.digest is not None:
                # An adopted file of a page that changed has no mark of its own yet; this one equals none.
                mark = draft.row.mark or NEVER_WRITTEN
                change_file(conn, draft.row.id, seen=digest, stamp=stamp, mark=mark)
            elif carries == draft.document_id:
                # Another engine of the same people wrote it, or this one when the folder was tied before: it
                # is the page's file, changed outside relative to what the project would write now.
                fields |= {"format": draft.format, "digest": draft.digest, "mark": draft.mark}
                fields |= {"state": None, "why": None, "written_at": now()}
                put_file(conn, self.folder_id, draft.path, role="layout", **fields)
            else:
                fields |= {"format": "layout", "state": "in-the-way", "why": why}
                put_file(conn, self.folder_id, draft.path, role="other", **fields)

        return note
