"""What is done on lines: which have a text, and on which of them a person has decided what it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from armarium.api import json_text, raw_of
from armarium_documents.api import representations

_READING = (
    f"FROM {representations} r WHERE r.segment_id = {{of}} AND r.kind = 'transcription' AND NOT r.retracted"
)
_IS_READ = (
    f"(EXISTS (SELECT 1 {_READING.format(of='s.id')} AND r.content <> '') OR EXISTS (SELECT 1 FROM segment w "
    f"WHERE w.parent_segment_id = s.id AND w.deleted_at IS NULL AND EXISTS (SELECT 1 {_READING.format(of='w.id')} AND r.content <> '')))"
)
_IS_DECIDED = (
    f"(EXISTS (SELECT 1 {_READING.format(of='s.id')} AND r.provenance_kind IN ('human', 'external_import')) "
    "OR EXISTS (SELECT 1 FROM reading_choice c WHERE c.segment_id = s.id AND c.kind = 'transcription' "
    "AND c.superseded_at IS NULL))"
)


class LineCounts(NamedTuple):
    """How many lines the pass has by which a page is read, how many of them have a text, and on how many the text was
    made, brought along in a file or chosen by a person."""

    lines: int
    read: int
    decided: int


def line_counts(conn: Connection, pages: Sequence[str]) -> dict[str, LineCounts]:
    """Return the counts of each of *pages* that has a text and lines."""
    rows = raw_of(conn).execute(
        f"SELECT t.document_id, count(*), sum({_IS_READ}), sum({_IS_DECIDED}) FROM source_model_page_text t "
        "JOIN segment s ON s.pass_id = t.pass_id AND s.kind = 'line' AND s.deleted_at IS NULL "
        "WHERE t.document_id IN (SELECT value FROM json_each(?)) GROUP BY 1",
        (json_text(list(pages)),),
    )
    return {page: LineCounts(*counts) for page, *counts in rows}


def unread_lines(conn: Connection, pass_id: str) -> set[str]:
    """Return the live lines of a pass that have no text."""
    return _lines(conn, pass_id, _IS_READ)


def undecided_lines(conn: Connection, pass_id: str) -> set[str]:
    """Return the live lines of a pass whose text nobody made, brought along in a file or chose: a machine's, or none."""
    return _lines(conn, pass_id, _IS_DECIDED)


def pages_transcribed(conn: Connection, pages: Sequence[str]) -> set[str]:
    """Return which of *pages* have a text, or lines that a person drew or that came in a file."""
    rows = raw_of(conn).execute(
        "SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM source_model_page_text t "
        "WHERE t.document_id = j.value AND t.text <> '') OR EXISTS (SELECT 1 FROM segment s JOIN segment_pass p "
        "ON p.id = s.pass_id WHERE s.document_id = j.value AND s.kind = 'line' AND s.deleted_at IS NULL "
        "AND p.deleted_at IS NULL AND (s.by_hand OR p.provenance_kind IN ('human', 'external_import')))",
        (json_text(list(pages)),),
    )
    return {row[0] for row in rows}


def pages_lined_by_hand(conn: Connection, pages: Sequence[str]) -> dict[str, int]:
    """Return those of *pages* on which a person drew every line there is, with the number of lines."""
    rows = raw_of(conn).execute(
        "SELECT s.document_id, count(*) FROM segment s JOIN segment_pass p ON p.id = s.pass_id AND p.deleted_at IS NULL "
        "WHERE s.document_id IN (SELECT value FROM json_each(?)) AND s.kind = 'line' AND s.deleted_at IS NULL "
        "GROUP BY 1 HAVING min(s.by_hand AND p.provenance_kind = 'human')",
        (json_text(list(pages)),),
    )
    return dict(rows.fetchall())


def _lines(conn: Connection, pass_id: str, but_not: str) -> set[str]:
    rows = raw_of(conn).execute(
        f"SELECT s.id FROM segment s WHERE s.pass_id = ? AND s.kind = 'line' AND s.deleted_at IS NULL AND NOT {but_not}",
        (pass_id,),
    )
    return {row[0] for row in rows}
