"""Requests and answers of bake-offs and of the readers of hands."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from armarium.api import Message, Params, listed
from armarium_recipes.schemas.recipe import Id, Material, Override, Recipe

BakeoffStep = Literal["read-a-line", "find-lines"]
Role = Literal["rule-rank", "print-baseline", "contender"]
Pages = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=64)]], Field(min_length=1, max_length=10_000)
]


class Power(Params):
    """The electricity of this machine as a person states it: an estimate of carbon is computed from it."""

    watts: Annotated[float, Field(gt=0, le=10_000)]
    """Of a busy processor core."""
    grid_g_per_kwh: Annotated[float, Field(ge=0, le=5_000)]
    """Grams of carbon dioxide per kilowatt-hour of the grid."""


class StartBakeoff(Params):
    """What is compared, and on which pages."""

    page_ids: Pages | None = None
    """Pages, or folders of pages; default: every page with a pass made by a person."""
    step: BakeoffStep = "read-a-line"
    power: Power | None = None
    """Default: carbon only as stated by cards. For readers only; no estimate is made for line finders."""
    promote: bool = False
    """Whether, at the end, the lines of a hand are given to a reader that reads them significantly better
    than the one in use.
    """


class CompareFinders(Params):
    """On which pages the line finders are compared."""

    page_ids: Pages | None = None


class BakeoffPage(Message):
    document_id: str
    name: str | None
    lines: int


class LeftOut(Message):
    document_id: str
    why: str


class PageRate(Message):
    document_id: str
    cer: dict[str, float]


class Cost(Message):
    """What reading the whole volume costs in US dollars."""

    value: float | None
    basis: Literal["measured", "estimate", "unknown"]
    from_: Annotated[str, Field(alias="from")]


class BakeoffRow(Message):
    """One candidate, with its measurements or the reason why there are none."""

    card: str
    name: str
    pin: dict[str, Any]
    reader: str | None
    model: str | None
    provider: str | None
    role: Role
    rule_rank: int | None
    runs_on: str
    local: bool
    cer: dict[str, float] | None
    interval: list[float] | None
    """The 95 % interval of the CER as written."""
    pages_cer: list[PageRate] | None
    wer: float | None
    pages_per_hour: float | None
    cost_usd: Cost
    carbon_g_per_page: float | None
    carbon_from: str | None
    """The source of the figure; an estimate says so. None without a figure."""
    trainable: bool
    size_gb: float
    material: list[str]
    tied: bool
    """Whether its CER is within 0.01 of the best."""
    not_scored: str | None
    note: str | None
    lines_found: int | None
    lines_checked: int | None
    extra_lines: int | None


class Comparison(Message):
    """The best two on the same lines, resampled with replacement."""

    better: str
    worse: str
    difference: float
    """By how much the CER of the worse one is higher."""
    interval: list[float]
    p: float


class HandRow(Message):
    card: str
    cer: float
    interval: list[float] | None
    p: float | None
    """The p-value of its difference from the reader in use, corrected for all comparisons; None for that
    reader itself.
    """


class HandResult(Message):
    """How the candidates read the lines of one hand."""

    hand_id: str
    label: str | None
    lines: int
    in_use: str | None
    """The card with which the others are compared: the hand's reader, otherwise the project's."""
    rows: list[HandRow]
    better: str | None
    """The best card whose difference from the one in use is significant."""
    promoted: bool


class Bakeoff(Message):
    """Candidates measured on the project's corrected lines; best first, those without a score last."""

    id: str
    job_id: str
    state: str
    reason: str | None
    step: BakeoffStep
    started_at: str
    material: Material
    volume: int
    """Pages of the whole project, for which costs are computed."""
    pages: list[BakeoffPage]
    left_out: list[LeftOut]
    lines: int
    candidates: list[BakeoffRow]
    comparison: Comparison | None
    hands: list[HandResult]


Bakeoffs = listed(Bakeoff, "Bakeoffs")


class UseThis(Params):
    """A candidate of a bake-off, for the project or below a folder."""

    card: Id
    scope: Literal["project", "folder"] = "project"
    folder_id: Id | None = None


class UseCandidateOfBakeoff(UseThis):
    """The same, with the bake-off."""

    bakeoff_id: Annotated[str, Field(min_length=1, max_length=64)]


class UsedCandidate(Message):
    """The recipe with the candidate in it."""

    recipe: Recipe | None
    overrides: list[Override]
    proposed: dict[str, Any] | None = None


class SetChampion(Params):
    """The reader of a hand's lines; without a card they are read like all others."""

    hand_id: Id
    card: Id | None
    bakeoff_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The bake-off by which it was chosen."""


class Champion(Message):
    """The reader that reads the lines of a hand."""

    hand_id: str
    label: str | None
    card: str
    name: str
    reader: str
    model: str | None
    bakeoff_id: str | None
    created_by: str
    created_at: str


class ChampionSet(Message):
    hand_id: str
    champion: Champion | None


Champions = listed(Champion, "Champions")
