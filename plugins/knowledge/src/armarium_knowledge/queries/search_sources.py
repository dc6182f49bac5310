"""What a search, and maps, find in knowledge: entities, statements and interpretations by their words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, and_, func, select

from armarium.api import by_name, is_among
from armarium_documents.api import documents
from armarium_knowledge.folding import fold
from armarium_knowledge.queries.claims import claim
from armarium_knowledge.queries.entities import in_words, shown_entities
from armarium_knowledge.queries.visible import HiddenKnowledge
from armarium_knowledge.records.claims import claim_sources, claims, interpretations
from armarium_knowledge.records.entities import NOT_MERGED, Entity, entities
from armarium_knowledge.records.mentions import mentions
from armarium_search.api import Hit, Kind, Scope

SCOPED_TYPES = {"people": "person", "places": "location", "organizations": "organization"}


def _fits(column: ColumnElement[str], words: Iterable[str]) -> ColumnElement[bool]:
    """Return the condition that a folded column contains every one of *words*, which are never empty, anywhere."""
    return and_(*(column.contains(fold(word), autoescape=True) for word in words))


def _make_conditions(table: Table, hidden: list[str]) -> Iterator[ColumnElement[bool]]:
    if hidden:
        yield ~is_among(table.c.id, hidden)


def _documents_naming(entity_type: str) -> Callable[[Connection, str], Iterable[str]]:
    def find(conn: Connection, text: str) -> list[str]:
        if not fold(text):
            return []
        named_ids = select(entities.c.id).where(
            entities.c.entity_type == entity_type,
            NOT_MERGED,
            in_words(entities.c.folded_names, text),
            *_make_conditions(entities, HiddenKnowledge(conn).entities),
        )
        query = select(mentions.c.document_id).distinct().where(mentions.c.entity_id.in_(named_ids))
        return list(conn.execute(query).scalars())

    return find


def _search_entities(conn: Connection, words: tuple[str, ...], most: int) -> Iterator[Hit]:
    page = Entity.rows.page(
        conn,
        NOT_MERGED,
        _fits(entities.c.folded_names, words),
        *_make_conditions(entities, HiddenKnowledge(conn).entities),
        order=(func.length(entities.c.canonical_name), by_name(entities.c.canonical_name), entities.c.id),
        limit=most,
        offset=0,
    )
    for shown_entity in shown_entities(conn, page["items"]):
        yield Hit(
            shown_entity["id"],
            tuple(shown_entity["source_document_ids"]),
            shown_entity["canonical_name"],
            shown_entity,
        )


def _search_claims(conn: Connection, words: tuple[str, ...], most: int) -> Iterator[Hit]:
    sought = (
        select(claims.c.id)
        .where(
            claims.c.merged_into_id.is_(None),
            _fits(claims.c.folded_text, words),
            *_make_conditions(claims, HiddenKnowledge(conn).claims),
        )
        .order_by(claims.c.created_at.desc(), claims.c.id)
        .limit(most)
    )
    for identity in conn.execute(sought).scalars().all():
        statement = claim(conn, identity)
        rests_on = (
            select(claim_sources.c.document_id)
            .distinct()
            .where(claim_sources.c.claim_id == identity, claim_sources.c.document_id.is_not(None))
        )
        yield Hit(identity, tuple(conn.execute(rests_on).scalars()), statement["text"], statement)


def _search_interpretations(conn: Connection, words: tuple[str, ...], most: int) -> Iterator[Hit]:
    columns = (
        interpretations.c.id,
        interpretations.c.document_id,
        interpretations.c.framework_id,
        interpretations.c.text,
        interpretations.c.key_insights,
        interpretations.c.predicate,
    )
    live = select(documents.c.id).where(documents.c.deleted_at.is_(None))
    query = (
        select(*columns).where(interpretations.c.document_id.in_(live)).order_by(interpretations.c.id.desc())
    )
    number = 0
    for row in conn.execute(query):
        text = fold(" ".join((row.text, row.predicate or "", *map(str, row.key_insights))))
        if all(fold(word) in text for word in words):
            number += 1
            about = {"interpretation_id": row.id, "framework_id": row.framework_id}
            yield Hit(row.id, (row.document_id,), row.text, about, about)
        if number == most:
            return


KINDS = (
    Kind("entities", _search_entities, "entity"),
    Kind("claims", _search_claims, "claim"),
    Kind("interpretations", _search_interpretations, "interpretation"),
)
SCOPES = tuple(Scope(word, _documents_naming(kind)) for word, kind in SCOPED_TYPES.items())


def place_entity(conn: Connection, entity_id: str) -> dict[str, Any] | None:
    """Return an entity as answered, for questions about where it was; None if there is none, or the caller
    may not see it.
    """
    row = Entity.rows.get(conn, entity_id)
    return (
        None if row is None or entity_id in HiddenKnowledge(conn).entities else shown_entities(conn, [row])[0]
    )


def place_mentions(conn: Connection, document_id: str) -> list[dict[str, Any]]:
    """Return the places that a document names: segment_id, text, entity_id of each mention."""
    statement = (
        select(mentions.c.segment_id, mentions.c.text, mentions.c.entity_id)
        .join(entities, entities.c.id == mentions.c.entity_id)
        .where(mentions.c.document_id == document_id, entities.c.entity_type == "location")
        .order_by(mentions.c.id)
    )
    return [row._asdict() for row in conn.execute(statement)]
