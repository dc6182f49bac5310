"""Requests and answers of bake-offs and of the readers of hands."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from armarium.api import Message, Params
from armarium_recipes.schemas.recipe import Id, Material, Override, Recipe

BakeoffStep = Literal["read-a-line", "find-lines"]
Role = Literal["rule-rank", "print-baseline", "contender"]
Pages = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=64)]], Field(min_length=1, max_length=10_000)
]


class Power(Params):
    """What a person states of this machine's electricity: carbon is reckoned from it, as an estimate."""

    watts: Annotated[float, Field(gt=0, le=10_000)]
    """Of a processor core that works."""
    grid_g_per_kwh: Annotated[float, Field(ge=0, le=5_000)]
    """Grams of carbon dioxide for a kilowatt-hour of the grid."""


class StartBakeoff(Params):
    """What is compared, and on which pages."""

    page_ids: Pages | None = None
    """Pages, or folders whose pages are meant; left out: every page with a pass a person made."""
    step: BakeoffStep = "read-a-line"
    power: Power | None = None
    """Left out: nothing is said of carbon but what a card states. Only for readers; finders of lines are not reckoned."""
    promote: bool = False
    """Whether a hand's lines are given, at the end, to a reader that reads them significantly better than the one in use."""


class CompareFinders(Params):
    """On which pages the finders of lines are compared."""

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
    """One candidate, with what was measured of it or why nothing was."""

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
    """In which the CER as written lies 95 times of 100."""
    pages_cer: list[PageRate] | None
    wer: float | None
    pages_per_hour: float | None
    cost_usd: Cost
    carbon_g_per_page: float | None
    carbon_from: str | None
    """Where the figure is from; an estimate says so. None without a figure."""
    trainable: bool
    size_gb: float
    material: list[str]
    tied: bool
    """Whether its CER lies within 0.01 of the best."""
    not_scored: str | None
    note: str | None
    lines_found: int | None
    lines_checked: int | None
    extra_lines: int | None


class Comparison(Message):
    """The best two on the same lines, drawn with replacement."""

    better: str
    worse: str
    difference: float
    """How much higher the worse one's CER lies."""
    interval: list[float]
    p: float


class HandRow(Message):
    card: str
    cer: float
    interval: list[float] | None
    p: float | None
    """Of its difference from the reader in use, corrected for all comparisons; None for that reader itself."""


class HandResult(Message):
    """How the candidates read the lines of one hand."""

    hand_id: str
    label: str | None
    lines: int
    in_use: str | None
    """The card that the others are compared with: the hand's reader, else the project's."""
    rows: list[HandRow]
    better: str | None
    """The best card whose difference from the one in use is significant."""
    promoted: bool


class Bakeoff(Message):
    """Candidates measured on the project's corrected lines; the best first, those that were not scored last."""

    id: str
    job_id: str
    state: str
    reason: str | None
    step: BakeoffStep
    started_at: str
    material: Material
    volume: int
    """Pages of the whole project, which costs are reckoned for."""
    pages: list[BakeoffPage]
    left_out: list[LeftOut]
    lines: int
    candidates: list[BakeoffRow]
    comparison: Comparison | None
    hands: list[HandResult]


class Bakeoffs(Message):
    items: list[Bakeoff]
    count: int


class UseThis(Params):
    """A candidate of a bake-off, for the project or beneath a folder."""

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
    """The reader of a hand's lines; without a card they are read as all others are."""

    hand_id: Id
    card: Id | None
    bakeoff_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The bake-off it was chosen by."""


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


class Champions(Message):
    items: list[Champion]
    count: int
