"""Choices that change the recipe of a project: an installed model instead of a download, a candidate, layers,
languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import LAYERS, ActionContext, Route, action
from armarium_recipes.cards.sources import cards_for
from armarium_recipes.errors import (
    language_there,
    last_language,
    layer_not_there,
    layer_there,
    not_here,
    not_offered,
    not_set_up,
    unknown_card,
    unknown_language,
    unknown_layer,
    unknown_step,
    wrong_card,
)
from armarium_recipes.knowledge.jobs import LAYERS_ADDED_LATER
from armarium_recipes.knowledge.languages import find_language
from armarium_recipes.models import ONLY, proposals
from armarium_recipes.project.noticing import before_action
from armarium_recipes.project.plan import find_added_steps, make_plan
from armarium_recipes.project.saving import SavedSetup, read_saved, seen_answer, use_card
from armarium_recipes.rules.assembling import assemble
from armarium_recipes.rules.situation import require_language
from armarium_recipes.schemas.project import Changed, ChangeLayers, UseCandidate, UseInstead
from armarium_recipes.schemas.recipe import Answers, Recipe


def _answer(ctx: ActionContext) -> dict[str, Any]:
    answer = seen_answer(ctx, read_saved(ctx.conn))
    proposed = find_added_steps(ctx.conn)
    return {"recipe": answer["recipe"], "overrides": answer["overrides"], "proposed": proposed}


@action(
    "project.use_instead",
    result=Changed,
    summary="Use an installed model instead of downloading one",
    words="Chose an installed model instead of a download",
    route=Route("POST", "/api/recipes/project/start/use-instead", refusals=(404,), name="use_instead"),
    prepare=before_action,
)
def use_instead(ctx: ActionContext, p: UseInstead) -> dict[str, Any]:
    """Applies to every step that waits for the model. Stored as an override, so that it still holds when the
    recipe is proposed again.
    """
    plan = make_plan(ctx.engine, ctx.project, ctx.conn)
    entry = next((download for download in plan.downloads if download["model"] == p.model), None)
    if entry is None:
        raise not_offered(f"a model instead of {p.model}", [download["model"] for download in plan.downloads])
    if p.card not in entry["instead"]:
        raise not_offered(f"{p.card} instead of {p.model}", entry["instead"])
    for missing in plan.cards.missing:
        if missing.card.id == entry["card"]:
            use_card(ctx, missing.step, plan.known[p.card], "project")
    return _answer(ctx)


@action(
    "project.use_candidate",
    result=Changed,
    summary="Use a candidate as the reader of a step",
    words="Chose a reader for a step of the recipe",
    route=Route("POST", "/api/recipes/project/steps/use-candidate", refusals=(404,), name="use_candidate"),
    prepare=before_action,
)
def use_candidate(ctx: ActionContext, p: UseCandidate) -> dict[str, Any]:
    """One that is not downloaded yet becomes a download in the plan of Start."""
    recipe = read_saved(ctx.conn).recipe
    steps = {step.id: step for step in recipe.steps} if recipe is not None else {}
    if p.step not in steps:
        raise unknown_step(p.step, list(steps))
    card = next((card for card in cards_for(ctx.engine, ctx.library, [p.card]) if card.id == p.card), None)
    if card is None:
        raise unknown_card(p.card)
    if card.availability == "not_here":
        raise not_here(card.name, card.availability_words)
    if steps[p.step].job not in card.jobs:
        raise wrong_card(card.id, steps[p.step].job, card.jobs)
    use_card(ctx, p.step, card, "project")
    return _answer(ctx)


@action(
    "project.add_layer",
    result=Changed,
    summary="Add layers or languages to the recipe, or remove them",
    words="Changed the layers of the recipe",
    route=Route("POST", "/api/recipes/project/layers", refusals=(404,), name="change_layers"),
    prepare=before_action,
)
def add_layer(ctx: ActionContext, p: ChangeLayers) -> dict[str, Any]:
    """The steps join the recipe and are proposed for the pages already in the project; nothing runs until
    Start.
    """
    setup = read_saved(ctx.conn)
    if setup.answers is None or setup.recipe is None:
        raise not_set_up()
    p = p.model_copy(update={"languages": [_spell_language(language) for language in p.languages]})
    before = [step.id for step in setup.recipe.steps]
    if p.layers:
        answers, recipe = _with_layers(ctx, setup, p.layers, remove=p.remove)
    else:
        answers, recipe = _with_languages(ctx, setup, p.languages, remove=p.remove)
    ctx.run(
        "project.save_setup",
        {"answers": answers.model_dump(mode="json"), "recipe": recipe.model_dump(mode="json")},
    )
    _propose(ctx, p, before, [step.id for step in recipe.steps])
    return _answer(ctx)


def _with_layers(
    ctx: ActionContext, setup: SavedSetup, layers: Sequence[str], *, remove: bool
) -> tuple[Answers, Recipe]:
    assert setup.answers is not None
    assert setup.recipe is not None
    has = {*setup.answers.layers, *(step.layer for step in setup.recipe.steps)}
    can = [layer for layer in LAYERS_ADDED_LATER if layer not in has]
    for layer in layers:
        if layer not in LAYERS_ADDED_LATER:
            raise unknown_layer(layer, can)
        if remove and layer not in setup.answers.layers:
            raise layer_not_there(f"layer {layer}", setup.answers.layers)
        if not remove and (layer in has or list(layers).count(layer) > 1):
            raise layer_there(f"the layer {layer}", can)
    if remove:
        new_layers = [layer for layer in setup.answers.layers if layer not in layers]
    else:
        new_layers = [*setup.answers.layers, *layers]
    answers = setup.answers.model_copy(update={"layers": new_layers})
    proposal = assemble(ctx.engine, ctx.library, answers, setup.overrides).recipe
    steps = list(setup.recipe.steps)
    if remove:
        needed = {step.job for step in proposal.steps}
        steps = [step for step in steps if step.layer not in layers or step.job in needed]
    else:
        names = {step.job for step in steps} | {step.id for step in steps}
        steps += [step for step in proposal.steps if step.job not in names and step.id not in names]
        steps.sort(key=lambda step: LAYERS.index(step.layer) if step.layer in LAYERS else len(LAYERS))
    return answers, setup.recipe.model_copy(update={"steps": steps})


def _with_languages(
    ctx: ActionContext, setup: SavedSetup, tags: Sequence[str], *, remove: bool
) -> tuple[Answers, Recipe]:
    assert setup.answers is not None
    assert setup.recipe is not None
    has = {_spell_language(language): language for language in setup.answers.languages}
    for number, tag in enumerate(tags):
        if remove and tag not in has:
            raise layer_not_there(f"language {tag}", setup.answers.languages)
        if not remove and find_language(tag) is None:
            raise unknown_language(tag)
        if not remove and (tag in has or tag in tags[:number]):
            raise language_there(tag)
    if remove:
        new_languages = [language for tag, language in has.items() if tag not in tags]
    else:
        new_languages = [*setup.answers.languages, *tags]
    if not new_languages:
        raise last_language()
    answers = setup.answers.model_copy(update={"languages": new_languages})
    proposal = assemble(ctx.engine, ctx.library, answers, setup.overrides).recipe
    identity = {"id": setup.recipe.id, "title": setup.recipe.title, "authors": setup.recipe.authors}
    return answers, proposal.model_copy(update=identity)


def _spell_language(tag: str) -> str:
    """Return the one tag for all spellings of a language; one that names no language is returned unchanged."""
    return tag if find_language(tag) is None else require_language(tag)


def _propose(ctx: ActionContext, p: ChangeLayers, before: Sequence[str], after: Sequence[str]) -> None:
    """Note what was added since the last Start; what is removed again is no longer proposed."""
    proposed = find_added_steps(ctx.conn) or {"layers": [], "languages": [], "steps": []}
    if p.remove:
        layers = [layer for layer in proposed["layers"] if layer not in p.layers]
        languages = [language for language in proposed["languages"] if language not in p.languages]
        steps = [step for step in proposed["steps"] if step in after]
    else:
        layers = [*proposed["layers"], *p.layers]
        languages = [*proposed["languages"], *p.languages]
        new = [step for step in after if step not in before]
        steps = list(dict.fromkeys([*proposed["steps"], *new]))
    ctx.conn.execute(proposals.delete())
    if layers or languages:
        row = {"layers": layers, "languages": languages, "steps": steps, "proposed_at": ctx.now}
        ctx.conn.execute(proposals.insert().values(id=ONLY, **row))
