"""Enqueues work outside a step: after a scan, when the disk reports a change, when a project is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, is_waiting
from armarium_sync.principal import KEEPER
from armarium_sync.rows import folder_by_id

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
        folder = folder_by_id(conn, folder_id)
        if folder is None or not enqueue(engine, conn, kind, folder_id, folder.path, thorough=thorough):
            return
    engine.jobs.wake(library)


def enqueue(engine: Engine, conn: Connection, kind: str, folder_id: str, path: str, **args: Any) -> bool:
    """Enqueue work on the folder at *path*, unless the same work is pending; return whether it was enqueued."""
    if is_waiting(conn, kind, folder_id=folder_id):
        return False
    title = f"{TITLES[kind]} {Path(path).name or path}"
    # As the engine's own work: what goes out and comes in does not depend on the rights of whoever changed a
    # page.
    engine.jobs.enqueue(conn, kind, {"folder_id": folder_id, **args}, title=title, started_by=KEEPER)
    return True
