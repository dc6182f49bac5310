"""What a model is told of a page: the lines and signs of the pass it is read by, with the readings that count."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import Connection, Row

from armarium_source_model.api import (
    counting_readings,
    line_sequence,
    reading_rule,
    segments_of,
    text_fingerprint,
    working_pass,
)


class Line(NamedTuple):
    """A line with the reading that counts, its white space made single so that nothing in it begins a line anew."""

    segment_id: str
    text: str
    by_person: bool
    """Whether a person wrote or chose it."""
    cell: dict[str, Any] | None
    """Where in a table it stands: row and column from 0."""


class PageLines(NamedTuple):
    """The lines of a page that have words, in reading order; no pass where the page has none."""

    pass_id: str | None
    lines: tuple[Line, ...]

    @property
    def fingerprint(self) -> str:
        """Of the text that is sent; what was made of it is stale when this is another by now."""
        return text_fingerprint("\n".join(line.text for line in self.lines))


def single_spaced(text: str) -> str:
    """*text* on one line."""
    return " ".join(text.split())


def lines_of(conn: Connection, document_id: str) -> PageLines:
    """The transcribed lines of a page."""
    rule = reading_rule(conn)
    pass_id, _ = working_pass(conn, document_id, rule)
    if pass_id is None:
        return PageLines(None, ())
    counting = counting_readings(conn, pass_id, rule=rule)
    regions = {row.id: row for row in segments_of(conn, pass_id, "region")}
    rows = {row.id: row for row in segments_of(conn, pass_id, "line")}
    found = []
    for segment_id in line_sequence(conn, document_id, pass_id, rule):
        row, reading = rows.get(segment_id), counting.get(segment_id)
        if row is None or reading is None or not reading.text.strip():
            continue
        holder = regions.get(row.parent_segment_id)
        cell = row.cell or (holder.cell if holder is not None else None)
        by_person = reading.basis != "newest-machine-unchosen"
        found.append(Line(segment_id, single_spaced(reading.text), by_person, cell))
    return PageLines(pass_id, tuple(found))


def texts_of(conn: Connection, pass_id: str, kind: str) -> dict[str, str]:
    """The words that count of each segment of a pass, by kind."""
    rule = reading_rule(conn)
    return {key: one.text for key, one in counting_readings(conn, pass_id, kind, rule).items()}


DESCRIPTION = "description"
"""The kind of reading that says what a sign is."""


def signs_of(conn: Connection, document_id: str) -> tuple[str | None, list[Row[Any]]]:
    """The pass a page is read by, and its words that are called signs."""
    pass_id, _ = working_pass(conn, document_id, reading_rule(conn))
    if pass_id is None:
        return None, []
    return pass_id, [row for row in segments_of(conn, pass_id, "word") if row.kind_raw == "sign"]
