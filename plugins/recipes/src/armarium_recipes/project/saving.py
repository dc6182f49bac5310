"""The saved recipe of the project, as rows: reading it, and using another card for a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Connection

from armarium.api import ActionContext, find_withheld
from armarium_recipes.errors import no_folder_named, unknown_step
from armarium_recipes.models import ONLY, overrides, setups
from armarium_recipes.schemas.recipe import Answers, CardChoice, Override, Recipe

if TYPE_CHECKING:
    from armarium_recipes.schemas.cards import Card


@dataclass(frozen=True)
class SavedSetup:
    """The project's saved answers, recipe and overrides."""

    answers: Answers | None = None
    recipe: Recipe | None = None
    overrides: list[Override] = field(default_factory=list)

    def answer(self) -> dict[str, Any]:
        """Return it as routes answer it."""
        return {
            "answers": self.answers.model_dump(mode="json") if self.answers is not None else None,
            "recipe": self.recipe.model_dump(mode="json") if self.recipe is not None else None,
            "overrides": [override.model_dump(mode="json") for override in self.overrides],
        }


def read_saved(conn: Connection) -> SavedSetup:
    """Return what the project has saved; empty for one that is not set up."""
    row = conn.execute(setups.select().where(setups.c.id == ONLY)).first()
    rows = conn.execute(overrides.select().order_by(overrides.c.position))
    saved = [override_of(row) for row in rows]
    if row is None:
        return SavedSetup(overrides=saved)
    recipe = {**row.recipe, "version": row.version} if row.recipe is not None else None
    return SavedSetup(
        Answers.from_stored(row.answers) if row.answers is not None else None,
        Recipe.from_stored(recipe) if recipe is not None else None,
        saved,
    )


def override_of(row: Any) -> Override:
    """Return a row of the table as it is answered."""
    return Override.from_stored({name: getattr(row, name) for name in Override.model_fields})


def seen_answer(ctx: ActionContext, setup: SavedSetup) -> dict[str, Any]:
    """Return *setup* as a write answers it: like a read, without overrides for folders withheld from the caller."""
    folders = [override.folder_id for override in setup.overrides if override.folder_id is not None]
    hidden = find_withheld(ctx.project, ctx.principal, folders, "show")
    answer = setup.answer()
    visible = [override for override in answer["overrides"] if override["folder_id"] not in hidden]
    return {**answer, "overrides": visible}


def nearest(saved: Sequence[Override], step: str, nodes: Sequence[str]) -> CardChoice | None:
    """Return the override of *step* for the first of *nodes* (nearest first) that has one, otherwise the project's."""
    here = {
        override.folder_id: override.card
        for override in saved
        if override.step == step and override.scope == "folder"
    }
    for node in nodes:
        if node in here:
            return here[node]
    return next(
        (override.card for override in saved if override.step == step and override.scope == "project"), None
    )


def use_card(
    ctx: ActionContext,
    step: str,
    card: Card,
    scope: Literal["project", "folder"],
    folder_id: str | None = None,
) -> SavedSetup:
    """Use *card* for *step*, in the whole project or below a folder: saved as an override through
    `project.save_setup`.

    For the whole project, the recipe's own step names the card too. Raises Invalid if the recipe has no such
    step, or if the scope is folder and no folder is named.
    """
    setup = read_saved(ctx.conn)
    steps = [step.id for step in setup.recipe.steps] if setup.recipe is not None else []
    if step not in steps:
        raise unknown_step(step, steps)
    if (scope == "folder") != (folder_id is not None):
        raise no_folder_named()
    choice = CardChoice(id=card.id, source=card.source)
    override = Override(scope=scope, folder_id=folder_id, step=step, card=choice)
    others = [other for other in setup.overrides if other.place != override.place]
    fields: dict[str, Any] = {"overrides": [each.model_dump(mode="json") for each in [*others, override]]}
    if scope == "project":
        assert setup.recipe is not None
        changed = [with_card(each, card) if each.id == step else each for each in setup.recipe.steps]
        fields["recipe"] = setup.recipe.model_copy(update={"steps": changed}).model_dump(mode="json")
    ctx.run("project.save_setup", fields)
    return read_saved(ctx.conn)


def with_card(step: Any, card: Card) -> Any:
    """Return *step* of a recipe with *card*."""
    changed = {
        **card.step_fields(),
        # Choosing a model whose licence is not open means accepting the licence.
        "licence_accepted": not card.open_licence,
        "gap": None,
    }
    return step.model_copy(update=changed)
