"""Requests and answers of the project's recipe: the saved parts, the plan of Start, the proposals."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armarium.api import Message, Params
from armarium_recipes.schemas.recipe import Answers, Override, Recipe

FileState = Literal["in-step", "edited", "refused", "both-changed"]


class RecipeFile(Message):
    """How a file of the folder `recipe` relates to the saved recipe."""

    name: str
    state: FileState
    why: str | None
    line: int | None
    """The line of the error in a refused file, counted from 1."""
    kept_as: str | None
    """The file beside it with the project's version, if both have changed."""


class SavedRecipe(Message):
    """The same, as a write answers it."""

    answers: Answers | None
    recipe: Recipe | None
    overrides: list[Override]


class ProjectRecipe(SavedRecipe):
    """The project's saved answers, recipe and overrides."""

    files: list[RecipeFile] = []


class SaveSetup(Params):
    """What to save; a part left out is unchanged, an explicit null removes it."""

    answers: Answers | None = None
    recipe: Recipe | None = None
    overrides: Annotated[list[Override] | None, Field(max_length=1000)] = None

    @model_validator(mode="after")
    def _says_something(self) -> SaveSetup:
        if not self.model_fields_set:
            raise ValueError("name at least one of answers, recipe and overrides")
        return self


class DecideFile(Params):
    """Which of the two applies, if a file and the project have both changed."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    keep: Literal["file", "project"]


class Proposed(Message):
    """Steps that were added since the last Start."""

    layers: list[str]
    languages: list[str]
    steps: list[str]
    proposed_at: str


class Changed(Message):
    """The recipe after a choice was made."""

    recipe: Recipe | None
    overrides: list[Override]
    proposed: Proposed | None = None


class UseInstead(Params):
    """An installed model instead of one that would be downloaded."""

    model: Annotated[str, Field(min_length=1, max_length=300)]
    card: Annotated[str, Field(min_length=1, max_length=300)]


class UseCandidate(Params):
    """A listed candidate as the reader of a step."""

    step: Annotated[str, Field(min_length=1, max_length=64)]
    card: Annotated[str, Field(min_length=1, max_length=300)]


class ChangeLayers(Params):
    """Layers or languages to add, or to take out again."""

    layers: Annotated[list[str], Field(max_length=50)] = []
    languages: Annotated[list[str], Field(max_length=50)] = []
    remove: bool = False

    @model_validator(mode="after")
    def _one_of_them(self) -> ChangeLayers:
        if bool(self.layers) == bool(self.languages):
            raise ValueError("name either layers or languages")
        return self


class Started(Message):
    """When Start was last pressed, and on what."""

    job_id: str
    started_at: str
    recipe_id: str
    recipe_version: int
    pages: int


class FirstYes(Message):
    """The agreement of a person to have pages sent away, and the version of the recipe it was given for."""

    at: str
    by: str
    recipe_version: int


CardKind = Literal["workflow", "check", "find-documents", "split-pages", "read-lines", "export", "publish"]


class PlannedRun(Message):
    """A card of the plan: one step's work over the pages that lack its output."""

    id: str
    steps: list[str]
    job: str
    card: CardKind
    title: str
    workflow_id: str | None = None
    model_override: str | None = None
    provider_override: str | None = None
    layer: str | None = None
    checker: str | None = None
    folder: str | None = None
    formats: list[str] = []
    runs_on: str
    done: int
    of: int
    note: str | None = None


class SkippedStep(Message):
    """A step that Start cannot run."""

    step: str
    why: str
    fix: Literal["choose-model", "allow-cloud"] | None = None


class OfferedLater(Message):
    """A step that is offered once a condition holds."""

    step: str
    when: str


class StartRefusal(Message):
    """Why Start is refused."""

    kind: str
    sentence: str
    fix: str | None = None


class WaitingStep(Message):
    """A step that waits for a model being downloaded."""

    step: str
    model: str


class PlannedDownload(Message):
    """A model that is not here, and where it is downloaded from."""

    model: str
    card: str
    runtime: str
    size_bytes: int
    route: str
    downloading: bool
    job_id: str | None = None
    progress: Annotated[float, Field(ge=0, le=1)] | None = None
    instead: list[str]


class RunEstimate(Message):
    """The probable cost of a card of the plan; null if unknown."""

    title: str
    where: str
    pages: int
    cost_usd: float | None = None
    time_seconds: float | None = None
    time_measured: bool = Field(
        default=False,
        description="Whether the reader's speed was measured in this project, not stated on its card",
    )


class Estimate(Message):
    """The probable cost of Start."""

    pages: int
    runs: list[RunEstimate]
    total_cost_usd: float | None = None


class StartPlan(Message):
    """What Start would do."""

    started: Started | None
    runs: list[PlannedRun]
    skipped: list[SkippedStep]
    offered_later: list[OfferedLater]
    refusals: list[StartRefusal]
    waiting: list[WaitingStep]
    downloads: list[PlannedDownload]
    proposed: Proposed | None
    pages: int
    estimate: Estimate
    first_yes: FirstYes | None


class PressStart(Params):
    """Which steps are repeated on pages that have their output."""

    redo: Annotated[list[Annotated[str, Field(min_length=1, max_length=64)]], Field(max_length=200)] = []
    redo_unchecked: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=64)]], Field(max_length=200)
    ] = []
    """Steps that read lines: they are repeated on the lines whose text no person made, chose or confirmed."""
    recipe_version: Annotated[int | None, Field(ge=1)] = None
    """The version the plan was made from; Start is refused if another one was saved meanwhile."""


class StartAnswer(Message):
    """What was started."""

    started: Started


class AutomaticEntry(Message):
    """Something that happens automatically, or does not."""

    job: str | None
    name: str
    runs: bool
    why: str
    steps: list[str]


class Automatic(Message):
    """What runs automatically when pages are added and when a reading is corrected."""

    on_add: list[AutomaticEntry]
    on_correction: list[AutomaticEntry]
