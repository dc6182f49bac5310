"""Answers about runs of the recipe."""

from __future__ import annotations

from typing import Literal

from armarium.api import Message, listed
from armarium_recipes.schemas.project import SkippedStep, StartRefusal

CardState = Literal["waiting", "running", "done", "failed", "not run"]


class Account(Message):
    """The progress of a card, in pages."""

    pages: int
    done: int
    failed: int
    left: int
    withheld: int = 0
    """How many of those left are withheld from the work by their rights."""
    seconds_left: float | None = None
    waits_for: str | None = None


class RunCardAnswer(Message):
    """A card of a run."""

    id: str
    steps: list[str]
    title: str
    job: str
    card: str
    state: CardState
    child_id: str | None
    why: str | None
    account: Account | None
    thread_id: str | None = None
    """The run of the workflow that did it; its pages can be read again."""
    offer: str | None = None
    """What can be done about its failed pages."""


class RecipeRun(Message):
    """A run of the recipe."""

    job_id: str
    state: str
    reason: str | None
    started_at: str
    started_by: Literal["person", "import"]
    recipe_version: int
    page_ids: list[str]
    cards: list[RunCardAnswer]
    waiting_for: str | None
    estimate_seconds_left: float | None
    skipped: list[SkippedStep]
    refusals: list[StartRefusal]


RecipeRuns = listed(RecipeRun, "RecipeRuns", "The runs of the recipe, newest first.")


class FailedPage(Message):
    """A page at which a card failed."""

    document_id: str
    why: str | None


class StageSummary(Message):
    """The outcome of a card of a run."""

    id: str
    job: str
    title: str
    state: CardState
    thread_id: str | None
    failed_pages: list[FailedPage]
    offer: str | None


class NotRun(Message):
    """A card that was not run."""

    id: str
    why: str | None


class RunSummary(Message):
    """What a run produced."""

    job_id: str
    pages: int
    pages_read: int
    names: dict[str, int]
    dates: int
    statements: int
    documents_proposed: int | None
    stages: list[StageSummary]
    skipped: list[SkippedStep]
    not_run: list[NotRun]
    finished: bool
