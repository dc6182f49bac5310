"""Saving the answers and the recipe of a project, and deciding between a file and the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium.api import ActionContext, Engine, Library, Route, RowRule, action
from armarium_recipes.errors import (
    leave_of_a_person,
    malformed_recipe,
    no_such_file,
    nothing_to_decide,
    refused_file,
)
from armarium_recipes.project import files
from armarium_recipes.project.changing import change
from armarium_recipes.project.saving import read_saved, seen_answer
from armarium_recipes.project.yaml_text import Unreadable
from armarium_recipes.schemas.project import DecideFile, SavedRecipe, SaveSetup


def example_answers() -> dict[str, Any]:
    """Return the answers for a box of typed letters."""
    return {"purposes": ["transcribe"], "languages": ["en"], "scripts": ["Latn"], "materials": ["typescript"]}


def example_recipe() -> dict[str, Any]:
    """Return a recipe that finds lines and puts them in order."""
    steps = [
        {"id": "find-lines", "job": "find-lines", "layer": "lines"},
        {
            "id": "order",
            "job": "put-in-order",
            "layer": "lines",
            "applies_to": "lines",
            "card": {"id": "builtin:put-in-order@1", "source": "shipped"},
        },
    ]
    return {
        "id": "letters",
        "title": "Typed letters",
        "suits": {"scripts": ["Latn"], "languages": ["en"], "material": ["typescript"]},
        "purposes": ["transcribe"],
        "steps": steps,
    }


def _refuse_malformed(engine: Engine, library: Library | None, p: SaveSetup) -> None:
    if p.recipe is None:
        return
    problems = files.find_malformed(engine, library, p.recipe.model_dump(mode="json"))
    if problems:
        raise malformed_recipe(problems)


def _allows_leaving(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> bool:
    return _leaves(after) and not _leaves(before)


def _leaves(row: Mapping[str, Any] | None) -> bool:
    return row is not None and bool((row["answers"] or {}).get("cloud_allowed"))


LEAVE_OF_PERSONS: RowRule[SaveSetup] = RowRule(
    "recipes_project", "person", when=_allows_leaving, refusal=leave_of_a_person
)
"""Only a person can allow pages to leave this machine, also when a save is undone or redone."""


@action(
    "project.save_setup",
    result=SavedRecipe,
    summary="Save the project's answers and its recipe",
    words="Saved the recipe of the project",
    route=Route("PUT", "/api/recipes/project", refusals=(404,), name="save_project_recipe"),
    prepare=_refuse_malformed,
    rules=(LEAVE_OF_PERSONS,),
)
def save_setup(ctx: ActionContext, p: SaveSetup) -> dict[str, Any]:
    """Nothing runs until Start. A recipe that fails the check is saved, and the plan says so; a malformed one
    is refused.
    """
    return seen_answer(ctx, change(ctx, p))


@action(
    "project.decide_file",
    result=SavedRecipe,
    summary="Decide between a file of the folder recipe and what the project has saved",
    words="Decided between a file of the recipe and the project",
)
def decide_file(ctx: ActionContext, p: DecideFile) -> dict[str, Any]:
    """Either the file is taken in, or it is written again and the edited one is saved beside it as `….edited.yaml`."""
    library = ctx.project
    if p.name not in files.EDITABLE:
        raise no_such_file(p.name, list(files.EDITABLE))
    noted = files.noted_files(ctx.conn).get(p.name)
    try:
        data = files.read_file(library, p.name)
        if data is None or noted is None or files.digest_of(data) == noted.digest:
            raise nothing_to_decide(p.name)
        if p.keep == "file":
            ctx.run("project.save_setup", files.part_of(ctx.engine, library, p.name, data))
    except Unreadable as fault:
        raise refused_file(p.name, fault.why, fault.line) from None
    agreed = files.NotedFile(files.digest_of(data), "in-step", kept_as=noted.kept_as)
    files.note(ctx.conn, p.name, agreed)
    if p.keep == "project":
        # Before the commit: after a kill right behind it, the next opening would overwrite the only copy.
        files.write_file(library, files.name_beside(p.name, "edited"), data)
    ctx.on_commit(lambda: files.write_files(library))
    return seen_answer(ctx, read_saved(ctx.conn))
