"""The settings of the jobs that ask a model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Params

Name = Annotated[str, Field(min_length=1, max_length=200)]


class ModelSettings(Params):
    """Which model is asked, and whether pages may leave for it."""

    provider: Annotated[str, Field(min_length=1, max_length=80)] | None = Field(
        default=None, description="The provider, by name or id."
    )
    model: Name | None = Field(default=None, description="One of its models; left out: its default.")
    pages_may_leave: bool = Field(
        default=False, description="Whether pages may be sent to a provider of another machine."
    )
    prompt: Annotated[str, Field(min_length=1, max_length=20_000)] | None = Field(
        default=None, description="What the model is told beside what the work asks of it."
    )


class QuestionSettings(ModelSettings):
    """What is asked of each page."""

    picture: bool = Field(default=False, description="Also show the model the picture of the page.")


class RenderSettings(ModelSettings):
    """Into what lines are rendered."""

    kind: Literal["translation", "transliteration", "normalized_text"] = Field(
        default="translation",
        description="translation, transliteration or normalized_text (normalised spelling).",
    )
    into: Name | None = Field(
        default=None,
        description="The language, script or spelling; left out: English, Latin letters, today's spelling.",
    )


class ColumnSettings(ModelSettings):
    """The table that is made of each page."""

    columns: Annotated[list[Name], Field(max_length=50)] = Field(
        default=[], description="The names of the columns, in order."
    )
