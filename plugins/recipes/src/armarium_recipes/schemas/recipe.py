"""A recipe and the answers it is made from, as in the files of a project's `recipe` folder and in the routes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from armarium.api import Message, Params, Spelling

Id = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[str, Field(max_length=10_000)]
Some = Annotated[list[Id], Field(max_length=200)]
Material = Literal["handwriting", "print", "typescript", "text"]
Direction = Literal["ltr", "rtl", "ttb", "ttb-lr"]
ProblemKind = Literal[
    "no-model-for-job",
    "no-model-for-script",
    "no-model-for-language",
    "no-reader-for-material",
    "licence-not-accepted",
    "cloud-not-allowed",
    "not-enough-memory",
    "malformed",
]
Fix = Literal["download", "choose-model", "choose-cloud", "accept-licence", "allow-cloud"]
PROBLEM_ORDER: tuple[ProblemKind, ...] = ProblemKind.__args__  # type: ignore[attr-defined]
"""The kinds of problem in the order in which they are listed."""


class Answers(Params):
    """What a person says about the material and its purpose."""

    purposes: Annotated[list[Id], Field(min_length=1, max_length=50)]
    languages: Annotated[list[Id], Field(min_length=1, max_length=50)]
    scripts: Annotated[list[Id], Field(min_length=1, max_length=50)]
    materials: Annotated[list[Material], Field(min_length=1, max_length=4)] = ["handwriting"]
    directions: Annotated[dict[Id, Direction], Field(max_length=50)] = {}
    layers: Some = []
    jobs: Some = []
    pages: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    cloud_allowed: bool = False
    memory_gb: Annotated[float | None, Field(gt=0, le=100_000)] = None

    @model_validator(mode="before")
    @classmethod
    def _one_is_a_list(cls, data: Any) -> Any:
        """Accept a single `purpose` or `material` as a list of one."""
        if not isinstance(data, dict):
            return data
        for singular, plural in (("purpose", "purposes"), ("material", "materials")):
            if singular in data and plural not in data:
                data = {
                    **{key: value for key, value in data.items() if key != singular},
                    plural: [data[singular]],
                }
        return data


class CardChoice(Params):
    """The card of the model a step works with, and where that card came from."""

    id: Id
    source: Literal["shipped", "installed", "linereader-repository", "model-hub", "cloud"]


class When(Params):
    """The condition under which a step runs, or is offered; everything it states must hold."""

    spreads_detected: bool | None = None
    confidence_below: Annotated[float | None, Field(ge=0, le=1)] = None
    corrected_lines_at_least: Annotated[int | None, Field(ge=0)] = None


class LinesIn(Params):
    """Lines written in these scripts or languages."""

    lines_in: Annotated[list[Id], Field(min_length=1, max_length=50)]


class Step(Params):
    """One piece of work of a recipe."""

    id: Annotated[
        str,
        Field(min_length=1, max_length=64),
        Spelling(r"^[a-z0-9][a-z0-9-]*$", "the id of a step: small letters, digits and -"),
    ]
    job: Id
    layer: Id
    applies_to: Literal["pages", "lines", "readings"] | LinesIn = "pages"
    when: When = When()
    offered_when: When = When()
    card: CardChoice | None = None
    model: dict[str, Any] | None = None
    """How the model is named: one of the forms {hub, revision}, {repository}, {linereader,
    linereader_version}, {tesseract, traineddata}, {spacy, version}, {builtin}, {cloud, model}, {role}.
    """
    licence_accepted: bool = False
    """Whether a person has accepted the licence of its model, if that is not an open one."""
    alternatives: Annotated[list[CardChoice], Field(max_length=50)] = []
    prompt: Annotated[str | None, Field(max_length=1000)] = None
    """The path of a file within the project's recipe folder."""
    settings: dict[str, Any] = {}
    runs_on: Annotated[str, Field(max_length=200)] = "this-machine"
    """this-machine, cluster, gpu-service, or cloud:<provider>."""
    uses_cloud: bool = False
    reasons: Annotated[list[Words], Field(max_length=50)] = []
    gap: Words | None = None

    @field_validator("runs_on")
    @classmethod
    def _known_place(cls, value: str) -> str:
        if value in ("this-machine", "cluster", "gpu-service") or (value.startswith("cloud:") and value[6:]):
            return value
        raise ValueError(
            "runs_on must be this-machine, cluster, gpu-service, or cloud: followed by a provider's name"
        )


class Suits(Params):
    """The material a recipe is for."""

    scripts: Some = []
    languages: Some = []
    material: Annotated[list[Material], Field(max_length=4)] = []
    period: Words | None = None
    kinds: Some = []


class Defaults(Params):
    """What applies to all steps."""

    direction: Direction | None = None
    line_position: Id | None = None
    guideline: Id | None = None
    normalisation: Id | None = None
    record_rule: Literal["strict", "relaxed"] = "strict"
    fonts: Some = []
    views_first: Some = []


class Recipe(Params):
    """A whole recipe: the material it suits, and its steps in order."""

    service_recipe: Literal[1] = 1
    id: Id
    version: Annotated[int, Field(ge=1)] = 1
    title: Words
    authors: Some = []
    licence: Words | None = None
    suits: Suits = Suits()
    purposes: Some = []
    defaults: Defaults = Defaults()
    steps: Annotated[list[Step], Field(max_length=200)] = []


class Problem(Message):
    """Why a recipe cannot run as it is."""

    step: str | None
    """The id of the step; None if the problem concerns the whole recipe."""
    kind: ProblemKind
    sentence: str
    fix: Fix | None = None
    fixes: list[Fix] = []
    detail: dict[str, Any] = {}


class Gap(Message):
    """Work that the answers ask for and that nothing here can do."""

    step: str
    job: str
    kind: ProblemKind
    sentence: str
    fix: Fix | None = None


class Override(Params):
    """Another card for a step, for the project or below a folder; the nearest folder wins."""

    scope: Literal["project", "folder"]
    folder_id: Id | None = None
    step: Id
    card: CardChoice
    set_by: Id | None = None
    set_at: Id | None = None

    @property
    def place(self) -> tuple[str, str | None, str]:
        """Where it applies, and to which step: one card can be used there."""
        return self.scope, self.folder_id, self.step
