"""Scans a folder and acts on the result: changed files and new pictures come in, moved ones are followed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Row

from armarium.api import Engine, Library, ServiceError
from armarium_sync.arranging import carry_out
from armarium_sync.looking import SETTLED, Sight, StrangerFile, beside_image, look
from armarium_sync.noting import clear_leavings, note, settle_reports
from armarium_sync.placing import folder_for
from armarium_sync.queries import row_of_file
from armarium_sync.rows import change_file, disk_of, folder_by_id, waiting

log = logging.getLogger("armarium.sync")

MOST_AT_ONCE = 5_000
"""How many pictures one import contains."""


@dataclass
class Outcome:
    """The result of a scan. `again`: seconds after which to scan once more, because something was still being
    written.
    """

    there: bool = True
    passes: int = 0
    images: int = 0
    followed: int = 0
    moved: int = 0
    to_write: bool = False
    again: float | None = None
    refused: list[str] = field(default_factory=list)


class Looker:
    """Scans one folder. *run* runs an action as the principal of this work; *check* is called between two files."""

    def __init__(
        self,
        engine: Engine,
        library: Library,
        folder_id: str,
        run: Callable[[str, dict[str, Any]], Any],
        *,
        check: Callable[[], None] = lambda: None,
        warn: Callable[[str], None] = lambda words: None,
    ) -> None:
        self.engine, self.library, self.folder_id, self.act = engine, library, folder_id, run
        self.check, self.warn = check, warn
        self.outcome = Outcome()

    def run(self, *, thorough: bool = False) -> Outcome:
        """Scan once. Killed anywhere and run again, it imports nothing twice and loses nothing."""
        outcome = self.outcome
        outcome.moved = carry_out(self.library, self.folder_id)
        with self.library.db.read_all() as conn:
            folder = folder_by_id(conn, self.folder_id)
            if folder is None:
                return outcome
            disk = disk_of(self.library, folder)
            sight = look(self.library, conn, folder, disk, thorough=thorough)
        if not sight.there:
            outcome.there = False
            return outcome
        with self.library.db.write() as conn:
            sight.others += clear_leavings(conn, folder.id, disk, sight)
            settle_reports(conn, folder.id, disk, sight)
            note(conn, folder, sight)
        if folder.intake:
            self._take_changes(folder, sight)
            self._take_images(folder, sight)
        if folder.mode == "keep-arranged":
            for _, stranger in sight.followed:
                self._follow(folder, stranger)
        with self.library.db.read_all() as conn:
            outcome.to_write = bool(waiting(conn, folder.id)) and bool(folder.formats)
        if sight.restless:
            outcome.again = SETTLED
        return outcome

    def _take_changes(self, folder: Row[Any], sight: Sight) -> None:
        # For a file that was moved and changed, the new place is recorded with its present content.
        moved = []
        with self.library.db.read_all() as conn:
            for row, stranger in sight.moved:
                known_row = row_of_file(conn, folder.id, stranger.entry.path)
                if known_row is not None and stranger.digest != row.digest:
                    moved.append(known_row)
        for row in [*(row for row, _, _ in sight.changed), *moved]:
            if row.role != "layout":
                continue
            self.check()
            if self._is_refused(row):
                continue
            try:
                self.act("sync.take_in", {"file_id": row.id})
                self.outcome.passes += 1
            except ServiceError as refusal:
                self._note_refusal(row.id, row.path, refusal.detail)

    def _is_refused(self, row: Row[Any]) -> bool:
        """Return whether this very version was refused before; recorded since the scan."""
        with self.library.db.read_all() as conn:
            row_now = row_of_file(conn, self.folder_id, row.path)
        return row_now is not None and row_now.state == "refused"

    def _note_refusal(self, file_id: str, path: str, why: str) -> None:
        self.warn(f"{path}: {why}")
        self.outcome.refused.append(path)
        with self.library.db.write() as conn:
            change_file(conn, file_id, state="refused", why=why)

    def _take_images(self, folder: Row[Any], sight: Sight) -> None:
        by_place: dict[tuple[str, ...], list[StrangerFile]] = {}
        for image in sight.images:
            by_place.setdefault(PurePosixPath(image.entry.path).parts[:-1], []).append(image)
        for names, images in sorted(by_place.items()):
            self.check()
            waiting, images = images[MOST_AT_ONCE:], images[:MOST_AT_ONCE]
            paths = [image.entry.path for image in images]
            beside = {
                other.entry.path
                for path in paths
                for other in beside_image(path, sight.beside)
                if PurePosixPath(other.entry.path).parts[: len(names)] == names
            }
            full = [str(PurePosixPath(folder.path) / path) for path in [*paths, *sorted(beside)]]
            try:
                with self.library.db.read_all() as conn:
                    parent = folder_for(conn, folder, names, self.act)
                self.act("document.import", {"paths": full, "parent_id": parent})
            except ServiceError as refusal:
                self.warn(f"{'/'.join(names) or 'The folder'}: {refusal.detail}")
                continue
            with self.library.db.write() as conn:
                for path in paths:
                    row = row_of_file(conn, folder.id, path)
                    if row is not None:
                        change_file(conn, row.id, state="tried")
            self.outcome.images += len(images)
            if waiting:
                # Nothing on the disk will report them: they come in with the next scan, which follows at once.
                self.outcome.again = SETTLED

    def _follow(self, folder: Row[Any], stranger: StrangerFile) -> None:
        self.check()
        with self.library.db.read_all() as conn:
            row = row_of_file(conn, folder.id, stranger.entry.path)
        if row is None:
            return
        try:
            self.act("sync.follow", {"file_id": row.id})
            self.outcome.followed += 1
        except ServiceError as refusal:
            self.warn(f"{stranger.entry.path}: {refusal.detail}")
