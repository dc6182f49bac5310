"""The settings of the jobs that ask a model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Message, Params, SourceText

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


class SeenSign(Params):
    """What a sign of the page is taken for: its name, or a description of it."""

    segment_id: Name
    is_a: Annotated[SourceText, Field(min_length=1, max_length=500)]


class TakeSigns(Params):
    """What a model said the signs of one page are."""

    document_id: Name
    pass_id: Name
    provider: Name
    model: Name | None = None
    signs: Annotated[list[SeenSign], Field(min_length=1, max_length=20_000)]


class TakenSigns(Message):
    """declared: signs of names that were not there before; instance_ids: where a sign is said to stand."""

    representation_ids: list[str]
    declared: list[str]
    instance_ids: list[str]
