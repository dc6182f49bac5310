"""Entities, mentions, statements and interpretations as records of an export, without what rests on pages
left out of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, true

from armarium.api import Rows, is_among
from armarium_documents.api import documents
from armarium_knowledge.queries.claims import (
    Pages,
    fingerprint_of,
    shown_claims,
    shown_interpretations,
    standing,
)
from armarium_knowledge.queries.entities import shown_entities
from armarium_knowledge.queries.mentions import shown_mentions
from armarium_knowledge.queries.visible import HiddenKnowledge
from armarium_knowledge.records.claims import (
    Claim,
    Interpretation,
    claim_entities,
    claim_sources,
    claims,
    interpretations,
)
from armarium_knowledge.records.entities import NOT_MERGED, Entity, entities, matches, reviews
from armarium_knowledge.records.mentions import Mention, mentions

_BATCH = 500

Ids = frozenset[str] | None


@dataclass
class _Scope:
    """What may be exported. *ids*: of the documents; None: the whole project, except those *withheld*."""

    conn: Connection
    ids: Ids
    withheld: Collection[str]

    def pages(self, column: Any) -> ColumnElement[bool]:
        """Return the condition that a column names a document that is exported."""
        if self.ids is not None:
            return is_among(column, self.ids)
        live: ColumnElement[bool] = column.in_(select(documents.c.id).where(documents.c.deleted_at.is_(None)))
        return live & ~is_among(column, self.withheld) if self.withheld else live

    def pages_among(self, ids: Collection[str]) -> set[str]:
        """Return those of the documents *ids* that are exported."""
        query = select(documents.c.id).where(is_among(documents.c.id, ids), self.pages(documents.c.id))
        return set(self.conn.execute(query).scalars())

    @cached_property
    def claims(self) -> frozenset[str]:
        """Return the condition for statements to be exported: none of their evidence is withheld, directly or
        through another statement.
        """
        source = claim_sources.c
        query = select(claims.c.id).where(claims.c.merged_into_id.is_(None))
        claim_ids = set(self.conn.execute(query).scalars()) - set(HiddenKnowledge(self.conn).claims)
        refused: set[str] = set()
        if self.withheld:
            fresh = set(
                self.conn.execute(
                    select(source.claim_id).where(is_among(source.document_id, self.withheld))
                ).scalars()
            )
            while fresh:
                refused |= fresh
                resting = select(source.claim_id).where(is_among(source.source_claim_id, fresh))
                fresh = set(self.conn.execute(resting).scalars()) - refused
        if self.ids is not None:
            claim_ids &= set(
                self.conn.execute(select(source.claim_id).where(self.pages(source.document_id))).scalars()
            )
        return frozenset(claim_ids - refused)

    @cached_property
    def entities(self) -> frozenset[str]:
        """Return the condition for entities to be exported: those that exported pages and statements name;
        for a whole project also those that nothing names.
        """
        mention, claim_entity, entity = mentions.c, claim_entities.c, entities.c
        named_ids = set(
            self.conn.execute(
                select(mention.entity_id).where(self.pages(mention.document_id)).distinct()
            ).scalars()
        )
        named_ids |= set(
            self.conn.execute(
                select(claim_entity.entity_id).where(is_among(claim_entity.claim_id, self.claims))
            ).scalars()
        )
        query = select(entity.id).where(NOT_MERGED)
        entity_ids = set(self.conn.execute(query).scalars())
        if self.ids is not None:
            return frozenset(entity_ids & named_ids)
        elsewhere = set(self.conn.execute(select(mention.entity_id).distinct()).scalars())
        elsewhere |= set(self.conn.execute(select(claim_entity.entity_id).distinct()).scalars())
        return frozenset(entity_ids - (elsewhere - named_ids))

    @cached_property
    def free(self) -> frozenset[str]:
        """Return the entities to be exported that no withheld page names: what is written about others in words may
        come from such a page.
        """
        if not self.withheld:
            return self.entities
        mention = mentions.c
        withheld_ids = (
            select(mention.entity_id).where(is_among(mention.document_id, self.withheld)).distinct()
        )
        return self.entities - set(self.conn.execute(withheld_ids).scalars())

    def rows(
        self, of: Rows, ids: Collection[str] | None, where: ColumnElement[bool] = true()
    ) -> Iterator[list[dict[str, Any]]]:
        """Yield rows in the order of their ids, a batch at a time."""
        key, last = of.table.c.id, ""
        while True:
            query = select(key).where(key > last, where).order_by(key).limit(_BATCH)
            batch = list(self.conn.execute(query).scalars())
            if not batch:
                return
            last = batch[-1]
            row_ids = batch if ids is None else [row_id for row_id in batch if row_id in ids]
            if row_ids:
                yield of.all(self.conn, is_among(key, row_ids), order=(key,))


def exported_entities(conn: Connection, ids: Ids, withheld: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield entities, each with the exported documents that name it. Those merged into another are left out."""
    scope = _Scope(conn, ids, withheld)
    for rows in scope.rows(Entity.rows, scope.entities):
        answers = shown_entities(conn, rows)
        about = {source_document_id for row in answers for source_document_id in row["source_document_ids"]}
        exported_ids = scope.pages_among(about)
        for row in answers:
            supports = [
                source_support
                for source_support in row["source_supports"]
                if source_support["document_id"] in exported_ids
            ]
            yield row | {
                "parent_id": row["parent_id"] if row["parent_id"] in scope.entities else None,
                "source_document_ids": [support["document_id"] for support in supports],
                "source_supports": supports,
                "corroboration_count": len(supports),
            }


def exported_mentions(conn: Connection, ids: Ids, withheld: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield mentions with where they are now."""
    scope = _Scope(conn, ids, withheld)
    for rows in scope.rows(Mention.rows, None, scope.pages(mentions.c.document_id)):
        yield from shown_mentions(conn, rows)


def exported_claims(conn: Connection, ids: Ids, withheld: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield statements with their evidence on exported documents; `segment_id` is the line on which the first
    of it is now.
    """
    scope = _Scope(conn, ids, withheld)
    for rows in scope.rows(Claim.rows, scope.claims):
        pages = Pages(conn)
        answers = shown_claims(conn, rows, pages)
        about = {
            source["document_id"] for row in answers for source in row["evidence"] if source["document_id"]
        }
        exported_ids = scope.pages_among(about)
        for row in answers:
            yield _limit_evidence(row, exported_ids, scope, pages)


def _limit_evidence(
    row: dict[str, Any], exported_ids: Collection[str], scope: _Scope, pages: Pages
) -> dict[str, Any]:
    """Return a statement with that part of its evidence which is exported."""
    evidence = [
        source
        for source in row["evidence"]
        if (
            source["document_id"] in exported_ids
            if source["document_id"]
            else source["source_claim_id"] in scope.claims
        )
    ]
    first = next((source["document_id"] for source in evidence if source["document_id"]), None)
    places = (standing(source, pages)[0] for source in evidence if source["document_id"] == first)
    place = next((place for place in places if place is not None), None) if first else None
    if first != row["source_document_id"]:
        row |= {"source_char_start": None, "source_char_end": None, "source_anchor": None}
        row["source_excerpt"] = (
            "\n".join(
                source["excerpt"]
                for source in evidence
                if source["document_id"] == first and source["excerpt"]
            )
            or None
        )
    source_ids = {source["document_id"] or source["source_claim_id"] for source in evidence}
    return row | {
        "evidence": evidence,
        "text_fingerprint": fingerprint_of(evidence),
        "source_document_id": first,
        "source_ids": [source_id for source_id in row["source_ids"] if source_id in source_ids],
        "source_document_ids": list(
            dict.fromkeys(source["document_id"] for source in evidence if source["document_id"])
        ),
        "segment_id": None if place is None else place.segment_id,
    }


def exported_interpretations(
    conn: Connection, ids: Ids, withheld: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield interpretations of exported documents."""
    scope = _Scope(conn, ids, withheld)
    for rows in scope.rows(Interpretation.rows, None, scope.pages(interpretations.c.document_id)):
        yield from shown_interpretations(conn, rows)


def exported_matches(conn: Connection, ids: Ids, withheld: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield pairs of exported entities that may be the same, with what was decided."""
    scope = _Scope(conn, ids, withheld)
    for row in conn.execute(select(matches).order_by(matches.c.id)):
        if {row.survivor_entity_id, row.candidate_entity_id} <= scope.free:
            yield row._asdict()


def exported_reviews(conn: Connection, ids: Ids, withheld: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield predicted relations of exported entities, with what was decided."""
    scope = _Scope(conn, ids, withheld)
    for row in conn.execute(select(reviews).order_by(reviews.c.id)):
        if {row.source_entity_id, row.target_entity_id} <= scope.free:
            claim = row.resulting_claim_id
            yield row._asdict() | {"resulting_claim_id": claim if claim in scope.claims else None}


RECORDS = {
    "entity": exported_entities,
    "mention": exported_mentions,
    "claim": exported_claims,
    "interpretation": exported_interpretations,
    "entity_match": exported_matches,
    "prediction_review": exported_reviews,
}
"""The record types of an export, and the function that yields each."""
