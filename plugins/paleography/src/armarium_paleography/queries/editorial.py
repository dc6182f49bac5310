"""Editorial facts of segments."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from armarium.api import is_among, query
from armarium_documents.api import representations
from armarium_paleography.queries.live_segments import live, live_ids, stands
from armarium_paleography.records.marks import Fact, SegmentFacts, facts
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


def counting_text(conn: Connection, segment_id: str) -> dict[str, Any] | None:
    """Return the counting transcription of a segment: representation_id, text, basis."""
    found = counting_of_segment(conn, segment_id, TRANSCRIPTION, reading_rule(conn))
    if found.representation_id is None:
        return None
    words = select(representations.c.content).where(representations.c.id == found.representation_id)
    text = conn.execute(words).scalar_one_or_none() or ""
    return {"representation_id": found.representation_id, "text": text, "basis": found.basis}
