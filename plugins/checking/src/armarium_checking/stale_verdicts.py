"""Stale verdicts: those on readings of lines that have another counting reading now."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from armarium.api import Library, is_among
from armarium_checking.records.checks import verdicts
from armarium_documents.api import representations
from armarium_source_model.api import (
    RestsOnText,
    StaleRow,
    reading_rule,
    segment_fingerprints,
    text_fingerprint,
)

LAYER = "readings"
WHY = "The line was given another reading after it was judged; have the new reading checked."


class RestingVerdicts(RestsOnText):
    """The newest verdict on each line; earlier ones are history. Verdicts on statements depend on the
    statements.
    """

    kinds = ("verdict",)

    def stale(self, conn: Connection, library: Library, document_ids: Sequence[str]) -> list[StaleRow]:
        """Those where neither the reading that was judged nor the correction that was given counts now."""
        verdict, reading = verdicts.c, representations.c
        rows = conn.execute(
            select(verdict.id, verdict.document_id, reading.segment_id, reading.content, verdict.correction)
            .join(representations, reading.id == verdict.target_id)
            .where(
                is_among(reading.document_id, document_ids),
                verdict.layer == LAYER,
                reading.segment_id.is_not(None),
            )
            .order_by(verdict.created_at, verdict.id)
        ).all()
        newest = {row.segment_id: row for row in rows}
        fingerprints = segment_fingerprints(conn, newest, reading_rule(conn))
        return [
            StaleRow("verdict", row.id, row.document_id, segment_id, row.content, "redo", WHY)
            for segment_id, row in newest.items()
            if fingerprints.get(segment_id)
            not in {text_fingerprint(text) for text in (row.content, row.correction) if text}
        ]
