"""Rights records: what is sent, stored and answered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from sqlalchemy import Column, Index, MetaData, Text, text

from armarium import api
from armarium.api import (
    HIDDEN,
    Computed,
    Message,
    Params,
    paged,
    provenance_columns,
    record,
    reference,
    tracked,
)
from armarium_documents.api import documents
from armarium_rights.errors import unknown_record
from armarium_source_model.api import segments

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


class RightsFields(Params):
    """What is sent of a record and stored as it is."""

    target_kind: TargetKind
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


class SetParams(RightsFields):
    """A new record about the project (`library`), a document with everything below it, or a segment."""

    target_id: Annotated[Id, Field(description='"library" for the project')]

    @model_validator(mode="after")
    def _readers_of_what_is_restricted(self) -> SetParams:
        if self.readers and not self.restricted:
            raise ValueError(
                "readers are only stated for restricted records: send restricted true, or no readers"
            )
        return self


class WithdrawParams(Params):
    record_id: Id


metadata = MetaData()


@record(
    metadata,
    "rights_record",
    tracked(label="rights record", document="document_id"),
    # The target: the segment, or else the document, or else the project. A segment's record names its
    # document too.
    reference("document_id", documents.c.id, required=False, info=HIDDEN),
    reference("segment_id", segments.c.id, required=False, info=HIDDEN),
    Index("ix_rights_record_limits", "id", sqlite_where=text("withdrawn_at IS NULL")),
    last=(*provenance_columns(), Column("withdrawn_at", Text)),
    refusal=unknown_record,
)
class Record(RightsFields, api.Record):
    """A rights record."""

    target_id: Computed[str]
    consent: Consent | None


records = Record.table
"""A statement of the rights in the project, a document or a segment; a record is withdrawn, never changed."""


class StandingRecord(Record):
    """A record in force. `target_name`: of the document; null for the project, and for a part of a page that has none."""

    document_id: str | None
    target_name: str | None
    of_project: bool
    """Whether it is one of a branch's project alone: it holds in the branch too, and is withdrawn in the project."""


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
