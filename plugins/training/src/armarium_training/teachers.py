"""Who is meant by a teacher: the pass that it read, and the readings that are its own. Which of them are used, `line_sets` says."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Connection, false, or_, select

from armarium.api import is_among
from armarium_documents.api import representations
from armarium_source_model.api import CountingText, list_passes, reading_rule, segments, working_pass

IMPORTED = "external_import"
BY_PERSON = frozenset({"chosen", "correction", "newest-human"})
"""The reasons for which a reading counts if a person made or chose it."""


def pass_of(conn: Connection, page: str, named: str | None) -> str | None:
    """Return the newest live pass of a page that has the name *named*, or that a model or reader of that name
    made or read.
    """
    if named is None:
        return working_pass(conn, page, reading_rule(conn))[0]
    read_by = {
        row[0]
        for row in conn.execute(
            select(segments.c.pass_id)
            .join(representations, representations.c.segment_id == segments.c.id)
            .where(
                representations.c.document_id == page,
                representations.c.retracted.is_(False),
                (representations.c.producer_tool == named) | (representations.c.producer_model == named),
            )
            .distinct()
        )
    }
    pass_id = None
    for row in list_passes(conn, page):
        if named in (row["model"], row["provider"], row["name"]) or row["id"] in read_by:
            pass_id = row["id"]
    return pass_id


def made_by(teacher: str | None, *, from_files: bool) -> ColumnElement[bool]:
    """Return the condition of readings that *teacher* made: a reader, a model or a format; or that came with any file."""
    reading = representations.c
    return or_(
        false()
        if teacher is None
        else (reading.producer_tool == teacher) | (reading.producer_model == teacher),
        reading.provenance_kind == IMPORTED if from_files else false(),
    )


def newest_of(
    conn: Connection, counting: Mapping[str, CountingText], whose: ColumnElement[bool]
) -> dict[str, CountingText]:
    """Return, for those of the lines that have one, the newest reading of *whose*: what another machine read there later
    does not take its place. Lines whose reading a person made or chose are left out.
    """
    by_nobody = [segment_id for segment_id, reading in counting.items() if reading.basis not in BY_PERSON]
    rows = conn.execute(
        select(
            representations.c.segment_id,
            representations.c.id,
            representations.c.content,
            representations.c.provenance_kind,
        )
        .where(
            is_among(representations.c.segment_id, by_nobody),
            whose,
            representations.c.kind == "transcription",
            representations.c.retracted.is_(False),
        )
        .order_by(representations.c.created_at, representations.c.id)
    )
    return {
        row.segment_id: counting[row.segment_id]._replace(
            representation_id=row.id,
            text=row.content or "",
            labelled_machine=row.provenance_kind != IMPORTED,
        )
        for row in rows
    }
