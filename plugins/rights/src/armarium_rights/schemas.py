"""Requests and answers of rights."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from armarium.api import Message, Params, answer_of, paged
from armarium_rights.models import records

TargetKind = Literal["library", "document", "segment"]
ModelUse = Literal["none", "local", "cloud"]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Words = Annotated[str, Field(min_length=1, max_length=10_000)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
MANY = 1_000


class Consent(Message):
    """What was consented to, by whom and when, in words."""

    what: Words
    by: Name
    when: Name


class SetParams(Params):
    """A new record about the project (`library`), a document with everything below it, or a segment."""

    target_kind: TargetKind
    target_id: Annotated[Id, Field(description='"library" for the project')]
    holders: Annotated[list[Name], Field(max_length=MANY)] = Field(default_factory=list)
    consent: Consent | None = None
    conditions: Words | None = None
    labels: Annotated[list[Name], Field(max_length=MANY)] = Field(default_factory=list)
    restricted: bool = False
    readers: Annotated[
        list[Id],
        Field(max_length=MANY, description="Token or device ids that may see it; empty: only the owner"),
    ] = Field(default_factory=list)
    model_use: ModelUse | None = None

    @model_validator(mode="after")
    def _readers_of_what_is_restricted(self) -> SetParams:
        if self.readers and not self.restricted:
            raise ValueError(
                "readers are only stated for restricted records: send restricted true, or no readers"
            )
        return self


class WithdrawParams(Params):
    record_id: Id


@answer_of(records)
class Record(Message):
    """A rights record."""

    target_kind: TargetKind
    target_id: str
    holders: list[str]
    consent: Consent | None
    labels: list[str]
    readers: list[str]
    model_use: ModelUse | None


class StandingRecord(Record):
    """A record in force. `target_name`: of the document; null for the project, and for a part of a page that has none."""

    document_id: str | None
    target_name: str | None


RecordsPage = paged(StandingRecord, "RightsRecords", "The records in force, the newest first.")


class Effective(Message):
    """What applies to a target: every record above it and its own, combined so that each only tightens."""

    target_kind: TargetKind
    target_id: str
    restricted: bool
    readers: Annotated[
        list[str] | None, Field(description="Who may see it besides the owner; null: everyone")
    ]
    model_use: Annotated[ModelUse | None, Field(description="The strictest stated; null: none is stated")]
    labels: list[str]
    holders: list[str]
    conditions: list[str]
    record_ids: Annotated[list[str], Field(description="The project's first, the target's own last")]
