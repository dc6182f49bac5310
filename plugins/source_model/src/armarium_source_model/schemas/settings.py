"""Requests and answers about source settings: language, script, direction, encoding."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from armarium.api import Message, Params
from armarium_source_model.schemas.fields import Id

DIRECTIONS = ("ltr", "rtl", "ttb", "btt", "alternating", "follows-baseline")


class SettingPut(Params):
    """level project, or node with its target_id; an empty value clears the fact."""

    level: str = Field(max_length=100)
    key: str = Field(max_length=100)
    value: str = Field(max_length=200)
    target_id: Id | None = None


class SettingClear(Params):
    level: str = Field(max_length=100)
    key: str = Field(max_length=100)
    target_id: Id | None = None


class ResolvedSetting(Message):
    key: Literal["language", "script", "direction", "encoding"]
    value: str | None
    status: Literal["known", "unknown", "never-determined"]
    rung: Literal["segment", "document", "project", "default"]
    basis: str
    source: Literal["person", "run", "import", "derived"]


class ResolvedSettings(Message):
    document_id: str | None
    segment_id: str | None
    settings: list[ResolvedSetting]
