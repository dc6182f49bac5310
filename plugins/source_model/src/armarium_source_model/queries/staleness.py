"""Finds derived rows that a correction has made stale, because their source text has changed.

A derived row of any family stores the fingerprint of the text of the segment or page it came from. Readings
made from another reading store that reading's id instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import ActionContext, Library
from armarium_documents.api import representations
from armarium_source_model.counting import ReadingRule
from armarium_source_model.hookspecs import StaleRow
from armarium_source_model.queries.readings import counting_of_segments, readings_of
from armarium_source_model.queries.text import page_text
from armarium_source_model.text import text_fingerprint


class DerivedRow(NamedTuple):
    """A row derived from the counting transcription of a segment, or (without one) from the text of a
    page.
    """

    id: str
    document_id: str
    fingerprint: str
    segment_id: str | None = None


def segment_fingerprints(
    conn: Connection, segment_ids: Iterable[str], rule: ReadingRule = "strict"
) -> dict[str, str]:
    """Return the fingerprint of each segment's counting transcription; segments without one are left out."""
    texts = counting_of_segments(conn, segment_ids, rule=rule)
    return {segment_id: text_fingerprint(reading.text) for segment_id, reading in texts.items()}


def stale_rows(conn: Connection, rows: Iterable[DerivedRow], rule: ReadingRule = "strict") -> list[str]:
    """Return the ids of *rows* whose text has changed or no longer exists, in the order given.

    One query for all segments, one page text for each page: pass a page's rows together.
    """
    derived = list(rows)
    lines = segment_fingerprints(
        conn, dict.fromkeys(row.segment_id for row in derived if row.segment_id is not None), rule
    )
    pages = {
        document_id: page_text(conn, document_id, rule=rule).fingerprint
        for document_id in dict.fromkeys(row.document_id for row in derived if row.segment_id is None)
    }
    return [
        row.id
        for row in derived
        if row.fingerprint
        != (pages[row.document_id] if row.segment_id is None else lines.get(row.segment_id))
    ]


_MADE_FROM = f"""
SELECT DISTINCT segment_id FROM {representations}
WHERE document_id = ? AND segment_id IS NOT NULL AND derived_from_representation_id IS NOT NULL AND NOT retracted
ORDER BY segment_id
"""


def stale_readings(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """Return the live readings of a page made from a reading that was since retired by a correction or
    retracted.

    For instance a translation of a corrected reading. Their source may be of another segment (carried across
    a match).
    """
    segment_ids = [row[0] for row in conn.exec_driver_sql(_MADE_FROM, (document_id,))]
    stale: list[dict[str, Any]] = []
    for segment_id in segment_ids:
        for reading in readings_of(conn, segment_id)["items"]:
            source = reading["derived_from_representation_id"]
            if (
                source is not None
                and not reading["retracted"]
                and (reading["stale"] or _is_retired(conn, source))
            ):
                stale.append({**reading, "stale": True})
    return stale


def _is_retired(conn: Connection, representation_id: str) -> bool:
    """Return whether a reading, of whatever segment, is retracted or corrected by a person."""
    row = conn.exec_driver_sql(
        f"SELECT r.retracted OR EXISTS (SELECT 1 FROM {representations} c WHERE c.corrects_representation_id = r.id "
        f"AND c.provenance_kind = 'human' AND NOT c.retracted) FROM {representations} r WHERE r.id = ?",
        (representation_id,),
    ).one_or_none()
    return row is None or bool(row[0])


class StaleReadings:
    """Readings made from a reading that was corrected or retracted since."""

    kinds = ("reading",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Return them, for instance a translation of a corrected reading."""
        why = "The reading that it was made from no longer counts."
        return [
            StaleRow(
                "reading",
                stale_reading["id"],
                document_id,
                stale_reading["segment_id"],
                stale_reading["content"],
                "redo",
                why,
            )
            for document_id in document_ids
            for stale_reading in stale_readings(conn, document_id)
        ]

    def confirm(self, ctx: ActionContext, kind: str, identity: str) -> bool:
        """Return False: a reading is made again, or somebody writes a new one."""
        return False
