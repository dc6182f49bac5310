"""What the rules say about a recipe, as far as saving needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium_recipes.schemas.recipe import Answers, Problem

if TYPE_CHECKING:
    from armarium.api import Engine, Library


def problems(
    engine: Engine, library: Library | None, recipe: object, answers: Answers | None = None
) -> list[Problem]:
    """Return every reason why *recipe* cannot run as it is."""
    from armarium_recipes.rules.checking import problems_of

    return problems_of(engine, library, recipe, answers)


def find_malformed(engine: Engine, library: Library | None, recipe: object) -> list[Problem]:
    """Return what makes *recipe* malformed: saving refuses that; all other problems are reported before it is
    started.
    """
    return [problem for problem in problems(engine, library, recipe) if problem.kind == "malformed"]
