"""What the rules say of a recipe, as far as saving asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium_recipes.schemas.recipe import Answers, Problem

if TYPE_CHECKING:
    from armarium.api import Engine, Library


def problems(
    engine: Engine, library: Library | None, recipe: object, answers: Answers | None = None
) -> list[Problem]:
    """Every reason why *recipe* cannot run as it stands."""
    from armarium_recipes.rules.checking import problems_of

    return problems_of(engine, library, recipe, answers)


def find_malformed(engine: Engine, library: Library | None, recipe: object) -> list[Problem]:
    """What makes *recipe* none at all: it is refused when it is saved; all else is said when it is to be started."""
    return [one for one in problems(engine, library, recipe) if one.kind == "malformed"]
