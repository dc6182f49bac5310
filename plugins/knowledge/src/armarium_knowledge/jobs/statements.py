"""What a model makes from a page's text: statements, a description for the catalogue, passages worth quoting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from armarium.api import JobContext, PageSkipped, PageWork
from armarium_knowledge.jobs.asking import ask_about_text, text_of
from armarium_knowledge.placing import PagePlaces
from armarium_reading.api import artifact_work, one_of
from armarium_source_model.api import text_fingerprint

STATEMENTS = (
    "These are the lines of a page, each with its id in brackets. Give the statements that the page makes: who or what does"
    " or is what. Give for each a sentence of its own that is understood without the page, its subject, its verb and its"
    " object in a few words, and the ids of the lines that say it. Do not give what the page does not say."
)
DESCRIBE = (
    "These are the lines of a page, each with its id in brackets. Describe it for the catalogue of an archive: a title, the"
    " date and the place in the words of the source where it names them, the persons and the things that it is about, and a"
    " summary of at most five sentences."
)
PASSAGES = (
    "These are the lines of a page, each with its id in brackets. Pull out the passages that are worth quoting. Give for"
    " each the ids of its lines, in order, and in a sentence what it shows."
)
MOST = 500


def find_statements(job: JobContext, page_id: str) -> PageWork:
    """Find statements with the lines that make them; each starts unreviewed."""
    places = text_of(job, page_id)
    reply = ask_about_text(job, page_id, STATEMENTS, found_statements(_segment_ids(places)), places)
    listed = [
        {
            "text": " ".join(statement.text.split()),
            "subject": statement.subject,
            "predicate_verb": statement.verb,
            "object": statement.object,
            "segment_ids": list(dict.fromkeys(statement.lines)),
        }
        for statement in reply.answer.statements
        if statement.text.strip()
    ]
    if not listed:
        raise PageSkipped("The model found no statement on the page.")
    made_by = {"provider": reply.provider, "model": reply.model, "episode_id": reply.episode_id}
    return PageWork(
        "claim.take",
        {"document_id": page_id, **made_by, "statements": listed},
        output={"statements": len(listed)},
        answers=("claim_ids",),
    )


def describe(job: JobContext, page_id: str) -> PageWork:
    """Write a catalogue record as an artifact of the page."""
    places = text_of(job, page_id)
    reply = ask_about_text(job, page_id, DESCRIBE, CatalogueRecord, places)
    record = reply.answer.model_dump()
    if not record["title"].strip():
        raise PageSkipped("The model found nothing to describe on the page.")
    made_from = {"text_fingerprint": text_fingerprint(places.text)}
    return artifact_work(job, page_id, reply, "catalogue-record", record["summary"], made_from, record=record)


def pull_out(job: JobContext, page_id: str) -> PageWork:
    """Write passages in the words of the source as an artifact of the page."""
    places = text_of(job, page_id)
    reply = ask_about_text(job, page_id, PASSAGES, found_passages(_segment_ids(places)), places)
    passages = []
    for passage in reply.answer.passages:
        lines = [line for line in map(places.line, dict.fromkeys(passage.lines)) if line is not None]
        if lines:
            text = "\n".join(line.text for line in lines)
            passages.append(
                {"segment_ids": [line.segment_id for line in lines], "text": text, "shows": passage.shows}
            )
    if not passages:
        raise PageSkipped("The model found no passage on the page.")
    content = "\n\n".join(passage["text"] for passage in passages)
    made_from = {"text_fingerprint": text_fingerprint(places.text)}
    return artifact_work(job, page_id, reply, "passages", content, made_from, passages=passages)


def _segment_ids(places: PagePlaces) -> list[str]:
    return [line.segment_id for line in places.lines]


def found_statements(ids: Sequence[str]) -> type[BaseModel]:
    """Return the type of an answer with statements that lines of *ids* make."""
    words: Any = Annotated[str, Field(max_length=1_000)]
    lines: Any = Annotated[list[one_of(ids)], Field(min_length=1, max_length=len(ids))]  # type: ignore[misc]
    statement_type = create_model(
        "FoundStatement",
        text=(words, ...),
        subject=(words, ...),
        verb=(words, ...),
        object=(words, ...),
        lines=(lines, ...),
    )
    statements: Any = Annotated[list[statement_type], Field(max_length=MOST)]  # type: ignore[valid-type]
    return create_model("FoundStatements", statements=(statements, ...))


class CatalogueRecord(BaseModel):
    """A page described for the catalogue."""

    title: Annotated[str, Field(max_length=1_000)]
    date: Annotated[str | None, Field(max_length=500)]
    place: Annotated[str | None, Field(max_length=500)]
    persons: Annotated[list[str], Field(max_length=MOST)]
    about: Annotated[list[str], Field(max_length=MOST)]
    summary: Annotated[str, Field(max_length=5_000)]


def found_passages(ids: Sequence[str]) -> type[BaseModel]:
    """Return the type of an answer with passages of lines of *ids*."""
    shows: Any = Annotated[str, Field(max_length=1_000)]
    lines: Any = Annotated[list[one_of(ids)], Field(min_length=1, max_length=len(ids))]  # type: ignore[misc]
    passage_type = create_model("FoundPassage", lines=(lines, ...), shows=(shows, ...))
    passages: Any = Annotated[list[passage_type], Field(max_length=MOST)]  # type: ignore[valid-type]
    return create_model("FoundPassages", passages=(passages, ...))
