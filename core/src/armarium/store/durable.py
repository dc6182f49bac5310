"""Flushing bytes to the disk itself, so that they survive a power cut and not only the end of the process."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

try:
    import fcntl

    _FULL: int | None = getattr(fcntl, "F_FULLFSYNC", None)
except ImportError:  # Windows, whose fsync flushes to the disk
    _FULL = None


def flush(descriptor: int) -> None:
    """Return once what was written to *descriptor* is on the disk; raises OSError where the disk refuses.

    On macOS, fsync only reaches the drive's cache; F_FULLFSYNC waits for the disk. File systems that do not support it
    (network file systems) get the fsync.
    """
    if _FULL is not None:
        with suppress(OSError):
            fcntl.fcntl(descriptor, _FULL)
            return
    os.fsync(descriptor)


def flush_path(path: Path) -> None:
    """Flush a file or a folder by its path: of a folder its entries, so that a rename in it survives."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        flush(descriptor)
    finally:
        os.close(descriptor)


def flush_commits(conn: sqlite3.Connection) -> None:
    """Make commits and checkpoints of *conn* wait for the disk itself, on macOS too (elsewhere SQLite ignores it)."""
    conn.execute("PRAGMA synchronous=FULL")
    conn.execute("PRAGMA fullfsync=ON")
    conn.execute("PRAGMA checkpoint_fullfsync=ON")
