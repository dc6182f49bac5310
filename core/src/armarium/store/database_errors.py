"""SQLite's errors as refusals that a person can act on."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy.exc import DBAPIError, StatementError

from armarium.errors import (
    Conflict,
    ServiceError,
    Unavailable,
    is_damage,
    is_out_of_files,
    refused_by_disk,
    too_many_files,
)

damaged_database = Conflict.saying(
    "library_damaged",
    "The database is damaged: {what}. Nothing was changed. Run `armarium doctor` and restore a snapshot.",
)


def as_refusal(error: Exception, path: Path, refusal: str | None = None) -> ServiceError | Exception:
    """Return *error* of SQLite as a refusal where a person can act on it, else *error* itself.

    *refusal* says why steps are refused already; where a column or table is then missing, that is the reason.
    """
    original = (error.orig if isinstance(error, StatementError) else error) or error
    if (
        isinstance(error, StatementError)
        and not isinstance(error, DBAPIError)
        and isinstance(original, Exception)
    ):
        # A value that no column can hold, rejected before it reached the database.
        return original
    text = str(original)
    if "disk is full" in text:
        return Unavailable(
            f"The disk that holds {path.parent.name} is full; nothing was changed. Free some space and try again.",
            code="disk_full",
        )
    if "readonly database" in text or "read-only" in text:
        return Unavailable(
            f"{path.parent.name} cannot be written (the disk or the file is read-only); nothing was changed.",
            code="read_only",
        )
    if is_out_of_files(original):
        return too_many_files()
    if "disk I/O error" in text or "unable to open database file" in text:
        return Unavailable(
            f"The disk that holds {path.parent.name} answered with an error; nothing was changed. "
            "Check the disk and try again.",
            code="disk_error",
        )
    if refusal is not None and "no such " in text:
        return Conflict(refusal, code="library_damaged")
    if is_damage(original):
        return Conflict(
            f"The database of {path.parent.name} is damaged. Run `armarium doctor` and restore a snapshot.",
            code="library_damaged",
        )
    return error


def is_the_disk(error: BaseException) -> bool:
    """Return whether *error* concerns the disk or the database's bytes, and not the statement."""
    cause = getattr(error, "orig", None) or error
    return (
        isinstance(error, Unavailable)
        or refused_by_disk(cause) is not None
        or (
            isinstance(cause, sqlite3.Error)
            and isinstance(as_refusal(cause, Path("a/database")), ServiceError)
        )
    )


writer_busy = Unavailable.saying(
    "busy", "Another write has held the project for {waited:.0f} seconds; try again in a moment."
)
