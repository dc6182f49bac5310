"""Lists of a large project come from an index: nothing is sorted, and what is left out of them is not counted."""

from __future__ import annotations

from typing import Any

import pytest

from armarium.api import Library, raw_of
from armarium_knowledge.queries.claims import list_claims
from armarium_knowledge.queries.entities import list_entities


@pytest.mark.parametrize(
    ("listing", "index"), [(list_entities, "ix_entity_listed"), (list_claims, "ix_claim_listed")]
)
def test_a_list_is_read_and_counted_in_its_index(library: Library, listing: Any, index: str) -> None:
    table = {"ix_entity_listed": "FROM entity ", "ix_claim_listed": "FROM claim "}[index]
    with library.db.read() as conn:
        raw, statements = raw_of(conn), []
        raw.set_trace_callback(statements.append)
        listing(conn)
        raw.set_trace_callback(None)
        asked = [one for one in statements if table in one.replace("\n", " ")]
        plans = ["; ".join(row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {one}")) for one in asked]
    page, count = plans[-1], plans[-2]
    assert page == f"SCAN {table.split()[1]} USING INDEX {index}"
    assert count == f"SCAN {table.split()[1]} USING COVERING INDEX {index}"
