"""Which statements and entities are left out: those that rest only on the Trash, and those that rest on
withheld pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table

from armarium.api import is_among, json_text, raw_of
from armarium_documents.api import documents
from armarium_knowledge.models import claims as claim_table
from armarium_knowledge.models import entities as entity_table

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

_WITHHELD_CLAIMS = "SELECT claim_id FROM main.claim_source WHERE id NOT IN (SELECT id FROM claim_source)"
_WITHHELD_ENTITIES = """
SELECT entity_id FROM (
    SELECT entity_id FROM main.mention
    UNION SELECT c.entity_id FROM main.claim_entity c WHERE c.claim_id IN (SELECT value FROM json_each(:claims))
) WHERE entity_id NOT IN (SELECT entity_id FROM mention) AND entity_id NOT IN (
    SELECT c.entity_id FROM main.claim_entity c WHERE c.claim_id NOT IN (SELECT value FROM json_each(:claims))
)
"""
"""A caller from whom something is withheld reads through views that shadow the tables of `main`."""

_AND_RESTING = """
WITH RECURSIVE up(id) AS (
    SELECT value FROM json_each(:these)
    UNION SELECT s.claim_id FROM up JOIN main.claim_source s ON s.source_claim_id = up.id
) SELECT id FROM up
"""


def claims_resting_on(conn: Connection, gone: Iterable[str] | None = None) -> list[str]:
    """Return the statements that rest only on documents of *gone* (None: those in the Trash), directly or
    through others.
    """
    raw, listed = raw_of(conn), json_text(list(gone or ()))
    of = _GONE if gone is None else _THESE
    found = [row[0] for row in raw.execute(_CLAIMS.format(gone=of), {"gone": listed})]
    while found:
        given = {"gone": listed, "hidden": json_text(found)}
        more = [row[0] for row in raw.execute(_RESTING_ON.format(gone=of), given)]
        if not more:
            break
        found += more
    return found


def entities_resting_on(
    conn: Connection, claims: Iterable[str], gone: Iterable[str] | None = None
) -> list[str]:
    """Return the entities not verified by a person that only documents of *gone* and these *claims* name,
    with those merged into them.
    """
    raw = raw_of(conn)
    of = _GONE if gone is None else _THESE
    given = {"gone": json_text(list(gone or ())), "hidden": json_text(list(claims))}
    found = [row[0] for row in raw.execute(_ENTITIES.format(gone=of), given)]
    if not found:
        return []
    return [row[0] for row in raw.execute(_MERGED_INTO, {"hidden": json_text(found)})]


class HiddenKnowledge:
    """The statements and entities that are left out of what *conn* answers: few, and determined once per request."""

    def __init__(self, conn: Connection) -> None:
        in_trash = claims_resting_on(conn)
        self.trashed_claims = frozenset(in_trash)
        self.trashed_entities = frozenset(entities_resting_on(conn, in_trash))
        self.withheld_claims, self.withheld_entities = withheld_knowledge(conn)

    @property
    def claims(self) -> list[str]:
        """Return the ids of the statements that are left out."""
        return [*self.trashed_claims, *self.withheld_claims]

    @property
    def entities(self) -> list[str]:
        """Return the ids of the entities that are left out."""
        return [*self.trashed_entities, *self.withheld_entities]


def not_listed(table: Table, hidden: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a statement or an entity is in no list: merged into another, or left out."""
    merged: ColumnElement[bool] = table.c.merged_into_id.is_not(None)
    return merged | is_among(table.c.id, hidden) if hidden else merged


def withheld_knowledge(conn: Connection) -> tuple[frozenset[str], frozenset[str]]:
    """Return the statements that rest on a page withheld from the caller, directly or through others, and the
    entities that only such pages and statements name.
    """
    raw = raw_of(conn)
    if raw.execute("SELECT 1 FROM sqlite_temp_schema WHERE name = 'mention'").fetchone() is None:
        return frozenset(), frozenset()
    claims = _with_those_resting_on(raw, {row[0] for row in raw.execute(_WITHHELD_CLAIMS)})
    found = [row[0] for row in raw.execute(_WITHHELD_ENTITIES, {"claims": json_text(sorted(claims))})]
    # What was merged into a withheld entity has its names, and nothing of its own that names it.
    entities = raw.execute(_MERGED_INTO, {"hidden": json_text(found)}) if found else ()
    return claims, frozenset(row[0] for row in entities)


def _with_those_resting_on(raw: Any, withheld: set[str]) -> frozenset[str]:
    """Return the statements *withheld* with all that rest on them, directly or through others."""
    found = raw.execute(_AND_RESTING, {"these": json_text(sorted(withheld))}) if withheld else ()
    return frozenset(row[0] for row in found)


class WithheldKnowledge:
    """Statements and entities withheld from a caller along with the pages they rest on."""

    tables = (claim_table, entity_table)

    def find_withheld(self, conn: Connection, ids: Sequence[str]) -> set[str]:
        """Return those of *ids*."""
        known = (
            f"SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM main.{claim_table} c WHERE c.id = j.value)"
            f" OR EXISTS (SELECT 1 FROM main.{entity_table} e WHERE e.id = j.value)"
        )
        asked = {row[0] for row in raw_of(conn).execute(known, (json_text(list(ids)),))}
        return asked & frozenset.union(*withheld_knowledge(conn)) if asked else set()
