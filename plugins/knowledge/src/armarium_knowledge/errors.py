"""The refusals of knowledge, each one a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Conflict, Forbidden, Invalid, NotFound, missing

unknown_entity = missing("entity", "List the entities to find the right id.")
unknown_claim = missing("statement", "List the statements to find the right id.", code="claim_not_found")
unknown_mention = missing("mention", "List the mentions of the entity to find the right id.")
unknown_match = missing("match", "List the matches of entities to find the right id.")
unknown_review = missing("review", "List the reviews of predictions to find the right id.")
unknown_interpretation = missing(
    "interpretation", "List the interpretations of the document to find the right id."
)


def merged_entity(entity_id: str, live_id: str) -> Conflict:
    """409: a merged entity cannot be changed any more."""
    return Conflict(
        f"The entity {entity_id} was merged into {live_id}; use that one instead.",
        code="entity_merged",
        id=entity_id,
        live_id=live_id,
    )


def merges_with_itself(entity_id: str) -> Invalid:
    """422: the survivor is among those to be merged into it."""
    return Invalid(
        f"The entity {entity_id} is both the survivor and to be merged; name other entities in ids.",
        code="merged_with_itself",
    )


def holds_merged(entity_id: str, ids: Iterable[str]) -> Conflict:
    """409: others were merged into the entity that is to be deleted."""
    return Conflict(
        f"Other entities were merged into {entity_id}; undo those merges first, or keep it.",
        code="holds_merged",
        merged_ids=list(ids),
    )


def has_decided_reviews(entity_id: str, ids: Iterable[str]) -> Conflict:
    """409: a decision about a prediction would be lost with the entity."""
    return Conflict(
        f"Predictions about {entity_id} became statements; undo those decisions first, or reject the entity instead.",
        code="has_reviews",
        review_ids=list(ids),
    )


def own_parent(entity_id: str) -> Invalid:
    """422: an entity below itself."""
    return Invalid(
        f"The entity {entity_id} cannot be below itself; name another parent_id.", code="parent_in_circle"
    )


def unknown_type(entity_type: str, known: Iterable[str]) -> Invalid:
    """422: the project has no such type of entity."""
    return Invalid(
        f"There is no type of entity {entity_type!r} in this project. The types are: {', '.join(known)}; the "
        "owner can add types in the project's settings.",
        code="unknown_entity_type",
    )


def not_words(start: int, end: int, length: int) -> Invalid:
    """422: a span outside the page's text, or without a letter or digit in it."""
    return Invalid(
        f"The characters {start} to {end} are not words of the page's text, which has {length} characters; "
        "send the offsets of words in the text that the page is read by.",
        code="not_words",
        length=length,
    )


def cuts_a_character(offset: int) -> Invalid:
    """422: a span that begins or ends between a letter and its mark."""
    return Invalid(
        f"The span would separate a letter from its marks at {offset}; include the marks, or leave the "
        "letter out.",
        code="cuts_a_character",
        offset=offset,
    )


def several_lines(start: int, end: int) -> Invalid:
    """422: a mention across the end of a line."""
    return Invalid(
        f"The characters {start} to {end} cross the end of a line, and a mention is on one line. Make one "
        "for each line.",
        code="several_lines",
    )


def no_mention_there(entity_id: str, start: int, end: int) -> NotFound:
    """404: the entity is not named by exactly these characters."""
    return NotFound(
        f"The entity {entity_id} has no mention at the characters {start} to {end} of the page's text. List "
        "the mentions of the page to see where they are.",
        code="no_mention_there",
    )


def mentioned_there(mention_id: str, entity_id: str) -> Conflict:
    """409: the same characters already name the same entity."""
    return Conflict(
        f"These characters are already a mention of {entity_id}.", code="already_exists", id=mention_id
    )


def refused_span(entity_id: str) -> Conflict:
    """409: a machine would repeat what somebody has rejected."""
    return Conflict(
        f"It was decided that these characters do not name the entity {entity_id}. Only a person may decide "
        "otherwise.",
        code="refused_span",
        entity_id=entity_id,
    )


def same_entity(entity_id: str) -> Invalid:
    """422: from an entity to itself."""
    return Invalid(f"The mention already names {entity_id}; give another to_entity_id.", code="same_entity")


def curated_by_person() -> Forbidden:
    """403: a machine would curate a statement, or change a curated one."""
    return Forbidden(
        "Only a person curates a statement or changes a curated one; a machine may put an unreviewed one on the "
        "shortlist.",
        code="person_only",
    )


def verified_by_person() -> Forbidden:
    """403: a machine would verify an entity, reject one, undo that, or change one that a person decided about."""
    return Forbidden(
        "Only a person verifies or rejects an entity, or changes one that a person verified or rejected.",
        code="person_only",
    )


def decided_by_person() -> Forbidden:
    """403: a machine would accept a match, or undo what a person decided about one."""
    return Forbidden(
        "Only a person may accept that two entities are the same, or undo what a person decided about it.",
        code="person_only",
    )


def reviewed_by_person() -> Forbidden:
    """403: a machine would accept a predicted relation, or change what was decided about one."""
    return Forbidden(
        "Only a person may accept a predicted relation, or decide anew about one that was accepted or rejected.",
        code="person_only",
    )


def relation_reviewed(review_id: str, state: str) -> Conflict:
    """409: a machine would ask again about a relation that was decided."""
    return Conflict(
        f"This relation of these two was {state} in the review {review_id}. A person may ask about it again.",
        code="already_decided",
        id=review_id,
    )


def corrected_by_person() -> Forbidden:
    """403: a machine would change a person's correction."""
    return Forbidden("A person corrected this mention, so a machine may not change it.", code="person_only")


def refused_by_person() -> Forbidden:
    """403: a machine would lift a person's refusal."""
    return Forbidden(
        "A person decided that these characters do not name this entity. Only a person may decide otherwise.",
        code="person_only",
    )


def merge_in_its_own_way() -> Invalid:
    """422: the state merged cannot be set directly."""
    return Invalid("Only a merge gives an entity the state merged; use the merge action.", code="merge_it")


def span_needs_document() -> Invalid:
    """422: offsets without the document they refer to."""
    return Invalid(
        "source_char_start and source_char_end are offsets in the text of source_document_id; send all "
        "three, or neither offset.",
        code="incomplete_span",
    )


def sources_disagree(source_type: str, why: str) -> Invalid:
    """422: the type of the source does not fit the sources."""
    return Invalid(f"The source_type {source_type} does not fit: {why}", code="source_type")


def rests_on_itself(claim_id: str) -> Invalid:
    """422: a statement that would be its own evidence."""
    return Invalid(
        f"The statement {claim_id} would rest on itself, directly or through others; name other source_ids.",
        code="rests_on_itself",
    )


def unknown_source(source_id: str) -> NotFound:
    """404: a source that is neither a document nor a statement."""
    return NotFound(
        f"There is neither a document nor a statement {source_id} in this project; name what the statement rests on.",
        code="source_not_found",
        id=source_id,
    )


def review_pending(review_id: str) -> Conflict:
    """409: the same prediction is already pending."""
    return Conflict("This prediction is already waiting for a decision.", code="already_exists", id=review_id)


def has_become_a_claim(claim_id: str) -> Conflict:
    """409: a statement was made from the decision."""
    return Conflict(
        f"This prediction became the statement {claim_id}; undo that decision first.",
        code="already_decided",
        resulting_claim_id=claim_id,
    )


def claim_of_accepted_only() -> Invalid:
    """422: a statement made from something that was not accepted."""
    return Invalid(
        "Only an accepted prediction has a resulting_claim_id; send the state accepted, or no statement.",
        code="not_accepted",
    )


def match_decided(state: str) -> Conflict:
    """409: a match that is already decided."""
    return Conflict(
        f"This match is already {state}; undo that decision to make another.",
        code="already_decided",
        state=state,
    )


def accept_needs_a_person() -> Forbidden:
    """403: a machine would accept that two entities are the same."""
    return Forbidden("Only a person may accept that two entities are the same.", code="person_only")


def interval_reversed(field: str) -> Invalid:
    """422: an end before its beginning."""
    return Invalid(f"{field} ends before it begins; send its start before its end.", code="interval_reversed")


def name_nothing_about() -> Invalid:
    """422: nothing was named to look for."""
    return Invalid("Send one of segment_id, document_id and audit_id.", code="nothing_named")


def unknown_step(audit_id: str) -> NotFound:
    """404: the project has no such step."""
    return NotFound(
        f"There is no step {audit_id} in this project. The answer of a write contains the id of its step as "
        "audit_id.",
        code="audit_not_found",
        id=audit_id,
    )


def not_confirmable(kind: str, identity: str, known: Iterable[str]) -> NotFound:
    """404: nothing of that kind and id rests on text."""
    return NotFound(
        f"There is no {kind} {identity} that rests on text of this project. These kinds can be confirmed: "
        f"{', '.join(known)}.",
        code="nothing_rests",
        id=identity,
    )


def gone_from_text(kind: str, identity: str) -> Conflict:
    """409: its words are no longer in the text."""
    return Conflict(
        f"The words that the {kind} {identity} rests on are no longer in the text; correct it or delete it.",
        code="words_gone",
        id=identity,
    )


def stays_decided(state: str) -> Conflict:
    """409: a decided review cannot become pending again."""
    return Conflict(
        f"This prediction is {state}; change the decision, or undo it to make the prediction pending again.",
        code="already_decided",
        state=state,
    )


def not_an_authority_file(name: str, why: str) -> Invalid:
    """422: a file of none of the accepted kinds."""
    return Invalid(
        f"{name} is not a readable authority file: {why}. Accepted are CSV with columns uri and name, SKOS as"
        " RDF/XML, and an extract of Wikidata with one JSON item a line.",
        code="not_an_authority_file",
    )


def authority_file_needed() -> Invalid:
    """422: no authority file was named."""
    return Invalid("Name an authority file on this machine in the setting file.", code="file_needed")
