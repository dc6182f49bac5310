"""Watches the folders of an open project: the disk reports changes, or the folder is scanned at intervals.

Folders with intake on are watched while the engine runs. An event only has the folder scanned; everything
else is up to that scan.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from armarium_sync.queries import HELD, tied_folders
from armarium_sync.queueing import put_in_queue

if TYPE_CHECKING:
    from armarium.api import Engine, Library

log = logging.getLogger("armarium.sync")

SCAN_EVERY = 60.0
"""Seconds between two scans of a folder for which the disk reports nothing."""

ROUND = 1.0
"""Seconds between two checks whether the watch is over."""

GATHERED = 300
"""Milliseconds for which events of the disk are collected."""


@dataclass
class _WatchedFolder:
    path: str
    stop: threading.Event = field(default_factory=threading.Event)
    how: str = "events"


class Watch:
    """One thread per folder. It ends when the project is closed, the folder untied or its intake switched off."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.folders: dict[str, _WatchedFolder] = {}
        self._lock = threading.Lock()

    def describe(self, folder_id: str) -> str | None:
        """Return how a folder is watched, in words; None if it is not."""
        watched = self.folders.get(folder_id)
        return None if watched is None else watched.how

    def tend(self, paths_by_id: dict[str, str]) -> None:
        """Watch exactly these folders (id to path)."""
        with self._lock:
            for folder_id in [folder for folder in self.folders if folder not in paths_by_id]:
                self.folders.pop(folder_id).stop.set()
                self.engine.stay.let_go(_key(folder_id))
            for folder_id, path in paths_by_id.items():
                if folder_id not in self.folders:
                    watched = self.folders[folder_id] = _WatchedFolder(path)
                    words = f"It watches the folder {path} ({self.library.path.name})"
                    self.engine.stay.keep(_key(folder_id), words)
                    threading.Thread(
                        target=self._run, args=(folder_id, watched), daemon=True, name="armarium-sync-watch"
                    ).start()

    def _is_over(self, watched: _WatchedFolder) -> bool:
        return watched.stop.is_set() or not self.engine.is_started or self.library.held.get(HELD) is not self

    def _run(self, folder_id: str, watched: _WatchedFolder) -> None:
        try:
            while not self._is_over(watched):
                if not Path(watched.path).is_dir():
                    watched.how = "the folder is missing; it is looked for every few seconds"
                    watched.stop.wait(ROUND * 5)
                    continue
                self._look(folder_id)
                try:
                    self._by_events(folder_id, watched)
                except Exception as error:
                    log.warning(
                        "the folder %s is scanned at intervals: %s", watched.path, type(error).__name__
                    )
                    watched.how = (
                        f"scans every {SCAN_EVERY:.0f} seconds, because the disk reports no changes "
                        f"({error})"[:300]
                    )
                    self._by_scans(folder_id, watched)
        finally:
            self.engine.stay.let_go(_key(folder_id))

    def _by_events(self, folder_id: str, watched: _WatchedFolder) -> None:
        from watchfiles import watch

        if _is_remote(watched.path):
            raise OSError("it is on a network disk")
        watched.how = "events of the disk"
        rounds = watch(
            watched.path,
            watch_filter=lambda change, path: ".armarium-" not in path,
            step=50,
            debounce=GATHERED,
            rust_timeout=int(ROUND * 1000),
            yield_on_timeout=True,
            stop_event=watched.stop,
            raise_interrupt=False,
            recursive=True,
            ignore_permission_denied=True,
        )
        for changes in rounds:
            if self._is_over(watched) or not Path(watched.path).is_dir():
                return
            if changes:
                self._look(folder_id)

    def _by_scans(self, folder_id: str, watched: _WatchedFolder) -> None:
        looked = time.monotonic()
        while not watched.stop.wait(ROUND) and not self._is_over(watched):
            if time.monotonic() - looked >= SCAN_EVERY:
                looked = time.monotonic()
                self._look(folder_id)

    def _look(self, folder_id: str) -> None:
        try:
            put_in_queue(self.engine, self.library, "sync-look", folder_id)
        except Exception:
            # The project is being closed: whoever opens it next scans the folder completely.
            log.debug("a scan could not be enqueued", exc_info=True)


def tend(engine: Engine, library: Library) -> None:
    """Have an open project watch its folders with intake on; do nothing if background work is off."""
    if not engine.jobs.is_started:
        return
    with library.db.read_all() as conn:
        paths_by_id = {row.id: row.path for row in tied_folders(conn) if row.intake}
    watch = library.held.get(HELD)
    if watch is None:
        if not paths_by_id:
            return
        watch = library.held.setdefault(HELD, Watch(engine, library))
    watch.tend(paths_by_id)


def _key(folder_id: str) -> str:
    return f"sync.{folder_id}"


def _is_remote(path: str) -> bool:
    """Return whether a folder is on a disk of another machine, which reports only what this one does there
    (known on Linux only).
    """
    try:
        with open("/proc/self/mountinfo", encoding="utf-8") as file:
            mounts = [line.split(" - ", 1) for line in file]
    except OSError:
        return False
    best, kind = "", ""
    for before, after in mounts:
        place = before.split()[4].replace("\\040", " ")
        if (path == place or path.startswith(place.rstrip("/") + "/")) and len(place) >= len(best):
            best, kind = place, after.split()[0]
    return kind.startswith(("nfs", "cifs", "smb", "fuse.sshfs", "9p", "afs", "davfs", "fuse.rclone"))
