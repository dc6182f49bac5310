"""Snapshots of a project: a copy of its database and the list of the files it needs."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from armarium.errors import ServiceError, Unavailable
from armarium.ids import new_id, now
from armarium.principals import Principal
from armarium.store.database import Database
from armarium.store.durable import flush
from armarium.store.objects import ObjectStore


def take(package: Path, db: Database, objects: ObjectStore, reason: str) -> dict[str, Any]:
    """Write a snapshot under `snapshots/`; it is complete when it has its name, or absent.

    Returns `{id, created_at, reason, path, bytes, objects}`. Raises Unavailable (503), and leaves nothing behind, when
    the disk refuses.
    """
    folder = package / "snapshots"
    identity = new_id()
    at = now()
    temporary = folder / f".{identity}.new"
    final = folder / f"{at.replace(':', '-')}-{identity[-8:]}"
    try:
        temporary.mkdir(parents=True)
        db.backup(temporary / "library.sqlite")
        digests = sorted(objects.digests())
        (temporary / "objects.txt").write_text("".join(f"{digest}\n" for digest in digests), encoding="ascii")
        entry = {
            "id": identity,
            "created_at": at,
            "reason": reason,
            "bytes": (temporary / "library.sqlite").stat().st_size,
            "objects": len(digests),
        }
        with (temporary / "snapshot.json").open("w", encoding="utf-8") as file:
            json.dump(entry, file, indent=2)
            file.flush()
            flush(file.fileno())
        os.rename(temporary, final)
    except (OSError, sqlite3.Error, ServiceError) as error:
        raise Unavailable(
            f"No snapshot could be made ({_words(error)}), so nothing was changed. "
            "See that the project's disk has room and can be written.",
            code="snapshot_failed",
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return {**entry, "path": str(final)}


def told_to(principal: Principal, db: Database, entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry as *principal* may know it: without the size, where something is withheld from them."""
    limited = db.visibility is not None and db.visibility.limits(principal)
    return {**entry, "bytes": None} if limited else entry


def list_snapshots(package: Path) -> list[dict[str, Any]]:
    """Return the snapshots of a package, newest first."""
    entries = []
    for card in (package / "snapshots").glob("*/snapshot.json"):
        try:
            entries.append({**json.loads(card.read_text(encoding="utf-8")), "path": str(card.parent)})
        except (OSError, ValueError):
            continue
    return sorted(entries, key=lambda entry: (str(entry["created_at"]), str(entry["id"])), reverse=True)


def remove_old(package: Path, keep: int) -> int:
    """Remove all but the newest *keep* snapshots; return how many were removed."""
    surplus = list_snapshots(package)[keep:]
    for entry in surplus:
        shutil.rmtree(entry["path"], ignore_errors=True)
    return len(surplus)


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)
