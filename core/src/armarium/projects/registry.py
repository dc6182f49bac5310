"""The registry of projects: which ones this engine knows, a copy of some of their settings, when each was last used."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Connection, MetaData, Table, Text

from armarium.errors import Conflict, NotFound
from armarium.guard.closed_places import PACKAGE_SUFFIX
from armarium.ids import new_id, now
from armarium.store.database import raw_of
from armarium.store.tables import Json, operational, tracked

if TYPE_CHECKING:
    from armarium.projects.libraries import Library

SUFFIX = PACKAGE_SUFFIX

registered_metadata = MetaData()

library_known = Table(
    "library_known",
    registered_metadata,
    Column("id", Text, primary_key=True),
    Column("library_uuid", Text, nullable=False),
    Column("path", Text, nullable=False, unique=True),
    # The name when it was registered; its current name is in `library_shown`.
    Column("name", Text),
    Column("added_at", Text, nullable=False),
    info=tracked(label="registered project"),
)

library_seen = Table(
    "library_seen",
    registered_metadata,
    Column("path", Text, primary_key=True),
    Column("last_accessed", Text, nullable=False),
    info=operational(),
)

library_shown = Table(
    "library_shown",
    registered_metadata,
    Column("path", Text, primary_key=True),
    Column("settings", Json, nullable=False),
    info=operational(),
)
"""The copy of some of a project's settings, so that a closed one shows them too."""

SHOWN: dict[str, Any] = {
    "name": None,
    "snapshot_interval_seconds": 0,
    "snapshot_retention_count": 10,
    "snapshot_offsite_path": None,
}
"""Settings that the registry copies, each with its default."""


def register(conn: Connection, library: Library) -> dict[str, Any]:
    """Register an open project if necessary, with its settings and the time of use; return its entry."""
    raw, path = raw_of(conn), str(library.path)
    if raw.execute("SELECT 1 FROM library_known WHERE path = ?", (path,)).fetchone() is None:
        raw.execute(
            "INSERT INTO library_known (id, library_uuid, path, name, added_at) VALUES (?, ?, ?, ?, ?)",
            (new_id(), library.uuid, path, library.setting("name"), now()),
        )
    note_settings(raw, library)
    note_use(raw, path)
    (entry,) = entries(raw, {path}, path)
    return entry


def note_settings(raw: sqlite3.Connection, library: Library) -> None:
    """Update the registry's copy of the settings of *library*."""
    raw.execute(
        "INSERT INTO library_shown (path, settings) VALUES (?, ?) "
        "ON CONFLICT (path) DO UPDATE SET settings = excluded.settings",
        (str(library.path), shown_settings(library)),
    )


def shown_settings(library: Library) -> str:
    """Return the settings of *library* that the registry copies, in its form."""
    settings = library.settings()
    return json.dumps({key: settings[key] for key in SHOWN if key in settings}, ensure_ascii=False)


def note_use(raw: sqlite3.Connection, path: str) -> None:
    """Record that the project at *path* is used now."""
    raw.execute(
        "INSERT INTO library_seen (path, last_accessed) VALUES (?, ?) "
        "ON CONFLICT (path) DO UPDATE SET last_accessed = excluded.last_accessed",
        (path, now()),
    )


def entries(raw: sqlite3.Connection, held: Collection[str], path: str | None = None) -> list[dict[str, Any]]:
    """Return the registered projects, by path; *held* are the paths of those that are open."""
    rows = raw.execute(
        "SELECT k.id, k.library_uuid, k.path, k.name, k.added_at, s.last_accessed, n.settings FROM library_known k "
        "LEFT JOIN library_seen s ON s.path = k.path LEFT JOIN library_shown n ON n.path = k.path "
        "WHERE ? IS NULL OR k.path = ? ORDER BY k.path",
        (path, path),
    ).fetchall()
    return [
        {
            "id": identity,
            "library_uuid": library_uuid,
            "path": place,
            "is_open": place in held,
            "added_at": added_at,
            "last_accessed": last_accessed or added_at,
            **SHOWN,
            **(json.loads(settings) if settings else {"name": name}),
        }
        for identity, library_uuid, place, name, added_at, last_accessed, settings in rows
    ]


def resolve(known: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return the one of the *known* projects called *name*: by path first, then by shown name, ignoring case."""
    text = unicodedata.normalize("NFC", name)
    for entry in known:
        if entry["path"] == text:
            return entry
    matches = [entry for entry in known if shown_name(entry).casefold() == text.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        paths = [entry["path"] for entry in matches]
        raise Conflict(
            f"{len(matches)} projects are called {text}: {', '.join(paths)}. Name one by its path.",
            paths=paths,
        )
    listed = [{"name": shown_name(entry), "path": entry["path"]} for entry in known]
    words = ", ".join(entry["name"] for entry in listed) or "none yet"
    raise NotFound(f"No project is called {text[:120]}. Known projects: {words}.", known=listed)


def known_path(place: Path, held: list[Path], known: list[dict[str, Any]]) -> Path:
    """Return the path by which the package at *place* is *held* open or *known*, else *place*: a link is not a second project."""
    paths = [*held, *(Path(entry["path"]) for entry in known)]
    if place in paths:
        return place
    return next((path for path in paths if path.is_dir() and path.samefile(place)), place)


def shown_name(entry: dict[str, Any]) -> str:
    """Return the name a registered project is shown by."""
    return str(entry["name"] or Path(entry["path"]).name.removesuffix(SUFFIX))
