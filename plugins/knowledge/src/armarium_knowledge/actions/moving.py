"""What other families ask of knowledge within their own steps: to move with a correction, across a match, or
with a transfer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, select, update

from armarium.api import ActionContext, is_among, new_id
from armarium_documents.api import representations
from armarium_knowledge.actions.merging import insert_match, match_of
from armarium_knowledge.folding import has_name
from armarium_knowledge.records.claims import claim_sources
from armarium_knowledge.records.entities import entities
from armarium_knowledge.records.mentions import mentions, refusals
from armarium_source_model.api import (
    ReadingChange,
    align_span,
    counting_readings,
    get_segment,
    move_span,
    reading_rule,
    text_fingerprint,
)


def move_spans(ctx: ActionContext, corrected: ReadingChange) -> list[tuple[str, str]]:
    """Move mentions, refused spans and evidence to the reading that corrects theirs; return (id, reason) of those whose
    words are gone: they stay where they were. All keep the state they were last checked in, so that what a correction
    touched is known to be in doubt.
    """
    lost: list[tuple[str, str]] = []
    for table in (mentions, claim_sources):
        for row in _rows_on(ctx, table, corrected.old_id):
            moved = move_span(
                row.segment_char_start, row.segment_char_end, corrected.old_text, corrected.new_text
            )
            if isinstance(moved, str):
                lost.append((row.id, moved))
            else:
                _move(ctx, table, row.id, corrected.new_id, moved)
    for row in _rows_on(ctx, refusals, corrected.old_id):
        # A refusal also applies to what replaced its words, even if these were corrected.
        span = row.segment_char_start, row.segment_char_end
        exact = move_span(*span, corrected.old_text, corrected.new_text)
        new_span = (
            align_span(*span, corrected.old_text, corrected.new_text) if isinstance(exact, str) else exact
        )
        if new_span is not None:
            _move(ctx, refusals, row.id, corrected.new_id, new_span)
    return lost


def _rows_on(ctx: ActionContext, table: Table, representation_id: str) -> list[Any]:
    return list(ctx.conn.execute(select(table).where(table.c.representation_id == representation_id)))


def _move(
    ctx: ActionContext, table: Table, row_id: str, representation_id: str, span: tuple[int, int]
) -> None:
    place = {
        "representation_id": representation_id,
        "segment_char_start": span[0],
        "segment_char_end": span[1],
    }
    ctx.conn.execute(update(table).where(table.c.id == row_id).values(place))


_NOT_THERE = "Its characters do not occur in the other line's reading, or it is not certain where."


class EvidenceCarrier:
    """Copies evidence of statements from a line to the line of another pass that shows the same text."""

    kind = "claim_evidence"

    def carry(
        self, ctx: ActionContext, from_segment_id: str, to_segment_id: str
    ) -> tuple[list[tuple[str, str]], list[tuple[str | None, str]]]:
        """Return (original, copy) of each piece of evidence copied; (original, reason) of each left."""
        rows = ctx.conn.execute(
            select(claim_sources)
            .where(claim_sources.c.segment_id == from_segment_id)
            .order_by(claim_sources.c.id)
        ).all()
        copies: list[tuple[str, str]] = []
        skipped: list[tuple[str | None, str]] = []
        if not rows:
            return copies, skipped
        line = _read_counting(ctx, to_segment_id)
        on_it = select(claim_sources.c.claim_id).where(claim_sources.c.segment_id == to_segment_id)
        resting = {row.claim_id for row in ctx.conn.execute(on_it)}
        texts = _texts_of(ctx, (row.representation_id for row in rows))
        for row in rows:
            if line is None:
                skipped.append((row.id, "The other line has no reading."))
                continue
            if row.claim_id in resting:
                skipped.append((row.id, "The statement already rests on the other line."))
                continue
            span = move_span(
                row.segment_char_start, row.segment_char_end, texts.get(row.representation_id, ""), line[1]
            )
            if isinstance(span, str):
                skipped.append((row.id, _NOT_THERE))
                continue
            copy = {
                **row._asdict(),
                "id": new_id(),
                "segment_id": to_segment_id,
                "representation_id": line[0],
                "segment_char_start": span[0],
                "segment_char_end": span[1],
                "text_fingerprint": text_fingerprint(line[1]),
                **ctx.provenance(),
            }
            ctx.conn.execute(claim_sources.insert().values(copy))
            copies.append((row.id, copy["id"]))
        ctx.note_changes(claim_ids=[row.claim_id for row in rows])
        return copies, skipped


def _texts_of(ctx: ActionContext, representation_ids: Iterable[str]) -> dict[str, str]:
    reading = representations.c
    rows = ctx.conn.execute(
        select(reading.id, reading.content).where(is_among(reading.id, representation_ids))
    )
    return {row.id: row.content or "" for row in rows}


def _read_counting(ctx: ActionContext, segment_id: str) -> tuple[str, str] | None:
    pass_id = get_segment(ctx.conn, segment_id).pass_id
    reading = counting_readings(ctx.conn, pass_id, rule=reading_rule(ctx.conn)).get(segment_id)
    return None if reading is None or not reading.text else (reading.representation_id, reading.text)


def propose_arrivals(ctx: ActionContext, companions: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """Propose for review which entities of a transfer may be ones that already existed; nothing is merged."""
    ids = companions.get("entity", [])
    new = select(entities).where(is_among(entities.c.id, ids)).order_by(entities.c.id)
    return [
        insert_match(ctx, other, row["id"], 1.0, "transfer", _SAME_NAME)
        for row in (row._asdict() for row in ctx.conn.execute(new).all())
        for other in _find_namesakes(ctx.conn, row, ids)
        if match_of(ctx, other, row["id"]) is None
    ]


def expect_arrivals(conn: Connection, companions: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return what `propose_arrivals` would propose in the project of *conn*, before anything is there: each
    candidate is named by its id in the project it comes from.
    """
    return [
        {
            "survivor_entity_id": other,
            "candidate_entity_id": row["id"],
            "score": 1.0,
            "method": "transfer",
            "reason": _SAME_NAME,
        }
        for row in companions.get("entity", [])
        for other in _find_namesakes(conn, row, ())
    ]


_SAME_NAME = "It came from another project and has the same name."


def _find_namesakes(conn: Connection, row: Mapping[str, Any], but: Sequence[str]) -> list[str]:
    """Return the entities of the same type, except *but*, one of whose names is that of *row*."""
    entity = entities.c
    same_entity = select(entity.id).where(
        entity.entity_type == row["entity_type"],
        entity.curation_state.in_(("unreviewed", "verified")),
        has_name(entity.folded_names, row["canonical_name"]),
        ~is_among(entity.id, but),
    )
    return list(conn.execute(same_entity.order_by(entity.id)).scalars())
