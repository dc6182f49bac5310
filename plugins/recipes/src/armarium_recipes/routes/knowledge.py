"""Routes for what recipes know, open to whoever may use the engine: it is the same for every project, and
needs none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query, Response

from armarium.api import REFUSALS, CurrentEngine, CurrentPrincipal, Engine, Router, json_response
from armarium_recipes.errors import unknown_script, unknown_topic
from armarium_recipes.knowledge import languages
from armarium_recipes.knowledge import scripts as known_scripts
from armarium_recipes.knowledge.derived_answers import providers_with_key, targets, this_machine
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_recipes.knowledge.topics import job_entries, topics_of
from armarium_recipes.schemas.knowledge import (
    Derived,
    Languages,
    Purposes,
    RecipeJobEntries,
    Scripts,
    TopicAnswer,
    Topics,
)

NAMED = ("code", "name", "number", "direction", "may_be_vertical")
router = Router(prefix="/api", tags=["recipes"])

Asked = Annotated[str, Query(max_length=200)]
Limit = Annotated[int, Query(ge=1, le=100)]
Codes = Annotated[list[str], Query(max_length=50)]


@router.get(
    "/recipes/jobs",
    summary="The work that a recipe can name",
    response_model=RecipeJobEntries,
    responses=REFUSALS(),
)
def list_jobs(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """In the order of the work: what each takes and gives, its settings, and the topic that explains it."""
    return _answer_list(job_entries(engine))


@router.get("/topics", summary="Jobs and notions, explained", response_model=Topics, responses=REFUSALS())
def list_topics(engine: CurrentEngine, _: CurrentPrincipal) -> Response:
    """Each once, in plain words: the recipe jobs in the order of the work, then the other notions."""
    return _answer_list(topic.model_dump() for topic in topics_of(engine).values())


@router.get(
    "/topics/{topic_id}",
    summary="One job or notion, explained",
    response_model=TopicAnswer,
    responses=REFUSALS(404),
)
def read_topic(engine: CurrentEngine, topic_id: str, _: CurrentPrincipal) -> Response:
    """Title, one sentence, a paragraph, an example, and the page of the manual."""
    topic = topics_of(engine).get(topic_id)
    if topic is None:
        raise unknown_topic(topic_id)
    return json_response(topic.model_dump())


@router.get(
    "/recipes/purposes", summary="What a project can be for", response_model=Purposes, responses=REFUSALS()
)
def list_purposes(_: CurrentPrincipal) -> Response:
    """In the order in which setup offers them, each with its jobs and whether it runs automatically."""
    return _answer_list(map(asdict, PURPOSES.values()))


@router.get(
    "/recipes/languages",
    summary="Languages by name, tag or code",
    response_model=Languages,
    responses=REFUSALS(),
)
def search_languages(_: CurrentPrincipal, q: Asked = "", limit: Limit = 20) -> Response:
    """Nearest first: exact tags and codes, exact names, then names that begin with the query or contain it."""
    return _answer_list(language.model_dump() for language in languages.search_languages(q, limit))


@router.get(
    "/recipes/scripts", summary="Scripts by name or code", response_model=Scripts, responses=REFUSALS()
)
def search_scripts(_: CurrentPrincipal, q: Asked = "", limit: Limit = 20) -> Response:
    """Nearest first: exact codes and numbers, then names that begin with the query or contain it."""
    return _answer_list(
        {name: getattr(script, name) for name in NAMED} for script in known_scripts.search_scripts(q, limit)
    )


@router.get(
    "/recipes/derived",
    summary="What setup finds out instead of asking",
    response_model=Derived,
    responses=REFUSALS(422),
)
def read_derived(engine: CurrentEngine, _: CurrentPrincipal, scripts: Codes = []) -> Response:  # noqa: B006
    """For the named scripts (repeated `scripts=`, or separated by commas), this machine, keys, and places to
    run.

    Each fact states its source. 422 for a script that is not in ISO 15924.
    """
    codes = [code.strip() for script in scripts for code in script.split(",") if code.strip()]
    return json_response(derived_facts(engine, codes))


def derived_facts(engine: Engine, codes: Iterable[str]) -> dict[str, Any]:
    """Return what follows from these scripts, and facts about this machine; Invalid for an unknown script."""
    machine = this_machine()
    return {
        "scripts": [_facts(code) for code in dict.fromkeys(codes)],
        "machine": {"chip": machine.chip, "memory_gb": machine.memory_gb, "from": machine.source},
        "keys": [provider["name"] for provider in providers_with_key(engine)],
        "targets": [
            {"id": target.id, "title": target.title, "from": target.source} for target in targets(engine)
        ],
    }


def _facts(code: str) -> dict[str, Any]:
    script = known_scripts.find_script(code)
    if script is None:
        raise unknown_script(code)
    fields = ("direction", "direction_from", "may_be_vertical", "font", "font_from")
    return {"script": script.code, **{name: getattr(script, name) for name in fields}}


def _answer_list(entries: Iterable[dict[str, Any]]) -> Response:
    items = list(entries)
    return json_response({"items": items, "count": len(items)})
