"""The work of knowledge that workflows and recipes consist of."""

from __future__ import annotations

from typing import Any

from armarium.api import Example, page_job
from armarium_knowledge import samples
from armarium_knowledge.jobs import authorities, names, statements
from armarium_knowledge.schemas.work import AuthoritySettings, DateSettings, ModelSettings, NameSettings
from armarium_reading.api import model_job


def _named_page(ex: Example) -> dict[str, Any]:
    page = samples.read_page(ex)
    samples.entity(ex)
    return {"page_id": page["page_id"], "settings": {}}


def _dated_page(ex: Example) -> dict[str, Any]:
    page = samples.read_page(ex)
    day = samples.entity(ex, "The third of March 1642", "event")
    start = len(samples.WORDS[0]) + 1 + samples.WORDS[1].index("third")
    where = {
        "document_id": page["page_id"],
        "char_start": start,
        "char_end": start + len("third of March 1642"),
    }
    ex.run("mention.create", {"entity_id": day, **where})
    return {"page_id": page["page_id"], "settings": {"language": "en"}}


def _linked_page(ex: Example) -> dict[str, Any]:
    there = samples.mention(ex)
    file = ex.file("authorities.csv", b"name,uri\nJuan Garcia,http://viaf.org/viaf/42\n")
    return {"page_id": there["page_id"], "settings": {"file": str(file)}}


def _read_page(ex: Example) -> dict[str, Any]:
    return {"page_id": samples.read_page(ex)["page_id"]}


FIND_NAMES = page_job(
    "find-names-tag-words",
    names.find_names,
    NameSettings,
    summary="Find the names on pages.",
    also_lanes=("network", "local-model"),
    name="Find names",
    description=(
        "Finds the names of persons, places and other things on each page: those that the project knows, without any model,"
        " or, where a provider is named, those that its model finds."
    ),
    layer="entities",
    takes=("page_reading",),
    gives=("mentions",),
    writes=("mention.take",),
    uses_llm=True,
    provider_setting="provider",
    model_setting="model",
    place=names.placed_names,
    example=_named_page,
    compare="names found of those a person marked, and how many of those found are names",
)

FIND_STATEMENTS = model_job(
    "find-statements",
    statements.find_statements,
    ModelSettings,
    summary="Have a model find the statements on pages.",
    name="Find statements",
    description="A model gives the statements that each page makes, with the lines that say them; a person curates them.",
    layer="graph",
    takes=("page_reading", "mentions"),
    takes_any=True,
    gives=("claims",),
    writes=("claim.take",),
    example=_read_page,
    compare="statements that a person kept, of all statements found",
)

WORK_OUT_DATES = page_job(
    "work-out-dates",
    names.work_out_dates,
    DateSettings,
    summary="Work out the dates that mentions say.",
    name="Work out dates",
    description="Reads the dates among the mentions of each page, feasts and reigns too, and gives them to what they name.",
    layer="graph",
    takes=("mentions",),
    gives=("dates",),
    writes=("entity.take_dates",),
    example=_dated_page,
    compare="dates that a person would have given, of all dates worked out",
)

LINK = page_job(
    "link-to-authorities",
    authorities.link,
    AuthoritySettings,
    summary="Link the entities of pages to an authority file of this machine.",
    name="Link to authorities",
    description="Links the entities that each page names to the entries of an authority file that are called the same.",
    layer="graph",
    takes=("mentions",),
    gives=("authority_links",),
    writes=("entity.take_links",),
    place=authorities.placed_file,
    example=_linked_page,
    compare="links that a person kept, of all links",
)

DESCRIBE = model_job(
    "describe-for-the-catalogue",
    statements.describe,
    ModelSettings,
    summary="Have a model describe pages for the catalogue.",
    name="Describe for the catalogue",
    description="A model describes each page for the catalogue: title, date, place, persons, subjects and a summary.",
    layer="catalogue",
    takes=("page_reading",),
    gives=("catalogue_record",),
    writes=("artifact.create",),
    example=_read_page,
)

PULL_OUT = model_job(
    "pull-out-passages",
    statements.pull_out,
    ModelSettings,
    summary="Have a model pull out the passages of pages that are worth quoting.",
    name="Pull out passages",
    description="A model names the lines of each page that are worth quoting; the words are the source's own.",
    layer="knowledge",
    takes=("page_reading",),
    gives=("passages",),
    writes=("artifact.create",),
    example=_read_page,
)

RECIPE_JOBS = (FIND_NAMES, FIND_STATEMENTS, WORK_OUT_DATES, LINK, DESCRIBE, PULL_OUT)
