"""A package on disk: its folders, card, database and lock, and where packages may lie."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from armarium.errors import Conflict, ServiceError, Unavailable, is_out_of_files, too_many_files
from armarium.history.schema import FORMAT
from armarium.ids import new_id, now
from armarium.store.database import Database, raw_of

DATABASE = "library.sqlite"
CARD = "library.json"
FOLDERS = ("objects", "models", "recipe", "derived", "snapshots")


def lay_out(folder: Path) -> None:
    """Create a new package's folders and its card; its database is created after them."""
    folder.mkdir()
    for part in FOLDERS:
        (folder / part).mkdir()
    card = {"format": FORMAT, "library_uuid": new_id(), "created_at": now()}
    (folder / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")


def refuse_links(folder: Path) -> None:
    """Raise Conflict for a package whose own parts are links: its contents would be read and written somewhere else."""
    inner = (folder / "objects").glob("[0-9a-f][0-9a-f]")
    parts = [folder / name for name in (*FOLDERS, DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", CARD)]
    parts += [folder / "objects" / "tmp", folder / "engine.lock", folder / "engine.json", *inner]
    for part in parts:
        if part.is_symlink():
            raise Conflict(
                f"{folder.name} is not a valid package: its {part.relative_to(folder)} is a link to another place. "
                "Put the files themselves there; nothing was changed.",
                code="library_damaged",
            )


def read_card(folder: Path) -> dict[str, Any]:
    """Return the contents of `library.json`; raises Conflict for a package that is incomplete or of a newer engine."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        library_uuid, format_number = str(card["library_uuid"]), int(card["format"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        if is_out_of_files(error):
            raise too_many_files() from error
        raise Conflict(
            f"{folder.name} has no readable {CARD}: the package is incomplete. Restore it from a backup.",
            code="library_damaged",
        ) from error
    if format_number > FORMAT:
        raise Conflict(
            f"{folder.name} was written by a newer engine (package format {format_number}, this engine knows {FORMAT}). "
            "Update the engine to open it; nothing was changed.",
            code="library_too_new",
        )
    optional = {key: card.get(key) for key in ("branch", "owner_name")}
    return {"library_uuid": library_uuid, "format": format_number, **optional}


def open_database(place: Path) -> Database:
    """Open the package's database and check it before use; raises Conflict when it is damaged or newer."""
    damaged = Conflict(
        f"The database of {place.name} is damaged or is no SQLite database. "
        "Run `armarium doctor` and restore a snapshot; nothing was changed.",
        code="library_damaged",
    )
    try:
        db = Database(place / DATABASE)
    except Exception as error:
        raise _explain_error(error, damaged) from error
    try:
        with db.read() as conn:
            raw = raw_of(conn)
            (version,) = raw.execute("PRAGMA user_version").fetchone()
            raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
            raw.execute("SELECT seq FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
        if version > FORMAT:
            raise Conflict(
                f"{place.name} was written by a newer engine (format {version}, this engine knows {FORMAT}). "
                "Update the engine to open it; nothing was changed.",
                code="library_too_new",
            )
    except sqlite3.Error as error:
        db.close()
        raise _explain_error(error, damaged) from error
    except BaseException:
        db.close()
        raise
    return db


def _explain_error(error: Exception, damaged: ServiceError) -> Exception:
    if is_out_of_files(error):
        return too_many_files()
    text = str(error)
    if "not a database" in text or "malformed" in text:
        return damaged
    if "readonly" in text or "unable to open" in text:
        return Unavailable(f"The database cannot be opened for writing: {text}.", code="read_only")
    return error if isinstance(error, ServiceError) else damaged


def take_lock(place: Path) -> FileLock:
    """Lock the package for this engine; raises Conflict that names the holder."""
    # A request opens a project in one thread and another releases it: the lock is the process's, not a thread's.
    lock = FileLock(place / "engine.lock", thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Conflict(
            f"{place.name} is held by another engine{_holder(place)}. Stop that one, or release the project there.",
            code="library_locked",
        ) from None
    except OSError as error:
        if is_out_of_files(error):
            raise too_many_files() from error
        raise Unavailable(
            f"{place.name} cannot be locked: {error.strerror}. Its folder must be writable.", code="read_only"
        ) from error
    return lock


def no_lock() -> FileLock:
    """Return the lock of a package that is not shared yet."""
    return FileLock(os.devnull)


def note_holder(place: Path) -> None:
    """Record who holds the package, for the refusal another engine gives."""

    card = {"pid": os.getpid(), "host": platform.node(), "since": now()}
    (place / "engine.json").write_text(json.dumps(card), encoding="utf-8")


def _holder(place: Path) -> str:
    try:
        card = json.loads((place / "engine.json").read_text(encoding="utf-8"))
        return f" (process {card['pid']} on {card['host']}, since {card['since']})"
    except (OSError, ValueError, KeyError):
        return ""


def allowed_roots(extra: Iterable[Path]) -> list[Path]:
    """Return the folders that may hold projects: home, mounted volumes, the temporary folder, and *extra*."""
    import tempfile

    roots = [
        Path.home(),
        Path(tempfile.gettempdir()),
        Path("/Volumes"),
        Path("/media"),
        Path("/run/media"),
        Path("/mnt"),
        *extra,
    ]
    return list(dict.fromkeys(path for root in roots for path in (root, root.resolve())))
