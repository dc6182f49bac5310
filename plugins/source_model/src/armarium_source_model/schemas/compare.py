"""Request and answer of comparing two readings of a page."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from armarium.api import Message, Params
from armarium_source_model.schemas.fields import Frozen, Id, Word

Full = Annotated[str, Field(max_length=1000)]
"""What an abbreviation stands for."""
PolicyName = Literal["diplomatic", "layout-insensitive", "lenient", "accent-blind"]


class Side(Frozen):
    """A pass or an artifact of the page: exactly one."""

    pass_id: Id | None = None
    artifact_id: Id | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.pass_id is None) == (self.artifact_id is None):
            raise ValueError("name a pass_id or an artifact_id, exactly one of them")
        return self


class CompareBody(Params):
    reference: Side
    hypothesis: Side
    policies: Annotated[list[PolicyName], Field(min_length=1)] = ["layout-insensitive"]
    expansions: Annotated[dict[Word, Full], Field(max_length=10_000)] = {}
    reference_checked_by: Word | None = None


class ScoreOut(Message):
    policy: str
    policy_description: str
    distance: int
    reference_chars: int
    hypothesis_chars: int
    rate: float


class Comparison(Message):
    document_id: str
    measure: Literal["agreement", "cer"]
    reference_label: str
    hypothesis_label: str
    definition: str
    scores: list[ScoreOut]
