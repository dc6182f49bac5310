"""Examples of the actions and recipe jobs of recipes: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bakeoff_samples import corrected_project, finished_bakeoff

from armarium.api import Example
from armarium_recipes.actions.setup import example_answers, example_recipe
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.project.plan import make_plan
from armarium_recipes.rules.assembling import assemble
from armarium_recipes.schemas.recipe import Answers


def project_set_champion(ex: Example) -> dict[str, Any]:
    hand = ex.run("hand.create", {"label": "Hand A"})["id"]
    return {"hand_id": hand, "card": "linereader:hand-base@1"}


def project_use_instead(ex: Example) -> dict[str, Any]:
    """Return a recipe that names a model still to be downloaded, and what could be used instead."""
    card = next(
        card
        for card in cards_here(ex.engine, ex.library)
        if "read-a-line" in card.jobs and card.availability == "download" and "en" in card.languages
    )
    choice = {"id": card.id, "source": card.source}
    step = {"id": "read", "job": "read-a-line", "layer": "reading", "card": choice}
    recipe = {"id": "letters", "title": "Typed letters", "steps": [step]}
    # An earlier choice for this step would take precedence over the download.
    ex.run("project.save_setup", {"answers": example_answers(), "recipe": recipe, "overrides": []})
    assert ex.library is not None
    with ex.library.db.read() as conn:
        (entry,) = make_plan(ex.engine, ex.library, conn).downloads
    return {"model": entry["model"], "card": entry["instead"][0]}


def project_use_candidate(ex: Example) -> dict[str, Any]:
    """Return a step, and a reader for it."""
    given = project_use_instead(ex)
    return {"step": "read", "card": given["card"]}


def project_add_layer(ex: Example) -> dict[str, Any]:
    """Return a project set up by the rules, and a layer that it does not have."""
    answers = Answers.model_validate(example_answers())
    recipe = assemble(ex.engine, ex.library, answers).recipe
    ex.run("project.save_setup", {"answers": example_answers(), "recipe": recipe.model_dump(mode="json")})
    return {"layers": ["entities"]}


def project_save_setup(ex: Example) -> dict[str, Any]:
    return {"answers": example_answers(), "recipe": example_recipe()}


def project_decide_file(ex: Example) -> dict[str, Any]:
    """Save a recipe and then edit its file."""
    assert ex.library is not None
    ex.run("project.save_setup", project_save_setup(ex))
    path = ex.library.recipe / "setup.yaml"
    path.write_text(path.read_text().replace("pages: 0", "pages: 12"))
    ex.run("project.save_setup", {"answers": {**example_answers(), "pages": 7}})
    return {"name": "setup.yaml", "keep": "file"}


def project_start(ex: Example) -> dict[str, Any]:
    """Return a page, and a recipe with one step that needs no model."""
    ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    recipe = example_recipe()
    recipe["steps"] = [step for step in recipe["steps"] if "card" in step]
    ex.run("project.save_setup", {"answers": example_answers(), "recipe": recipe})
    return {}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "project.compare_line_finders": corrected_project,
    "project.use_bakeoff": finished_bakeoff,
    "project.set_champion": project_set_champion,
    "project.use_instead": project_use_instead,
    "project.use_candidate": project_use_candidate,
    "project.add_layer": project_add_layer,
    "project.save_setup": project_save_setup,
    "project.decide_file": project_decide_file,
    "project.start": project_start,
}
