"""Examples of the actions and recipe jobs of knowledge: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example
from armarium_testing.sample_pages import sample_page

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
    page, named_entity = read_page(ex), entity(ex)
    where = {"document_id": page["page_id"], "char_start": JUAN[0], "char_end": JUAN[1]}
    result = ex.run("mention.create", {"entity_id": named_entity, **where})
    return {**page, "entity_id": named_entity, "mention_id": result["id"], "where": where}


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


def claim_create(ex: Example) -> dict[str, Any]:
    there = claim(ex)
    return {**there["stated"], "text": "Juan Garcia had a vineyard", "predicate_verb": "had"}


def claim_take(ex: Example) -> dict[str, Any]:
    page = read_page(ex)
    entity(ex)
    stated = {"text": "Juan Garcia sold his vineyard", "subject": "Juan Garcia", "predicate_verb": "sold"}
    return {
        "document_id": page["page_id"],
        "provider": "sample",
        "model": "sample",
        "statements": [{**stated, "object": "his vineyard", "segment_ids": page["lines"]}],
    }


def knowledge_confirm(ex: Example) -> dict[str, Any]:
    there = mention(ex)
    line, text = there["lines"][0], f"{WORDS[0]}, vintner"
    ex.run("representation.create", {"segment_id": line, "text": text})
    return {"items": [{"kind": "mention", "id": there["mention_id"]}]}


def entity_update(ex: Example) -> dict[str, Any]:
    return {"entity_id": entity(ex), "description": "A vintner", "curation_state": "verified"}


def entity_take_dates(ex: Example) -> dict[str, Any]:
    there = mention(ex)
    date = {"as_written": "March 1642", "iso_start": "1642-03", "precision": "month"}
    return {"document_id": there["page_id"], "dates": [{"entity_id": there["entity_id"], "date": date}]}


def entity_take_links(ex: Example) -> dict[str, Any]:
    there = mention(ex)
    link = {"authority": "viaf", "authority_id": "1", "uri": "http://viaf.org/viaf/1"}
    return {"document_id": there["page_id"], "links": [{"entity_id": there["entity_id"], "link": link}]}


def mention_create(ex: Example) -> dict[str, Any]:
    page = read_page(ex)
    start, end = JUAN
    return {
        "entity_id": entity(ex),
        "document_id": page["page_id"],
        "char_start": start,
        "char_end": end,
    }


def mention_repoint(ex: Example) -> dict[str, Any]:
    there = mention(ex)
    other_entity = entity(ex, "Juan Garcia the younger")
    return {"entity_id": there["entity_id"], **there["where"], "to_entity_id": other_entity}


def mention_respan(ex: Example) -> dict[str, Any]:
    there = mention(ex)
    new = {"new_char_start": JUAN[0], "new_char_end": JUAN[1] + len(" of Toledo")}
    return {"entity_id": there["entity_id"], **there["where"], **new}


def mention_take(ex: Example) -> dict[str, Any]:
    page = read_page(ex)
    start, end = JUAN
    on_line = {"segment_id": page["lines"][0], "representation_id": page["readings"][0]}
    name = {
        **on_line,
        "char_start": start,
        "char_end": end,
        "canonical_name": "Juan Garcia",
        "entity_type": "person",
    }
    return {"document_id": page["page_id"], "names": [name]}


def entity_merge(ex: Example) -> dict[str, Any]:
    there = mention(ex)
    return {"survivor_id": entity(ex, "Juan Garcia the elder"), "ids": [there["entity_id"]]}


def entity_propose_matches(ex: Example) -> dict[str, Any]:
    pair = {
        "survivor_id": entity(ex),
        "candidate_id": entity(ex, "Joan Garcia"),
        "score": 0.93,
    }
    return {"pairs": [{**pair, "method": "name_variant", "reason": "The names are nearly the same"}]}


def entity_decide_match(ex: Example) -> dict[str, Any]:
    return {
        "match_id": ex.run("entity.propose_matches", entity_propose_matches(ex))["match_ids"][0],
        "state": "accepted",
    }


def interpretation_create(ex: Example) -> dict[str, Any]:
    return {
        "document_id": read_page(ex)["page_id"],
        "framework_id": "micro-history",
        "framework_name": "Micro-history",
        "text": "A small sale that shows who could own land",
        "key_insights": ["The seller signs himself"],
    }


def interpretation_delete(ex: Example) -> dict[str, Any]:
    return {"interpretation_id": ex.run("interpretation.create", interpretation_create(ex))["id"]}


def prediction_review_create(ex: Example) -> dict[str, Any]:
    return {
        "source_entity_id": entity(ex),
        "relation": "owned",
        "target_entity_id": entity(ex, "The vineyard", "location"),
        "score": 0.8,
    }


def find_names_tag_words(ex: Example) -> dict[str, Any]:
    page = read_page(ex)
    entity(ex)
    return {"page_id": page["page_id"], "settings": {}}


def work_out_dates(ex: Example) -> dict[str, Any]:
    page = read_page(ex)
    day = entity(ex, "The third of March 1642", "event")
    start = len(WORDS[0]) + 1 + WORDS[1].index("third")
    where = {
        "document_id": page["page_id"],
        "char_start": start,
        "char_end": start + len("third of March 1642"),
    }
    ex.run("mention.create", {"entity_id": day, **where})
    return {"page_id": page["page_id"], "settings": {"language": "en"}}


def link_to_authorities(ex: Example) -> dict[str, Any]:
    there = mention(ex)
    file = ex.file("authorities.csv", b"name,uri\nJuan Garcia,http://viaf.org/viaf/42\n")
    return {"page_id": there["page_id"], "settings": {"file": str(file)}}


def find_statements(ex: Example) -> dict[str, Any]:
    return {"page_id": read_page(ex)["page_id"]}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "claim.create": claim_create,
    "claim.update": lambda ex: {"claim_id": claim(ex)["claim_id"], "curation_state": "curated"},
    "claim.delete": lambda ex: {"claim_id": claim(ex)["claim_id"]},
    "claim.take": claim_take,
    "knowledge.confirm": knowledge_confirm,
    "entity.create": lambda ex: {
        "canonical_name": "Juan Garcia",
        "entity_type": "person",
        "names": [{"text": "Joannes Garsia", "language": "la", "script": "Latn"}],
        "date_values": [{"as_written": "1642", "iso_start": "1642", "precision": "year"}],
    },
    "entity.update": entity_update,
    "entity.delete": lambda ex: {"entity_id": mention(ex)["entity_id"]},
    "entity.take_dates": entity_take_dates,
    "entity.take_links": entity_take_links,
    "mention.create": mention_create,
    "mention.repoint": mention_repoint,
    "mention.respan": mention_respan,
    "mention.delete": lambda ex: {"mention_id": mention(ex)["mention_id"]},
    "mention.take": mention_take,
    "entity.merge": entity_merge,
    "entity.propose_matches": entity_propose_matches,
    "entity.decide_match": entity_decide_match,
    "entity.find_matches": lambda ex: {"entity_ids": [entity(ex)]},
    "interpretation.create": interpretation_create,
    "interpretation.delete": interpretation_delete,
    "prediction_review.create": prediction_review_create,
    "prediction_review.decide": lambda ex: {
        "review_id": ex.run("prediction_review.create", prediction_review_create(ex))["id"],
        "state": "deferred",
    },
    "find-names-tag-words": find_names_tag_words,
    "find-statements": find_statements,
    "work-out-dates": work_out_dates,
    "link-to-authorities": link_to_authorities,
    "describe-for-the-catalogue": find_statements,
    "pull-out-passages": find_statements,
}
