"""Requests and answers of assembling and checking recipes, and of candidates."""

from __future__ import annotations

from typing import Any, Literal

from armarium.api import Message, Params
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import Gap, Problem, Recipe


class CloudOption(Message):
    """A provider's model that could do a step's work if pages were allowed to leave this machine."""

    step: str
    job: str
    card: str
    name: str
    provider: str
    cost_per_page: float | None = None
    """US dollars; None where no price is known."""


class Assembled(Message):
    """The recipe that the rules give, and what it lacks."""

    recipe: Recipe
    gaps: list[Gap]
    cloud_options: list[CloudOption]
    problems: list[Problem]
    """Why the recipe cannot run; empty unless a person's choice no longer fits."""


class CheckRecipe(Params):
    """A recipe in any state: errors in it are answered, not refused."""

    recipe: Any


class Checked(Message):
    """Every reason why a recipe cannot run as it is."""

    problems: list[Problem]
    ok: bool


class SourceState(Message):
    """The outcome of a source of candidates."""

    source: Literal["shipped", "installed", "linereader-repository", "model-hub"]
    state: Literal["read", "searched", "cached", "not-searched", "offline", "failed"]
    detail: str


class Candidate(Card):
    """A card, and whether it is the one that the step uses."""

    chosen: bool = False


class Candidates(Message):
    """The candidates for a script, language and material, and the outcome of each source."""

    items: list[Candidate]
    count: int
    sources: list[SourceState]
