"""The work of knowledge that workflows and recipes consist of."""

from __future__ import annotations

from armarium.api import page_job
from armarium_knowledge.jobs import authorities, names, statements
from armarium_knowledge.schemas.work import AuthoritySettings, DateSettings, ModelSettings, NameSettings
from armarium_reading.api import model_job

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
    compare="dates that a person would have given, of all dates worked out",
)

LINK = page_job(
    "link-to-authorities",
    authorities.link,
    AuthoritySettings,
    summary="Link the entities of pages to an authority file of this machine, or to a reconciliation service.",
    also_lanes=("network",),
    name="Link to authorities",
    description=(
        "Links the entities that each page names to the entries of an authority file that are called the same, or to what a"
        " reconciliation service proposes for their names."
    ),
    layer="graph",
    takes=("mentions",),
    gives=("authority_links",),
    writes=("entity.take_links",),
    place=authorities.placed_file,
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
)

RECIPE_JOBS = (FIND_NAMES, FIND_STATEMENTS, WORK_OUT_DATES, LINK, DESCRIBE, PULL_OUT)
