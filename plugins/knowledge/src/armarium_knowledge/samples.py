"""The pages and names used by the examples of these actions and jobs."""

from __future__ import annotations

from typing import Any

from armarium.api import Example
from armarium_source_model.api import sample_page

WORDS = ("Before me came Juan Garcia of Toledo", "on the third of March 1642", "and sold his vineyard")
"""A page, line by line."""
JUAN = (15, 26)
"""Where it names Juan Garcia."""


def read_page(ex: Example) -> dict[str, Any]:
    """Create a page of three lines read by a machine; return its id, its pass, its lines and their readings."""
    page = sample_page(ex, WORDS, reader="sample-reader")
    ids = {"page_id": page.document_id, "pass_id": page.pass_id}
    return {**ids, "lines": page.segment_ids, "readings": page.reading_ids}


def entity(ex: Example, name: str = "Juan Garcia", entity_type: str = "person") -> str:
    """Create an entity; return its id."""
    return str(ex.run("entity.create", {"canonical_name": name, "entity_type": entity_type})["id"])


def mention(ex: Example) -> dict[str, Any]:
    """Create a page that names an entity; return the ids of page, entity and mention."""
    page, named = read_page(ex), entity(ex)
    where = {"document_id": page["page_id"], "char_start": JUAN[0], "char_end": JUAN[1]}
    made = ex.run("mention.create", {"entity_id": named, **where})
    return {**page, "entity_id": named, "mention_id": made["id"], "where": where}


def claim(ex: Example) -> dict[str, Any]:
    """Create a statement on a page; return the ids of page, entity and statement."""
    there = mention(ex)
    span = {"source_char_start": JUAN[0], "source_char_end": 80}
    stated = {
        "text": "Juan Garcia sold his vineyard",
        "subject_entity_id": there["entity_id"],
        "subject_canonical": "Juan Garcia",
        "predicate_verb": "sold",
        "object_phrase": "his vineyard",
        "source_document_id": there["page_id"],
        **span,
    }
    return {**there, "claim_id": ex.run("claim.create", stated)["id"], "stated": stated}
