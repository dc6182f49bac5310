"""Which statements and entities are left out: those that rest only on the Trash, and those that rest on
withheld pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, Table

from armarium.api import WithheldAlong, is_among, json_text, raw_of
from armarium_documents.api import documents
from armarium_knowledge.records.claims import claims as claim_table
from armarium_knowledge.records.entities import entities as entity_table

_GONE = f"(SELECT id FROM {documents} WHERE deleted_at IS NOT NULL)"
_THESE = "(SELECT value FROM json_each(:gone))"

_CLAIMS = """
SELECT s.claim_id FROM claim_source s WHERE s.claim_id IN (SELECT claim_id FROM claim_source WHERE document_id IN {gone})
GROUP BY s.claim_id HAVING min(s.document_id IS NOT NULL AND s.document_id IN {gone}) = 1
"""
"""Statements whose evidence is all on documents that are gone."""

_RESTING_ON = """
SELECT s.claim_id FROM claim_source s
WHERE s.claim_id IN (SELECT claim_id FROM claim_source WHERE source_claim_id IN (SELECT value FROM json_each(:hidden)))
AND s.claim_id NOT IN (SELECT value FROM json_each(:hidden))
GROUP BY s.claim_id HAVING min(CASE WHEN s.document_id IS NOT NULL THEN s.document_id IN {gone}
ELSE s.source_claim_id IN (SELECT value FROM json_each(:hidden)) END) = 1
"""
"""Statements whose evidence is all on gone documents and hidden statements."""

_ENTITIES = """
SELECT e.id FROM entity e WHERE e.curation_state <> 'verified' AND e.id IN (
    SELECT entity_id FROM mention WHERE document_id IN {gone}
    UNION SELECT entity_id FROM claim_entity WHERE claim_id IN (SELECT value FROM json_each(:hidden))
) AND NOT EXISTS (SELECT 1 FROM mention m WHERE m.entity_id = e.id AND m.document_id NOT IN {gone})
AND NOT EXISTS (
    SELECT 1 FROM claim_entity c WHERE c.entity_id = e.id AND c.claim_id NOT IN (SELECT value FROM json_each(:hidden))
)
"""
"""Entities not verified by a person and named only on gone documents and in hidden statements."""

_MERGED_INTO = """
WITH RECURSIVE down(id) AS (
    SELECT value FROM json_each(:hidden) UNION SELECT e.id FROM down JOIN entity e ON e.merged_into_id = down.id
) SELECT id FROM down
"""

_WITHHELD_CLAIMS = """
WITH RECURSIVE up(id) AS (
    SELECT claim_id FROM main.claim_source
    WHERE document_id IN (SELECT id FROM {documents}) OR segment_id IN (SELECT id FROM {parts})
    UNION SELECT s.claim_id FROM up JOIN main.claim_source s ON s.source_claim_id = up.id
) SELECT id FROM up
"""
"""Statements that rest on a withheld page or line, directly or through others."""

_WITHHELD_ENTITIES = """
SELECT f.entity_id FROM (
    SELECT entity_id FROM main.mention
    WHERE document_id IN (SELECT id FROM {documents}) OR segment_id IN (SELECT id FROM {parts})
    UNION SELECT c.entity_id FROM json_each(:claims) j JOIN main.claim_entity c ON c.claim_id = j.value
) f WHERE NOT EXISTS (SELECT 1 FROM mention m WHERE m.entity_id = f.entity_id) AND NOT EXISTS (
    SELECT 1 FROM main.claim_entity c WHERE c.entity_id = f.entity_id
    AND c.claim_id NOT IN (SELECT value FROM json_each(:claims))
)
"""
"""Entities that only withheld pages and statements name. `mention` without `main` has only those that the caller sees."""


def claims_resting_on(conn: Connection, gone: Iterable[str] | None = None) -> list[str]:
    """Return the statements that rest only on documents of *gone* (None: those in the Trash), directly or
    through others.
    """
    raw, listed = raw_of(conn), json_text(list(gone or ()))
    of = _GONE if gone is None else _THESE
    claim_ids = [row[0] for row in raw.execute(_CLAIMS.format(gone=of), {"gone": listed})]
    while claim_ids:
        parameters = {"gone": listed, "hidden": json_text(claim_ids)}
        more = [row[0] for row in raw.execute(_RESTING_ON.format(gone=of), parameters)]
        if not more:
            break
        claim_ids += more
    return claim_ids


def entities_resting_on(
    conn: Connection, claims: Iterable[str], gone: Iterable[str] | None = None
) -> list[str]:
    """Return the entities not verified by a person that only documents of *gone* and these *claims* name,
    with those merged into them.
    """
    raw = raw_of(conn)
    of = _GONE if gone is None else _THESE
    parameters = {"gone": json_text(list(gone or ())), "hidden": json_text(list(claims))}
    entity_ids = [row[0] for row in raw.execute(_ENTITIES.format(gone=of), parameters)]
    if not entity_ids:
        return []
    return [row[0] for row in raw.execute(_MERGED_INTO, {"hidden": json_text(entity_ids)})]


class HiddenKnowledge:
    """The statements and entities that are left out of lists because what they rest on is in the Trash: few, and
    determined once per request.
    """

    def __init__(self, conn: Connection) -> None:
        self.claims = claims_resting_on(conn)
        self.entities = entities_resting_on(conn, self.claims)


def not_listed(table: Table, hidden: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a statement or an entity is in no list: merged into another, or left out."""
    merged: ColumnElement[bool] = table.c.merged_into_id.is_not(None)
    return merged | is_among(table.c.id, hidden) if hidden else merged


class WithheldKnowledge(WithheldAlong):
    """Statements and entities withheld from a caller along with the pages they rest on."""

    tables = (claim_table, entity_table)

    def find_withheld(self, conn: Connection, documents: str, parts: str) -> list[str]:
        """Return the statements that rest on what is withheld, the entities that nothing else names, and what was
        merged into these: it has their names, and nothing of its own that names it.
        """
        raw = raw_of(conn)
        query = _WITHHELD_CLAIMS.format(documents=documents, parts=parts)
        claims = [row[0] for row in raw.execute(query)]
        withheld_query = _WITHHELD_ENTITIES.format(documents=documents, parts=parts)
        entities = [row[0] for row in raw.execute(withheld_query, {"claims": json_text(claims)})]
        merged = raw.execute(_MERGED_INTO, {"hidden": json_text(entities)}) if entities else ()
        return [*claims, *(row[0] for row in merged)]
