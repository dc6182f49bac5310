"""Artifacts: how one is made, where its words are on the page, and edits of its boxes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from armarium.api import Message, Params, SourceText, Spelling
from armarium_documents.schemas.fields import Id, JsonObject
from armarium_documents.schemas.files import Artifact
from armarium_documents.schemas.geometry import Rect

Level = Literal["page", "block", "line", "word", "region"]
Words = Annotated[SourceText, Field(max_length=1_000_000)]
Short = Annotated[str, Field(max_length=200)]
Index = Annotated[int, Field(ge=0)]


class BoxIn(Params):
    """One box of an artifact's geometry."""

    bbox: Rect
    text: Words | None = None
    level: Level = "word"
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    char_start: Index | None = None
    char_end: Index | None = None
    page_index: Index | None = None
    source: Short | None = None
    metadata: JsonObject = Field(default_factory=dict)


class GeometryIn(Params):
    """Where an engine found what it read; an empty list of boxes means that it looked and found nothing."""

    text: Words | None = None
    provider: Short
    model: Short | None = None
    rendition_id: Id | None = None
    boxes: Annotated[list[BoxIn], Field(max_length=100_000)] = Field(default_factory=list)
    metadata: JsonObject = Field(default_factory=dict)


class ArtifactCreateParams(Params):
    """What a step made of a document."""

    document_id: Id
    artifact_type: Annotated[
        str,
        Field(min_length=1, max_length=100),
        Spelling(
            r"^[a-z][a-z0-9_-]*$", "a type in small letters, digits, _ and -, of which the first is a letter"
        ),
    ]
    content: Annotated[SourceText, Field(max_length=16_000_000)] | None = None
    data: JsonObject = Field(default_factory=dict)
    ocr_geometry: GeometryIn | None = None
    source_artifact_id: Id | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    workflow_id: Id | None = None
    step_name: Short | None = None
    provider: Short | None = None
    model: Short | None = None


class MoveRegion(Params):
    op: Literal["move"]
    index: Index
    bbox: Rect


class DeleteRegions(Params):
    op: Literal["delete"]
    indices: Annotated[list[Index], Field(min_length=1, max_length=100_000)]


class AddRegion(Params):
    op: Literal["add"]
    bbox: Rect
    text: Words | None = None
    level: Level = "word"


class CombineRegions(Params):
    op: Literal["combine"]
    indices: Annotated[list[Index], Field(min_length=2, max_length=100_000)]


RegionEdit = Annotated[MoveRegion | DeleteRegions | AddRegion | CombineRegions, Field(discriminator="op")]


class RegionEditBody(RootModel[RegionEdit]):
    """ArtifactRegionsEditRequest: one of move, delete, add, combine."""


class EditRegionsParams(Params):
    artifact_id: Id
    edit: RegionEdit


class ArtifactEdited(Artifact):
    """An artifact after an edit of its boxes, with the new `geometry`."""

    geometry: dict[str, Any]


class RegionBox(Message):
    index: int
    bbox: list[float]
    text: str | None
    level: str


class Region(Message):
    """Where it is on the page: the union, and the boxes it consists of."""

    bbox: list[float]
    boxes: list[RegionBox]
    page_index: int | None
    rendition_id: str | None


class ArtifactRegion(Message):
    """ArtifactRegionResponse: whether the words have positions, and where they are."""

    artifact_id: str
    document_id: str
    geometry_status: Literal[
        "located", "no-match", "blank-page", "engine-without-geometry", "not-read", "superseded"
    ]
    geometry_reason: str | None
    region: Region | None
    char_start: int | None
    char_end: int | None
    line: int | None
