"""Enqueues work outside a step: after a scan, when the disk reports a change, when a project is opened."""

from __future__ import annotations

from sqlalchemy import select

from armarium.api import Engine, Library, is_waiting
from armarium_sync.principal import KEEPER
from armarium_sync.records import folders

TITLES = {
    "write-to-folder": "Write to the folder",
    "sync-look": "Scan the folder",
    "arrange-folder": "Arrange the folder",
}


def put_in_queue(
    engine: Engine, library: Library, kind: str, folder_id: str, *, thorough: bool = False
) -> None:
    """Enqueue work on a folder, unless the same work is pending or the folder is no longer tied."""
    with library.db.write() as conn:
        folder = conn.execute(select(folders).where(folders.c.id == folder_id)).first()
        if folder is None or is_waiting(conn, kind, folder_id=folder_id):
            return
        engine.jobs.enqueue(
            conn,
            kind,
            {"folder_id": folder_id, "thorough": thorough},
            title=f"{TITLES[kind]} {folder.path.replace(chr(92), '/').rpartition('/')[2]}",
            started_by=KEEPER,
        )
    engine.jobs.wake(library)
