"""Lists of a large project come from an index: nothing is sorted, and only what is left out of them is looked at for a count."""

from __future__ import annotations

from typing import Any

import pytest
from knowledge_desk import Desk

from armarium.api import Library, raw_of
from armarium_knowledge.queries.claims import list_claims
from armarium_knowledge.queries.entities import list_entities
from armarium_knowledge.queries.mentions import list_mentions


@pytest.mark.parametrize(
    ("listing", "index"), [(list_entities, "ix_entity_listed"), (list_claims, "ix_claim_listed")]
)
def test_a_list_is_read_in_its_index_and_counted_without_a_look_at_its_rows(
    library: Library, desk: Desk, listing: Any, index: str
) -> None:
    desk.claim(subject_entity_id=desk.entity())
    table = {"ix_entity_listed": "entity", "ix_claim_listed": "claim"}[index]
    with library.db.read() as conn:
        raw, statements = raw_of(conn), []
        raw.set_trace_callback(statements.append)
        listing(conn, limit=1)
        raw.set_trace_callback(None)
        asked = [
            " ".join(statement.split())
            for statement in statements
            if f"FROM {table} " in f"{statement} ".replace("\n", " ")
        ]
        page, whole, but = asked[-3:]
        plans = ["; ".join(row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {one}")) for one in (but, page)]
    # Without a condition SQLite adds up what each page of an index holds.
    assert whole == f"SELECT count(*) AS count_1 FROM {table}"
    merged = f"ix_{table}_merged_into_id (merged_into_id>?)"
    assert plans == [f"SEARCH {table} USING COVERING INDEX {merged}", f"SCAN {table} USING INDEX {index}"]


def test_mentions_are_read_without_a_look_at_every_document(library: Library, desk: Desk) -> None:
    entity = desk.entity()
    with library.db.read() as conn:
        raw, statements = raw_of(conn), []
        raw.set_trace_callback(statements.append)
        list_mentions(conn, entity)
        raw.set_trace_callback(None)
        asked_statements = [
            statement for statement in statements if "FROM mention" in statement.replace("\n", " ")
        ]
        plans = [row[3] for item in asked_statements for row in raw.execute(f"EXPLAIN QUERY PLAN {item}")]
    assert [plan for plan in plans if "document" in plan and "SCAN" in plan] == []
