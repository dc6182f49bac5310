"""What a model is shown of a page: the lines and signs of its working pass, with their counting readings."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from armarium_source_model.api import (
    counting_readings,
    read_lines,
    reading_rule,
    segments_of,
    text_fingerprint,
    working_pass,
)


class Line(NamedTuple):
    """A line with its counting reading; runs of white space are single spaces, so that the text cannot start
    a new line.
    """

    segment_id: str
    text: str
    by_person: bool
    """Whether a person wrote or chose the reading."""
    cell: dict[str, Any] | None
    """The row and column of the line in a table, counted from 0."""


class PageLines(NamedTuple):
    """The lines of a page that have words, in reading order; no pass if the page has none."""

    pass_id: str | None
    lines: tuple[Line, ...]

    @property
    def fingerprint(self) -> str:
        """Return a fingerprint of the text that is sent; a result made from it is stale once it changes."""
        return text_fingerprint("\n".join(line.text for line in self.lines))

    @property
    def marks(self) -> dict[str, str | None]:
        """Return what says of a result which text it was made from."""
        return {"pass_id": self.pass_id, "text_fingerprint": self.fingerprint}


def single_spaced(text: str) -> str:
    """Return *text* on one line."""
    return " ".join(text.split())


def lines_of(conn: Connection, document_id: str) -> PageLines:
    """Return the transcribed lines of a page."""
    rule = reading_rule(conn)
    pass_id, _ = working_pass(conn, document_id, rule)
    if pass_id is None:
        return PageLines(None, ())
    read = read_lines(conn, document_id, pass_id, rule)
    lines = []
    for row in read.in_order("line"):
        reading = read.counting.get(row.id)
        if reading is None or not reading.text.strip():
            continue
        holder = read.segments.get(row.parent_segment_id or "")
        cell = row.cell or (holder.cell if holder is not None else None)
        by_person = reading.basis != "newest-machine-unchosen"
        lines.append(Line(row.id, single_spaced(reading.text), by_person, cell))
    return PageLines(pass_id, tuple(lines))


def texts_of(conn: Connection, pass_id: str, kind: str) -> dict[str, str]:
    """Return the counting readings of the segments of a pass, by kind."""
    rule = reading_rule(conn)
    return {key: reading.text for key, reading in counting_readings(conn, pass_id, kind, rule).items()}


DESCRIPTION = "description"
"""The kind of reading that says what a sign is."""


def signs_of(conn: Connection, document_id: str) -> tuple[str | None, list[Row[Any]]]:
    """Return the working pass of a page, and its words that are marked as signs."""
    pass_id, _ = working_pass(conn, document_id, reading_rule(conn))
    if pass_id is None:
        return None, []
    return pass_id, [row for row in segments_of(conn, pass_id, "word") if row.kind_raw == "sign"]
