"""Shapes of formats over HTTP and of its action (B 4.5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from armarium.api import Params, SourceText


class FormatInfo(BaseModel):
    """A format this build knows."""

    name: str
    label: str
    extensions: list[str]
    reads: bool
    writes: bool
    validated: bool
    versions: list[str]


class FormatList(BaseModel):
    items: list[FormatInfo]
    count: int


class ImportFile(Params):
    """`file` is the file itself: bytes, or text that was UTF-8."""

    document_id: str
    file: SourceText | bytes
    filename: Annotated[str, Field(min_length=1, max_length=500)] = "file"
    format: Annotated[str, Field(max_length=100)] | None = None
    name: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    pages: Annotated[str, Field(max_length=200, pattern=r"^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$")] | None = (
        None
    )


class Counts(BaseModel):
    region: int = 0
    line: int = 0
    word: int = 0
    readings: int = 0


class Kept(BaseModel):
    """Something the model has no field for, kept for the way back."""

    what: str
    count: int


class Imported(BaseModel):
    pass_id: str
    name: str
    format: str
    counts: Counts
    pages_in_file: int
    pages_left_out: list[int]
    unknown_classes: list[str]
    kept: list[Kept]
    notes: list[str]


class ImportedAnswer(Imported):
    audit_id: str


class LossOut(BaseModel):
    what: str
    count: int
    why: str


class Choices(BaseModel):
    """What was exported, and by which rule it was chosen."""

    document_id: str
    pass_id: str
    pass_basis: str
    pass_name: str
    order_id: str | None
    order_name: str
    reading_kind: str
    segment_count: int
    notes: list[str]


class Exported(BaseModel):
    format: str
    filename: str
    content: str
    choices: Choices
    losses: list[LossOut]
