"""What holds for mentions and statements after every step, and after undo and redo as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import RowLaw, ServiceError
from armarium_knowledge import errors
from armarium_knowledge.queries.entities import find_survivor


def _names_live(*columns: str) -> Callable[[Any, Mapping[str, Any]], ServiceError | None]:
    def find_merged(raw: Any, row: Mapping[str, Any]) -> ServiceError | None:
        for column in columns:
            reference = row[column]
            if reference is not None and (into := find_survivor(raw, reference)) != reference:
                return errors.merged_entity(reference, into)
        return None

    return find_merged


def _is_there_twice(raw: Any, row: Mapping[str, Any]) -> ServiceError | None:
    span = [
        row[name] for name in ("segment_id", "representation_id", "segment_char_start", "segment_char_end")
    ]
    # By its line: one entity may have any number of mentions, a line has few.
    other = raw.execute(
        "SELECT id FROM mention WHERE segment_id = ? AND representation_id = ? AND segment_char_start = ?"
        " AND segment_char_end = ? AND +entity_id = ? AND id <> ?",
        (*span, row["entity_id"], row["id"]),
    ).fetchone()
    return None if other is None else errors.mentioned_there(row["entity_id"], other[0])


def rests_on_itself(raw: Any, claim_id: str, source_id: str | None) -> bool:
    """Return whether a statement would rest on itself with *source_id*, directly or through others."""
    if source_id is None:
        return False
    above = raw.execute(
        "WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT s.source_claim_id FROM up JOIN claim_source s"
        " ON s.claim_id = up.id WHERE s.source_claim_id IS NOT NULL) SELECT 1 FROM up WHERE id = ?",
        (source_id, claim_id),
    )
    return above.fetchone() is not None


def _in_circle(raw: Any, row: Mapping[str, Any]) -> ServiceError | None:
    if rests_on_itself(raw, row["claim_id"], row["source_claim_id"]):
        return errors.rests_on_itself(row["claim_id"])
    return None


_NAMING = (
    ("mention", "entity_id"),
    ("claim_entity", "entity_id"),
    ("claim", "subject_entity_id"),
    ("claim", "object_entity_id"),
)


def _is_named_still(raw: Any, row: Mapping[str, Any]) -> ServiceError | None:
    if row["merged_into_id"] is None:
        return None
    queries = (f"SELECT 1 FROM {table} WHERE {column} = ? LIMIT 1" for table, column in _NAMING)
    if any(raw.execute(query, (row["id"],)).fetchone() for query in queries):
        return errors.merged_entity_is_named(row["id"], row["merged_into_id"])
    return None


OF_MENTIONS = (RowLaw("mention", _is_there_twice), RowLaw("mention", _names_live("entity_id")))
"""An entity is named once by the same characters, and never one that was merged into another."""

OF_CLAIMS = (
    RowLaw("claim_source", _in_circle),
    RowLaw("claim_entity", _names_live("entity_id")),
    RowLaw("claim", _names_live("subject_entity_id", "object_entity_id")),
)
"""A statement never rests on itself, and names no entity that was merged into another."""

OF_ENTITIES = (RowLaw("entity", _is_named_still),)
"""Nothing names an entity that was merged into another: what named it names the survivor."""
