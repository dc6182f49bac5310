"""Requests and answers of evaluation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from armarium.api import Message, Params, listed
from armarium_reading.api import Language
from armarium_training.schemas.training import Ids, JobAnswer, Missing, Name

Policy = Literal["diplomatic", "layout-insensitive", "lenient", "accent-blind"]
ALL_POLICIES: list[Policy] = ["diplomatic", "layout-insensitive", "lenient", "accent-blind"]


class Candidate(Params):
    """A model to be measured; for a vision model with the provider on this machine that serves it."""

    model: Name
    reader: Literal["linereader", "vision"]
    provider: Name | None = None


class RunParams(Params):
    """Which candidates are measured, against which checked pass, on which pages."""

    candidates: Annotated[list[Candidate], Field(max_length=50)] = []
    pass_: Annotated[Name | None, Field(alias="pass")] = None
    add_out_of_the_box: bool = True
    held_out_ids: Ids = []
    language: Language | None = None
    policies: Annotated[list[Policy], Field(min_length=1, max_length=4)] = ALL_POLICIES
    pages_may_leave: bool = False
    """Whether pictures of lines may be sent to the provider of a candidate that another machine serves."""


class PlannedCandidate(Message):
    model: str
    reader: str
    provider: str | None = None
    driver: str | None = None
    trained: bool = False


class PlannedPage(Message):
    document_id: str
    name: str | None
    lines: int


class NotHere(Message):
    model: str
    why: str


class Plan(Message):
    """Which candidates are measured on which pages, and what is left out."""

    candidates: list[PlannedCandidate]
    pages: list[PlannedPage]
    missing: list[Missing]
    not_here: list[NotHere]


class EvaluationArgs(Params):
    plan: dict[str, Any]
    checked: str | None
    language: str | None
    policies: list[str]
    pages_may_leave: bool = False


class StartedRun(Message):
    job_id: str
    plan: Plan


class Evaluation(JobAnswer):
    """An evaluation: what it measures, and its result."""

    plan: Plan
    result: dict[str, Any] | None


class ListedEvaluation(JobAnswer):
    """An evaluation as a list shows it: what is measured, on how many pages."""

    created_at: str
    models: list[str]
    pages: int


Evaluations = listed(ListedEvaluation, "Evaluations", "The evaluations of the project, the newest first.")


class ModelScore(Message):
    model: str
    reader: str
    measured_at: str
    job_id: str
    pages: int
    checked: str | None
    cer: dict[str, float]
    wer: float | None = None


ModelScores = listed(ModelScore, "ModelScores")
