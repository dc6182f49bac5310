"""The refusals of knowledge, each a sentence a person can act on."""

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
    """409: an entity that was merged is not written about any more."""
    return Conflict(
        f"The entity {entity_id} was merged into {live_id}; name that one.",
        code="entity_merged",
        id=entity_id,
        live_id=live_id,
    )


def merges_with_itself(entity_id: str) -> Invalid:
    """422: the survivor is among those that are merged into it."""
    return Invalid(
        f"The entity {entity_id} is named as the survivor and as merged; name other entities in ids.",
        code="merged_with_itself",
    )


def holds_merged(entity_id: str, ids: Iterable[str]) -> Conflict:
    """409: others were merged into what is to be deleted."""
    return Conflict(
        f"Other entities were merged into {entity_id}; take those merges back first, or keep it.",
        code="holds_merged",
        merged_ids=list(ids),
    )


def has_decided_reviews(entity_id: str, ids: Iterable[str]) -> Conflict:
    """409: a decision about a prediction would go with the entity."""
    return Conflict(
        f"Predictions about {entity_id} became statements; undo those decisions first, or reject the entity instead.",
        code="has_reviews",
        review_ids=list(ids),
    )


def own_parent(entity_id: str) -> Invalid:
    """422: an entity beneath itself."""
    return Invalid(
        f"The entity {entity_id} cannot be beneath itself; name another parent_id.", code="parent_in_circle"
    )


def unknown_type(entity_type: str, known: Iterable[str]) -> Invalid:
    """422: no such type of entity here."""
    return Invalid(
        f"There is no type of entity {entity_type!r} in this project. There is: {', '.join(known)}; the owner adds types in"
        " the project's settings.",
        code="unknown_entity_type",
    )


def not_words(start: int, end: int, length: int) -> Invalid:
    """422: a span outside the page's text, or without a letter or figure in it."""
    return Invalid(
        f"The characters {start} to {end} are no words of the page's text, which has {length} characters; send the offsets"
        " of words in the text that the page is read by.",
        code="not_words",
        length=length,
    )


def cuts_a_character(offset: int) -> Invalid:
    """422: a span that begins or ends between a letter and the mark on it."""
    return Invalid(
        f"A letter and its marks would be cut apart at {offset}; take the mark into the span, or leave the letter out.",
        code="cuts_a_character",
        offset=offset,
    )


def several_lines(start: int, end: int) -> Invalid:
    """422: a mention over a line's end."""
    return Invalid(
        f"The characters {start} to {end} go over the end of a line; a mention stands on one line. Make one for each line.",
        code="several_lines",
    )


def no_mention_there(entity_id: str, start: int, end: int) -> NotFound:
    """404: the entity is not named by just these characters."""
    return NotFound(
        f"The entity {entity_id} has no mention at the characters {start} to {end} of the page's text. List the mentions of"
        " the page to see where they stand.",
        code="no_mention_there",
    )


def mentioned_there(mention_id: str, entity_id: str) -> Conflict:
    """409: the same characters name the same entity already."""
    return Conflict(
        f"These characters are a mention of {entity_id} already.", code="already_exists", id=mention_id
    )


def refused_span(entity_id: str) -> Conflict:
    """409: a machine would say again what somebody said is not so."""
    return Conflict(
        f"It was decided that these characters do not name the entity {entity_id}. A person may decide otherwise.",
        code="refused_span",
        entity_id=entity_id,
    )


def same_entity(entity_id: str) -> Invalid:
    """422: from an entity to itself."""
    return Invalid(f"The mention is of {entity_id} already; name another to_entity_id.", code="same_entity")


def curated_by_person() -> Forbidden:
    """403: a machine would decide what a person decides about a statement."""
    return Forbidden(
        "Only a person curates a statement; a machine may put an unreviewed one on the shortlist and nothing more.",
        code="person_only",
    )


def verified_by_person() -> Forbidden:
    """403: a machine would verify an entity, reject one, or take that back."""
    return Forbidden("Only a person verifies or rejects an entity.", code="person_only")


def corrected_by_person() -> Forbidden:
    """403: a machine would change what a person put right."""
    return Forbidden("A person corrected this mention; a machine leaves it as it is.", code="person_only")


def merge_in_its_own_way() -> Invalid:
    """422: the state merged is not set by hand."""
    return Invalid("An entity gets the state merged by a merge alone; merge it.", code="merge_it")


def span_needs_document() -> Invalid:
    """422: offsets without the document whose text they count in."""
    return Invalid(
        "source_char_start and source_char_end count in the text of source_document_id; send all three, or neither offset.",
        code="incomplete_span",
    )


def sources_disagree(source_type: str, why: str) -> Invalid:
    """422: the type of the source is not what the sources are."""
    return Invalid(f"The source_type {source_type} does not fit: {why}", code="source_type")


def rests_on_itself(claim_id: str) -> Invalid:
    """422: a statement that would be its own evidence."""
    return Invalid(
        f"The statement {claim_id} would rest on itself, at once or through others; name other source_ids.",
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
    """409: the same prediction waits to be decided."""
    return Conflict("This prediction waits for a decision already.", code="already_exists", id=review_id)


def has_become_a_claim(claim_id: str) -> Conflict:
    """409: a decision from which a statement was made."""
    return Conflict(
        f"This prediction became the statement {claim_id}; undo that decision first.",
        code="already_decided",
        resulting_claim_id=claim_id,
    )


def claim_of_accepted_only() -> Invalid:
    """422: a statement made of what was not accepted."""
    return Invalid(
        "Only an accepted prediction has a resulting_claim_id; send the state accepted, or no statement.",
        code="not_accepted",
    )


def match_decided(state: str) -> Conflict:
    """409: a match that was decided."""
    return Conflict(
        f"This match is {state} already; undo that decision to take another.",
        code="already_decided",
        state=state,
    )


def accept_needs_a_person() -> Forbidden:
    """403: a machine would accept that two entities are one."""
    return Forbidden("Only a person accepts that two entities are one.", code="person_only")


def interval_reversed(field: str) -> Invalid:
    """422: an end before its beginning."""
    return Invalid(f"{field} ends before it begins; send its start before its end.", code="interval_reversed")


def name_nothing_about() -> Invalid:
    """422: nothing was named to look for."""
    return Invalid("Name what to look at: segment_id, document_id or audit_id.", code="nothing_named")


def unknown_step(audit_id: str) -> NotFound:
    """404: no such step of this project."""
    return NotFound(
        f"There is no step {audit_id} in this project. A write answers the id of its step as audit_id.",
        code="audit_not_found",
        id=audit_id,
    )


def not_confirmable(kind: str, identity: str, known: Iterable[str]) -> NotFound:
    """404: nothing of that kind and id rests on text."""
    return NotFound(
        f"There is no {kind} {identity} that rests on text of this project. What can be confirmed is: {', '.join(known)}.",
        code="nothing_rests",
        id=identity,
    )


def gone_from_text(kind: str, identity: str) -> Conflict:
    """409: its words are not in the text any more."""
    return Conflict(
        f"The words that the {kind} {identity} rests on are not in the text any more; correct it or delete it.",
        code="words_gone",
        id=identity,
    )


def stays_decided(state: str) -> Conflict:
    """409: a decided review does not wait again."""
    return Conflict(
        f"This prediction is {state}; decide it otherwise, or undo the decision to have it wait again.",
        code="already_decided",
        state=state,
    )


def not_an_authority_file(name: str, why: str) -> Invalid:
    """422: a file of none of the kinds that are read."""
    return Invalid(
        f"{name} is no authority file that can be read: {why}. What is read is CSV with columns uri and name, SKOS as"
        " RDF/XML, and an extract of Wikidata with one JSON item a line.",
        code="not_an_authority_file",
    )


def authority_file_needed() -> Invalid:
    """422: no file to link to."""
    return Invalid(
        "Name the authority file of this machine to link to in the setting file.", code="file_needed"
    )
