"""Shapes of the conversion of older results."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Message, Params


class StartConversion(Params):
    """No parameters: everything that remains is converted."""


class ConversionStarted(Message):
    run_id: str
    total: int


class SeenConversion(Params):
    run_id: Annotated[str, Field(min_length=1, max_length=64)]


class ConvertedCounts(Message):
    passes: int
    segments: int
    readings: int


class ConversionProblem(Message):
    artifact_id: str
    document_id: str
    why: str


class ConversionStatus(Message):
    """`done`, `total` and `left` count older results (artifacts with boxes); `left` is what is not converted
    now.
    """

    state: Literal["none", "waiting", "running", "done", "failed"]
    run_id: str | None
    done: int
    total: int
    left: int
    counts: ConvertedCounts
    problems: list[ConversionProblem]
    started_at: str | None
    finished_at: str | None
    seen_at: str | None
    seen_by: str | None
