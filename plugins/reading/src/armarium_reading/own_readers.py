"""Lines that have a reader of their own: what another family says of them goes before the reader of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from sqlalchemy import Connection

from armarium.api import JobContext, NameOrMaterialPath, ServiceError
from armarium_reading.readers import Choice, choose

EXTRAS = "line_readers"


class OwnReader(NamedTuple):
    """A reader of this machine by name, and the model it is given (None: the one that comes with it)."""

    reader: str
    model: str | None


class LineReaders(Protocol):
    """Says which lines have a reader of their own: put one into the plugin's `extras["line_readers"]`.

    Called in a job that reads lines, once a page, with a connection that reads. Of a line that two name the first loaded
    plugin's holds; a line that none names is read by the reader of the page.
    """

    def __call__(self, conn: Connection, segment_ids: Sequence[str]) -> Mapping[str, OwnReader]:
        """Of *segment_ids* those that have one."""


def own_choices(job: JobContext, conn: Connection, segment_ids: Sequence[str]) -> dict[str, Choice]:
    """Of each line that has a reader of its own that reader, as it is here; one that cannot work is logged and passed over."""
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
                f"The reader of some lines cannot work here; the page's reads them. {refusal.detail}",
            )
            here[own] = None
    return {segment_id: choice for segment_id, own in named.items() if (choice := here[own]) is not None}
