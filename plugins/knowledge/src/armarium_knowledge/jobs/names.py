"""Names on pages: those the project knows or those a model finds; and the dates in mentions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from armarium.api import Engine, JobContext, Library, PageSkipped, PageWork, Placement
from armarium_documents.api import read_date
from armarium_knowledge.actions.entities import known_types
from armarium_knowledge.jobs.asking import ask_about_text, occurrences, text_of
from armarium_knowledge.known_names import known_names, names_on_page
from armarium_knowledge.placing import PagePlaces
from armarium_knowledge.queries.dates import date_value
from armarium_knowledge.queries.mentions import on_page
from armarium_knowledge.records.entities import Entity
from armarium_knowledge.records.mentions import Mention, mentions
from armarium_knowledge.tagged_names import tagged_on_page
from armarium_reading.api import one_of, place_with_provider

FIND = (
    "These are the lines of a page, each with its id in brackets. Find the names in them: of persons, places, organizations,"
    " events and the like. Give for each the id of its line, the words just as they stand in that line, the name as it is"
    " usually written, and what kind of thing it names. A name that goes over the end of a line is named in the line it"
    " begins in, with the words that stand there."
)
MOST_NAMES = 2_000


def placed_names(engine: Engine, library: Library, settings: Any) -> Placement:
    """Run on this machine if no provider is named: the names that the project knows need no model."""
    return (
        Placement(lane="cpu") if settings.provider is None else place_with_provider(engine, library, settings)
    )


def find_names(job: JobContext, page_id: str) -> PageWork | None:
    """Find the names of a page as mentions; existing and refused ones are left out when they are written."""
    return _find_known(job, page_id) if job.args.provider is None else _ask_model(job, page_id)


def _find_known(job: JobContext, page_id: str) -> PageWork:
    names = known_names(job.library)
    with job.library.db.read() as conn:
        tagged = tagged_on_page(conn, PagePlaces(conn, page_id))
        matches = names_on_page(conn, names, page_id, misread=job.args.misread)
    # If two entities have the same name, a person decides which is meant.
    sure = [match for match in matches if not match["others"]]
    if not sure and not tagged:
        raise PageSkipped(
            "The page contains no name that the project knows and that is not already a mention."
        )
    listed = [
        {
            "segment_id": match["segment_id"],
            "representation_id": match["representation_id"],
            "char_start": match["line_start"],
            "char_end": match["line_end"],
            "entity_id": match["entity_id"],
            "entity_type": match["entity_type"],
            "confidence": match["score"],
        }
        for match in sure
    ]
    return _make_work(page_id, [*tagged, *listed], None)


def _make_work(page_id: str, listed: list[dict[str, Any]], episode_id: str | None) -> PageWork:
    return PageWork(
        "mention.take",
        {"document_id": page_id, "episode_id": episode_id, "names": listed},
        output={"names": len(listed)},
        answers=("mention_ids", "entity_ids"),
    )


def _ask_model(job: JobContext, page_id: str) -> PageWork:
    places = text_of(job, page_id)
    with job.library.db.read() as conn:
        types = known_types(conn)
    ids = [line.segment_id for line in places.lines]
    reply = ask_about_text(job, page_id, FIND, found_names(ids, types), places)
    listed = _locate_names(places, reply.answer.names)
    if not listed:
        raise PageSkipped("The model found no names that occur on the page.")
    return _make_work(page_id, listed, reply.episode_id)


def _locate_names(places: PagePlaces, names: Sequence[Any]) -> list[dict[str, Any]]:
    """Return where the words of an answer occur; naming them a second time means their second occurrence."""
    times: dict[tuple[str, str], int] = {}
    listed = []
    for name in names:
        line = places.line(name.line)
        if line is None:
            continue
        spans = occurrences(name.words, line.text)
        nth = times.get((name.line, name.words), 0)
        times[(name.line, name.words)] = nth + 1
        if nth >= len(spans):
            continue
        listed.append(
            {
                "segment_id": line.segment_id,
                "representation_id": line.representation_id,
                "char_start": spans[nth][0],
                "char_end": spans[nth][1],
                "canonical_name": " ".join(name.name.split()) or name.words,
                "entity_type": name.kind,
            }
        )
    return listed


def found_names(ids: Sequence[str], types: Sequence[str]) -> type[BaseModel]:
    """Return the type of an answer that names things on lines of *ids*, only of the project's types."""
    words: Any = Annotated[str, Field(min_length=1, max_length=500)]
    name = create_model(
        "FoundName", line=(one_of(ids), ...), words=(words, ...), name=(words, ...), kind=(one_of(types), ...)
    )
    names: Any = Annotated[list[name], Field(max_length=MOST_NAMES)]  # type: ignore[valid-type]
    return create_model("FoundNames", names=(names, ...))


def work_out_dates(job: JobContext, page_id: str) -> PageWork:
    """Work out the dates in mentions of a page: "the Tuesday after Michaelmas 1342" is a name of a day."""
    with job.library.db.read() as conn:
        rows = Mention.rows.all(conn, mentions.c.document_id == page_id, order=(mentions.c.id,))
        page_mentions = on_page(conn, PagePlaces(conn, page_id), rows) if rows else []
        live = {
            row["id"]
            for row in (Entity.rows.get(conn, mention["entity_id"]) for mention in page_mentions)
            if row is not None
        }
    dates: dict[tuple[str, str], dict[str, Any]] = {}
    for mention in page_mentions:
        read = read_date(mention["text"], language=job.args.language, country=job.args.country)
        if read is not None and mention["entity_id"] in live:
            dates[(mention["entity_id"], mention["text"])] = {
                "entity_id": mention["entity_id"],
                "date": date_value(read),
            }
    if not dates:
        raise PageSkipped("None of the page's mentions is a date; find its names and dates first.")
    return PageWork(
        "entity.take_dates",
        {"document_id": page_id, "dates": list(dates.values())},
        output={"dates": len(dates)},
        answers=("entity_ids",),
    )
