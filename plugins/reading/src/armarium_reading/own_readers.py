"""Lines that have a reader of their own: another family may name one, and it replaces the reader of the page."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from armarium.api import JobContext, NameOrMaterialPath, ServiceError
from armarium_reading.hookspecs import OwnReader, armarium_reading_own_readers
from armarium_reading.readers import Choice, choose


def own_choices(job: JobContext, conn: Connection, segment_ids: Sequence[str]) -> dict[str, Choice]:
    """Return the installed reader for each line that has its own; one that cannot run is logged and ignored."""
    reader_of_line: dict[str, OwnReader] = {}
    for readers in job.engine.points.ask(armarium_reading_own_readers, conn, segment_ids):
        for segment_id, own in readers.items():
            reader_of_line.setdefault(segment_id, own)
    here: dict[OwnReader, Choice | None] = {}
    for own in reader_of_line.values():
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
    return {
        segment_id: choice for segment_id, own in reader_of_line.items() if (choice := here[own]) is not None
    }
