"""Requests and answers of training."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from armarium.api import Message, NameOrMaterialPath, Params, ProperName, RecipePath, Spelling, listed
from armarium_reading.api import Language

Id = Annotated[str, Field(min_length=1, max_length=200)]
Ids = Annotated[list[Id], Field(max_length=100_000)]
SomeIds = Annotated[list[Id], Field(min_length=1, max_length=100_000)]
Name = ProperName
Timeout = Annotated[str, Field(min_length=2, max_length=10)]
Phase = Literal[
    "waiting",
    "preparing",
    "sending",
    "submitted",
    "queued",
    "running",
    "fetching",
    "landing",
    "done",
    "cancelled",
    "failed",
]


class ReleaseParams(Params):
    """What every training takes: from which pages, what its model is called, and whether it may be given away."""

    scope_ids: SomeIds
    display_name: Name | None = None
    not_for_release: bool = True
    release_note: Annotated[str | None, Field(max_length=10_000)] = None


class SetParams(ReleaseParams):
    """Whose lines to train on, and which pages to hold out."""

    teacher: Name
    held_out_ids: Ids = []


class HereParams(SetParams):
    """A training of a line reader on this machine; without a base it starts from scratch."""

    base: NameOrMaterialPath | None = None
    name: Name = "reader"
    epochs: Annotated[int | None, Field(ge=1, le=10_000, description="None: until it stops improving")] = None
    batch_size: Annotated[int, Field(ge=1, le=64)] = 4


class RemoteParams(SetParams):
    """A training of a line reader at the model hub."""

    base: NameOrMaterialPath | None = None
    name: Name = "reader"
    flavor: Name = "t4-small"
    timeout: Timeout = "4h"
    pages_may_leave: bool = False


class RegionsParams(ReleaseParams):
    """A training of a layout detector on this machine, on regions that people made or changed."""

    held_out_ids: SomeIds
    base: NameOrMaterialPath | None = None
    name: Name = "regions"
    classes: Annotated[list[Name] | None, Field(max_length=1_000)] = None
    epochs: Annotated[int, Field(ge=1, le=500)] = 50
    image_size: Annotated[int, Field(ge=320, le=2048)] = 960
    batch_size: Annotated[int, Field(ge=1, le=64)] = 4


class TrainSettings(Params):
    """A training of a line reader on this machine, as a step of a recipe."""

    teacher: Annotated[
        Name | None,
        Field(description="The model whose lines to train on; none: those of each page's working pass"),
    ] = None
    base: Annotated[Name | None, Field(description="The model to start from; none: from scratch")] = (
        "hand-base"
    )
    name: Annotated[Name, Field(description="The name of the reader")] = "reader"
    epochs: Annotated[int | None, Field(ge=1, le=10_000, description="None: until it stops improving")] = None
    batch_size: Annotated[int, Field(ge=1, le=64, description="How many lines are trained on together")] = 4
    held_out_ids: Annotated[Ids, Field(description="Pages that are left out, to evaluate the reader on")] = []


class TrainArgs(Params):
    """The arguments of a line reader's training."""

    page_ids: list[str]
    teacher: str | None = None
    held_out_ids: list[str] = []
    base: NameOrMaterialPath | None = None
    name: str = "reader"
    epochs: int | None = None
    batch_size: int = 4
    trainer: str | None = None
    card: Literal["linereader", "regions", "vision-lora"] = "linereader"
    vision: dict[str, Any] = {}
    classes: list[str] | None = None
    image_size: int = 960
    place: str | None = None
    flavor: str | None = None
    timeout: str | None = None
    display_name: str | None = None
    not_for_release: bool = True
    release_note: str | None = None
    request: dict[str, Any] = {}


class JobParams(Params):
    job_id: Id


class Started(Message):
    """A training that was enqueued on this machine."""

    job_id: str


class StartedFar(Started):
    """A training that was enqueued for the model hub."""

    flavor: str | None = None
    timeout: str | None = None
    price_per_hour_usd: float | None = None


class StateOf(Message):
    """The state of a job after it was told to stop."""

    job_id: str
    state: str


class JobAnswer(StateOf):
    """What each answer about a job begins with."""

    reason: str | None


class Reached(Message):
    phase: Phase
    at: str


class Measured(Message):
    """The resources a training on this machine used; memory in MB, seconds of work."""

    peak_memory_mb: int
    added_memory_mb: int
    device: str
    threads: int
    epochs: int
    seconds: float


class TrainingJob(Message):
    """A training: its state, its data, its result."""

    id: str
    state: str
    reason: str | None
    phase: Phase
    history: list[Reached]
    card: Literal["linereader", "vision-lora", "regions"]
    flavor: str | None
    far_id: str | None
    price_per_hour_usd: float | None
    reader_id: str | None
    model_id: str | None
    training_set: dict[str, Any] | None
    last_lines: list[str]
    request: dict[str, Any]
    measured: Measured | None
    curve: list[dict[str, Any]]
    created_at: str
    updated_at: str


Trainings = listed(TrainingJob, "Trainings", "The trainings of the project, the newest first.")


class LeftOutLine(Message):
    document_id: str
    segment_id: str
    flag: str


class HeldOut(Message):
    document_id: str
    checksum: str | None


class Missing(Message):
    document_id: str
    why: str


class TrainingSet(Message):
    """What a training set contains and what it leaves out."""

    teacher: str | None
    pages: int
    lines: int
    lines_read_by_a_model: int
    lines_from_files: int = 0
    lines_checked_by_a_person: int
    lines_left_out: int
    left_out: dict[str, int]
    left_out_lines: list[LeftOutLine]
    lines_with_a_verdict: int
    check_ran: bool
    flags_checked: list[str]
    held_out: list[HeldOut]
    held_out_lines: int = Field(
        default=0, description="How many lines of the held-out pages a person checked"
    )
    comparable: str | None = Field(
        default=None,
        description="What is missing for a bake-off of the trained reader with others; null: nothing",
    )
    missing: list[Missing]


class RunsOn(Message):
    build: str
    here: bool


class Scores(Message):
    measured_at: str | None
    job_id: str | None
    pages: int | None
    checked: str | None
    cer: dict[str, float]
    map50: float | None = None


class Model(Message):
    """A trained model, read from its card."""

    id: str
    name: str
    kind: str
    summary: str | None
    base: str | None
    teacher: str | None
    job_id: str | None
    trained_at: str | None
    trained_where: str | None
    training_set: dict[str, Any] | None
    scores: Scores | None
    evaluations: int
    size_bytes: int | None
    runs_on: list[RunsOn]
    licence: str | None
    licence_note: str | None
    may_publish: bool
    release_note: str | None
    location: Literal["project", "global", "both"]


class OneModel(Model):
    """A trained model with its whole card."""

    card: dict[str, Any]
    evaluation_history: list[dict[str, Any]]


Models = listed(Model, "Models")


class GlobalParams(Params):
    model: Name


class MadeGlobal(Message):
    """Where the copy in the engine's global store is."""

    model_id: str
    global_path: str
    may_publish: bool


class LandParams(Params):
    """A finished training whose model is to be taken in."""

    job_id: Annotated[str, Spelling(r"^[0-9a-f]{32}$", "the id of a training job")]


class Landed(Message):
    id: str
    kind: str
    job_id: str


class ReasonsParams(Params):
    """Which model to ask why the lines of the checked pass are read as they are."""

    scope_ids: SomeIds
    checked: Name
    provider: Name
    model: Name
    prompt_file: Annotated[
        RecipePath | None,
        Field(
            description="A text file within the project's folder recipe, used as the prompt instead of the built-in one"
        ),
    ] = None
    held_out_ids: Ids = []
    language: Language | None = None
    pages_may_leave: bool = False


class ReasonsArgs(Params):
    page_ids: list[str]
    held_out_ids: list[str]
    checked: str
    provider: str
    model: str
    prompt: str | None = None
    language: str | None = None
    pages_may_leave: bool = False


class Reasons(JobAnswer):
    """The progress of a gathering of reasons."""

    lines: int
    with_reasons: int
    with_thinking: int
    unanswered: int
    pages_missing: list[Missing]


class Contender(Params):
    """A model that reads the held-out lines in a comparison of reasons."""

    label: Name
    provider: Name
    model: Name
    arm: Literal["answer", "why", "thinking"]
    role: Literal["student", "teacher", "baseline"]


class ComparisonParams(Params):
    """Which models are compared, on which lines."""

    checked: Name
    held_out_ids: SomeIds
    contenders: Annotated[list[Contender], Field(min_length=2, max_length=50)]
    language: Language | None = None
    noise_band: Annotated[float, Field(ge=0, le=1)] = 0.005
    pages_may_leave: bool = False


class ContenderScore(Message):
    label: str
    provider: str
    model: str
    arm: str
    role: str
    reasoning: Literal["on", "off"]
    cer: dict[str, float]
    wer: float | None
    unanswered: int = 0
    measured: bool = Field(default=True, description="Whether it answered at least 80 % of the lines")
    seconds_per_line: float | None
    errors_on_uncertain: int | None = Field(
        default=None,
        description="How many lines it read wrong of those that it called uncertain; of a reader with reasons",
    )


class ContenderVerdict(Message):
    label: str
    adopted: bool
    margin: float | None
    why: str


class Comparison(JobAnswer):
    """The scores of a comparison of reasons, and which student is adopted."""

    pages: int
    lines: int
    contenders: list[ContenderScore]
    verdicts: list[ContenderVerdict]
