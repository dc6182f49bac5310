"""Answers without writing: the recipe that answers lead to, what is wrong with one, and who could do a piece of work."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, Library, query
from armarium_recipes.cards.hub import search_hub
from armarium_recipes.cards.ranking import rank
from armarium_recipes.cards.repository import search_repository
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.knowledge.derived import this_machine
from armarium_recipes.rules.assembling import assemble
from armarium_recipes.rules.checking import problems_of
from armarium_recipes.rules.situation import require_job, require_language, require_materials, require_script
from armarium_recipes.schemas.assembling import Assembled, Candidates, Checked, CheckRecipe
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import Answers, Material

Words = Annotated[str | None, Query(max_length=2_000)]


@query(
    "/api/recipes/assemble",
    summary="The recipe that answers lead to",
    answer=Assembled,
    refusals=(422,),
    method="POST",
)
def assemble_recipe(conn: Connection, engine: Engine, library: Library, answers: Answers) -> dict[str, Any]:
    """A whole recipe with reasons and gaps; nothing is written and no network asked. The choices that persons made for the
    project stand."""
    return assemble(engine, library, answers).model_dump(mode="json")


@query(
    "/api/recipes/check", summary="What is wrong with a recipe", answer=Checked, refusals=(), method="POST"
)
def check_recipe(conn: Connection, engine: Engine, library: Library, asked: CheckRecipe) -> dict[str, Any]:
    """Every reason it cannot run as it stands, step by step."""
    problems = problems_of(engine, library, asked.recipe)
    return {"problems": [one.model_dump(mode="json") for one in problems], "ok": not problems}


@query(
    "/api/recipes/candidates",
    summary="Who could do a piece of work, and why or why not",
    answer=Candidates,
    refusals=(422,),
)
def list_candidates(
    conn: Connection,
    engine: Engine,
    library: Library,
    scripts: Words = None,
    languages: Words = None,
    material: Words = None,
    job: Annotated[str | None, Query(max_length=200)] = None,
    online: bool = False,
    step: Annotated[str | None, Query(max_length=64)] = None,
) -> dict[str, Any]:
    """Ranked by the rules, then the refused with the reason. *scripts*, *languages* and *material* are lists with commas.

    Other machines are asked with *online* alone, never while the engine is held offline, and at most daily.
    """
    codes = [require_script(one).code for one in _listed(scripts)]
    tags = [require_language(one) for one in _listed(languages)]
    materials = _listed(material) or ["handwriting"]
    require_materials(materials, get_args(Material))
    job = require_job(engine, job or "read-a-line")
    cards = {card.id: card for card in cards_here(engine, library)}
    repository = search_repository(engine, online=online)
    hub = search_hub(engine, tags, online=online)
    for card in (*repository.cards, *hub.cards):
        cards.setdefault(card.id, card)
    ranked = rank(
        cards.values(),
        job=job,
        scripts=codes,
        languages=tags,
        materials=materials,
        memory_gb=this_machine(engine).memory_gb,
        cloud_allowed=False,
    )
    items = [{**card.model_dump(mode="json"), "chosen": False} for card in ranked]
    local = {"shipped": "come with the engine", "installed": "are on this machine or served to it"}
    sources = [
        {"source": name, "state": "read", "detail": f"{_count(ranked, name)} of these {words}."}
        for name, words in local.items()
    ]
    for name, found in (("linereader-repository", repository), ("model-hub", hub)):
        sources.append({"source": name, "state": found.state, "detail": found.detail})
    return {"items": items, "count": len(items), "sources": sources}


def _count(cards: list[Card], source: str) -> int:
    also = {"installed": ("installed", "cloud")}.get(source, (source,))
    return sum(card.source in also for card in cards)


def _listed(words: str | None) -> list[str]:
    return list(dict.fromkeys(one.strip() for one in (words or "").split(",") if one.strip()))
