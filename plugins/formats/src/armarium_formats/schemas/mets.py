"""Shapes of METS files over HTTP and of the action that keeps one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from armarium.api import Message, Params, SourceText, answer_of, listed
from armarium_formats.models import mets_files
from armarium_formats.schemas.exchange import Kept, Prepared


class PlacedPage(Params):
    """A page of a METS file, by its number there from 1, and the documents of its pictures, best first."""

    number: Annotated[int, Field(ge=1, le=1_000_000)]
    document_ids: Annotated[list[Annotated[str, Field(max_length=64)]], Field(min_length=1, max_length=100)]


class UseMets(Prepared):
    """`file` is the METS file itself: bytes, or text that was UTF-8. `missing` are files it names that did not come."""

    file: SourceText | bytes
    filename: Annotated[str, Field(min_length=1, max_length=500)] = "mets.xml"
    pages: Annotated[list[PlacedPage], Field(min_length=1, max_length=1_000_000)]
    missing: Annotated[list[Annotated[str, Field(max_length=4096)]], Field(max_length=1_000_000)] = Field(
        default_factory=list
    )

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.file.encode() if isinstance(self.file, str) else self.file


class UsedMets(Message):
    """What a METS file did: `pages` it has, `pictured` of them here; `labelled` and `ordered` count documents that got a
    label or another place. `kept` is what it says beyond that, counted; `fields` is what it says of the work."""

    mets_id: str
    document_id: str
    file: str
    title: str
    pages: int
    pictured: int
    labelled: int
    ordered: int
    fields: dict[str, list[str]]
    kept: list[Kept]
    notes: list[str]


class MetsPart(Message):
    """A logical part: the numbers of its pages, and its own parts."""

    type: str
    label: str
    order_label: str
    pages: list[int]
    parts: list[MetsPart]


class MetsPageHere(Message):
    number: int
    label: str
    document_ids: list[str]


class MetsDescribed(Message):
    label: str
    type: str
    identifier: str
    fields: dict[str, list[str]]


@answer_of(mets_files)
class MetsFile(Message):
    """A METS file that pages of a folder came in by."""

    described: MetsDescribed
    pages: list[MetsPageHere]
    parts: list[MetsPart]
    notes: list[str]
    checksum: str
    kept: list[Kept]


MetsFiles = listed(MetsFile, "MetsFiles")
