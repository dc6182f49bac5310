"""Reads of entities: one, a list, matches of them, reviews of predictions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import ColumnElement, Connection, Row, and_, false, or_, select, true

from armarium.api import by_name, is_among, json_text, query, raw_of
from armarium_documents.api import documents, require_document
from armarium_knowledge.errors import merged_entity
from armarium_knowledge.queries.visible import HiddenKnowledge, not_listed
from armarium_knowledge.records.claims import claim_entities
from armarium_knowledge.records.entities import (
    NOT_MERGED,
    Entity,
    EntityMatchCandidate,
    EntityPage,
    KnowledgePredictionReview,
    MatchPage,
    ReviewList,
    entities,
    matches,
    reviews,
)
from armarium_knowledge.records.mentions import mentions
from armarium_knowledge.schemas.fields import EntityState, MatchState, ReviewState
from armarium_source_model.api import name_forms

Words = Annotated[str | None, Query(max_length=1_000)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Start = Annotated[int, Query(ge=0, le=10**12)]

_SUPPORTS = f"""
SELECT m.entity_id, m.document_id, count(*) FROM json_each(?) j JOIN mention m ON m.entity_id = j.value
JOIN {documents} d ON d.id = m.document_id WHERE d.deleted_at IS NULL GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2
"""


def shown_entities(conn: Connection, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of entities as answered: with the documents that name each, those that name it most often first."""
    supports: dict[str, list[dict[str, Any]]] = {row["id"]: [] for row in rows}
    listed = json_text(list(supports))
    for entity_id, document_id, count in raw_of(conn).execute(_SUPPORTS, (listed,)) if rows else ():
        supports[entity_id].append({"document_id": document_id, "mentions": count})
    return [_build_answer(row, supports[row["id"]]) for row in rows]


def _build_answer(row: dict[str, Any], supports: list[dict[str, Any]]) -> dict[str, Any]:
    texts = dict.fromkeys(name["text"] for name in row["names"])
    texts.pop(row["canonical_name"], None)
    return {
        **row,
        "aliases": list(texts),
        "source_document_ids": [support["document_id"] for support in supports],
        "source_supports": supports,
        "corroboration_count": len(supports),
    }


def entity(conn: Connection, entity_id: str) -> dict[str, Any]:
    """Return one entity as answered; NotFound."""
    return shown_entities(conn, [Entity.rows.require(conn, entity_id)])[0]


def live_entity(conn: Connection, entity_id: str) -> Row[Any]:
    """Return the row of an entity that can be changed; NotFound, Conflict naming the one it was merged into."""
    row = Entity.rows.row(conn, entity_id)
    if row.curation_state == "merged":
        raise merged_entity(entity_id, survivor_of(conn, entity_id))
    return row


def survivor_of(conn: Connection, entity_id: str) -> str:
    """Return the entity that one was finally merged into; itself if it was not merged."""
    return find_survivor(raw_of(conn), entity_id)


def find_survivor(raw: Any, entity_id: str) -> str:
    """Return the same on a connection of sqlite3."""
    (survivor_id,) = raw.execute(
        "WITH RECURSIVE up(id, level) AS (SELECT ?, 0 UNION SELECT e.merged_into_id, level + 1 FROM up"
        " JOIN entity e ON e.id = up.id WHERE e.merged_into_id IS NOT NULL AND level < 1000)"
        " SELECT id FROM up ORDER BY level DESC LIMIT 1",
        (entity_id,),
    ).fetchone()
    return str(survivor_id)


def in_words(column: ColumnElement[str], words: str) -> ColumnElement[bool]:
    """Return the condition that a folded column contains every one of *words*, anywhere. Blanks alone are in
    every column, marks of which nothing is left in none.
    """
    forms_of_words = [name_forms(word) for word in re.split(r"[\s,]+", words)]
    if not any(forms_of_words) and words.strip():
        return false()
    return and_(
        true(),
        *(
            or_(*(column.contains(form, autoescape=True) for form in forms))
            for forms in forms_of_words
            if forms
        ),
    )


@query("/api/entities", summary="The entities of the project, by name", answer=EntityPage)
def list_entities(
    conn: Connection,
    q: Words = None,
    entity_type: Words = None,
    curation_state: EntityState | None = None,
    document_id: str | None = None,
    entity_id: Annotated[str | None, Query(description="Those that statements name with this one")] = None,
    limit: Limit = 100,
    offset: Start = 0,
) -> dict[str, Any]:
    """List them. Merged ones are listed only on request. What rests only on the Trash is left out."""
    hidden = HiddenKnowledge(conn)
    where: list[ColumnElement[bool]] = []
    if hidden.entities:
        where.append(~is_among(entities.c.id, hidden.entities))
    if curation_state is None:
        where.append(NOT_MERGED)
    else:
        where.append(entities.c.curation_state == curation_state)
    if entity_type is not None:
        where.append(entities.c.entity_type == entity_type)
    if q is not None:
        where.append(in_words(entities.c.folded_names, q))
    if document_id is not None:
        require_document(conn, document_id)
        named_ids = select(mentions.c.entity_id).where(mentions.c.document_id == document_id)
        where.append(entities.c.id.in_(named_ids))
    if entity_id is not None:
        entity(conn, entity_id)
        entity_id = survivor_of(conn, entity_id)
        own, other = claim_entities.alias("one"), claim_entities.alias("other")
        beside = select(other.c.entity_id).join(own, own.c.claim_id == other.c.claim_id)
        where += [entities.c.id.in_(beside.where(own.c.entity_id == entity_id)), entities.c.id != entity_id]
    order = (by_name(entities.c.canonical_name), entities.c.id)
    is_whole = all(
        parameter is None for parameter in (q, entity_type, curation_state, document_id, entity_id)
    )
    all_but = not_listed(entities, hidden.entities) if is_whole else None
    page = Entity.rows.page(conn, *where, order=order, limit=limit, offset=offset, all_but=all_but)
    return {**page, "items": shown_entities(conn, page["items"])}


@query("/api/entities/{entity_id}", summary="One entity", answer=Entity, name="get_entity")
def read_entity(conn: Connection, entity_id: str) -> dict[str, Any]:
    """Return it, even if it was merged; then it says into which."""
    return entity(conn, entity_id)


@query(
    "/api/entity-matches",
    summary="Entities that may be the same, the likeliest first",
    answer=MatchPage,
    refusals=(),
)
def list_matches(
    conn: Connection,
    state: MatchState | None = None,
    entity_id: str | None = None,
    limit: Limit = 100,
    offset: Start = 0,
) -> dict[str, Any]:
    """List them by state; matches of entities that are left out are left out too."""
    where = [] if state is None else [matches.c.state == state]
    if entity_id is not None:
        where.append(
            (matches.c.survivor_entity_id == entity_id) | (matches.c.candidate_entity_id == entity_id)
        )
    left_out = HiddenKnowledge(conn).entities
    if left_out:
        where += [
            ~is_among(matches.c.survivor_entity_id, left_out),
            ~is_among(matches.c.candidate_entity_id, left_out),
        ]
    likeliest = (matches.c.score.desc(), matches.c.id)
    return EntityMatchCandidate.rows.page(conn, *where, order=likeliest, limit=limit, offset=offset)


@query(
    "/api/kg/kgembed/reviews",
    summary="Reviews of predicted relations, the oldest first",
    answer=ReviewList,
    refusals=(),
    name="list_reviews",
)
def list_reviews(conn: Connection, state: ReviewState | None = None) -> dict[str, Any]:
    """List all, or those of one state; reviews about entities that are left out are left out too."""
    where = [] if state is None else [reviews.c.state == state]
    left_out = HiddenKnowledge(conn).entities
    if left_out:
        where += [
            ~is_among(reviews.c.source_entity_id, left_out),
            ~is_among(reviews.c.target_entity_id, left_out),
        ]
    return KnowledgePredictionReview.rows.list_all(conn, *where, order=(reviews.c.created_at, reviews.c.id))
