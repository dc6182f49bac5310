"""Answers about what recipes know: jobs, topics, purposes, languages, scripts, derived facts, and routes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from armarium.api import Message, listed


class Setting(Message):
    """A setting of a recipe job."""

    key: str
    type: str
    default: Any
    help: str


class RecipeJobEntry(Message):
    """A kind of work that a recipe can name."""

    id: str
    name: str
    description: str
    layer: str
    takes: list[str]
    gives: list[str]
    compare: str | None
    """What is measured when two ways of doing it are compared."""
    settings: list[Setting]
    since: str
    topic: str


RecipeJobEntries = listed(RecipeJobEntry, "RecipeJobEntries", "All of them, in the order of the work.")


class TopicAnswer(Message):
    """A recipe job or a notion, explained once."""

    id: str
    kind: Literal["job", "topic"]
    title: str
    short: str
    long: str
    example: str | None
    manual: str | None


Topics = listed(TopicAnswer, "Topics", "The jobs in the order of the work, then the others.")


class PurposeAnswer(Message):
    """Something that a project can be for."""

    id: str
    title: str
    description: str
    runs_by_itself: bool
    jobs: list[str]


Purposes = listed(PurposeAnswer, "Purposes", "In the order in which setup offers them.")


class LanguageAnswer(Message):
    """A language or dialect; its tag and its code in the catalogue are separate."""

    code: str | None
    """The BCP 47 tag; a dialect has that of its language."""
    name: str
    glottocode: str | None
    level: Literal["language", "dialect"]
    language: str | None
    """The tag of a dialect's language."""
    language_name: str | None
    script: str | None
    """The code of the script it is usually written in."""


Languages = listed(LanguageAnswer, "Languages", "The nearest first.")


class ScriptAnswer(Message):
    """A script of ISO 15924."""

    code: str
    name: str
    number: str
    direction: Literal["ltr", "rtl", "ttb", "ttb-lr"] | None
    may_be_vertical: bool


Scripts = listed(ScriptAnswer, "Scripts", "The nearest first.")


class DerivedScript(Message):
    """What follows from a script, with the source."""

    script: str
    direction: Literal["ltr", "rtl", "ttb", "ttb-lr"] | None
    direction_from: str
    may_be_vertical: bool
    font: str | None
    font_from: str


class DerivedMachine(Message):
    """The machine that the engine runs on."""

    chip: str | None
    memory_gb: float | None
    source: str = Field(alias="from")


class TargetAnswer(Message):
    """A place where work can run."""

    id: str
    title: str
    source: str = Field(alias="from")


class Derived(Message):
    """What setup finds out instead of asking."""

    scripts: list[DerivedScript]
    machine: DerivedMachine
    keys: list[str]
    """Names of providers that have a key."""
    targets: list[TargetAnswer]


class FigureAnswer(Message):
    """A number, whether it was measured, and what it is based on."""

    value: float | None
    basis: Literal["measured", "estimate", "unknown"]
    source: str = Field(alias="from")


class RouteAnswer(Message):
    """One way to work through the pages."""

    id: Literal["cloud", "this-machine", "distil"]
    title: str
    pages: int
    cost_usd: FigureAnswer
    time_seconds: FigureAnswer
    accuracy_cer: FigureAnswer
    steps: list[str]
    leaves_this_machine: bool


class Routes(Message):
    """What can be done with this number of pages."""

    pages: int
    routes: list[RouteAnswer]
