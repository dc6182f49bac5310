"""Projects on disk: packages created, opened, locked, found by name and released."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import threading
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from armarium.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    ServiceError,
    Unavailable,
    moved_away,
    refused_by_disk,
)
from armarium.guard.places import is_too_long, look_over
from armarium.ids import new_id
from armarium.jobs.activity import record_activity
from armarium.principals import Principal
from armarium.projects import registry, snapshots
from armarium.projects.packages import (
    DATABASE,
    lay_out,
    no_lock,
    note_holder,
    open_database,
    read_card,
    refuse_links,
    take_lock,
)
from armarium.projects.registry import SUFFIX
from armarium.projects.seeding import seed
from armarium.store.database import Database, raw_of
from armarium.store.durable import flush_path
from armarium.store.objects import ObjectStore

if TYPE_CHECKING:
    from armarium.engine import Engine
    from armarium.history.schema import Schema

log = logging.getLogger("armarium.projects.libraries")

ENGINE_ITSELF = Principal("machine", "engine", "owner", folders=None)
"""Who registers a package that a request opened by its path."""


def project_setting(conn: Connection, key: str, default: Any = None) -> Any:
    """Like `Library.setting`, from what *conn* shows of the project."""
    row = raw_of(conn).execute("SELECT value FROM library_setting WHERE key = ?", (key,)).fetchone()
    return default if row is None else json.loads(row[0])


@dataclass
class Library:
    """An open project: its database, its files and its folders. Held by one engine at a time."""

    path: Path
    uuid: str
    db: Database
    objects: ObjectStore
    _lock: FileLock
    schema: Schema
    """The tables it was opened with: without those of a plugin that does not work in it."""
    is_branch: bool = False
    """Whether it is a branch of a project (`armarium.projects.branches`), which the registry does not list."""
    owner_name: str | None = None
    """What the person at this machine is called in its log: in a branch sent to a colleague, the name of whom it is for."""
    held: dict[str, Any] = field(default_factory=dict)
    """What families keep of it in memory, under names that begin with theirs; dropped when it is closed."""

    def __post_init__(self) -> None:
        self._database = str(self.path / DATABASE)
        self._opened = _file_at(self._database)

    def in_place(self) -> bool:
        """Whether its path still leads to the package that was opened: not moved, renamed, removed or replaced since."""
        return self._opened is not None and _file_at(self._database) == self._opened

    def is_closed(self, status: os.stat_result) -> bool:
        """Return whether a file that a caller named is kept by an engine or a project (asked by `open_plain`)."""
        return self.objects.rules is not None and self.objects.rules.is_closed(status)

    @property
    def name(self) -> str:
        """The name people see: the one given, else the package's without its suffix."""
        return str(self.setting("name") or self.path.name.removesuffix(SUFFIX))

    @property
    def derived_folder(self) -> Path:
        """Files that can be regenerated (thumbnails); safe to delete."""
        return self._folder("derived")

    @property
    def models(self) -> Path:
        """Models that belong to this project."""
        return self._folder("models")

    @property
    def recipe(self) -> Path:
        """The project's recipe files."""
        return self._folder("recipe")

    @property
    def snapshots(self) -> Path:
        """Copies of the database, each with the list of files it needs."""
        return self._folder("snapshots")

    def _folder(self, name: str) -> Path:
        # Creating folders there would make half a package where this one was.
        if not self.in_place():
            raise moved_away(self.path.name)
        return self.path / name

    def setting(self, key: str, default: Any = None) -> Any:
        """Return a project setting (`reading_rule`, `name`, …), or *default* when it was never set."""
        return self.settings().get(key, default)

    @property
    def asks_this_machine_alone(self) -> bool:
        """Whether its setting `local_only_ai` keeps it from models that are not on this machine, and from listing any."""
        return bool(self.setting("local_only_ai"))

    def settings(self) -> dict[str, Any]:
        """Return every setting that was set."""
        with self.db.read() as conn:
            rows = raw_of(conn).execute("SELECT key, value FROM library_setting").fetchall()
        return {key: json.loads(value) for key, value in rows}

    def snapshot(self, reason: str) -> dict[str, Any]:
        """Copy the database and list the files it needs; raises Unavailable when that fails."""
        return snapshots.take(self.path, self.db, self.objects, reason)

    def close(self) -> None:
        """Close the database and release the package for other engines."""
        self.held.clear()
        self.db.close()
        try:
            # While the lock is held, and only of this package: another's card may lie there next.
            if self.in_place():
                (self.path / "engine.json").unlink(missing_ok=True)
        finally:
            self._lock.release()


def _file_at(path: str) -> tuple[int, int] | None:
    """Return device and inode of the file at *path*, or None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class Libraries:
    """The projects this engine knows and those it holds open."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._open: dict[str, Library] = {}
        self._lock = threading.RLock()
        self._letting_go = threading.Lock()

    def open_now(self) -> list[Library]:
        """Return the open projects, from a snapshot taken under the lock."""
        with self._lock:
            return list(self._open.values())

    def open_at(self, path: str) -> Library | None:
        """Return the open project at exactly *path*, where it still lies, or None: the hot path of every request."""
        library = self._open.get(path)
        return library if library is not None and library.in_place() else None

    def get(self, path: str | Path) -> Library:
        """Return the project at *path*, opened (and registered) if necessary; never creates a package.

        Refused: wrong suffix or outside the allowed roots 403, no such package 404, held by another engine, damaged or
        written by a newer one 409.
        """
        library = self.open_only(path)
        self._engine.remember(library)
        return library

    def open_only(self, path: str | Path) -> Library:
        """Like `get`, without the registry: for actions that register the project themselves."""
        place = self.check_path(path)
        library = self.open_at(str(place))
        if library is not None:
            return library
        self._let_go_of_moved()
        with self._lock:
            library = self._open.get(str(place))
            if library is not None:
                return library
            library = self._open_package(place)
            self._open[str(place)] = library
            self._engine.library_opened(library)
        self._engine.tell_opened(library)
        return library

    def _let_go_of_moved(self) -> None:
        """Close the projects that were moved, renamed, removed or replaced while they were open.

        What was committed is in the package, wherever that is now; naming it there opens it.
        """
        with self._letting_go:
            for library in [library for library in self.open_now() if not library.in_place()]:
                log.warning("%s is no longer where it was opened, and is closed", library.path)
                try:
                    self._engine.jobs.detach(library)
                except (DBAPIError, sqlite3.Error, ServiceError) as error:
                    log.warning("its jobs could not be counted: %s", error)
                with self._lock:
                    if self._open.get(str(library.path)) is library:
                        self.release(library.path)

    def check_path(self, path: str | Path) -> Path:
        """Return *path* as the canonical spelling of a package's path; raises the refusal."""
        text = unicodedata.normalize("NFC", str(path))
        if "\0" in text:
            raise BadRequest("The project's path holds a null character; send the path of a .library folder.")
        place = Path(text)
        if not place.is_absolute() or ".." in place.parts:
            raise Forbidden(
                "A project is named by its full path, without '..'.",
                code="library_access_denied",
                library_path=text,
            )
        place = Path(os.path.normpath(place))
        if place.suffix != SUFFIX:
            raise Forbidden(
                f"{place.name} is not a project: a project is a folder whose name ends in {SUFFIX}.",
                code="library_access_denied",
                library_path=text,
            )
        if is_too_long(place):
            raise BadRequest(
                "The project's path is longer than a disk takes (255 bytes a name); choose a shorter one.",
                code="path_too_long",
            )
        if not self._engine.allows(place):
            raise Forbidden(
                f"{place} lies outside the folders this engine may use; add its folder to SERVICE_LIBRARY_ROOTS.",
                code="library_access_denied",
                library_path=text,
            )
        # The engine's own global library is the one project in its state folder.
        if place.parent != self._engine.settings.state_dir:
            look_over(place.resolve().parent, self._engine.paths.is_closed)
        if str(place) in self._open or not place.is_dir():
            return place
        paths_in_place = [library.path for library in self.open_now() if library.in_place()]
        return registry.known_path(place, paths_in_place, self.list_registered())

    def create(self, path: str | Path, name: str | None, principal: Principal) -> Library:
        """Create an empty package at *path* and open it; nothing unfinished is ever visible under that name."""
        place = self.check_path(path)
        if place.exists():
            raise Conflict(
                f"{place.name} already exists: name it in a request, which opens it, or choose another name.",
                code="already_exists",
                path=str(place),
            )
        if not place.parent.is_dir():
            raise NotFound(
                f"The folder {place.parent} does not exist; make it first.", code="folder_not_found"
            )
        temporary = place.with_name(f".{new_id()[-12:]}.new")
        try:
            lay_out(temporary)
            db = Database(temporary / DATABASE, create=True)
            try:
                schema = self._engine.library_schema.fit(db)
                objects = self._objects(temporary)
                begun = Library(
                    temporary, read_card(temporary)["library_uuid"], db, objects, no_lock(), schema
                )
                seed(self._engine, begun, name, principal, called=place.name)
            finally:
                db.close()
            os.rename(temporary, place)
            flush_path(place.parent)
        except OSError as error:
            raise Unavailable(
                f"{place.name} could not be made: {error.strerror or error}. Nothing was left behind.",
                code="disk_error",
            ) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return self.open_only(place)

    def _objects(self, folder: Path) -> ObjectStore:
        return ObjectStore(folder / "objects", rules=self._engine.paths)

    def _open_package(self, place: Path) -> Library:
        if not place.is_dir():
            raise NotFound(
                f"There is no project at {place}; make one with library.create.",
                code="library_not_found",
                library_path=str(place),
            )
        if not (place / DATABASE).is_file():
            raise Conflict(
                f"{place.name} has no {DATABASE}: the package is incomplete. Restore it from a snapshot or a backup.",
                code="library_damaged",
            )
        refuse_links(place)
        card = read_card(place)
        lock = take_lock(place)
        db: Database | None = None
        try:
            db = open_database(place)
            objects = self._objects(place)
            objects.clear_temporary()
            migrating = db

            cards: list[dict[str, Any]] = []

            def keep() -> None:
                cards.append(snapshots.take(place, migrating, objects, "before a migration"))

            schema = self._engine.library_schema.fit(db, before_change=keep)
            for snapshot in cards:
                with db.write() as conn:
                    record_activity(
                        conn,
                        "system_info",
                        "The tables were brought up to this version of the engine; a snapshot was taken before.",
                        metadata={"snapshot_id": snapshot["id"]},
                    )
            note_holder(place)
            db.queue.waits = self._engine.state.queue.waits
        except BaseException as error:
            if db is not None:
                db.close()
            lock.release()
            refusal = refused_by_disk(error)
            if refusal is None and isinstance(error, sqlite3.DatabaseError | DBAPIError):
                cause = error.orig if isinstance(error, DBAPIError) else error
                refusal = Conflict(
                    f"The tables of {place.name} cannot be opened ({cause}). The database may be damaged: "
                    "restore a snapshot, and report it if that is refused too.",
                    code="library_damaged",
                )
            if refusal is not None:
                raise refusal from error
            raise
        is_branch = card["branch"] is not None
        return Library(place, card["library_uuid"], db, objects, lock, schema, is_branch, card["owner_name"])

    def release(self, path: str | Path) -> Library | None:
        """Close the project at *path* when it is open, and return it. Its jobs were detached before."""
        with self._lock:
            library = self._open.pop(os.path.normpath(str(path)), None)
            if library is not None:
                library.close()
            return library

    def close(self) -> None:
        """Close every project."""
        with self._lock:
            for library in self._open.values():
                library.close()
            self._open.clear()

    def show(self, library: Library) -> None:
        """Update the registry's copy of the settings of *library*."""
        settings = registry.shown_settings(library)
        with self._engine.state.read() as conn:
            raw = raw_of(conn)
            known_row = raw.execute(
                "SELECT settings FROM library_shown WHERE path = ?", (str(library.path),)
            ).fetchone()
        if known_row is None or known_row[0] != settings:
            with self._engine.state.write() as conn:
                registry.note_settings(raw_of(conn), library)

    def list_registered(self) -> list[dict[str, Any]]:
        """Return the registered projects, by path."""
        with self._engine.state.read() as conn:
            raw = raw_of(conn)
            return registry.entries(raw, set(self._open))

    def resolve(self, name: str) -> dict[str, Any]:
        """Return the registered project called *name*: by path first, then by shown name, ignoring case."""
        return registry.resolve(self.list_registered(), name)
