"""The extension point of reading: lines that have a reader of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from armarium.api import hookspec


class OwnReader(NamedTuple):
    """A reader of this machine by name, and the model to use (None: the one that comes with it)."""

    reader: str
    model: str | None


@hookspec
def armarium_reading_own_readers(conn: Connection, segment_ids: Sequence[str]) -> Mapping[str, OwnReader]:
    """Return those of *segment_ids* that have a reader of their own.

    Called once per page in a job that reads lines, in its thread, with a read-only connection. If two plugins name a reader
    for the same line, the plugin loaded first wins; a line without one is read by the reader of the page.
    """
