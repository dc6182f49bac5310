"""Lines that have a reader of their own: another family may name one, and it replaces the reader of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from sqlalchemy import Connection

from armarium.api import JobContext, NameOrMaterialPath, ServiceError
from armarium_reading.readers import Choice, choose

EXTRAS = "line_readers"


class OwnReader(NamedTuple):
    """A reader of this machine by name, and the model to use (None: the one that comes with it)."""

    reader: str
    model: str | None


class LineReaders(Protocol):
    """Says which lines have a reader of their own: put one into the plugin's `extras["line_readers"]`.

    Called once per page in a job that reads lines, with a read-only connection. If two plugins name a reader
    for the same line, the plugin loaded first wins; a line without one is read by the reader of the page.
    """

    def __call__(self, conn: Connection, segment_ids: Sequence[str]) -> Mapping[str, OwnReader]:
        """Return those of *segment_ids* that have one."""


def own_choices(job: JobContext, conn: Connection, segment_ids: Sequence[str]) -> dict[str, Choice]:
    """Return the installed reader for each line that has its own; one that cannot run is logged and ignored."""
    named: dict[str, OwnReader] = {}
    for _, ask in job.engine.plugins.contributions(EXTRAS):
        for segment_id, own in ask(conn, segment_ids).items():
            named.setdefault(segment_id, own)
    here: dict[OwnReader, Choice | None] = {}
    for own in named.values():
        if own in here:
            continue
        model = None if own.model is None else NameOrMaterialPath(own.model)
        try:
            here[own] = choose(job.engine, job.library, reader=own.reader, method="read_lines", model=model)
        except ServiceError as refusal:
            job.log(
                "warning",
                "The own reader of some lines cannot run here, so the page's reader reads them. "
                f"{refusal.detail}",
            )
            here[own] = None
    return {segment_id: choice for segment_id, own in named.items() if (choice := here[own]) is not None}
