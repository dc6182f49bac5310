"""Reads of statements and interpretations, with their evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from armarium.api import Rows, is_among, query
from armarium_documents.api import documents, require_document
from armarium_knowledge.placing import PagePlaces, Place, kept_places
from armarium_knowledge.queries.entities import Limit, Start, Words, entity, in_words, survivor_of
from armarium_knowledge.queries.visible import HiddenKnowledge, not_listed
from armarium_knowledge.records.claims import (
    Claim,
    ClaimPage,
    Evidence,
    Interpretation,
    InterpretationPage,
    claim_entities,
    claim_sources,
    claims,
    interpretations,
)
from armarium_knowledge.schemas.fields import ClaimState, ClaimType
from armarium_source_model.api import text_fingerprint

SOURCES = Rows(claim_sources)

EVIDENCE = [name for name in Evidence.model_fields if name != "stale"]
"""What an answer shows of a row of evidence as it is stored."""


class Pages:
    """The texts of pages, each computed once."""

    def __init__(self, conn: Connection) -> None:
        self.conn = conn
        self._known: dict[str, PagePlaces] = {}

    def know_kept(self, sources: Iterable[dict[str, Any]]) -> None:
        """Load the lines of this evidence from the cached texts, all at once."""
        segments_by_page: dict[str, set[str]] = {}
        for source in sources:
            if source["segment_id"] is not None and source["representation_id"] is not None:
                segments_by_page.setdefault(source["document_id"], set()).add(source["segment_id"])
        self._known |= kept_places(self.conn, segments_by_page)

    def __call__(self, document_id: str) -> PagePlaces:
        if document_id not in self._known:
            self._known[document_id] = PagePlaces(self.conn, document_id)
        return self._known[document_id]


def shown_claims(
    conn: Connection, rows: Sequence[dict[str, Any]], pages: Pages | None = None, *, in_snapshot: bool = False
) -> list[dict[str, Any]]:
    """Return rows of statements as answered: with the entities they name and their evidence.

    in_snapshot: *conn* is not in a step, so that cached texts are current.
    """
    ids = [row["id"] for row in rows]
    ids_by_claim: dict[str, list[str]] = {claim_id: [] for claim_id in ids}
    rests: dict[str, list[dict[str, Any]]] = {claim_id: [] for claim_id in ids}
    pairs = select(claim_entities.c.claim_id, claim_entities.c.entity_id)
    for claim_id, entity_id in conn.execute(
        pairs.where(is_among(claim_entities.c.claim_id, ids)).order_by(claim_entities.c.id)
    ):
        ids_by_claim[claim_id].append(entity_id)
    order = (claim_sources.c.position, claim_sources.c.id)
    for source in SOURCES.all(conn, is_among(claim_sources.c.claim_id, ids), order=order):
        rests[source["claim_id"]].append(source)
    of_pages = _describe_entities(conn, (source["document_id"] for own in rests.values() for source in own))
    pages = pages or Pages(conn)
    if in_snapshot:
        pages.know_kept(source for own in rests.values() for source in own)
    return [_build_answer(row, ids_by_claim[row["id"]], rests[row["id"]], of_pages, pages) for row in rows]


def _describe_entities(conn: Connection, ids: Iterable[str | None]) -> dict[str, Any]:
    document_ids = [document_id for document_id in dict.fromkeys(ids) if document_id is not None]
    document = documents.c
    rows = (
        conn.execute(
            select(document.id, document.page_label, document.language).where(
                is_among(document.id, document_ids)
            )
        )
        if document_ids
        else ()
    )
    return {row.id: row for row in rows}


def _build_answer(
    row: dict[str, Any],
    entity_ids: list[str],
    sources: list[dict[str, Any]],
    described: dict[str, Any],
    pages: Pages,
) -> dict[str, Any]:
    first = next((source["document_id"] for source in sources if source["document_id"] is not None), None)
    placed: list[Place] = []
    evidence = []
    for source in sources:
        place, stale = standing(source, pages)
        if source["document_id"] == first and place is not None:
            placed.append(place)
        evidence.append({**{name: source[name] for name in EVIDENCE}, "stale": stale})
    excerpts = [
        source["excerpt"] for source in sources if source["document_id"] == first and source["excerpt"]
    ]
    about = [
        described[document_id]
        for document_id in dict.fromkeys(source["document_id"] for source in sources)
        if document_id in described
    ]
    return {
        **row,
        "entity_ids": entity_ids,
        "source_document_id": first,
        "source_ids": list(
            dict.fromkeys(
                filter(None, (source["document_id"] or source["source_claim_id"] for source in sources))
            )
        ),
        "source_excerpt": "\n".join(excerpts) or None,
        "source_char_start": min((place.page_start for place in placed), default=None),
        "source_char_end": max((place.page_end for place in placed), default=None),
        "source_page_labels": list(dict.fromkeys(page.page_label for page in about if page.page_label)),
        "source_languages": list(dict.fromkeys(page.language for page in about if page.language)),
        "text_fingerprint": fingerprint_of(evidence),
        "evidence": evidence,
        "stale": any(source["stale"] for source in evidence),
    }


def fingerprint_of(evidence: Iterable[dict[str, Any]]) -> str | None:
    """Return the fingerprint of the first line among the evidence; None if no line is."""
    return next(filter(None, (source["text_fingerprint"] for source in evidence)), None)


def standing(source: dict[str, Any], pages: Pages) -> tuple[Place | None, bool]:
    """Return where a piece of evidence is now, and whether its line has changed since it was last looked at."""
    if source["segment_id"] is None or source["representation_id"] is None:
        return None, False
    places = pages(source["document_id"])
    place = places.find(source)
    stale = source["text_fingerprint"] != places.fingerprint(source["segment_id"])
    return (place if isinstance(place, Place) else None), stale


def claim(conn: Connection, claim_id: str) -> dict[str, Any]:
    """Return one statement as answered; NotFound."""
    return shown_claims(conn, [Claim.rows.require(conn, claim_id)])[0]


def with_entity(entity_id: str) -> ColumnElement[bool]:
    """Return the condition that a statement names an entity."""
    return claims.c.id.in_(select(claim_entities.c.claim_id).where(claim_entities.c.entity_id == entity_id))


@query(
    "/api/claims", summary="The statements of the project, in the order of their creation", answer=ClaimPage
)
def list_claims(
    conn: Connection,
    q: Words = None,
    claim_type: ClaimType | None = None,
    curation_state: ClaimState | None = None,
    document_id: str | None = None,
    entity_id: str | None = None,
    limit: Limit = 100,
    offset: Start = 0,
) -> dict[str, Any]:
    """List them. What rests only on the Trash is left out."""
    left_out = HiddenKnowledge(conn).claims
    where: list[ColumnElement[bool]] = [claims.c.merged_into_id.is_(None)]
    if left_out:
        where.append(~is_among(claims.c.id, left_out))
    if q is not None:
        where.append(in_words(claims.c.folded_text, q))
    if claim_type is not None:
        where.append(claims.c.claim_type == claim_type)
    if curation_state is not None:
        where.append(claims.c.curation_state == curation_state)
    if document_id is not None:
        require_document(conn, document_id)
        of_page = select(claim_sources.c.claim_id).where(claim_sources.c.document_id == document_id)
        where.append(claims.c.id.in_(of_page))
    if entity_id is not None:
        entity(conn, entity_id)
        where.append(with_entity(survivor_of(conn, entity_id)))
    is_whole = all(parameter is None for parameter in (q, claim_type, curation_state, document_id, entity_id))
    all_but = not_listed(claims, left_out) if is_whole else None
    order = (claims.c.created_at, claims.c.id)
    page = Claim.rows.page(conn, *where, order=order, limit=limit, offset=offset, all_but=all_but)
    return {**page, "items": shown_claims(conn, page["items"], in_snapshot=True)}


@query("/api/claims/{claim_id}", summary="One statement", answer=Claim, name="get_claim")
def read_claim(conn: Connection, claim_id: str) -> dict[str, Any]:
    """Return it with all its evidence."""
    return claim(conn, claim_id)


def shown_interpretations(conn: Connection, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of interpretations as answered; one is stale if its page's text has changed since."""
    pages = Pages(conn)
    return [
        {**row, "stale": row["text_fingerprint"] != text_fingerprint(pages(row["document_id"]).text)}
        for row in rows
    ]


@query("/api/interpretations", summary="Interpretations of documents", answer=InterpretationPage)
def list_interpretations(
    conn: Connection,
    document_id: str | None = None,
    framework_id: Words = None,
    limit: Limit = 100,
    offset: Start = 0,
) -> dict[str, Any]:
    """List them in order of creation; those of documents in the Trash only if the document is named."""
    where: list[ColumnElement[bool]] = []
    if document_id is not None:
        require_document(conn, document_id)
        where.append(interpretations.c.document_id == document_id)
    else:
        live = select(documents.c.id).where(documents.c.deleted_at.is_(None))
        where.append(interpretations.c.document_id.in_(live))
    if framework_id is not None:
        where.append(interpretations.c.framework_id == framework_id)
    order = (interpretations.c.created_at, interpretations.c.id)
    page = Interpretation.rows.page(conn, *where, order=order, limit=limit, offset=offset)
    return {**page, "items": shown_interpretations(conn, page["items"])}
