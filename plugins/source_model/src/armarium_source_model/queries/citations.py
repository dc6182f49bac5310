"""What a citation of a segment at a step leads to: its text then and now, and the steps that changed it since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from armarium.api import Library, json_text, list_steps, raw_of, reading_past, steps_since
from armarium_documents.api import representations
from armarium_source_model.models import reading_choices, segments
from armarium_source_model.queries.passes import reading_rule
from armarium_source_model.queries.readings import counting_of_segments
from armarium_source_model.queries.text import page_text

_WITHIN = (
    "WITH RECURSIVE within(id) AS (SELECT value FROM json_each(?) UNION SELECT s.id FROM within w"
    " JOIN segment s ON s.parent_segment_id = w.id AND s.deleted_at IS NULL) SELECT id FROM within"
)


def text_of_segments(conn: Connection, ids: Sequence[str]) -> str | None:
    """Return the text that counts on live segments: their own, else that of what is in them; None: none is there."""
    raw = raw_of(conn)
    there = raw.execute(
        "SELECT id, document_id, pass_id FROM segment WHERE id IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL",
        (json_text(list(ids)),),
    ).fetchall()
    if not there:
        return None
    rule = reading_rule(conn)
    own = counting_of_segments(conn, [row[0] for row in there], rule=rule)
    parts: list[str] = []
    for identity, document_id, pass_id in sorted(there, key=lambda row: list(ids).index(row[0])):
        if identity in own:
            parts.append(own[identity].text)
            continue
        within = {row[0] for row in raw.execute(_WITHIN, (json_text([identity]),))}
        page = page_text(conn, document_id, pass_id=pass_id, include_furniture=True, rule=rule)
        parts += [
            page.text[span.char_start : span.char_end]
            for span in page.assembled.spans
            if span.segment_id in within
        ]
    return "\n".join(parts)


def past_of_citation(
    conn: Connection, library: Library, document_id: str, segment_id: str, live: Sequence[str], asked: str
) -> dict[str, Any]:
    """Return what a segment said at the moment *asked*, what it or the parts it *live*s in say now, and what changed it."""
    with reading_past(library, asked, [document_id]) as moment, library.db.read() as past:
        then = text_of_segments(past, [segment_id])
    ids = list(dict.fromkeys([segment_id, *live]))
    changed = steps_since(
        conn,
        moment.seq,
        [(segments, "id", ids), (representations, "segment_id", ids), (reading_choices, "segment_id", ids)],
    )
    return {
        "asOf": moment.answer(),
        "textThen": then,
        "textNow": text_of_segments(conn, live),
        "changedBy": [
            {
                "audit_id": step.id,
                "action": step.action_name,
                "actor": step.actor_name,
                "at": step.created_at,
                "undone": step.undone,
            }
            for step in (list_steps(conn, numbers=changed) if changed else ())
        ],
    }
