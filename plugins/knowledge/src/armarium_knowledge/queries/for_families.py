"""What other families ask of knowledge: where a statement is, what links may refer to, counts, what is purged
with the Trash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, func, select

from armarium.api import raw_of
from armarium_documents.api import require_document
from armarium_knowledge.queries.claims import claim
from armarium_knowledge.queries.entities import live_entity, survivor_of
from armarium_knowledge.queries.visible import (
    HiddenKnowledge,
    claims_resting_on,
    entities_resting_on,
    not_listed,
)
from armarium_knowledge.records.claims import Claim, claims, findings
from armarium_knowledge.records.entities import Entity, entities
from armarium_knowledge.records.mentions import mentions


class ClaimLocator:
    """Where a statement is, for `POST /api/locations/resolve`."""

    field = "claimId"

    def locate(self, conn: Connection, identity: str) -> dict[str, Any] | None:
        """Return its first evidence: the document, the line, the characters of the page's text; None if there
        is no such statement, or it rests on no document.
        """
        if conn.execute(select(claims.c.id).where(claims.c.id == identity)).first() is None:
            return None
        statement = claim(conn, identity)
        document_id = statement["source_document_id"]
        if document_id is None:
            return None
        require_document(conn, document_id)
        lines = (
            source["segment_id"] for source in statement["evidence"] if source["document_id"] == document_id
        )
        return {
            "documentId": document_id,
            "segmentId": next(filter(None, lines), None),
            "anchor": statement["source_anchor"],
            "charStart": statement["source_char_start"],
            "charEnd": statement["source_char_end"],
        }


class EntityEnd:
    """Entities as ends of links."""

    kind = "entity"

    def check(self, conn: Connection, identity: str) -> None:
        """Raise NotFound; Conflict naming the live one if it was merged."""
        live_entity(conn, identity)


class ClaimEnd:
    """Statements as ends of links."""

    kind = "claim"

    def check(self, conn: Connection, identity: str) -> None:
        """Raise NotFound if there is no such statement."""
        Claim.rows.row(conn, identity)


def same_entities(conn: Connection, end_id: str) -> tuple[str, list[str]] | None:
    """Return the entity that one was merged into, itself if it was not, and all that were merged into that;
    None if there is no such entity.
    """
    if Entity.rows.get(conn, end_id) is None:
        return None
    live_id = survivor_of(conn, end_id)
    merged = raw_of(conn).execute(
        "WITH RECURSIVE down(id) AS (SELECT id FROM entity WHERE merged_into_id = ? UNION"
        " SELECT e.id FROM down JOIN entity e ON e.merged_into_id = down.id) SELECT id FROM down ORDER BY id",
        (live_id,),
    )
    return live_id, [row[0] for row in merged]


def entity_count(conn: Connection, document_id: str) -> int:
    """Return how many entities a document names."""
    count_named = select(func.count(mentions.c.entity_id.distinct())).where(
        mentions.c.document_id == document_id
    )
    return int(conn.execute(count_named).scalar_one())


def resting_on(conn: Connection, document_ids: Sequence[str]) -> Mapping[str, tuple[Table, list[str]]]:
    """Return what is purged with these documents: statements and entities that rest on nothing else."""
    claim_ids = claims_resting_on(conn, document_ids)
    return {
        "statements": (claims, claim_ids),
        "entities": (entities, entities_resting_on(conn, claim_ids, document_ids)),
    }


def named_by_authority(conn: Connection, uri: str | None) -> list[str]:
    """Return the live entities that are linked to a URI of an authority file, or to any, without those left out
    of lists.
    """
    of_uri = "" if uri is None else " AND json_extract(j.value, '$.uri') = :uri"
    rows = raw_of(conn).execute(
        "SELECT DISTINCT e.id FROM entity e, json_each(e.authority_links) j WHERE e.curation_state <> 'merged'"
        f" AND e.authority_links <> '[]'{of_uri} ORDER BY e.id",
        {} if uri is None else {"uri": uri},
    )
    left_out = frozenset(HiddenKnowledge(conn).entities)
    return [row[0] for row in rows if row[0] not in left_out]


def stats(conn: Connection) -> dict[str, int]:
    """Return the numbers of entities and statements, as the lists show them."""
    hidden = HiddenKnowledge(conn)
    return {
        "entities": _count_listed(conn, entities, hidden.entities),
        "claims": _count_listed(conn, claims, hidden.claims),
    }


def _count_listed(conn: Connection, table: Table, hidden: Sequence[str]) -> int:
    """Return how many rows are listed: all but the few that are not, as a page of the list counts them."""
    count = select(func.count()).select_from(table)
    left_out = conn.execute(count.where(not_listed(table, hidden))).scalar_one()
    return int(conn.execute(count).scalar_one()) - int(left_out)


def found_in_run(conn: Connection, run_id: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what a run found: by document and kind, entities by their names there and statements by their words."""
    items_by_kind: dict[tuple[str, str], dict[str, Any]] = {}
    for row in conn.execute(select(findings).where(findings.c.run_id == run_id).order_by(findings.c.id)):
        items_by_kind.setdefault((row.document_id, row.kind), {}).setdefault(row.key, row.item)
    return items_by_kind
