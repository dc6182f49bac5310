"""The settings of the jobs that ask a model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import Message, Params, SourceText

Name = Annotated[str, Field(min_length=1, max_length=200)]


class ModelSettings(Params):
    """The model to ask, and whether pages may leave this machine for it."""

    provider: Annotated[str, Field(min_length=1, max_length=80)] | None = Field(
        default=None, description="The provider, by name or id."
    )
    model: Name | None = Field(
        default=None, description="One of its models; default: the provider's default model."
    )
    pages_may_leave: bool = Field(
        default=False, description="Whether pages may be sent to a provider on another machine."
    )
    prompt: Annotated[str, Field(min_length=1, max_length=20_000)] | None = Field(
        default=None, description="Instructions for the model in addition to those of the job."
    )


class QuestionSettings(ModelSettings):
    """The question to ask about each page."""

    picture: bool = Field(default=False, description="Also show the model the picture of the page.")


class RenderSettings(ModelSettings):
    """What lines are rendered into."""

    kind: Literal["translation", "transliteration", "normalized_text"] = Field(
        default="translation",
        description="translation, transliteration or normalized_text (normalised spelling).",
    )
    into: Name | None = Field(
        default=None,
        description="The target language, script or spelling; default: English, Latin letters or today's "
        "spelling.",
    )


class ColumnSettings(ModelSettings):
    """The table to make of each page."""

    columns: Annotated[list[Name], Field(max_length=50)] = Field(
        default=[], description="The names of the columns, in order."
    )


class SeenSign(Params):
    """What a sign of the page is identified as: its name, or a description of it."""

    segment_id: Name
    is_a: Annotated[SourceText, Field(min_length=1, max_length=500)]


class TakeSigns(Params):
    """What a model identified the signs of one page as."""

    document_id: Name
    pass_id: Name
    provider: Name
    model: Name | None = None
    signs: Annotated[list[SeenSign], Field(min_length=1, max_length=20_000)]


class TakenSigns(Message):
    """declared: signs declared by this step; instance_ids: the places identified as signs."""

    representation_ids: list[str]
    declared: list[str]
    instance_ids: list[str]
