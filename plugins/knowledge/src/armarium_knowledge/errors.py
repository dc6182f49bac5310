"""The refusals of knowledge, each one a sentence that says what to do."""

from __future__ import annotations

from armarium.api import Conflict, Forbidden, Invalid, NotFound

merged_entity = Conflict.saying(
    "entity_merged",
    "The entity {entity_id} was merged into {live_id}; use that one instead.",
    id="entity_id",
    live_id="live_id",
)
merged_entity_is_named = Conflict.saying(
    "merged_entity_named",
    "The entity {entity_id} cannot be merged into {live_id} while mentions or statements made in the meantime name it; merge the"
    " two here first, and then bring in the rest.",
    id="entity_id",
    live_id="live_id",
)
merges_with_itself = Invalid.saying(
    "merged_with_itself",
    "The entity {entity_id} is both the survivor and to be merged; name other entities in ids.",
)


holds_merged = Conflict.saying(
    "holds_merged",
    "Other entities were merged into {entity_id}; undo those merges first, or keep it.",
    merged_ids="ids",
)
has_decided_reviews = Conflict.saying(
    "has_reviews",
    "Predictions about {entity_id} became statements; undo those decisions first, or reject the entity "
    "instead.",
    review_ids="ids",
)
own_parent = Invalid.saying(
    "parent_in_circle", "The entity {entity_id} cannot be below itself; name another parent_id."
)


unknown_type = Invalid.saying(
    "unknown_entity_type",
    "There is no type of entity {entity_type!r} in this project. The types are: {known}; the owner can add "
    "types in the project's settings.",
)
not_words = Invalid.saying(
    "not_words",
    "The characters {start} to {end} are not words of the page's text, which has {length} characters; send "
    "the offsets of words in the text that the page is read by.",
    length="length",
)
cuts_a_character = Invalid.saying(
    "cuts_a_character",
    "The span would separate a letter from its marks at {offset}; include the marks, or leave the letter "
    "out.",
    offset="offset",
)
several_lines = Invalid.saying(
    "several_lines",
    "The characters {start} to {end} cross the end of a line, and a mention is on one line. Make one for "
    "each line.",
)
no_mention_there = NotFound.saying(
    "no_mention_there",
    "The entity {entity_id} has no mention at the characters {start} to {end} of the page's text. List the "
    "mentions of the page to see where they are.",
)


mentioned_there = Conflict.saying(
    "already_exists", "These characters are already a mention of {entity_id}.", id="mention_id"
)
refused_span = Conflict.saying(
    "refused_span",
    "It was decided that these characters do not name the entity {entity_id}. Only a person may decide "
    "otherwise.",
    entity_id="entity_id",
)
same_entity = Invalid.saying(
    "same_entity", "The mention already names {entity_id}; give another to_entity_id."
)
curated_by_person = Forbidden.saying(
    "person_only",
    "Only a person curates a statement or changes a curated one; a machine may put an unreviewed one on "
    "the shortlist.",
)
verified_by_person = Forbidden.saying(
    "person_only",
    "Only a person verifies or rejects an entity, or changes one that a person verified or rejected.",
)
decided_by_person = Forbidden.saying(
    "person_only",
    "Only a person may accept that two entities are the same, or undo what a person decided about it.",
)
reviewed_by_person = Forbidden.saying(
    "person_only",
    "Only a person may accept a predicted relation, or decide again about one that was accepted or rejected.",
)


relation_reviewed = Conflict.saying(
    "already_decided",
    "This relation of these two was {state} in the review {review_id}. A person may ask about it again.",
    id="review_id",
)
corrected_by_person = Forbidden.saying(
    "person_only", "A person corrected this mention, so a machine may not change it."
)
refused_by_person = Forbidden.saying(
    "person_only",
    "A person decided that these characters do not name this entity. Only a person may decide otherwise.",
)
merge_in_its_own_way = Invalid.saying(
    "merge_it", "Only a merge gives an entity the state merged; use the merge action."
)
span_needs_document = Invalid.saying(
    "incomplete_span",
    "source_char_start and source_char_end are offsets in the text of source_document_id; send all three, "
    "or neither offset.",
)
sources_disagree = Invalid.saying("source_type", "The source_type {source_type} does not fit: {why}")
rests_on_itself = Invalid.saying(
    "rests_on_itself",
    "The statement {claim_id} would rest on itself, directly or through others; name other source_ids.",
)
unknown_source = NotFound.saying(
    "source_not_found",
    "There is neither a document nor a statement {source_id} in this project; name what the statement "
    "rests on.",
    id="source_id",
)
review_pending = Conflict.saying(
    "already_exists", "This prediction is already waiting for a decision.", id="review_id"
)
has_become_a_claim = Conflict.saying(
    "already_decided",
    "This prediction became the statement {claim_id}; undo that decision first.",
    resulting_claim_id="claim_id",
)
claim_of_accepted_only = Invalid.saying(
    "not_accepted",
    "Only an accepted prediction has a resulting_claim_id; send the state accepted, or no statement.",
)
match_decided = Conflict.saying(
    "already_decided", "This match is already {state}; undo that decision to make another.", state="state"
)
accept_needs_a_person = Forbidden.saying(
    "person_only", "Only a person may accept that two entities are the same."
)
interval_reversed = Invalid.saying(
    "interval_reversed", "{field} ends before it begins; send its start before its end."
)
unknown_step = NotFound.saying(
    "audit_not_found",
    "There is no step {audit_id} in this project. The answer of a write contains the id of its step as "
    "audit_id.",
    id="audit_id",
)


not_confirmable = NotFound.saying(
    "nothing_rests",
    "There is no {kind} {identity} that rests on text of this project. These kinds can be confirmed: "
    "{known}.",
    id="identity",
)
gone_from_text = Conflict.saying(
    "words_gone",
    "The words that the {kind} {identity} rests on are no longer in the text; correct it or delete it.",
    id="identity",
)
stays_decided = Conflict.saying(
    "already_decided",
    "This prediction is {state}; change the decision, or undo it to make the prediction pending again.",
    state="state",
)
not_an_authority_file = Invalid.saying(
    "not_an_authority_file",
    "{name} is not a readable authority file: {why}. Accepted are CSV with columns uri and name, SKOS as "
    "RDF/XML, and an extract of Wikidata with one JSON item a line.",
)
authority_file_needed = Invalid.saying(
    "file_needed",
    "Name an authority file on this machine in the setting file, or a reconciliation service in the setting service.",
)
names_may_not_leave = Invalid.saying(
    "names_may_not_leave",
    "{host} is not this machine, and names of the project would be sent there. Allow it (names_may_leave), or name an "
    "authority file.",
)
