"""What is asked and answered of an export that is made to be saved over HTTP."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from armarium.api import Message, Params
from armarium_exports.records import MANY, Id, KeptFormat, LeftOut, Lost, Per, WithheldSource
from armarium_source_model.api import MadeLines


class DownloadParams(Params):
    """An export as one file to be saved over HTTP; `files` are one in `format` for each page or document."""

    what: Literal["files", "jsonl", "parquet", "site", "receiver"]
    scope_ids: Annotated[list[Id], Field(max_length=MANY, description="Left out: the whole project")] = Field(
        default_factory=list
    )
    format: KeptFormat = "word"
    per: Per = "page"
    receiver: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    line_pictures: Annotated[bool, Field(description="parquet: also the picture of each line")] = False
    site_title: Annotated[str | None, Field(min_length=1, max_length=500)] = None
    include_unreviewed: Annotated[bool, Field(description="site: also what nobody has reviewed")] = False
    _written: dict[str, Any] | None = PrivateAttr(default=None)


class LostInFiles(Lost):
    pages: Annotated[int, Field(description="In how many files")]


class PreparedExport(Message):
    """A file that `GET /api/export/downloads/{id}` answers for an hour, and what it could not carry."""

    id: str
    filename: str
    media_type: str
    size_bytes: int
    pages: int
    records: int | None
    made: list[MadeLines]
    losses: list[LostInFiles]
    left_out: list[LeftOut]
    withheld: list[WithheldSource]
    problems: list[str]
