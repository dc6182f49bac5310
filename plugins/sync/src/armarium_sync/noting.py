"""Records in rows what a scan of a folder found; nothing is read back here, and only our own leftovers are touched."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Row, select

from armarium.api import new_id
from armarium_sync.disk import Disk, Entry, Unusable
from armarium_sync.looking import Sight, StrangerFile
from armarium_sync.names import REPORT
from armarium_sync.records import files, versions_known
from armarium_sync.rows import (
    change_file,
    files_of,
    forget_files,
    is_known,
    know,
    move_row,
    put_file,
    wait_for,
)


def clear_leavings(conn: Connection, folder_id: str, disk: Disk, sight: Sight) -> list[StrangerFile]:
    """Remove the temporary files that a kill left; those that contain somebody's version remain and are listed."""
    digests = select(versions_known.c.digest).where(versions_known.c.folder_id == folder_id)
    noted = set(conn.execute(digests).scalars())
    staying = []
    for path in sight.left_over:
        with suppress(Unusable):
            why = disk.clear(path, noted.__contains__)
            if why is not None:
                staying.append(StrangerFile(Entry(path, disk.stamp(path) or "", 0.0), "other", why=why))
    return staying


def settle_reports(conn: Connection, folder_id: str, disk: Disk, sight: Sight) -> None:
    """Have the reports of losses go along with their files, or go where these are gone; one that somebody changed stays."""
    reports = {row.path: row for row in files_of(conn, folder_id, ("loss",))}
    moved: list[tuple[Row[Any], str | None]] = [(row, stranger.entry.path) for row, stranger in sight.moved]
    for row, place in [*moved, *((row, None) for row in sight.gone if row.role == "layout")]:
        report = reports.get(f"{row.path}{REPORT}")
        if report is None:
            continue
        with suppress(Unusable):
            digest = disk.digest(report.path)
            if digest is not None and not is_known(conn, folder_id, digest):
                continue
            if digest is not None and place is not None:
                disk.move(report.path, f"{place}{REPORT}")
                move_row(conn, report, f"{place}{REPORT}")
                continue
            if digest is not None:
                disk.clear(report.path, lambda _: True)
            forget_files(conn, [report.id])


def note(conn: Connection, folder: Row[Any], sight: Sight) -> bool:
    """Record it; return whether a page is to be written now, because the file in its way is gone."""
    for row, stamp, digest in sight.same:
        values: dict[str, Any] = {"stamp": stamp, "seen": digest, "digest": digest}
        if row.state in ("refused", "in-the-way"):
            values |= {"state": None, "why": None}
        if any(getattr(row, name) != value for name, value in values.items()):
            change_file(conn, row.id, **values)
    for row, stamp, digest in sight.changed:
        values = {"stamp": stamp, "seen": digest}
        if row.state == "refused" and row.seen != digest:
            values |= {"state": None, "why": None}
        if row.stamp != stamp or row.seen != digest:
            change_file(conn, row.id, **values)
    for row in sight.gone:
        if row.seen is not None or row.state is not None:
            change_file(conn, row.id, stamp=None, seen=None, state=None, why=None)
    back = [row.document_id for row in sight.gone if row.state == "in-the-way" and row.document_id]
    wait_for(conn, folder.id, back, 0)
    for row, stranger in sight.moved:
        move_row(conn, row, stranger.entry.path, stamp=None, seen=stranger.digest)
    for stranger, document_id, format_name in sight.adopted:
        values = {"role": "layout", "document_id": document_id, "format": format_name}
        values |= {"digest": stranger.digest, "seen": stranger.digest, "stamp": stranger.entry.stamp}
        put_file(conn, folder.id, stranger.entry.path, **values, state=None, why=None)
        know(conn, folder.id, [stranger.digest or ""], "taken-in")
    for row, stranger in [(row, other) for row, other in sight.blocked if row.state != "in-the-way"]:
        why = stranger.why or "There is another file there; it is not overwritten."
        change_file(conn, row.id, state="in-the-way", why=why)
    return _note_others(conn, folder, sight) or bool(back)


def _note_others(conn: Connection, folder: Row[Any], sight: Sight) -> bool:
    rows_by_path = {row.path: row for row in files_of(conn, folder.id, ("other",))}
    listed = [*sight.others, *sight.beside, *sight.images, *(stranger for _, stranger in sight.followed)]
    fresh: list[dict[str, Any]] = []
    for stranger in listed:
        row = rows_by_path.pop(stranger.entry.path, None)
        values: dict[str, Any] = {"role": "other", "format": stranger.kind, "why": stranger.why}
        values |= {"seen": stranger.digest, "stamp": stranger.entry.stamp}
        if row is None or row.state != "in-the-way":
            values["document_id"] = stranger.carries
        if row is not None and row.seen != stranger.digest and row.state == "tried":
            values["state"] = None
        if row is None:
            fresh.append({"id": new_id(), "folder_id": folder.id, "path": stranger.entry.path, **values})
        elif any(getattr(row, name) != value for name, value in values.items()):
            change_file(conn, row.id, **values)
    if fresh:
        # All at once: a folder may contain very many. An unreadable name may look like a known one.
        conn.execute(files.insert().prefix_with("OR IGNORE"), fresh)
    freed = [
        row.document_id for row in rows_by_path.values() if row.state == "in-the-way" and row.document_id
    ]
    wait_for(conn, folder.id, freed, 0)
    # A picture that came in is now in its document's record; that it came in remains recorded.
    rows_gone = [
        row.id
        for row in rows_by_path.values()
        if not sight.restless and not (row.state == "tried" and row.path in sight.in_place)
    ]
    forget_files(conn, rows_gone)
    return bool(freed)
