"""Reads that only compute: the recipe for given answers, what is wrong with a recipe, and the candidates for
a piece of work.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, Invalid, Library, project_setting, query
from armarium_recipes.cards.discovery import HELD, HELD_HERE, FoundCandidates
from armarium_recipes.cards.hub import search_hub
from armarium_recipes.cards.ranking import rank
from armarium_recipes.cards.repository import search_repository
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.knowledge.derived_answers import this_machine
from armarium_recipes.knowledge.estimates import with_measured_speeds
from armarium_recipes.project.noticing import notice
from armarium_recipes.project.saving import SavedSetup, nearest, read_saved
from armarium_recipes.rules.assembling import assemble
from armarium_recipes.rules.checking import problems_of
from armarium_recipes.rules.situation import require_job, require_language, require_materials, require_script
from armarium_recipes.schemas.assembling import Assembled, Candidates, Checked, CheckRecipe
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import Answers, Material, Step, Suits

Words = Annotated[str | None, Query(max_length=2_000)]


@query(
    "/api/recipes/assemble",
    summary="The recipe for given answers",
    answer=Assembled,
    refusals=(422,),
    method="POST",
    prepare=notice,
)
def assemble_recipe(conn: Connection, engine: Engine, library: Library, answers: Answers) -> dict[str, Any]:
    """A whole recipe with reasons and gaps; nothing is written and no request is made. People's choices for
    the project are respected.
    """
    return assemble(engine, library, answers, read_saved(conn).overrides).model_dump(mode="json")


@query(
    "/api/recipes/check",
    summary="What is wrong with a recipe",
    answer=Checked,
    refusals=(),
    method="POST",
    prepare=notice,
)
def check_recipe(conn: Connection, engine: Engine, library: Library, asked: CheckRecipe) -> dict[str, Any]:
    """Every reason why it cannot run as it is, step by step, in a project with the answers saved there."""
    problems = problems_of(engine, library, asked.recipe, read_saved(conn).answers)
    return {"problems": [problem.model_dump(mode="json") for problem in problems], "ok": not problems}


@query(
    "/api/recipes/candidates",
    summary="The candidates for a piece of work, with reasons",
    answer=Candidates,
    refusals=(422,),
    prepare=notice,
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
    """Ranked by the rules, followed by the refused ones with the reason. *scripts*, *languages* and
    *material* are comma-separated lists.

    *step* is a step of the project's recipe: the card it uses comes first, marked as chosen, and parameters
    that are left out are taken from the recipe. Other machines are asked only with *online*, never while the
    engine is offline, and at most daily.
    """
    project = read_saved(conn)
    own = None if step is None else _step(project, step)
    suits = project.recipe.suits if own is not None and project.recipe is not None else Suits()
    codes = [require_script(split_word).code for split_word in _split_words(scripts) or suits.scripts]
    tags = [require_language(split_word) for split_word in _split_words(languages) or suits.languages]
    materials = _split_words(material) or [*suits.material] or ["handwriting"]
    require_materials(materials, get_args(Material))
    job_id = require_job(engine, job or (own.job if own is not None else "read-a-line"))
    cards = {card.id: card for card in cards_here(engine, library)}
    held_back = (
        HELD if engine.settings.local_only else HELD_HERE if project_setting(conn, "local_only_ai") else None
    )
    repository = search_repository(engine, online=online, held=held_back)
    hub = search_hub(engine, tags, online=online, held=held_back)
    for card in (*repository.cards, *hub.cards):
        cards.setdefault(card.id, card)
    answers = project.answers
    memory_gb = None if answers is None else answers.memory_gb
    ranked = rank(
        cards.values(),
        job=job_id,
        scripts=codes,
        languages=tags,
        materials=materials,
        memory_gb=memory_gb if memory_gb is not None else this_machine().memory_gb,
        cloud_allowed=answers is not None and answers.cloud_allowed,
    )
    chosen = None if own is None else nearest(project.overrides, own.id, ()) or own.card
    ranked = with_measured_speeds(conn, ranked)
    items = [
        {**card.model_dump(mode="json"), "chosen": chosen is not None and card.id == chosen.id}
        for card in ranked
    ]
    items.sort(key=lambda item: not item["chosen"])
    return {"items": items, "count": len(items), "sources": list(_sources(ranked, repository, hub))}


def _step(project: SavedSetup, step: str) -> Step:
    """Return the step of the saved recipe; Invalid lists the steps."""
    steps = project.recipe.steps if project.recipe is not None else []
    match = next((candidate for candidate in steps if candidate.id == step), None)
    if match is None:
        hint = (
            f"It has {', '.join(step.id for step in steps)}."
            if steps
            else "It has no recipe yet; set it up first."
        )
        raise Invalid(f"The project's recipe has no step {step[:80]!r}. {hint}", code="unknown_step")
    return match


def _sources(
    ranked: list[Card], repository: FoundCandidates, hub: FoundCandidates
) -> Iterator[dict[str, Any]]:
    shipped, installed = _count(ranked, "shipped"), _count(ranked, "installed", "cloud")
    yield {
        "source": "shipped",
        "state": "read",
        "detail": f"{shipped} of these are in the list that comes with the engine; most are downloaded when used.",
    }
    yield {
        "source": "installed",
        "state": "read",
        "detail": f"{installed} of these are on this machine or served to it.",
    }
    yield {"source": "linereader-repository", "state": repository.state, "detail": repository.detail}
    yield {"source": "model-hub", "state": hub.state, "detail": hub.detail}


def _count(cards: list[Card], *sources: str) -> int:
    return sum(card.source in sources for card in cards)


def _split_words(words: str | None) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in (words or "").split(",") if word.strip()))
