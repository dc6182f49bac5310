"""Requests of trainings of vision models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Params, Spelling
from armarium_reading.api import Language
from armarium_training.schemas.training import Name, SetParams, Timeout

Arm = Literal["answer", "why", "thinking", "review"]
Repo = Annotated[
    str,
    Spelling(
        r"^[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?$",
        "a model of the hub, as owner/name, or the name of a model on this machine",
    ),
]
"""A model at the model hub, owner/name, or the name of a model on this machine."""


class VisionParams(SetParams):
    """A training of a vision model on pictures of lines; the flavor `local` stands for this machine."""

    base_repo: Repo
    base_licence: Name | None = None
    keep_merged_here: bool = False
    language: Language | None = None
    name: Annotated[
        str,
        Spelling(
            r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$",
            "at most 100 letters, digits, _ and -, of which the first is a letter or digit",
        ),
    ] = "student"
    flavor: Annotated[Name | None, Field(description="None: the cheapest at the model hub that fits")] = None
    timeout: Timeout = "8h"
    epochs: Annotated[int, Field(ge=1, le=20)] = 2
    rank: Annotated[int, Field(ge=2, le=256, description="Rank of the adapter")] = 16
    arm: Annotated[Arm, Field(description="What it learns to answer besides the transcription")] = "answer"
    max_trace_cer: Annotated[
        float,
        Field(ge=0, le=1, description="The largest CER of a palaeographer's reading against the checked one"),
    ] = 0.10
    all_lines: Annotated[
        bool, Field(description="Use all lines, not only those that every reasoning arm covers")
    ] = False
    pages_may_leave: bool = False


class VisionArgs(Params):
    """The arguments of a vision model's training besides those of every training."""

    base_licence: str | None
    keep_merged_here: bool
    language: str | None
    rank: int
    arm: Arm
    max_trace_cer: float
    all_lines: bool
