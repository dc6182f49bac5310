"""Reads of mentions: of an entity, of a page, of a line, with where they are in the page's text now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import query
from armarium_checking.api import verdicts
from armarium_documents.api import documents, require_document
from armarium_knowledge.placing import PagePlaces, Place, places_of
from armarium_knowledge.queries.entities import Limit, Start, entity, survivor_of
from armarium_knowledge.queries.visible import HiddenKnowledge
from armarium_knowledge.records.claims import claim_sources, claims
from armarium_knowledge.records.entities import Entity
from armarium_knowledge.records.mentions import (
    Mention,
    MentionPage,
    PageMentions,
    RefusedMention,
    Statements,
    mentions,
    refusals,
)
from armarium_source_model.api import get_segment


class RefusedSpans:
    """The spans of a page that were refused to entities, where they are now."""

    def __init__(self, conn: Connection, places: PagePlaces) -> None:
        self.rows = RefusedMention.rows.all(
            conn, refusals.c.document_id == places.document_id, order=(refusals.c.id,)
        )
        self.places = [places.find_nearby(row) for row in self.rows]

    def find_at(self, start: int, end: int) -> list[dict[str, Any]]:
        """Return the refusals that overlap a span of the page's text."""
        return [
            row
            for row, place in zip(self.rows, self.places, strict=True)
            if place is not None and place.page_start < end and start < place.page_end
        ]

    def entities_at(self, start: int, end: int) -> list[str]:
        """Return the entities that are refused there."""
        return list(dict.fromkeys(row["entity_id"] for row in self.find_at(start, end)))


def shown_mentions(conn: Connection, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of mentions as answered, in the given order; the text of each page is computed once."""
    by_page: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_page.setdefault(row["document_id"], []).append(row)
    answers: dict[str, dict[str, Any]] = {}
    for document_id, own in by_page.items():
        places = PagePlaces(conn, document_id)
        answers |= {answer["id"]: answer for answer in on_page(conn, places, own)}
    return [answers[row["id"]] for row in rows]


def on_page(conn: Connection, places: PagePlaces, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of mentions of one page as answered."""
    refused = RefusedSpans(conn, places)
    answers = []
    for row, place in zip(rows, places_of(places, rows), strict=True):
        is_placed = isinstance(place, Place)
        answers.append(
            {
                **row,
                "char_start": place.page_start if isinstance(place, Place) else None,
                "char_end": place.page_end if isinstance(place, Place) else None,
                "segment_id": place.segment_id if isinstance(place, Place) else row["segment_id"],
                "representation_id": (
                    place.representation_id if isinstance(place, Place) else row["representation_id"]
                ),
                "segment_char_start": (
                    place.line_start if isinstance(place, Place) else row["segment_char_start"]
                ),
                "segment_char_end": place.line_end if isinstance(place, Place) else row["segment_char_end"],
                "refused_entity_ids": (
                    refused.entities_at(place.page_start, place.page_end) if isinstance(place, Place) else []
                ),
                "stale": row["text_fingerprint"] != places.fingerprint(row["segment_id"]),
                "placed": is_placed,
                "unplaced_reason": None if isinstance(place, Place) else place,
            }
        )
    return answers


def mention(conn: Connection, mention_id: str) -> dict[str, Any]:
    """Return one mention as answered; NotFound."""
    return shown_mentions(conn, [Mention.rows.require(conn, mention_id)])[0]


def mention_at(
    conn: Connection, places: PagePlaces, entity_id: str, start: int, end: int
) -> dict[str, Any] | None:
    """Return the mention of an entity at exactly these characters of the page's text, if there is one."""
    rows = Mention.rows.all(
        conn,
        mentions.c.document_id == places.document_id,
        mentions.c.entity_id == entity_id,
        order=(mentions.c.created_at, mentions.c.id),
    )
    for row, place in zip(rows, places_of(places, rows), strict=True):
        if isinstance(place, Place) and (place.page_start, place.page_end) == (start, end):
            return row
    return None


@query("/api/entities/{entity_id}/mentions", summary="Where an entity is named", answer=MentionPage)
def list_mentions(conn: Connection, entity_id: str, limit: Limit = 100, offset: Start = 0) -> dict[str, Any]:
    """List them page by page; those whose words are no longer in the text say why. Pages in the Trash are
    left out. For a merged entity: where the one it was merged into is named.
    """
    entity(conn, entity_id)
    entity_id = survivor_of(conn, entity_id)
    # Those in the Trash are few, and have an index.
    deleted_ids = select(documents.c.id).where(documents.c.deleted_at.is_not(None))
    order = (mentions.c.document_id, mentions.c.created_at, mentions.c.id)
    where = (mentions.c.entity_id == entity_id, mentions.c.document_id.not_in(deleted_ids))
    page = Mention.rows.page(conn, *where, order=order, limit=limit, offset=offset)
    return {**page, "items": shown_mentions(conn, page["items"])}


@query("/api/documents/{document_id}/mentions", summary="The mentions on a page", answer=PageMentions)
def page_mentions(
    conn: Connection,
    document_id: str,
    unplaced: Annotated[bool, Query(description="Only those whose words are no longer in the text")] = False,
) -> dict[str, Any]:
    """List them in the order of the text, then those that are no longer in it; with the spans that were refused."""
    require_document(conn, document_id)
    places = PagePlaces(conn, document_id)
    rows = Mention.rows.all(
        conn, mentions.c.document_id == document_id, order=(mentions.c.created_at, mentions.c.id)
    )
    entities_by_id = _name_entities(conn, (row["entity_id"] for row in rows))
    items = [
        {
            **item,
            "canonical_name": entities_by_id[item["entity_id"]][0],
            "entity_type": entities_by_id[item["entity_id"]][1],
        }
        for item in on_page(conn, places, rows)
        if item["entity_id"] in entities_by_id
    ]
    lost = sum(not item["placed"] for item in items)
    items = [item for item in items if not (unplaced and item["placed"])]
    items.sort(key=lambda item: (not item["placed"], item["char_start"] or 0, item["char_end"] or 0))
    refused_spans = RefusedSpans(conn, places)
    names = _name_entities(conn, (row["entity_id"] for row in refused_spans.rows))
    refused = [
        {
            "id": row["id"],
            "entity_id": row["entity_id"],
            "canonical_name": names[row["entity_id"]][0],
            "text": row["text"],
            "char_start": place.page_start if place else None,
            "char_end": place.page_end if place else None,
        }
        for row, place in zip(refused_spans.rows, refused_spans.places, strict=True)
        if row["entity_id"] in names
    ]
    return {
        "document_id": document_id,
        "items": items,
        "count": len(items),
        "unplaced": lost,
        "refused": refused,
    }


def _name_entities(conn: Connection, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return (name, type) of entities."""
    rows = (Entity.rows.get(conn, entity_id) for entity_id in dict.fromkeys(ids))
    return {row["id"]: (row["canonical_name"], row["entity_type"]) for row in rows if row is not None}


@query(
    "/api/segments/{segment_id}/statements",
    summary="The statements and mentions on a segment",
    answer=Statements,
    name="list_statements",
)
def statements(conn: Connection, segment_id: str) -> dict[str, Any]:
    """Return the statements whose evidence is on its reading, and the mentions on it, including those that
    came to it by a merge or a split. A verdict is the newest of a person, else of a model.
    """
    document_id = get_segment(conn, segment_id).document_id
    places = PagePlaces(conn, document_id)
    own = mentions.c.document_id == document_id
    rows = Mention.rows.all(conn, own, order=(mentions.c.created_at, mentions.c.id))
    entities_by_id = _name_entities(conn, (row["entity_id"] for row in rows))
    listed = []
    for row, place in zip(rows, places_of(places, rows), strict=True):
        is_here = (
            place.segment_id == segment_id if isinstance(place, Place) else row["segment_id"] == segment_id
        )
        if is_here and row["entity_id"] in entities_by_id:
            at = place if isinstance(place, Place) else None
            listed.append(
                {
                    "mention": row["id"],
                    "entity_id": row["entity_id"],
                    "canonical_name": entities_by_id[row["entity_id"]][0],
                    "char_start": at.line_start if at else None,
                    "char_end": at.line_end if at else None,
                    "source_char_start": at.page_start if at else None,
                    "source_char_end": at.page_end if at else None,
                    "corrected_by_person": row["corrected_by_person"],
                }
            )
    listed.sort(key=lambda item: (item["char_start"] is None, item["char_start"] or 0, item["mention"]))
    return {
        "segment_id": segment_id,
        "statements": _statements_on(conn, places, segment_id),
        "mentions": listed,
    }


def _statements_on(conn: Connection, places: PagePlaces, segment_id: str) -> list[dict[str, Any]]:
    hidden = set(HiddenKnowledge(conn).claims)
    evidence = conn.execute(
        select(claim_sources, claims.c.text, claims.c.curation_state)
        .join(claims, claims.c.id == claim_sources.c.claim_id)
        .where(claim_sources.c.document_id == places.document_id, claim_sources.c.segment_id.is_not(None))
        .order_by(claims.c.created_at, claims.c.id, claim_sources.c.position)
    )
    rows = []
    for row in evidence.mappings():
        if row["claim_id"] in hidden:
            continue
        place = places.find(row)
        at = place if isinstance(place, Place) else None
        if (at.segment_id if at else row["segment_id"]) != segment_id:
            continue
        rows.append(
            {
                "claim_id": row["claim_id"],
                "text": row["text"],
                "representation_id": at.representation_id if at else row["representation_id"],
                "char_start": at.line_start if at else None,
                "char_end": at.line_end if at else None,
                "curation_state": row["curation_state"],
                "verdict": verdict_on(conn, "claims", row["claim_id"]),
            }
        )
    return rows


def verdict_on(conn: Connection, layer: str, target_id: str) -> str | None:
    """Return the verdict on a proposal that counts: the newest of a person, else the newest of a model."""
    verdict_columns = verdicts.c
    newest = (verdict_columns.trust != "person", verdict_columns.created_at.desc(), verdict_columns.id.desc())
    verdict = (
        select(verdict_columns.verdict)
        .where(verdict_columns.layer == layer, verdict_columns.target_id == target_id)
        .order_by(*newest)
        .limit(1)
    )
    return conn.execute(verdict).scalar_one_or_none()
