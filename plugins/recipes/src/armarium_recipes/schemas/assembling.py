"""Requests and answers of assembling, checking and candidates."""

from __future__ import annotations

from typing import Any, Literal

from armarium.api import Message, Params
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import Gap, Problem, Recipe


class CloudOption(Message):
    """A provider's model that would do a step's work, were pages allowed to leave this machine."""

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
    """Why the recipe cannot run; empty unless a choice of a person's no longer fits."""


class CheckRecipe(Params):
    """A recipe as it is, whatever it is: what is wrong with it is answered, not refused."""

    recipe: Any


class Checked(Message):
    """Every reason why a recipe cannot run as it stands."""

    problems: list[Problem]
    ok: bool


class SourceState(Message):
    """What a source of candidates did."""

    source: Literal["shipped", "installed", "linereader-repository", "model-hub"]
    state: Literal["read", "searched", "cached", "not-searched", "offline", "failed"]
    detail: str


class Candidate(Card):
    """A card, and whether it is the one that the step works with."""

    chosen: bool = False


class Candidates(Message):
    """The readers for a script, language and material, and what each source did."""

    items: list[Candidate]
    count: int
    sources: list[SourceState]
