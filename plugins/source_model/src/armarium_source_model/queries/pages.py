"""A pass as whatever shows or writes it reads it: its segments in order, their readings, and those that count."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection

from armarium_source_model.counting import ReadingRule
from armarium_source_model.queries.facts import page_facts
from armarium_source_model.queries.readings import (
    TRANSCRIPTION,
    CountingText,
    Reading,
    all_of_pass,
    counting_among,
    readings_named,
)
from armarium_source_model.queries.segments import SegmentRow, rows_named, rows_of_pass
from armarium_source_model.queries.shapes import read_page, writing_of_rows


class ReadPass(NamedTuple):
    """A pass with its texts. Marks are placed on the texts by `placed_marks`."""

    segments: dict[str, SegmentRow]
    """Its live segments by id, in the order they were made."""
    sequence: list[str]
    """Their ids in reading order: each region before its lines, each line before its words."""
    counting: dict[str, CountingText]
    """The reading of each segment that counts."""
    readings: dict[str, Reading]
    """By its id, every reading, of all kinds; of `read_lines` those that count."""

    def in_order(self, kind: str) -> list[SegmentRow]:
        """Return the segments of a kind in reading order."""
        rows = (self.segments[identity] for identity in self.sequence if identity in self.segments)
        return [row for row in rows if row.kind == kind]

    def line_texts(self) -> dict[str, CountingText]:
        """Return the text of each line: its own reading, else those of its words, told with the first one's id."""
        own = {line.id: self.counting[line.id] for line in self.in_order("line") if line.id in self.counting}
        joined: dict[str, CountingText] = {}
        for word in self.in_order("word"):
            line_id, text = word.parent_segment_id, self.counting.get(word.id)
            if line_id is None or text is None or not text.text or (line_id in own and own[line_id].text):
                continue
            before = joined.get(line_id)
            joined[line_id] = text if before is None else before._replace(text=f"{before.text} {text.text}")
        return own | joined


def read_pass(
    conn: Connection,
    document_id: str,
    pass_id: str,
    *,
    kind: str = TRANSCRIPTION,
    rule: ReadingRule = "strict",
) -> ReadPass:
    """Return all of a pass; *kind* of the readings that count."""
    readings = all_of_pass(conn, pass_id)
    counting = counting_among(conn, readings, pass_id, kind, rule)
    transcribed = counting
    if kind != TRANSCRIPTION:
        transcribed = counting_among(conn, readings, pass_id, TRANSCRIPTION, rule)
    rows = rows_of_pass(conn, pass_id)
    writing = writing_of_rows(rows.values(), page_facts(conn, document_id, pass_id), transcribed)
    return ReadPass(rows, writing.sequence(), counting, {reading.id: reading for reading in readings})


def read_lines(conn: Connection, document_id: str, pass_id: str, rule: ReadingRule = "strict") -> ReadPass:
    """Return the regions and lines of a pass with their transcriptions, and words only where a line has none of its own."""
    writing, counting = read_page(conn, document_id, pass_id, rule)
    readings = readings_named(conn, [reading.representation_id for reading in counting.values()])
    return ReadPass(rows_named(conn, writing.by_id), writing.sequence(), counting, readings)
