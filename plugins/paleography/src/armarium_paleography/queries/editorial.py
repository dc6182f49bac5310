"""Editorial facts of segments."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import is_among, query
from armarium_documents.api import representations, require_document
from armarium_paleography.queries.live_segments import live, live_ids, stands
from armarium_paleography.records.marks import Fact, Facts, SegmentFacts, facts
from armarium_source_model.api import counting_of_segment, reading_rule

FACTS = Fact.rows
TRANSCRIPTION = "transcription"


@query("/api/editorial/segment/{segment_id}", summary="The editorial facts of a segment", answer=SegmentFacts)
def facts_of_segment(conn: Connection, segment_id: str) -> dict[str, Any]:
    """The live facts in the order of their characters, those without a span first, and the counting
    transcription.
    """
    ids = live_ids(conn, segment_id)
    where = (is_among(facts.c.segment_id, ids), live(facts), stands(facts))
    items = FACTS.all(conn, *where, order=(facts.c.char_start, facts.c.char_end, facts.c.id))
    counting = counting_text(conn, ids[0]) if ids else None
    return {"segment_id": segment_id, "facts": items, "counting_reading": counting}


@query("/api/editorial/document/{document_id}", summary="The editorial facts of a page", answer=Facts)
def facts_of_document(conn: Connection, document_id: str) -> dict[str, Any]:
    """The live facts of all its segments, those of one in the order of their characters."""
    require_document(conn, document_id)
    where = (facts.c.document_id == document_id, live(facts), stands(facts))
    return FACTS.list_all(
        conn, *where, order=(facts.c.segment_id, facts.c.char_start, facts.c.char_end, facts.c.id)
    )


def counting_text(conn: Connection, segment_id: str) -> dict[str, Any] | None:
    """Return the counting transcription of a segment: representation_id, text, basis."""
    reading = counting_of_segment(conn, segment_id, TRANSCRIPTION, reading_rule(conn))
    if reading.representation_id is None:
        return None
    words = select(representations.c.content).where(representations.c.id == reading.representation_id)
    text = conn.execute(words).scalar_one_or_none() or ""
    return {"representation_id": reading.representation_id, "text": text, "basis": reading.basis}
