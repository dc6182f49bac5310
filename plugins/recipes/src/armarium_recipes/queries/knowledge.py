"""Reads of what recipes know; only the routes for a number of pages look into a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, Invalid, Library, NotFound, query
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.knowledge.derived_answers import providers_with_key, targets, this_machine
from armarium_recipes.knowledge.estimates import routes_for
from armarium_recipes.knowledge.jobs import job_entries
from armarium_recipes.knowledge.languages import search_languages
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_recipes.knowledge.scripts import Script, find_script, search_scripts
from armarium_recipes.knowledge.topics import topics_of
from armarium_recipes.schemas.knowledge import Routes

NAMED = ("code", "name", "number", "direction", "may_be_vertical")
Named = Annotated[str | None, Query(max_length=1000)]
Pages = Annotated[int, Query(ge=0, le=10**9)]


def list_jobs(engine: Engine) -> list[dict[str, Any]]:
    """Return the work that a recipe can name, in its order."""
    return job_entries(engine)


def list_topics(engine: Engine) -> list[dict[str, Any]]:
    """Return jobs and notions, explained."""
    return [asdict(topic) for topic in topics_of(engine).values()]


def read_topic(engine: Engine, topic_id: str) -> dict[str, Any]:
    """Return one of them; NotFound if there is none."""
    topic = topics_of(engine).get(topic_id)
    if topic is None:
        raise NotFound(
            f"There is no topic called {topic_id}. The list of topics has the right id.",
            code="topic_not_found",
            id=topic_id,
        )
    return asdict(topic)


def list_purposes() -> list[dict[str, Any]]:
    """Return what a project can be for, in the order in which setup offers it."""
    return [{**asdict(purpose), "jobs": list(purpose.jobs)} for purpose in PURPOSES.values()]


def list_languages(q: str, limit: int) -> list[dict[str, Any]]:
    """Return languages and dialects by name, tag or code, nearest first."""
    return [asdict(language) for language in search_languages(q, limit)]


def list_scripts(q: str, limit: int) -> list[dict[str, Any]]:
    """Return scripts by name, code or number, nearest first."""
    return [{name: getattr(script, name) for name in NAMED} for script in search_scripts(q, limit)]


def derived_facts(engine: Engine, codes: Sequence[str]) -> dict[str, Any]:
    """Return what follows from these scripts, and facts about this machine; Invalid for an unknown script."""
    machine = this_machine(engine)
    return {
        "scripts": [_facts(_require_script(code)) for code in dict.fromkeys(codes)],
        "machine": {"chip": machine.chip, "memory_gb": machine.memory_gb, "from": machine.source},
        "keys": [provider["name"] for provider in providers_with_key(engine)],
        "targets": [
            {"id": target.id, "title": target.title, "from": target.source} for target in targets(engine)
        ],
    }


def _require_script(code: str) -> Script:
    script = find_script(code)
    if script is None:
        raise Invalid(
            f"ISO 15924 has no script {code}. Codes have four letters, such as Latn; search the "
            "list of scripts by name.",
            code="unknown_script",
            script=code,
        )
    return script


def _facts(script: Script) -> dict[str, Any]:
    return {
        "script": script.code,
        "direction": script.direction,
        "direction_from": script.direction_from,
        "may_be_vertical": script.may_be_vertical,
        "font": script.font,
        "font_from": script.font_from,
    }


@query(
    "/api/recipes/routes",
    summary="Ways to work through a number of pages, with cost and time",
    answer=Routes,
    refusals=(),
)
def list_routes(
    conn: Connection,
    engine: Engine,
    library: Library,
    teacher: Named = None,
    local_reader: Named = None,
    pages: Pages = 0,
    sample_pages: Annotated[int, Query(ge=0, le=10**9)] = 300,
) -> dict[str, Any]:
    """With a provider's model, with a reader on this machine, and with a reader taught on a sample of
    *sample_pages*.

    *teacher* and *local_reader* are named by card, reader, provider or model. Each figure is marked measured,
    estimate or unknown, with its source; for a model that is not here or set up, all figures are unknown.
    """
    found = routes_for(
        conn,
        cards_here(engine, library),
        teacher=teacher,
        local_reader=local_reader,
        pages=pages,
        sample_pages=sample_pages,
    )
    return {"pages": pages, "routes": found}
