"""Verdicts and the runs of checkers: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy import Column, MetaData, Text

from armarium.api import Message, Params, RecipePath, Record, SourceText, paged, record, reference, tracked
from armarium_documents.api import documents
from armarium_reading.api import Language
from armarium_source_model.api import segments

Answer = Literal["confirm", "correct", "reject"]
Trust = Literal["person", "model"]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[SourceText, Field(max_length=100_000)]


class Checker(Params):
    """Who checks: `builtin`, `agreement` needs no model."""

    provider: Name
    model: Name


class RunParams(Params):
    """What to check, and by whom."""

    layer: Name
    scope_ids: Annotated[list[Id], Field(min_length=1, max_length=10_000)]
    checker: Checker
    kind: Annotated[Name, Field(description="The kind of readings to check")] = "transcription"
    pass_model: Annotated[Name | None, Field(description="Check the newest pass of this model or reader")] = (
        None
    )
    prompt_file: Annotated[
        RecipePath | None,
        Field(
            description="A text file in the project's folder recipe with the question for the model, instead of "
            "the built-in one"
        ),
    ] = None
    language: Language | None = None
    pages_may_leave: bool = False


class CheckSettings(Params):
    """What to check in a workflow or a recipe, and the checker; the defaults need no model."""

    layer: Name = Field(default="readings", description="What to check: readings, claims or entities.")
    provider: Name = Field(
        default="builtin",
        description="The provider whose model checks; builtin compares readings and needs none.",
    )
    model: Name = Field(default="agreement", description="The model.")
    kind: Name = Field(default="transcription", description="The kind of readings to check.")
    pass_model: Name | None = Field(
        default=None,
        description="Check the newest pass of this model or reader; default: each page's newest.",
    )
    language: Language | None = Field(
        default=None, description="The language of the page, as the model is told it."
    )
    prompt: SourceText | None = Field(
        default=None, description="The question for the model, instead of the built-in one."
    )
    pages_may_leave: bool = Field(
        default=False, description="Whether pages may be sent to a provider on another machine."
    )


class CheckArgs(CheckSettings):
    """The arguments of a check run; the prompt is the text of the file at the time the run was started."""

    page_ids: list[str]


class StartedRun(Message):
    """A run that was enqueued."""

    job_id: str
    state: str


class CancelParams(Params):
    job_id: Id


class Counts(Message):
    """How many proposals got which verdict; `unanswered` had no evidence either way."""

    confirm: int
    correct: int
    reject: int
    unanswered: int


class Run(Message):
    """A check run: its progress, and the counts of its verdicts."""

    job_id: str
    state: str
    reason: str | None
    layer: str
    checker: dict[str, Any]
    total: int
    counts: Counts


class VerdictParams(Params):
    """The caller's own verdict; the engine determines who gives it and how far it is trusted."""

    layer: Name
    target_id: Id
    verdict: Answer
    reasons: Words
    correction: Words | None = None
    replacement_id: Id | None = None
    episode_id: Id | None = None
    segment_id: Id | None = None


class RunVerdict(Params):
    """One verdict of a run."""

    target_id: Id
    verdict: Answer
    reasons: Words
    correction: Words | None = None
    episode_id: Id | None = None


class TakeParams(Params):
    """The verdicts of a run on one page."""

    layer: Name
    kind: Name
    checker: Checker
    verdicts: Annotated[list[RunVerdict], Field(max_length=20_000)]


class Taken(Message):
    """The ids of the verdicts that were written."""

    verdict_ids: list[str]


metadata = MetaData()


@record(
    metadata,
    "check_verdict",
    tracked(label="verdict", document="document_id", large=("reasons", "correction")),
    # What was checked: a reading, a statement, an entity. No foreign key, because it may be in any of their
    # tables.
    Column("target_id", Text, nullable=False, index=True),
    reference("document_id", documents.c.id, required=False),
    reference("segment_id", segments.c.id, required=False),
    Column("run_id", Text, index=True),
)
class Verdict(Record):
    """A verdict."""

    layer: str
    target_id: str
    verdict: Answer
    reasons: str
    correction: str | None
    replacement_id: str | None
    checker: dict[str, Any]
    trust: Trust
    run_id: str | None
    episode_id: str | None
    audit_id: str
    created_at: str


Verdicts = paged(Verdict)
verdicts = Verdict.table
"""One verdict on one proposal. Later ones are added beside it; the newest is listed first."""
