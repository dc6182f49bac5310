"""Tools for names and statements: people and places, where they are named, and what is said of them with its source."""

from __future__ import annotations

from armarium_agents.mcp.bounds import Rows, Whole
from armarium_agents.mcp.declarations import (
    Act,
    Arguments,
    Read,
    Tool,
    choice,
    identities,
    identity,
    whole,
    words,
)
from armarium_agents.mcp.doors import Door
from armarium_agents.mcp.refusals import ToolRefused
from armarium_agents.mcp.tools.pages import LIMIT, PAGE

ENTITY = ("id", "canonical_name", "entity_type", "aliases", "description", "curation_state")
STATEMENT = (
    *("id", "text", "subject_canonical", "predicate_verb", "object_phrase", "entity_ids", "confidence"),
    *("curation_state", "source_document_id", "source_char_start", "source_char_end", "source_excerpt"),
)


async def find_words(door: Door, arguments: Arguments) -> Arguments:
    """Replace the words of a name, and which time they occur, by the characters where they stand on the page."""
    page, text, occurrence = arguments["document_id"], arguments.pop("text"), arguments.pop("occurrence", 1)
    answer = await door.ask("GET", f"/api/segments/document/{page}/text")
    if answer.status >= 400:
        raise ToolRefused(answer.sentence)
    start = -1
    for _ in range(occurrence):
        start = answer.json()["text"].find(text, start + 1)
        if start < 0:
            raise ToolRefused(
                f"The page has no occurrence {occurrence} of these words. Copy them exactly as read_page gives them."
            )
    return {**arguments, "char_start": start, "char_end": start + len(text)}


NAMES = (
    Tool(
        name="find_names",
        title="Find people, places and other names",
        about="The people, places, organisations and other entities of the project, by name, or those that a page names.",
        params={
            "query": words("Part of a name", 1000),
            "type": words("Only this type: person, place, organization …", 200),
            "page_id": identity("Only those that this page names"),
            "limit": LIMIT,
        },
        does=Read("/api/entities", names={"query": "q", "type": "entity_type", "page_id": "document_id"}),
        shown=Rows(fields=ENTITY),
        tells_words=True,
    ),
    Tool(
        name="name_person_or_place",
        title="Name a person or place",
        about="Makes an entity for a person, place or other thing that is named. Look first whether there is one: find_names.",
        params={
            "name": words("The name by which it is known", 500),
            "type": words("person, place, organization …", 200),
            "description": words("Who or what it is, in a sentence", 5000),
        },
        required=("name", "type"),
        does=Act("entity.create", names={"name": "canonical_name", "type": "entity_type"}),
        shown=Whole((*ENTITY, "audit_id")),
    ),
    Tool(
        name="mark_name",
        title="Mark where a page names somebody",
        about="States that words on a page name a person, place or other entity.",
        params={
            "page_id": PAGE,
            "entity_id": identity("Whom they name"),
            "words": words("The words exactly as read_page gives them", 1000),
            "occurrence": whole("Which occurrence of these words on the page", 1, 1000, 1),
        },
        required=("page_id", "entity_id", "words"),
        does=Act("mention.create", names={"page_id": "document_id", "words": "text"}),
        shown=Whole(("id", "entity_id", "document_id", "text", "char_start", "char_end", "audit_id")),
        settle=find_words,
    ),
    Tool(
        name="list_names_on_page",
        title="List the names marked on a page",
        about="Which words of a page name whom.",
        params={"page_id": PAGE, "limit": LIMIT},
        required=("page_id",),
        does=Read("/api/documents/{page_id}/mentions"),
        shown=Rows(
            fields=("id", "entity_id", "text", "char_start", "char_end", "confidence", "stale"), paged=False
        ),
        tells_words=True,
    ),
    Tool(
        name="find_statements",
        title="Find statements",
        about="What is stated in the project, each with its source, by words, by page or by whom it is about.",
        params={
            "query": words("Words of the statement", 1000),
            "page_id": identity("Only those that rest on this page"),
            "entity_id": identity("Only those about this entity"),
            "limit": LIMIT,
        },
        does=Read("/api/claims", names={"query": "q", "page_id": "document_id"}),
        shown=Rows(fields=STATEMENT),
        tells_words=True,
    ),
    Tool(
        name="write_statement",
        title="Write a statement with its source",
        about="Records what a page says, or what follows from it: a sentence, whom it is about, and the page it rests on.",
        params={
            "text": words("The statement, one sentence", 10_000),
            "page_id": identity("The page it rests on"),
            "words": words("The words it rests on, exactly as read_page gives them", 2000),
            "subject": words("Whom or what it is about", 500),
            "verb": words("What is said: was born in, sold to …", 500),
            "object": words("The rest of the sentence", 2000),
            "entity_ids": identities("The entities it is about", 50),
            "kind": choice(
                "A fact, or what somebody makes of it", "fact", "analysis", "interpretation", "argument"
            ),
            "confidence": {
                "type": "number",
                "description": "How sure you are, 0 to 1",
                "minimum": 0,
                "maximum": 1,
            },
        },
        required=("text", "page_id"),
        does=Act(
            "claim.create",
            names={
                "page_id": "source_document_id",
                "words": "quoted",
                "subject": "subject_canonical",
                "verb": "predicate_verb",
                "object": "object_phrase",
                "kind": "claim_type",
            },
            fixed={"source_type": "document"},
        ),
        shown=Whole((*STATEMENT, "audit_id")),
        settle=lambda door, arguments: quote_source(door, arguments),
    ),
)


async def quote_source(door: Door, arguments: Arguments) -> Arguments:
    """Replace the words that a statement rests on by the characters where they stand; without words, leave it at the page."""
    quoted = arguments.pop("quoted", None)
    if not quoted:
        return arguments
    span = await find_words(door, {"document_id": arguments["source_document_id"], "text": quoted})
    return {**arguments, "source_char_start": span["char_start"], "source_char_end": span["char_end"]}
