"""Statements and entities as layers that are checked: what a checker sees of each, and what its verdict changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, select, update

from armarium.api import ActionContext, JobContext
from armarium_checking.api import Layer, Proposal, Target
from armarium_knowledge.placing import PagePlaces, Place, places_of
from armarium_knowledge.queries.claims import SOURCES
from armarium_knowledge.records.claims import Claim, claim_sources, claims
from armarium_knowledge.records.entities import Entity
from armarium_knowledge.records.mentions import Mention, mentions

CLAIMS_PROMPT = (
    "This is a statement with its subject, verb and object, and the passage that it rests on. Say whether the passage says so:"
    " confirm; correct, with the corrected statement; reject, where the passage does not say it; or unsure, where you cannot"
    " judge. Give your reasons in a sentence."
)
ENTITIES_PROMPT = (
    "This is a thing that a page names, what kind of thing it is said to be, its other names, and the passages that name it."
    " Say whether it is what it is said to be: confirm; correct, with its right name; reject, where the passages name no such"
    " thing; or unsure, where you cannot judge. Give your reasons in a sentence."
)


def find_claim(conn: Connection, target_id: str) -> Target | None:
    """Return where a statement is: the page and line of its first evidence, if it has any."""
    if Claim.rows.get(conn, target_id) is None:
        return None
    sources = SOURCES.all(conn, claim_sources.c.claim_id == target_id, order=(claim_sources.c.position,))
    first = next((source for source in sources if source["document_id"] is not None), None)
    return Target(None) if first is None else Target(first["document_id"], first["segment_id"])


def find_entity(conn: Connection, target_id: str) -> Target | None:
    """Return nothing: an entity is on no page of its own."""
    return None if Entity.rows.get(conn, target_id) is None else Target(None)


def shortlist(ctx: ActionContext, target_id: str, verdict: str, by_person: bool) -> None:
    """Put an unreviewed statement that a model rejects on the shortlist; do nothing else."""
    if verdict != "reject" or by_person:
        return
    unreviewed = (claims.c.id == target_id) & (claims.c.curation_state == "unreviewed")
    ctx.conn.execute(
        update(claims).where(unreviewed).values(curation_state="shortlisted", updated_at=ctx.now)
    )
    ctx.note_changes(claim_ids=[target_id])


def _claims_of(conn: Connection, page_id: str) -> list[Proposal]:
    """Return each with its passages, from whichever pages."""
    query = select(claim_sources.c.claim_id).where(claim_sources.c.document_id == page_id)
    waiting = claims.c.curation_state.in_(("unreviewed", "shortlisted"))
    rows = Claim.rows.all(
        conn, claims.c.id.in_(query), waiting, claims.c.merged_into_id.is_(None), order=(claims.c.id,)
    )
    proposals = []
    for row in rows:
        sources = SOURCES.all(conn, claim_sources.c.claim_id == row["id"], order=(claim_sources.c.position,))
        passage = " / ".join(source["excerpt"] for source in sources if source["excerpt"])
        parts = (row["subject_canonical"], row["predicate_verb"], row["object_phrase"])
        words = f"{row['text']} ({' – '.join(parts)}). Passage: {passage or 'none'}"
        pages = {
            source["document_id"] for source in sources if source["excerpt"] and source["document_id"]
        } - {page_id}
        proposals.append(Proposal(row["id"], " ".join(words.split()), row["text"], also=tuple(sorted(pages))))
    return proposals


def _entities_of(conn: Connection, page_id: str) -> list[Proposal]:
    rows = Mention.rows.all(conn, mentions.c.document_id == page_id, order=(mentions.c.id,))
    places = PagePlaces(conn, page_id)
    passages: dict[str, dict[str, None]] = {}
    for row, place in zip(rows, places_of(places, rows), strict=True):
        line = places.line(place.segment_id) if isinstance(place, Place) else None
        passages.setdefault(row["entity_id"], {})[line.text if line else row["text"]] = None
    proposals = []
    for entity_id, lines in passages.items():
        entity = Entity.rows.get(conn, entity_id)
        if entity is not None and entity["curation_state"] == "unreviewed":
            names = ", ".join(name["text"] for name in entity["names"]) or "none"
            name = entity["canonical_name"]
            words = f"{name}, {entity['entity_type']}. Other names: {names}. Passages: {' / '.join(lines)}"
            proposals.append(Proposal(entity_id, " ".join(words.split()), name))
    return proposals


def _show(gather: Callable[[Connection, str], list[Proposal]]) -> Any:
    def show(job: JobContext, page_id: str, pictures: bool) -> list[Proposal]:
        with job.library.db.read() as conn:
            return gather(conn, page_id)

    return show


LAYERS = (
    Layer(
        name="claims",
        find=find_claim,
        checkers={},
        show=_show(_claims_of),
        prompt=CLAIMS_PROMPT,
        said=shortlist,
    ),
    Layer(name="entities", find=find_entity, checkers={}, show=_show(_entities_of), prompt=ENTITIES_PROMPT),
)
"""A correction is stored with the verdict for a person to accept; a model curates no statement and verifies
no entity.
"""
